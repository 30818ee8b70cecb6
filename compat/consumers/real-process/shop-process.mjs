import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';

/** The application in a process of its own. */
export class ShopProcess {
  output = '';

  /** @param {{ preloads?: string[], env?: Record<string, string> }} options `preloads`: what `--import` is given */
  constructor({ preloads = [], env = {} } = {}) {
    const nodeArguments = preloads.flatMap((preload) => ['--import', preload]);
    this.child = spawn(process.execPath, [...nodeArguments, process.env.MAIN], {
      env: {
        ...process.env,
        NO_COLOR: '1',
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_METRICS_ENABLED: 'no',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_BSP_SCHEDULE_DELAY: '600000',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on('data', (chunk) => {
        this.output += chunk;
        this.child.emit('said');
      });
    }
    this.exited = once(this.child, 'close').then(([code, signal]) => signal ?? code);
    // Whatever goes wrong, the cell comes to an end.
    this.limit = setTimeout(() => this.child.kill('SIGKILL'), 30_000);
    this.exited.then(() => clearTimeout(this.limit));
  }

  /** @param {RegExp} pattern */
  async says(pattern) {
    let isOver = false;
    this.exited.then(() => {
      isOver = true;
      this.child.emit('said');
    });
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match[1];
      if (isOver) throw new Error(`It ended without saying ${pattern}:\n${this.output}`);
      await once(this.child, 'said');
    }
  }

  async get(path) {
    const response = await fetch(`${await this.says(/READY (\S+)/)}${path}`);
    return response.text();
  }

  /** @param {NodeJS.Signals} signal @returns by what it ended: the signal's name or an exit code */
  kill(signal) {
    this.child.kill(signal);
    return this.exited;
  }

  warnings() {
    return this.output.split('\n').filter((line) => /\[NestLens\]|\b(WARN|ERROR)\b/.test(line));
  }
}

/** A collector that takes spans as JSON. */
export async function startCollector() {
  const spans = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    for (const { resource, scopeSpans } of JSON.parse(Buffer.concat(chunks)).resourceSpans ?? []) {
      const attributes = Object.fromEntries(
        resource.attributes.map(({ key, value }) => [key, Object.values(value)[0]]),
      );
      for (const { scope, spans: ended } of scopeSpans) {
        for (const span of ended) spans.push({ ...span, scope: scope.name, resource: attributes });
      }
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    spans,
    named: (name) => spans.filter((span) => span.name === name),
    /** What a process needs to find it. */
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.address().port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
