import { Module } from '@nestjs/common';
import { OrdersController } from './nestjs-core-app.js';

@Module({ controllers: [OrdersController] })
export class AppModule {}
