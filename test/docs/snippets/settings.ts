import { Injectable, Module } from '@nestjs/common';

/** Stands for the configuration service of an application. */
@Injectable()
export class Settings {
  readonly tracing = true;
  readonly spans = 'per_request,-orders';
}

@Module({ providers: [Settings], exports: [Settings] })
export class SettingsModule {}
