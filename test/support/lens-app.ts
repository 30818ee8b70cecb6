import 'reflect-metadata';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect } from 'vitest';
import type {
  DynamicModule,
  ForwardReference,
  INestApplication,
  LoggerService,
  NestApplicationOptions,
  Provider,
  Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { diag, DiagLogLevel, trace } from '@opentelemetry/api';
import type { ReadableSpan, Span, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NestLensModule, setLensLogger } from 'nest-lens';
import type { LensWarning, NestLensConfig, NestLensModuleOptions, SpanGroupDefinition } from 'nest-lens';
import type { HttpPlatform } from './adapters.js';

export type Importable = Type<unknown> | DynamicModule | Promise<DynamicModule> | ForwardReference;

/** Keeps what it was given after its shutdown too: the SDK's own in-memory exporter forgets it. */
export class RecordingExporter implements SpanExporter {
  readonly spans: ReadableSpan[] = [];
  shutdowns = 0;

  export(spans: ReadableSpan[], done: (result: { code: number }) => void): void {
    this.spans.push(...spans);
    done({ code: 0 });
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    this.shutdowns += 1;
    return Promise.resolve();
  }
}

/** Counts starts against ends, so that a span that nobody ends is seen although no exporter gets it. */
export class OpenSpanTracker implements SpanProcessor {
  readonly open = new Set<Span>();
  started = 0;

  onStart(span: Span): void {
    this.started += 1;
    this.open.add(span);
  }

  onEnd(span: ReadableSpan): void {
    this.open.delete(span as Span);
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

export interface HttpReply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  /** The connection broke before the body was complete. */
  broken: boolean;
  json(): any;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  body?: unknown;
}

/** A request whose answer isn't waited for: the client of a stream, or one that leaves. */
export interface OpenRequest {
  /** Resolves with the first bytes of the body. */
  firstChunk: Promise<string>;
  /** Closes the connection; resolves when the server has seen it, with the time at which it did. */
  disconnect(): Promise<number>;
}

export interface LogLine {
  level: string;
  text: string;
}

export interface LensApp {
  app: INestApplication;
  exporter: RecordingExporter;
  tracker: OpenSpanTracker;
  /** What NestLens warned about in this test, of all apps in the process. */
  warnings: LensWarning[];
  /** What was logged through Nest's `Logger`. */
  logLines: LogLine[];
  url(path: string): string;
  get(path: string, options?: RequestOptions): Promise<HttpReply>;
  post(path: string, body?: unknown, options?: RequestOptions): Promise<HttpReply>;
  request(method: string, path: string, options?: RequestOptions): Promise<HttpReply>;
  open(path: string): OpenRequest;
  /** Finished spans, exported; waits for open ones, but not for ever. */
  spans(): Promise<ReadableSpan[]>;
  inFlight(): string[];
  close(): Promise<void>;
}

const started = new Set<LensApp>();
const warnings: LensWarning[] = [];
const logLines: LogLine[] = [];
const diagMessages: string[] = [];
const processWarnings: string[] = [];

const recordProcessWarning = (warning: Error): void => {
  if (warning.name === 'ExperimentalWarning') return;
  processWarnings.push(`${warning.name}: ${warning.message}`);
};

const textOf = (parts: unknown[]): string =>
  parts.map((part) => (part instanceof Error ? (part.stack ?? part.message) : String(part))).join(' ');

const record =
  (level: string) =>
  (...parts: unknown[]): void => {
    logLines.push({ level, text: textOf(parts) });
  };

const nestLogger: LoggerService = {
  log: record('log'),
  error: record('error'),
  warn: record('warn'),
  debug: record('debug'),
  verbose: record('verbose'),
  fatal: record('fatal'),
};

/** What NestLens said by any way: its own warnings, Nest's logger, OpenTelemetry's diag logger. */
export function everythingSaid(): string[] {
  return [
    ...warnings.map((warning) => `${warning.code} ${warning.message}`),
    ...logLines.filter((line) => /warn|error|fatal/.test(line.level)).map((line) => line.text),
    ...diagMessages,
  ];
}

export function diagnostics(): readonly string[] {
  return diagMessages;
}

/** Sets variables for the rest of the test. */
export function setEnv(variables: Record<string, string>): void {
  Object.assign(process.env, variables);
}

/** Polls for a fact that has no promise of its own. */
export async function until(fact: () => boolean, withinMs = 2_000): Promise<boolean> {
  const giveUpAt = Date.now() + withinMs;
  while (!fact()) {
    if (Date.now() > giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return true;
}

/**
 * Around every test of the surrounding `describe`: recorders are emptied first; afterwards the apps are closed, and
 * nothing may have been said about a span that was ended twice, an API registered twice, or by Node itself.
 *
 * It has to be called inside a `describe`: Vitest runs those hooks before the ones of the set-up file, which reset the
 * state that an open app needs to close.
 */
export function guardEachTest(): void {
  beforeEach(() => {
    for (const list of [warnings, logLines, diagMessages, processWarnings]) list.length = 0;
    const say = (...parts: unknown[]): void => void diagMessages.push(textOf(parts));
    diag.setLogger(
      { error: say, warn: say, info: say, debug: say, verbose: say },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    process.on('warning', recordProcessWarning);
  });

  afterEach(async () => {
    for (const lens of [...started].reverse()) await lens.close();
    // A warning is emitted on the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', recordProcessWarning);

    expect(diagMessages.filter((message) => /ended|end\(\)|duplicate registration/i.test(message))).toEqual(
      [],
    );
    expect(processWarnings).toEqual([]);
  });
}

type PartialOptions = Omit<NestLensModuleOptions, 'config'> & { config?: Partial<NestLensConfig> };

/** A real Nest application on a real port, built up call by call. Without `forRoot` it is one without NestLens. */
export class LensAppBuilder {
  readonly exporter = new RecordingExporter();
  readonly tracker = new OpenSpanTracker();
  readonly #imports: Importable[] = [];
  readonly #controllers: Type<unknown>[] = [];
  readonly #providers: Provider[] = [];
  readonly #configure: ((app: INestApplication) => void)[] = [];
  readonly #registrations: SpanGroupDefinition[] = [];
  #options: PartialOptions | undefined;
  #spec: string | undefined;
  #applicationOptions: NestApplicationOptions = {};
  #lensLogger = true;

  constructor(private readonly platform: HttpPlatform) {}

  /** Imports `NestLensModule.forRoot`: enabled, all groups on, exporting to memory, unless the options say otherwise. */
  forRoot(options: PartialOptions = {}): this {
    this.#options = { ...this.#options, ...options, config: { ...this.#options?.config, ...options.config } };
    return this;
  }

  /** For tests that import `NestLensModule` at a place of their own. */
  withoutRoot(): this {
    this.#options = undefined;
    return this;
  }

  /** Registers groups as the namespace `shop`. */
  groups(...groups: string[]): this {
    this.#registrations.push({ namespace: 'shop', groups });
    return this.forRoot();
  }

  spec(spec: string): this {
    this.#spec = spec;
    return this.forRoot();
  }

  imports(...modules: Importable[]): this {
    this.#imports.push(...modules);
    return this;
  }

  controllers(...controllers: Type<unknown>[]): this {
    this.#controllers.push(...controllers);
    return this;
  }

  providers(...providers: Provider[]): this {
    this.#providers.push(...providers);
    return this;
  }

  /** Leaves NestLens's warnings to Nest's logger. */
  withNestLogger(): this {
    this.#lensLogger = false;
    return this;
  }

  applicationOptions(options: NestApplicationOptions): this {
    this.#applicationOptions = options;
    return this;
  }

  /** Runs before the application is initialised: prefixes, versions, global enhancers. */
  configure(configure: (app: INestApplication) => void): this {
    this.#configure.push(configure);
    return this;
  }

  /** The options that `forRoot` gets, for tests that import it at a place of their own. */
  moduleOptions(options: PartialOptions = {}): NestLensModuleOptions {
    const { registrations = [], config, telemetry, ...rest } = options;
    return {
      registrations: [...this.#registrations, ...registrations],
      config: {
        enabled: true,
        spanGroups: this.#spec ?? 'all',
        exporter: 'none',
        metricsEnabled: false,
        ...config,
      },
      telemetry: this.telemetry(telemetry),
      ...rest,
    };
  }

  telemetry(setup: NestLensModuleOptions['telemetry'] = {}): NonNullable<NestLensModuleOptions['telemetry']> {
    return { spanExporter: this.exporter, spanProcessors: [this.tracker], ...setup };
  }

  root(): DynamicModule {
    class RootModule {}
    const lensModule = this.#options ? [NestLensModule.forRoot(this.moduleOptions(this.#options))] : [];
    return {
      module: RootModule,
      imports: [...lensModule, ...this.#imports],
      controllers: this.#controllers,
      providers: this.#providers,
    };
  }

  async start(): Promise<LensApp> {
    if (this.#lensLogger) setLensLogger({ warn: (_message, warning) => void warnings.push(warning) });
    const app = await NestFactory.create(this.root(), this.platform.create(), {
      logger: nestLogger,
      abortOnError: false,
      ...this.#applicationOptions,
    });
    return this.serve(app);
  }

  /** Serves an application that was made elsewhere, by a testing module for example. */
  async serve(app: INestApplication): Promise<LensApp> {
    for (const configure of this.#configure) configure(app);
    try {
      await app.listen(0, '127.0.0.1');
    } catch (reason) {
      await app.close().catch(() => undefined);
      throw reason;
    }
    const lens = new RunningLensApp(app, this.exporter, this.tracker);
    started.add(lens);
    return lens;
  }
}

class RunningLensApp implements LensApp {
  readonly warnings = warnings;
  readonly logLines = logLines;
  readonly #port: number;
  readonly #closedAt = new Map<number, number>();
  readonly #clients = new Set<http.ClientRequest>();

  constructor(
    readonly app: INestApplication,
    readonly exporter: RecordingExporter,
    readonly tracker: OpenSpanTracker,
  ) {
    const server = app.getHttpServer() as http.Server;
    this.#port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => {
      const port = socket.remotePort;
      if (port !== undefined) socket.once('close', () => this.#closedAt.set(port, Date.now()));
    });
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.#port}${path}`;
  }

  get(path: string, options?: RequestOptions): Promise<HttpReply> {
    return this.request('GET', path, options);
  }

  post(path: string, body?: unknown, options?: RequestOptions): Promise<HttpReply> {
    return this.request('POST', path, { ...options, body });
  }

  request(method: string, path: string, { headers = {}, body }: RequestOptions = {}): Promise<HttpReply> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = http.request(this.url(path), {
        method,
        agent: false,
        headers:
          payload === undefined
            ? headers
            : // Node sends no length of its own for a DELETE.
              {
                'content-type': 'application/json',
                'content-length': String(Buffer.byteLength(payload)),
                ...headers,
              },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        const settle = (): void => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            broken: !response.complete,
            json: () => JSON.parse(text) as unknown,
          });
        };
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        // A broken body gives an error and then a close; a whole one gives a close alone.
        response.on('error', () => undefined);
        response.on('close', settle);
      });
      request.end(payload);
    });
  }

  open(path: string): OpenRequest {
    const request = http.request(this.url(path), { agent: false });
    this.#clients.add(request);
    let localPort = 0;
    const connected = new Promise<void>((resolve) => {
      request.on('socket', (socket) => {
        const settle = (): void => {
          localPort = socket.localPort ?? 0;
          resolve();
        };
        if (socket.connecting) socket.once('connect', settle);
        else settle();
      });
    });
    const firstChunk = new Promise<string>((resolve) => {
      request.on('response', (response) => {
        response.on('error', () => undefined);
        response.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8')));
      });
    });
    request.on('error', () => undefined);
    request.end();
    return {
      firstChunk,
      disconnect: async () => {
        await connected;
        request.destroy();
        if (!(await until(() => this.#closedAt.has(localPort))))
          throw new Error('the server saw no disconnect');
        return this.#closedAt.get(localPort) as number;
      },
    };
  }

  async spans(): Promise<ReadableSpan[]> {
    await until(() => this.tracker.open.size === 0);
    const provider = trace.getTracerProvider() as { getDelegate?(): { forceFlush?(): Promise<void> } };
    await provider.getDelegate?.().forceFlush?.();
    return this.exporter.spans;
  }

  inFlight(): string[] {
    return [...this.tracker.open].map((span) => span.name);
  }

  async close(): Promise<void> {
    if (!started.delete(this)) return;
    // A server waits for its clients before it closes.
    for (const client of this.#clients) client.destroy();
    await this.app.close();
  }
}

export function lensApp(platform: HttpPlatform): LensAppBuilder {
  return new LensAppBuilder(platform);
}

interface CalledEdgeHooks {
  onModuleInit(): void;
  onModuleDestroy(): void;
  onApplicationShutdown(): Promise<void>;
}

/** The hooks that NestLens adds at the edges of an application, to be called by hand: Nest takes many turns between them. */
export function edgeHooksOf(app: INestApplication): CalledEdgeHooks {
  const found = app.get<object[]>(Symbol.for('nest-lens.edge-hooks'), { strict: false, each: true });
  return Object.assign({}, ...found);
}

/** The one span of that name; fails the test if there are none or more. */
export function theSpan(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const found = spans.filter((span) => span.name === name);
  expect({ name, spans: found.length, of: spans.map((span) => span.name) }).toMatchObject({ name, spans: 1 });
  return found[0] as ReadableSpan;
}

export function namesOf(spans: readonly ReadableSpan[]): string[] {
  return spans.map((span) => span.name).sort();
}

export function parentIdOf(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId;
}

export function endedAt(span: ReadableSpan): number {
  return span.endTime[0] * 1_000 + span.endTime[1] / 1_000_000;
}
