import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule.create());
// Without them Ctrl+C would end the process before the last spans are flushed.
app.enableShutdownHooks();
await app.listen(process.env['PORT'] || 3000);
console.log(`The shop listens on ${(await app.getUrl()).replace('[::1]', 'localhost')}`);
