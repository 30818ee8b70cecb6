import { expect } from 'vitest';
import type { EventEmitter } from 'node:events';
import {
  type CanActivate,
  Controller,
  Get,
  Inject,
  Next,
  UseGuards,
  Version,
  VersioningType,
} from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import { context, createContextKey } from '@opentelemetry/api';
import type { HttpPlatform } from './adapters.js';
import { lensApp, type LensApp, until } from './lens-app.js';

const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

/** How a server span learns its route. */
export interface Metadata {
  type: string;
  route?: string;
}

export interface ServerSpanShop {
  /** Sends a request, and gives the route that its server span has at its end. */
  routeOf(path: string, headers?: Record<string, string>): Promise<string | undefined>;
  lens: LensApp;
}

/** A handler of the router itself. */
export type Raw = (...args: any[]) => unknown;

export interface Router {
  get(path: string | RegExp, handler: Raw): unknown;
}

/** Does something within a server span. */
export const inMetadata = <T>(metadata: Metadata, work: () => T): T =>
  context.with(context.active().setValue(RPC_METADATA, metadata), work);

class Closed implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Controller('plain')
class PlainController {
  constructor(@Inject(HttpAdapterHost) private readonly http: HttpAdapterHost) {}

  @Get('closed')
  @UseGuards(Closed)
  closed(): void {}

  @Get(':id')
  read(): string {
    return 'plain';
  }

  @Get(':id/again')
  @Version('2')
  again(): string {
    return 'again';
  }

  @Get(':id/passes')
  passes(@Next() next: () => void): void {
    next();
  }

  /** Asks another route within the process. */
  @Get(':id/calls')
  async calls(): Promise<string> {
    const instance = this.http.httpAdapter.getInstance<{ inject(url: string): Promise<{ body: string }> }>();
    return (await instance.inject('/plain/7')).body;
  }
}

/** An application of a controller in no group, whose requests have server spans, as instrumentation-http makes them. */
export async function shopWithServerSpans(
  platform: HttpPlatform,
  register: (adapter: Router & Pick<AbstractHttpAdapter, 'getInstance'>) => void = () => undefined,
  created: Metadata = { type: 'http' },
): Promise<ServerSpanShop> {
  const closed: (string | undefined)[] = [];
  const lens = await lensApp(platform)
    .groups('orders')
    .controllers(PlainController)
    .configure((app) => {
      const server = app.getHttpServer() as EventEmitter;
      const emit = server.emit.bind(server);
      server.emit = (event: string, ...args: unknown[]) => {
        if (event !== 'request') return emit(event, ...args);
        const metadata: Metadata = { ...created };
        (args[1] as EventEmitter).once('close', () => closed.push(metadata.route));
        return inMetadata(metadata, () => emit(event, ...args));
      };
      app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' });
      register(app.getHttpAdapter() as never);
    })
    .start();
  return {
    lens,
    async routeOf(path, headers = {}) {
      closed.length = 0;
      await lens.get(path, { headers });
      expect(await until(() => closed.length > 0)).toBe(true);
      return closed[0];
    },
  };
}
