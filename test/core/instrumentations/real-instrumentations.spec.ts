import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

interface MadeSpan {
  label: string;
  name: string;
  id: string;
  traceId: string;
  parent: string | undefined;
  userId: number | undefined;
}

interface Subset {
  on: string[];
  answer: { traceparent: string };
  spans: MadeSpan[];
}

const CALLERS_SPAN = 'b7ad6b7169203331';
const CALLERS_TRACE = '0af7651916cd43dd8448eb211c80319c';

const groupOf = ({ label }: MadeSpan): string =>
  label.startsWith('express') ? 'express' : label.startsWith('http 1') ? 'http_server' : 'http_client';

/** From each span up to the root, by labels; for spans of one label in the order of their ends. */
function paths(spans: readonly MadeSpan[], isOn: (span: MadeSpan) => boolean): string[] {
  const byId = new Map(spans.map((span) => [span.id, span]));
  const pathOf = (span: MadeSpan): string[] => {
    const outer = span.parent === undefined ? undefined : byId.get(span.parent);
    const above = outer === undefined ? [span.parent ?? 'root'] : pathOf(outer);
    return isOn(span) ? [...above, span.label] : above;
  };
  return spans
    .filter(isOn)
    .map((span) => pathOf(span).join(' > '))
    .sort();
}

let subsets: Subset[];
beforeAll(() => {
  const program = fileURLToPath(new URL('./programs/gated-server.cjs', import.meta.url));
  subsets = JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' })) as Subset[];
}, 60_000);

describe('a request with instrumentation-http and instrumentation-express, for each subset of their groups', () => {
  it('I11: gives the tree of all groups without those that are off', () => {
    const full = subsets.find(({ on }) => on.length === 3)!;
    expect(full.spans.length).toBeGreaterThanOrEqual(5);
    for (const { on, spans } of subsets) {
      expect({ on, tree: paths(spans, () => true) }).toEqual({
        on,
        tree: paths(full.spans, (span) => on.includes(groupOf(span))),
      });
    }
  });

  it("is one trace, the caller's, whose nearest span that is on goes out as traceparent", () => {
    for (const { on, spans, answer } of subsets) {
      expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
        new Set(spans.length > 0 ? [CALLERS_TRACE] : []),
      );
      const client = spans.find((span) => groupOf(span) === 'http_client');
      const handler = spans.find(({ userId }) => userId === 7);
      const sent = client ?? handler;
      expect({ on, sent: answer.traceparent }).toEqual({
        on,
        sent: `00-${CALLERS_TRACE}-${sent?.id ?? CALLERS_SPAN}-01`,
      });
    }
  });

  it('leaves the nearest span that is on the active one of the handler', () => {
    for (const { on, spans } of subsets) {
      const marked = spans.filter(({ userId }) => userId === 7).map(groupOf);
      const nearest = on.includes('express')
        ? ['express']
        : on.includes('http_server')
          ? ['http_server']
          : [];
      expect({ on, marked }).toEqual({ on, marked: nearest });
    }
  });
});
