import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

// A name for the traces, unless the deployment gives one: the SDK's own default is `unknown_service`.
process.env['OTEL_SERVICE_NAME'] ??= 'nest-lens-sample-shop';

const app = await NestFactory.create(AppModule.create());
// Without them Ctrl+C would end the process before the last spans are flushed.
app.enableShutdownHooks();
await app.listen(process.env['PORT'] || 3000);
