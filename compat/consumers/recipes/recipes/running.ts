import 'reflect-metadata';
import { type INestApplication, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLensModule, type SpanGroupDefinition } from 'nest-lens';
import { captureSpans } from 'nest-lens/testing';

/** An application of a recipe's parts that serves, with every span caught. */
export async function run(
  groups: readonly string[],
  parts: Pick<ModuleMetadata, 'imports' | 'controllers' | 'providers'>,
) {
  const captured = captureSpans();
  const definition: SpanGroupDefinition = { namespace: 'recipes', groups };
  class AppModule {}
  const lens = NestLensModule.forRoot({
    registrations: [definition],
    config: { enabled: true, spanGroups: 'all', metricsEnabled: false },
    telemetry: { spanProcessors: [captured.spanProcessor] },
  });
  const app: INestApplication = await NestFactory.create(
    { module: AppModule, ...parts, imports: [lens, ...(parts.imports ?? [])] },
    { abortOnError: false, logger: false },
  );
  await app.listen(0, '127.0.0.1');
  return { app, captured, url: await app.getUrl() };
}
