import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { LensApp } from '../support/lens-app.js';
import { closeAfterTest } from '../support/close-after-test.js';

/** A client of a gateway, which speaks the protocol of Nest's `WsAdapter`. */
export class WebSocketClient {
  readonly received: unknown[] = [];
  private readonly waiting = new Set<() => void>();

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (message: Buffer) => {
      this.received.push(JSON.parse(message.toString()));
      this.waiting.forEach((check) => check());
    });
  }

  static async connectTo(lens: LensApp): Promise<WebSocketClient> {
    const socket = new WebSocket(lens.url('/').replace('http:', 'ws:'));
    closeAfterTest(() => socket.terminate());
    await once(socket, 'open');
    return new WebSocketClient(socket);
  }

  send(event: string, data: unknown = {}): void {
    this.socket.send(JSON.stringify({ event, data }));
  }

  /** Resolves with the first message that fits, received already or to come. */
  first(fits: (message: any) => boolean): Promise<any> {
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(
        () => reject(new Error(`no such message; received: ${JSON.stringify(this.received)}`)),
        2_000,
      );
      const check = (): void => {
        const message = this.received.find(fits);
        if (message === undefined) return;
        clearTimeout(giveUp);
        this.waiting.delete(check);
        resolve(message);
      };
      this.waiting.add(check);
      check();
    });
  }
}
