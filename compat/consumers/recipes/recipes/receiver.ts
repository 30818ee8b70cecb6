import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers everything with `{}`, and keeps the bodies that it gets. */
export async function startReceiver() {
  const bodies: { path: string; text: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push({ path: request.url ?? '', text: Buffer.concat(chunks).toString('latin1') });
      response.end('{}');
      server.emit('received');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** The text of the first body that has it, when it has come. */
    async textWith(part: string): Promise<string> {
      for (;;) {
        const found = bodies.find(({ text }) => text.includes(part));
        if (found !== undefined) return found.text;
        await once(server, 'received');
      }
    },
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
