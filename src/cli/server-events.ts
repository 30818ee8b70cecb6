/** One event of a stream of server-sent events. */
export interface EventOfServer {
  readonly event: string;
  /** Undefined if it is no JSON. */
  readonly data: unknown;
}

/** Reads server-sent events whose data is JSON. */
export async function* readEvents(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<EventOfServer> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let waiting = '';
  for await (const chunk of body) {
    waiting += decoder.decode(chunk, { stream: true });
    const blocks = waiting.split(/\r?\n\r?\n/);
    waiting = blocks.pop()!;
    for (const block of blocks) {
      const found = readEvent(block);
      if (found !== undefined) yield found;
    }
  }
}

function readEvent(block: string): EventOfServer | undefined {
  const valuesOf = (field: string): string[] =>
    block
      .split(/\r?\n/)
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).replace(/^ /, ''));
  const data = valuesOf('data');
  if (data.length === 0) return undefined;
  const event = valuesOf('event').at(-1) ?? 'message';
  try {
    return { event, data: JSON.parse(data.join('\n')) as unknown };
  } catch {
    return { event, data: undefined };
  }
}
