import http from 'node:http';

export interface RawRequest {
  method: string;
  headers?: http.OutgoingHttpHeaders;
  /** Sent as it is; several are sent in pieces, without a length. */
  body?: string | Buffer | (string | Buffer)[];
  /** Connections to take; default: one of its own. */
  agent?: http.Agent;
}

export interface RawReply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/** Sends what no polite client would. A server that hangs up before it has read everything has answered all the same. */
export function sendRaw(url: string, { method, headers = {}, body, agent }: RawRequest): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const length = typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.byteLength(body) : undefined;
    const request = http.request(url, {
      method,
      agent: agent ?? false,
      headers: { ...(length === undefined ? {} : { 'content-length': length }), ...headers },
    });
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', () => undefined);
      response.on('close', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    request.on('error', (error) => setTimeout(reject, 50, error));
    if (Array.isArray(body)) {
      for (const piece of body) request.write(piece);
      request.end();
    } else {
      request.end(body);
    }
  });
}
