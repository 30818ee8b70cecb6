// #region for-all-handlers
import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { SpanGroupInterceptor } from 'nest-lens';

@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: SpanGroupInterceptor }] })
export class TracingModule {}
// #endregion
