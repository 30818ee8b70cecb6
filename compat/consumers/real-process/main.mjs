import 'reflect-metadata';
import * as common from '@nestjs/common';
import * as core from '@nestjs/core';
import * as api from '@opentelemetry/api';
import * as lens from 'nest-lens';
import startShop from './shop.cjs';

await startShop({ common, core, lens, api });
