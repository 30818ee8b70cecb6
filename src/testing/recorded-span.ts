import { randomBytes } from 'node:crypto';
import {
  type Attributes,
  type AttributeValue,
  type Exception,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  type TimeInput,
  TraceFlags,
} from '@opentelemetry/api';
import type { CapturedSpan } from './captured-span.js';
import type { Scope } from './testbed-scope.js';

interface Thrown {
  readonly code?: string | number;
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
}

const RESOURCE = { attributes: {} };

/** A span that is kept in memory, so that a test needs no SDK. It keeps attributes like the SDK's spans. */
export class RecordedSpan implements Span, CapturedSpan {
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  endTime: HrTime = [0, 0];
  duration: HrTime = [0, 0];
  ended = false;
  status: SpanStatus = { code: SpanStatusCode.UNSET };
  readonly attributes: Attributes = {};
  readonly events: { name: string; time: HrTime; attributes?: Attributes }[] = [];
  readonly links: Link[];
  readonly resource = RESOURCE;
  private readonly context: SpanContext;
  private readonly startedAt = performance.now();

  constructor(
    readonly instrumentationScope: Scope,
    public name: string,
    options: SpanOptions,
    readonly parentSpanContext: SpanContext | undefined,
    private readonly onEnd: (span: RecordedSpan) => void,
  ) {
    this.context = {
      traceId: parentSpanContext?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      traceFlags: TraceFlags.SAMPLED,
      ...(parentSpanContext?.traceState === undefined ? {} : { traceState: parentSpanContext.traceState }),
    };
    this.kind = options.kind ?? SpanKind.INTERNAL;
    this.startTime = timeOf(options.startTime ?? Date.now());
    this.links = [...(options.links ?? [])];
    this.setAttributes(options.attributes ?? {});
  }

  spanContext(): SpanContext {
    return this.context;
  }

  setAttribute(key: string, value: unknown): this {
    if (!this.ended && key !== '' && isAttributeValue(value)) this.attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const [key, value] of Object.entries(attributes)) this.setAttribute(key, value);
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.ended) return this;
    const hasAttributes = attributesOrTime !== undefined && !isTime(attributesOrTime);
    const at = hasAttributes ? time : attributesOrTime;
    this.events.push({
      name,
      time: timeOf(at ?? Date.now()),
      attributes: hasAttributes ? { ...attributesOrTime } : {},
    });
    return this;
  }

  addLink(link: Link): this {
    return this.addLinks([link]);
  }

  addLinks(links: Link[]): this {
    if (!this.ended) this.links.push(...links);
    return this;
  }

  setStatus({ code, message }: SpanStatus): this {
    if (!this.ended) this.status = message === undefined ? { code } : { code, message };
    return this;
  }

  updateName(name: string): this {
    if (!this.ended) this.name = name;
    return this;
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const thrown: Thrown = typeof exception === 'string' ? { message: exception } : exception;
    const type = thrown.code ?? thrown.name;
    this.addEvent(
      'exception',
      {
        ...(type === undefined ? {} : { 'exception.type': String(type) }),
        ...(thrown.message === undefined ? {} : { 'exception.message': thrown.message }),
        ...(thrown.stack === undefined ? {} : { 'exception.stacktrace': thrown.stack }),
      },
      time,
    );
  }

  end(endTime?: TimeInput): void {
    if (this.ended) return;
    const started = millisecondsOf(this.startTime);
    const elapsed =
      endTime === undefined ? performance.now() - this.startedAt : millisecondsOf(timeOf(endTime)) - started;
    this.duration = hrTime(Math.max(elapsed, 0));
    this.endTime = hrTime(started + Math.max(elapsed, 0));
    this.ended = true;
    this.onEnd(this);
  }

  isRecording(): boolean {
    return !this.ended;
  }
}

function hrTime(milliseconds: number): HrTime {
  const seconds = Math.trunc(milliseconds / 1e3);
  return [seconds, Math.round((milliseconds - seconds * 1e3) * 1e6)];
}

function millisecondsOf([seconds, nanoseconds]: HrTime): number {
  return seconds * 1e3 + nanoseconds / 1e6;
}

function isTime(value: Attributes | TimeInput): value is TimeInput {
  return typeof value === 'number' || value instanceof Date || Array.isArray(value);
}

/** Reads a time like the SDK: a small number is one of `performance.now()`. */
function timeOf(time: TimeInput): HrTime {
  if (Array.isArray(time)) return time;
  if (time instanceof Date) return hrTime(time.getTime());
  return hrTime(time < performance.timeOrigin ? performance.timeOrigin + time : time);
}

/** Whether the SDK keeps such a value; it drops all others. */
function isAttributeValue(value: unknown): value is AttributeValue {
  if (!Array.isArray(value)) return ['string', 'number', 'boolean'].includes(typeof value);
  const kinds = new Set(value.filter((item) => item != null).map((item) => typeof item));
  return kinds.size === 0 || (kinds.size === 1 && isAttributeValue(value.find((item) => item != null)));
}
