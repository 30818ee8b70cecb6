import http from 'node:http';

/** What a client of server-sent events has got so far. */
export interface EventStream {
  headers: http.IncomingHttpHeaders;
  events(): { event: string; data: any }[];
  ended: Promise<void>;
  leave(): void;
}

/** Posts a body as JSON, and reads the server-sent events that answer it. */
export function listenToEvents(
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      method: 'POST',
      agent: false,
      // As a browser does; without it, Node asks for a connection that ends.
      headers: {
        connection: 'keep-alive',
        ...headers,
        accept: 'text/event-stream',
        'content-type': 'application/json',
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', () => undefined);
      resolve({
        headers: response.headers,
        events: () =>
          [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, event, data]) => ({
            event: event!,
            data: JSON.parse(data!) as unknown,
          })),
        ended: new Promise((ended) => response.on('close', ended)),
        leave: () => request.destroy(),
      });
    });
    request.end(JSON.stringify(body));
  });
}
