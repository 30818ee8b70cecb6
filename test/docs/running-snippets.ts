import { afterEach, beforeEach, vi } from 'vitest';
import { type INestApplication, Logger, type ModuleMetadata, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type LensWarning,
  NestLensModule,
  nestLensConfigFromEnv,
  setLensLogger,
  setupTelemetry,
  type TelemetryHandle,
} from 'nest-lens';
import { captureSpans } from 'nest-lens/testing';

const apps = new Set<INestApplication>();
const handles = new Set<TelemetryHandle>();
let imports = 0;

/** What NestLens warned about in the running test. */
export const warnings: LensWarning[] = [];

export const codes = (): string[] => warnings.map(({ code }) => code);

/**
 * Around each test of the surrounding `describe`: afterwards applications and set-ups of snippets are closed. Call it inside a `describe`, so that it runs before the hooks of the set-up file.
 */
export function aroundSnippets(): void {
  beforeEach(() => {
    warnings.length = 0;
    setLensLogger({ warn: (_message, warning) => void warnings.push(warning) });
    Logger.overrideLogger(false);
  });

  afterEach(async () => {
    await closeApps();
    for (const handle of handles) await handle.shutdown(1_000);
    handles.clear();
    vi.restoreAllMocks();
  });
}

/** Evaluates a snippet anew, as in a new process: those that act when they are imported. */
export function importAnew(snippet: string): Promise<any> {
  imports += 1;
  return import(/* @vite-ignore */ `./snippets/${snippet}.js?${imports}`);
}

export function setEnv(variables: Record<string, string>): void {
  Object.assign(process.env, variables);
}

/** Has the application closed after the test, or by `closeApps`. */
export function closeLater(app: INestApplication): void {
  apps.add(app);
}

export async function closeApps(): Promise<void> {
  for (const app of apps) await app.close();
  apps.clear();
}

/** Serves an application whose root is a snippet's; answers its URL. */
export async function boot(module: Type<unknown>): Promise<string> {
  const app = await NestFactory.create(module, { abortOnError: false });
  closeLater(app);
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

/** An application of the given parts, with every span of `spec` caught. */
export async function bootWith(
  spec: string,
  parts: Pick<ModuleMetadata, 'imports' | 'controllers' | 'providers'>,
  groups: string[] = [],
) {
  const captured = captureSpans();
  class AppModule {}
  const lens = NestLensModule.forRoot({
    registrations: groups.length > 0 ? [{ namespace: 'app', groups }] : [],
    config: { enabled: true, spanGroups: spec, metricsEnabled: false },
    telemetry: { spanProcessors: [captured.spanProcessor] },
  });
  const app = await NestFactory.create(
    { module: AppModule, ...parts, imports: [lens, ...(parts.imports ?? [])] },
    { abortOnError: false },
  );
  closeLater(app);
  await app.listen(0, '127.0.0.1');
  return { app, url: await app.getUrl(), captured };
}

/** A set-up without Nest, with every span of `spec` caught. */
export async function setUp(spec: string) {
  const captured = captureSpans();
  const config = {
    ...nestLensConfigFromEnv({ env: {} }),
    enabled: true,
    spanGroups: spec,
    metricsEnabled: false,
  };
  handles.add(await setupTelemetry(config, { spanProcessors: [captured.spanProcessor] }));
  return captured;
}

export async function json(url: string, request?: RequestInit): Promise<any> {
  const response = await fetch(url, request);
  return response.json();
}
