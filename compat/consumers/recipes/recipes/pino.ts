// #region pino
import { Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { traceIds } from './trace-ids.js';

@Module({ imports: [LoggerModule.forRoot({ pinoHttp: { mixin: traceIds } })] })
export class LogsModule {}
// #endregion
