import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A server that speaks enough of PostgreSQL's protocol for one query: each gives one row, `1`, or an error. */
export interface PostgresWire {
  readonly port: number;
  close(): Promise<void>;
}

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => Buffer.concat([int16(value >>> 16), int16(value & 65_535)]);
const message = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);

const AUTHENTICATED = message('R', int32(0));
const READY = message('Z', Buffer.from('I'));
const INT4 = 23;
const ROW_DESCRIPTION = message(
  'T',
  int16(1),
  text('id'),
  int32(0),
  int16(0),
  int32(INT4),
  int16(4),
  int32(-1),
  int16(0),
);
const ROW = message('D', int16(1), int32(1), Buffer.from('1'));
const FAILURE = message(
  'E',
  Buffer.from('S'),
  text('ERROR'),
  Buffer.from('C'),
  text('42P01'),
  Buffer.from('M'),
  text('no such table'),
  Buffer.from([0]),
);

/** @param run called for each query; its answer comes when that is done */
export async function servePostgresWire(run: (query: string) => Promise<void>): Promise<PostgresWire> {
  const server = createServer((socket) => {
    let rest = Buffer.alloc(0);
    let isStarted = false;
    let done = Promise.resolve();
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const header = isStarted ? 1 : 0;
        if (rest.length < header + 4) return;
        const length = rest.readInt32BE(header) + header;
        if (rest.length < length) return;
        const [type, body] = [
          isStarted ? String.fromCharCode(rest[0]!) : 'start',
          rest.subarray(header + 4, length),
        ];
        rest = rest.subarray(length);
        isStarted = true;
        done = done.then(() => answer(socket, type, body, run));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function answer(
  socket: Socket,
  type: string,
  body: Buffer,
  run: (query: string) => Promise<void>,
): Promise<void> {
  if (type === 'start') socket.write(Buffer.concat([AUTHENTICATED, READY]));
  if (type === 'S') socket.write(READY);
  if (type === 'X') socket.end();
  if (type !== 'P') return;
  const query = body
    .subarray(body.indexOf(0) + 1)
    .toString()
    .split('\0')[0]!;
  await run(query);
  if (query.includes('missing')) return void socket.write(FAILURE);
  const parts = [
    message('1'),
    message('t', int16(0)),
    ROW_DESCRIPTION,
    message('2'),
    ROW,
    message('C', text('SELECT 1')),
  ];
  socket.write(Buffer.concat(parts));
}
