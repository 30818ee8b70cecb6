import { NestInstrumentation } from '@opentelemetry/instrumentation-nestjs-core';
import { startSdk } from './collected.js';

// An instrumentation has to be there before what it patches is loaded.
startSdk([new NestInstrumentation()]);
