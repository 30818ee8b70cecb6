// #region traced-logger
import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import { traceIds } from './trace-ids.js';

export class TracedLogger extends ConsoleLogger {
  protected override getJsonLogObject(message: unknown, options: { context: string; logLevel: LogLevel }) {
    return { ...super.getJsonLogObject(message, options), ...traceIds() };
  }
}
// #endregion
