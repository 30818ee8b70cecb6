import { SpanStatusCode } from '@opentelemetry/api';
import { GROUP_ATTRIBUTE } from '../spans/site-attributes.js';
import { printValue } from '../spans/span-exception.js';
import type { KeptSpan } from '../state/recent-traces-state.js';
import { isLocalRoot } from '../traces/is-local-root.js';
import { preciseStarts } from '../traces/precise-start.js';
import { milliseconds } from '../traces/span-time.js';
import type { SpanExporterLike } from './setup-options.js';
import { writeOut } from './standard-output.js';

/** The most traces that wait for their root. Beyond that, the oldest is printed incomplete. */
const MAX_WAITING = 200;
/** A trace with this many spans is printed incomplete; later spans are printed as another part of it. */
const MAX_SPANS = 1_000;
/** More siblings of one name than this are folded into a line with their number. */
const MAX_ALIKE = 5;
/** A trace waits this long for its root, in milliseconds. */
const UNFINISHED_AFTER_MS = 10_000;
/**
 * A trace whose root has ended waits this long for missing parents, in milliseconds. Express's request handlers end when the
 * response closes, after the server's span.
 */
const LATE_PARENTS_WITHIN_MS = 300;
/** The most printed traces to remember, so that later spans can be marked as late. */
const MAX_PRINTED = 200;
const NAME_COLUMNS = 44;

interface WaitingTrace {
  readonly spans: KeptSpan[];
  timer: NodeJS.Timeout;
}

/** Exporter `tree`: prints each trace as a tree when its first span has ended, for people at a terminal. */
export class TreeSpanExporter implements SpanExporterLike {
  private readonly waiting = new Map<string, WaitingTrace>();
  private readonly printed = new Set<string>();

  constructor(
    private readonly write: (text: string) => void = writeOut,
    private readonly coloured = Boolean(process.stdout.isTTY) && !process.env['NO_COLOR'],
    private readonly showsAttributes = process.env['NEST_LENS_TREE']?.trim().toLowerCase() === 'attributes',
  ) {}

  export(spans: unknown[], done: (result: { code: number }) => void): void {
    for (const span of spans as KeptSpan[]) this.take(span);
    done({ code: 0 });
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    for (const traceId of [...this.waiting.keys()]) this.print(traceId);
    return Promise.resolve();
  }

  private take(span: KeptSpan): void {
    const { traceId } = span.spanContext();
    let trace = this.waiting.get(traceId);
    if (trace === undefined) {
      if (this.waiting.size >= MAX_WAITING) this.print(this.waiting.keys().next().value!);
      const delayMs = this.printed.has(traceId) ? LATE_PARENTS_WITHIN_MS : UNFINISHED_AFTER_MS;
      trace = { spans: [], timer: this.printAfter(delayMs, traceId) };
      this.waiting.set(traceId, trace);
    }
    trace.spans.push(span);
    const hasRoot = trace.spans.some(isLocalRoot);
    if (trace.spans.length >= MAX_SPANS || (hasRoot && topsOf(trace.spans).every(isLocalRoot)))
      this.print(traceId);
    else if (isLocalRoot(span)) {
      clearTimeout(trace.timer);
      trace.timer = this.printAfter(LATE_PARENTS_WITHIN_MS, traceId);
    }
  }

  private printAfter(delayMs: number, traceId: string): NodeJS.Timeout {
    const print = (): void => {
      try {
        this.print(traceId);
      } catch {
        // Somebody's `process.stdout.write` has thrown. Nobody catches that in a timer, so it would end the process.
      }
    };
    return setTimeout(print, delayMs).unref();
  }

  private print(traceId: string): void {
    const { spans, timer } = this.waiting.get(traceId)!;
    clearTimeout(timer);
    this.waiting.delete(traceId);
    const startOf = preciseStarts(spans.find(isLocalRoot) ?? spans[0]);
    spans.sort((a, b) => startOf(a) - startOf(b));
    const state = this.printed.has(traceId) ? 'what ended later' : 'not finished';
    const note = spans.some(isLocalRoot) ? [] : [this.style(33, `trace ${traceId}, ${state}:`)];
    this.printed.add(traceId);
    if (this.printed.size > MAX_PRINTED) this.printed.delete(this.printed.values().next().value!);
    const lines = topsOf(spans).flatMap((top) => [this.line('', '', top), ...this.below(top, spans, '')]);
    this.write(`${[...note, ...lines].join('\n')}\n`);
  }

  private below(parent: KeptSpan, spans: readonly KeptSpan[], indent: string): string[] {
    const { spanId } = parent.spanContext();
    const children = spans.filter((span) => span.parentSpanContext?.spanId === spanId);
    const alike = new Map<string, number>();
    for (const { name } of children) alike.set(name, (alike.get(name) ?? 0) + 1);
    const seen = new Map<string, number>();
    return children.flatMap((child, index) => {
      const nth = (seen.get(child.name) ?? 0) + 1;
      seen.set(child.name, nth);
      if (nth > MAX_ALIKE + 1) return [];
      const isLast = index === children.length - 1;
      const branch = `${indent}${isLast ? '└─ ' : '├─ '}`;
      const more = alike.get(child.name)! - MAX_ALIKE;
      if (nth > MAX_ALIKE) return [this.style(2, `${branch}${more} more ${printable(child.name)}`)];
      const inside = `${indent}${isLast ? '   ' : '│  '}`;
      return [this.line(branch, inside, child), ...this.below(child, spans, inside)];
    });
  }

  private line(branch: string, inside: string, { name, duration, status, attributes }: KeptSpan): string {
    const took = `${milliseconds(duration).toFixed(1)} ms`.padStart(9);
    const group = attributes[GROUP_ATTRIBUTE];
    const error =
      status.code === SpanStatusCode.ERROR
        ? this.style(31, `  error${status.message ? `: ${printable(status.message)}` : ''}`)
        : '';
    const head = `${this.style(2, branch)}${printable(name).padEnd(NAME_COLUMNS - branch.length)}${took}`;
    const shown = this.showsAttributes ? Object.entries(attributes) : [];
    const details = shown
      .filter(([key]) => key !== GROUP_ATTRIBUTE)
      .map(([key, value]) => this.style(2, `\n${inside}     ${key}: ${JSON.stringify(value)}`));
    return `${head}${typeof group === 'string' ? this.style(2, `   ${group}`) : ''}${error}${details.join('')}`;
  }

  private style(code: number, text: string): string {
    return this.coloured ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

/** On one line, without control characters for the terminal. JavaScript code can give a span a name of any type. */
function printable(text: unknown): string {
  return printValue(text).replace(/\p{Cc}+/gu, ' ');
}

/** The spans whose parent isn't in the list. */
function topsOf(spans: readonly KeptSpan[]): KeptSpan[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  return spans.filter(({ parentSpanContext: parent }) => parent === undefined || !ids.has(parent.spanId));
}
