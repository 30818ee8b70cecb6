// A server with real instrumentations, asked once for each subset of their groups. Prints one line of JSON: for each subset the
// spans of the request, and what the application saw.
const { setupTelemetry, nestLensConfigFromEnv, setSpanGroupSpec } = require('nest-lens/core');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { trace } = require('@opentelemetry/api');

const GROUPS = ['http_server', 'http_client', 'express'];
const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const ended = [];
let open = 0;
const keeping = {
  onStart: () => void open++,
  onEnd: (span) => {
    open--;
    ended.push(span);
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

async function main() {
  const handle = await setupTelemetry(
    { ...nestLensConfigFromEnv({ env: {} }), enabled: true, spanGroups: 'all', metricsEnabled: false },
    {
      spanProcessors: [keeping],
      instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation()],
      instrumentationGroups: true,
    },
  );
  const http = require('node:http');
  const express = require('express');
  const ask = (path, headers = {}) =>
    new Promise((resolve, reject) => {
      const request = http.get({ port, path, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve(JSON.parse(text)));
      });
      request.on('error', reject);
    });
  const app = express();
  app.get('/stock/:id', (request, response) => response.json({ traceparent: request.headers.traceparent }));
  app.get('/orders/:id', async (_request, response) => {
    trace.getActiveSpan()?.setAttribute('user.id', 7);
    response.json(await ask('/stock/1'));
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();

  const subsets = [];
  for (let bits = 0; bits < 2 ** GROUPS.length; bits++) {
    const on = GROUPS.filter((_group, at) => bits & (1 << at));
    setSpanGroupSpec(on.join());
    ended.length = 0;
    // By a socket of its own: a request by http would have a client span.
    const answer = await new Promise((resolve, reject) => {
      const socket = require('node:net').connect(port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('error', reject);
      socket.on('close', () => resolve(JSON.parse(text.slice(text.indexOf('{')))));
      socket.write(
        `GET /orders/1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntraceparent: ${CALLER}\r\n\r\n`,
      );
    });
    while (open > 0) await new Promise(setImmediate);
    subsets.push({
      on,
      answer,
      spans: ended.map((span) => ({
        label: `${span.instrumentationScope.name.replace(/.*-/, '')} ${span.kind} ${span.attributes['http.route'] ?? ''}`,
        name: span.name,
        id: span.spanContext().spanId,
        traceId: span.spanContext().traceId,
        parent: span.parentSpanContext?.spanId,
        userId: span.attributes['user.id'],
      })),
    });
  }
  server.close();
  await handle.shutdown();
  console.log(JSON.stringify(subsets));
}

void main();
