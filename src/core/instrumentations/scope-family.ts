import { SpanKind } from '@opentelemetry/api';
import { spanGate } from '../groups/span-gate.js';
import type { InstrumentationScope, SpanGate } from '../state/state-shape.js';
import type { ScopeRole } from './known-scopes.js';

/** A group of a family, with its initial presets. */
export interface FamilyGroup {
  readonly name: string;
  readonly presets: readonly string[];
}

type Suffix = 'server' | 'client' | 'consumer' | 'producer';

/** The endings of group names, by the number of the span's kind: INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER. */
const SUFFIX_OF_KIND = {
  rpc: ['client', 'server', 'client', 'client', 'server'],
  // A client's span fetches messages, so it counts as a consumer's.
  messaging: ['producer', 'consumer', 'consumer', 'producer', 'consumer'],
  cloud: ['client', 'consumer', 'client', 'producer', 'consumer'],
} as const satisfies Record<string, readonly Suffix[]>;

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

/** The beginning of the names of instrumentation-graphql's spans for fields. */
const GRAPHQL_FIELD = 'graphql.resolve';

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
    // The tracer itself takes any name.
    if (this.fieldGate !== undefined && String(name).startsWith(GRAPHQL_FIELD)) return this.fieldGate;
    return this.gates[kind] ?? this.learnKind(kind);
  }

  groups(): FamilyGroup[] {
    const { base } = this;
    const suffixOfKind = this.suffixOfKind();
    if (suffixOfKind !== undefined) {
      return [...new Set(suffixOfKind)].sort().map((suffix) => ({
        name: `${base}_${suffix}`,
        presets: [base, ...this.presetsOfSuffix(suffix)],
      }));
    }
    const presets = new Set([...this.roles].flatMap((role) => PRESETS_OF_ROLE[role] ?? []));
    if (this.isIncoming()) for (const preset of INCOMING) presets.add(preset);
    const own = { name: base, presets: [...presets] };
    return this.roles.has('graphql') ? [own, { name: `${base}_resolve`, presets: [] }] : [own];
  }

  /**
   * A framework's span of a request is a step, though `@fastify/otel` makes it a server's span where http has none: where http is told
   * to ignore `/health`, or where there is no instrumentation of http. Only then it is what comes in.
   */
  private isIncoming(): boolean {
    return this.kinds.has(SpanKind.SERVER) && !(this.roles.has('step') && this.isHttpKnown());
  }

  private presetsOfSuffix(suffix: Suffix): readonly string[] {
    if (suffix === 'server' || suffix === 'consumer') return INCOMING;
    // A cloud client's call is as often one to a database or store as a step of the request.
    return suffix === 'client' && this.roles.has('cloud') ? [] : STEP;
  }

  private suffixOfKind(): readonly Suffix[] | undefined {
    for (const role of ['rpc', 'messaging', 'cloud'] as const) {
      if (this.roles.has(role)) return SUFFIX_OF_KIND[role];
    }
    if (this.roles.size > 0) return undefined;
    const { kinds } = this;
    if (kinds.has(SpanKind.CONSUMER) || kinds.has(SpanKind.PRODUCER)) return SUFFIX_OF_KIND.messaging;
    return kinds.has(SpanKind.SERVER) && kinds.has(SpanKind.CLIENT) ? SUFFIX_OF_KIND.rpc : undefined;
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
    const suffix = this.suffixOfKind()?.[kind];
    const gate = spanGate(suffix === undefined ? this.base : `${this.base}_${suffix}`);
    this.gates[kind] = gate;
    return gate;
  }

  private forgetGates(): void {
    this.gates = [];
    this.fieldGate = this.roles.has('graphql') ? spanGate(`${this.base}_resolve`) : undefined;
  }
}
