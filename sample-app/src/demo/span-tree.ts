import { SpanStatusCode } from '@opentelemetry/api';
import type { tracing } from '@opentelemetry/sdk-node';
import { dim, red } from './palette.js';

const NAME_COLUMNS = 44;

/** The trace below `root`, a line a span: name, duration, group. `spans` come in the order in which they started. */
export function spanTree(spans: readonly tracing.ReadableSpan[], root: tracing.ReadableSpan): string[] {
  const lines = [spanLine('', root)];
  const addChildren = (parent: tracing.ReadableSpan, indent: string): void => {
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

function spanLine(branch: string, span: tracing.ReadableSpan): string {
  const [seconds, nanoseconds] = span.duration;
  const duration = `${(seconds * 1_000 + nanoseconds / 1_000_000).toFixed(1)} ms`.padStart(9);
  const group = String(span.attributes['nestlens.group']);
  const error = span.status.code === SpanStatusCode.ERROR ? red('  error') : '';
  return `${dim(branch)}${span.name.padEnd(NAME_COLUMNS - branch.length)}${duration}   ${dim(group)}${error}`;
}
