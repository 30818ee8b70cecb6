import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { DatabaseService } from './database.service.js';
import { databaseSpans } from './database.span-groups.js';

@Module({
  imports: [NestLensModule.forFeature(databaseSpans)],
  providers: [DatabaseService],
  exports: [DatabaseService],
})
export class DatabaseModule {}
