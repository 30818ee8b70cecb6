import { SpanKind } from '@opentelemetry/api';
import { spanGate } from '../groups/span-gate.js';
import type { InstrumentationScope, SpanGate } from '../state/state-shape.js';
import { type Direction, directionOfKind, FIELD_ENDING, isFieldSpan } from './direction-of-kind.js';
import type { ScopeRole } from './known-scopes.js';

/** A group of a family, with its initial presets. */
export interface FamilyGroup {
  readonly name: string;
  readonly presets: readonly string[];
}

/** The endings of the groups of a scope that works in several directions, sorted. */
const DIRECTIONS_OF_ROLE = {
  rpc: ['client', 'server'],
  messaging: ['consumer', 'producer'],
  cloud: ['client', 'consumer', 'producer'],
} as const satisfies Partial<Record<ScopeRole, readonly Direction[]>>;

const INCOMING = ['default', 'per_request'];
const STEP = ['per_request'];

const PRESETS_OF_ROLE: Readonly<Partial<Record<ScopeRole, readonly string[]>>> = {
  incoming: INCOMING,
  step: STEP,
  graphql: STEP,
  database: ['databases'],
  cache: ['caches'],
};

/** Presets that every process with instrumentation groups has, even if they are empty. */
export const STANDARD_PRESETS: readonly string[] = ['default', 'per_request', 'databases', 'caches'];

/** The most scopes to list for one name. More are gated, but not listed. */
const MAX_SCOPES = 20;

/**
 * The scopes with a common name, nearly always one, and their groups. The groups can follow from the spans: an unknown scope
 * turns out to work in both directions when it makes spans of both kinds.
 */
export class ScopeFamily {
  readonly scopes: InstrumentationScope[] = [];
  private readonly roles = new Set<ScopeRole>();
  private readonly kinds = new Set<SpanKind>();
  /** By the number of the span's kind; empty for kinds that had no span yet. */
  private gates: (SpanGate | undefined)[] = [];
  private fieldGate: SpanGate | undefined;

  /**
   * @param base the beginning of the names of its groups
   * @param onChange called when it has other groups, or presets, than before
   * @param isHttpKnown says whether the instrumentation of http is in the process
   */
  constructor(
    readonly base: string,
    private readonly onChange: () => void,
    private readonly isHttpKnown: () => boolean,
  ) {}

  /** @returns whether that is news: some code asks for its tracer again for each span */
  addScope(scope: InstrumentationScope, role: ScopeRole | undefined): boolean {
    const at = this.scopes.findIndex(({ name }) => name === scope.name);
    const isNewScope = at === -1 && this.scopes.length < MAX_SCOPES;
    const isNewVersion =
      scope.version !== undefined && at !== -1 && this.scopes[at]!.version !== scope.version;
    const isNewRole = role !== undefined && !this.roles.has(role);
    if (isNewScope) this.scopes.push(scope);
    if (isNewVersion) this.scopes[at] = scope;
    if (isNewRole) this.roles.add(role);
    const isNews = isNewScope || isNewVersion || isNewRole;
    if (isNews) this.forgetGates();
    return isNews;
  }

  /** The gate of a new span. It is on the hot path: two field loads once the kind is known. */
  gateOf(name: string, kind: SpanKind = SpanKind.INTERNAL): SpanGate {
    if (this.fieldGate !== undefined && isFieldSpan(name)) return this.fieldGate;
    return this.gates[kind] ?? this.learnKind(kind);
  }

  groups(): FamilyGroup[] {
    const { base } = this;
    const directions = this.directions();
    if (directions !== undefined) {
      return directions.map((direction) => ({
        name: `${base}_${direction}`,
        presets: [base, ...this.presetsOfDirection(direction)],
      }));
    }
    const presets = new Set([...this.roles].flatMap((role) => PRESETS_OF_ROLE[role] ?? []));
    if (this.isIncoming()) for (const preset of INCOMING) presets.add(preset);
    const own = { name: base, presets: [...presets] };
    return this.roles.has('graphql') ? [own, { name: `${base}_${FIELD_ENDING}`, presets: [] }] : [own];
  }

  /**
   * Whether the scope has the span of an incoming request. `@fastify/otel` gives its spans the kind SERVER if http makes no
   * span: if http is told to ignore `/health`, or if there is no instrumentation of http. Only without that instrumentation
   * they count as incoming; else they are steps of a request.
   */
  private isIncoming(): boolean {
    return this.kinds.has(SpanKind.SERVER) && !(this.roles.has('step') && this.isHttpKnown());
  }

  private presetsOfDirection(direction: Direction): readonly string[] {
    if (direction === 'server' || direction === 'consumer') return INCOMING;
    // A call of a cloud client may be a query of a database or a step of the request. Nothing tells which, so it is in no
    // preset.
    return direction === 'client' && this.roles.has('cloud') ? [] : STEP;
  }

  private directions(): readonly Direction[] | undefined {
    for (const role of ['rpc', 'messaging', 'cloud'] as const) {
      if (this.roles.has(role)) return DIRECTIONS_OF_ROLE[role];
    }
    if (this.roles.size > 0) return undefined;
    const { kinds } = this;
    if (kinds.has(SpanKind.CONSUMER) || kinds.has(SpanKind.PRODUCER)) return DIRECTIONS_OF_ROLE.messaging;
    return kinds.has(SpanKind.SERVER) && kinds.has(SpanKind.CLIENT) ? DIRECTIONS_OF_ROLE.rpc : undefined;
  }

  private learnKind(asked: SpanKind): SpanGate {
    // An enum has its names as keys, too.
    const isKind = typeof asked === 'number' && SpanKind[asked] !== undefined;
    const kind = isKind ? asked : SpanKind.INTERNAL;
    const before = JSON.stringify(this.groups());
    this.kinds.add(kind);
    if (JSON.stringify(this.groups()) !== before) {
      this.forgetGates();
      this.onChange();
    }
    const direction = directionOfKind(kind, this.directions() ?? []);
    const gate = spanGate(direction === undefined ? this.base : `${this.base}_${direction}`);
    this.gates[kind] = gate;
    return gate;
  }

  private forgetGates(): void {
    this.gates = [];
    this.fieldGate = this.roles.has('graphql') ? spanGate(`${this.base}_${FIELD_ENDING}`) : undefined;
  }
}
