// What the specs with real instrumentations make of the spans that a program in its own process has kept.

export interface KeptSpan {
  scope: string;
  kind: number;
  name: string;
  id: string;
  traceId: string;
  parent?: string;
  attributes: Record<string, unknown>;
}

export interface AskedRequest {
  spec: string;
  path: string;
  headers?: Record<string, string>;
}

export interface Answer {
  /** Place in the application's code -> the id of the active span there, if any. */
  active: Record<string, string | null>;
  /** Way out -> the traceparent that went there, '' for none. */
  sent: Record<string, string>;
  spans: KeptSpan[];
}

export const CALLERS_SPAN = 'b7ad6b7169203331';
export const CALLERS_TRACE = '0af7651916cd43dd8448eb211c80319c';
export const FROM_CALLER = { traceparent: `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01` };

const SERVER = 1;

/** Scope -> its group, or those of spans that come in and go out. */
const GROUPS: Record<string, string | [incoming: string, outgoing: string]> = {
  '@opentelemetry/instrumentation-http': ['http_server', 'http_client'],
  '@opentelemetry/instrumentation-grpc': ['grpc_server', 'grpc_client'],
  '@opentelemetry/instrumentation-express': 'express',
  '@opentelemetry/instrumentation-nestjs-core': 'nestjs_core',
  '@opentelemetry/instrumentation-undici': 'undici',
  '@opentelemetry/instrumentation-pg': 'pg',
  '@opentelemetry/instrumentation-knex': 'knex',
  '@opentelemetry/instrumentation-mysql2': 'mysql2',
  '@opentelemetry/instrumentation-ioredis': 'ioredis',
  '@opentelemetry/instrumentation-redis': 'redis',
  '@fastify/otel': 'fastify',
  prisma: 'prisma',
};

/** The group that a span is in, as the documentation has it. */
export function groupOf({ scope, kind, name }: KeptSpan): string {
  if (scope === 'nest-lens') return name === 'own block' ? 'own' : 'orders';
  if (scope === '@opentelemetry/instrumentation-graphql') {
    return name.startsWith('graphql.resolve') ? 'graphql_resolve' : 'graphql';
  }
  const group = GROUPS[scope];
  if (group === undefined) throw new Error(`a scope that nobody expects: ${scope}`);
  return typeof group === 'string' ? group : group[kind === SERVER ? 0 : 1];
}

/** These make a span only where there is one around it. */
const NEEDS_PARENT: ReadonlySet<string> = new Set(['express', 'ioredis']);

const labelOf = (span: KeptSpan): string => `${groupOf(span)}: ${span.name}`;

/** The spans of a request, and what is above each of them. */
export class SpanTree {
  private readonly byId: ReadonlyMap<string, KeptSpan>;

  /** @param isOn leaves the others out, and what isn't made without a parent; undefined: the tree as it is */
  constructor(
    readonly spans: readonly KeptSpan[],
    private readonly isOn?: (span: KeptSpan) => boolean,
  ) {
    this.byId = new Map(spans.map((span) => [span.id, span]));
  }

  /** The spans that are on, from the root to this one; the first is the caller's, or `none`. */
  /** @param caller what stands for a parent that is somebody else's span, or none */
  private above(id: string | null | undefined, caller: string): string[] {
    const span = id == null ? undefined : this.byId.get(id);
    if (span === undefined) return [id == null || id === CALLERS_SPAN ? caller : `unknown span ${id}`];
    const outer = this.above(span.parent, caller);
    const hasParent = outer.length > 1 || outer[0] !== 'none';
    const isMade =
      this.isOn === undefined || (this.isOn(span) && (hasParent || !NEEDS_PARENT.has(groupOf(span))));
    return isMade ? [...outer, labelOf(span)] : outer;
  }

  /** The nearest span that is on, with what is above it. */
  pathTo(id: string | null | undefined, caller: string): string {
    return this.above(id, caller).join(' > ');
  }

  /** All that are made, each with what is above it. */
  paths(caller: string): string[] {
    return this.spans
      .filter((span) => this.above(span.id, caller).at(-1) === labelOf(span) && this.isOn?.(span) !== false)
      .map((span) => this.pathTo(span.id, caller))
      .sort();
  }
}

/** The id in a traceparent; undefined where none was sent. */
export const sentId = (traceparent: string): string | undefined => traceparent.split('-')[2];
