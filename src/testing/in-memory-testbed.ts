import { type Context, isSpanContextValid, type Span, type SpanOptions, trace } from '@opentelemetry/api';
import { argumentError } from '../core/diagnostics/argument-error.js';
import {
  type ReadDefinition,
  readDefinitions,
  type SpanGroupDefinition,
} from '../core/groups/span-group-definition.js';
import { clearSpanGroupOverride, overrideSpanGroups } from '../core/groups/span-group-override.js';
import {
  forgetSpanGroupState,
  pendingSpanGroups,
  setSpanGroupSpec,
} from '../core/groups/span-group-state.js';
import { registerDefinition } from '../core/groups/span-registry.js';
import type { LensWarningCode } from '../core/state/lens-warning.js';
import { createProcessState, processState } from '../core/state/process-state.js';
import { keepSpan } from '../core/traces/keep-span.js';
import type { CapturedSpan } from './captured-span.js';
import type { LensTestbed } from './lens-testbed.js';
import { RecordedSpan } from './recorded-span.js';
import { outlineSpans } from './span-outline.js';
import {
  outerTestbed,
  removeTestbed,
  runInTestbed,
  type Scope,
  type ScopedTestbed,
} from './testbed-scope.js';

/** Jest 29 gives tests no such symbol; compilers then use this one. */
const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose);

/**
 * Warnings that would only say that a testbed is in charge, and that its applications come and go. Unknown names in its spec
 * are reported where a test misses a span.
 */
const SILENCED: readonly LensWarningCode[] = [
  'NOTHING_REGISTERED',
  'SPEC_UNRESOLVED',
  'SPEC_SELECTED_NOTHING',
  'LATE_REGISTRATION',
  'OPTIONS_IGNORED',
  'RECENT_TRACES_UNSEEN',
];

/** A testbed, with its spans in memory. */
export class InMemoryTestbed implements LensTestbed, ScopedTestbed {
  readonly state = createProcessState();
  readonly outer = outerTestbed();
  private readonly definitions: readonly ReadDefinition[];
  /** In the order of their starts. */
  private readonly started = new Set<RecordedSpan>();
  private ended: RecordedSpan[] = [];
  /** The specs of `withGroups`; the last one is in force. */
  private specs: readonly { readonly spec: string }[] = [];
  private isDisposed = false;

  constructor(
    private readonly spec: string,
    definitions: Iterable<SpanGroupDefinition> | undefined,
  ) {
    const given =
      definitions ?? [...processState.namespaces].map(([namespace, own]) => ({ namespace, ...own }));
    // If an application has a group of that name too, that is no news.
    const from = 'createLensTestbed: definitions';
    if (typeof (given as Partial<typeof given>)[Symbol.iterator] !== 'function') {
      throw argumentError(from, 'an array or another iterable of definitions', given);
    }
    this.definitions = readDefinitions([...given], from).map((each) => ({
      ...each,
      allowOverride: true,
    }));
    for (const code of SILENCED) this.state.silenced.add(code);
    this.state.logger = processState.logger;
    this.state.setUp = true;
    Object.assign(this.state.telemetry, {
      phase: 'live',
      exporting: true,
      mode: 'attach',
      configuredSpec: spec,
      specSource: 'options',
    });
  }

  start(): void {
    this.do(() => {
      this.definitions.forEach(registerDefinition);
      setSpanGroupSpec(this.spec);
    });
  }

  startSpan(scope: Scope, name: string, options: SpanOptions, parent: Context): Span {
    const found = options.root === true ? undefined : trace.getSpanContext(parent);
    const parentContext = found !== undefined && isSpanContextValid(found) ? found : undefined;
    const span = new RecordedSpan(scope, name, options, parentContext, () => {
      if (this.started.has(span)) this.ended.push(span);
      const { recentTraces } = this.state;
      if (recentTraces !== undefined) keepSpan(recentTraces, span);
    });
    this.started.add(span);
    return span;
  }

  spans(): CapturedSpan[] {
    return [...this.ended];
  }

  span(name: string): CapturedSpan {
    const found = this.ended.filter((span) => span.name === name);
    if (found.length === 1) return found[0]!;
    const list = (names: ReadonlySet<string>): string => [...names].sort().join(', ');
    const pending = this.isDisposed ? new Set<string>() : this.do(pendingSpanGroups);
    throw new Error(
      [
        `Expected exactly one span named "${name}", but ${found.length} have ended.`,
        `Groups that are on: ${list(this.state.enabled) || 'none'}.`,
        ...(pending.size === 0 ? [] : [`Entries of the spec that match nothing: ${list(pending)}.`]),
        `Spans so far:\n${this.tree() || '(none)'}`,
      ].join(' '),
    );
  }

  tree(): string {
    return outlineSpans([...this.started]);
  }

  withGroups<T>(spec: string, fn: () => T): T {
    const own = { spec };
    this.specs = [...this.specs, own];
    const end = (): void => {
      this.specs = this.specs.filter((each) => each !== own);
      if (!this.isDisposed) this.do(() => this.applySpec());
    };
    let result: T;
    try {
      result = this.do(() => {
        this.applySpec();
        return fn();
      });
    } catch (error) {
      end();
      throw error;
    }
    // A request of supertest is sent when it is awaited.
    if (isThenable(result)) return Promise.resolve(result).finally(end) as T;
    end();
    return result;
  }

  reset(): void {
    this.started.clear();
    this.ended = [];
    this.specs = [];
    this.do(() => {
      const { namespaces, applications, recordedWarnings } = processState;
      const isHeld = (namespace: string): boolean =>
        [...applications].some((application) => application.namespaces.has(namespace));
      for (const namespace of [...namespaces.keys()]) if (!isHeld(namespace)) namespaces.delete(namespace);
      for (const { namespace, groups, presets, origin } of this.definitions) {
        namespaces.set(namespace, { groups, presets, origin });
      }
      forgetSpanGroupState();
      processState.setUp = true;
      setSpanGroupSpec(this.spec);
      recordedWarnings.length = 0;
    });
  }

  dispose(): Promise<void> {
    if (!this.isDisposed) clearTimeout(this.state.override?.timer);
    this.isDisposed = true;
    removeTestbed(this);
    return Promise.resolve();
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.dispose();
  }

  private applySpec(): void {
    const top = this.specs.at(-1);
    if (top === undefined) clearSpanGroupOverride();
    else overrideSpanGroups(top.spec);
  }

  private do<T>(act: () => T): T {
    if (this.isDisposed)
      throw new Error('This testbed is disposed. Make a new one with createLensTestbed().');
    return runInTestbed(this, act);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
