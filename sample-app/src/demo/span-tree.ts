import { SpanStatusCode } from '@opentelemetry/api';
import { dim, red } from './palette.js';
import type { ShownSpan } from './shown-span.js';

const NAME_COLUMNS = 44;

/** The trace below `root`, a line a span: name, duration, group. `spans` come in the order in which they started. */
export function spanTree(spans: readonly ShownSpan[], root: ShownSpan): string[] {
  const lines = [spanLine('', root)];
  const addChildren = (parent: ShownSpan, indent: string): void => {
    const children = spans.filter((span) => span.parentSpanContext?.spanId === parent.spanContext().spanId);
    children.forEach((child, index) => {
      const isLast = index === children.length - 1;
      lines.push(spanLine(`${indent}${isLast ? '└─ ' : '├─ '}`, child));
      addChildren(child, `${indent}${isLast ? '   ' : '│  '}`);
    });
  };
  addChildren(root, '');
  return lines;
}

function spanLine(branch: string, span: ShownSpan): string {
  const [seconds, nanoseconds] = span.duration;
  const duration = `${(seconds * 1_000 + nanoseconds / 1_000_000).toFixed(1)} ms`.padStart(9);
  const group = span.attributes['nestlens.group'];
  const error = span.status.code === SpanStatusCode.ERROR ? red('  error') : '';
  return `${dim(branch)}${span.name.padEnd(NAME_COLUMNS - branch.length)}${duration}   ${dim(typeof group === 'string' ? group : '')}${error}`;
}
