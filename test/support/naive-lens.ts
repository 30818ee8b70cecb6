/**
 * The rules of the registry, the spec and their warnings, written down as simply as possible: nothing is kept but what
 * was said, and every answer is worked out from scratch. Slow on purpose; the real thing is compared with it.
 */
export interface NaiveRegistration {
  namespace: string;
  groups: string[];
  presets: [name: string, members: string[]][];
  allowOverride: boolean;
}

/** What a step does: it is refused with a code, or it logs warnings. */
export type NaiveOutcome = { refused: string } | { warned: string[] };

interface Layer {
  spec: string;
  /** What the last report was about; '' when nothing was said yet. */
  memory: string;
}

const ok = (warned: string[] = []): NaiveOutcome => ({ warned });
const normalise = (name: string): string => name.trim().toLowerCase();
const unique = (names: string[]): string[] => [...new Set(names)].sort();

export class NaiveLens {
  private registrations: NaiveRegistration[] = [];
  private kept: Layer | undefined;
  private override: Layer | undefined;
  private pinned: string[] | undefined;

  constructor(
    /** Whether an enabled set-up is behind us. */
    private readonly setUp: boolean,
  ) {}

  // What can be read.

  namespaces(): string[] {
    return unique(this.registrations.map(({ namespace }) => namespace));
  }

  groups(): string[] {
    return unique(this.registrations.flatMap(({ groups }) => groups.map(normalise)));
  }

  presets(): [string, string[]][] {
    const live = this.groups();
    const named = this.registrations.flatMap(({ presets }) => presets);
    const names = unique(named.map(([name]) => normalise(name)));
    return names
      .map((name): [string, string[]] => {
        const members = named.filter(([other]) => normalise(other) === name).flatMap(([, list]) => list);
        return [name, unique(members.map(normalise)).filter((member) => live.includes(member))];
      })
      .concat([['all', live]]);
  }

  resolve(spec: string): { enabled: string[]; pending: string[] } {
    const pending: string[] = [];
    const included: string[] = [];
    const excluded: string[] = [];
    for (const entry of spec.split(',').map(normalise)) {
      if (entry === '') continue;
      const exclusion = entry.startsWith('-');
      const found = this.lookUp(exclusion ? entry.slice(1) : entry);
      if (found === undefined) pending.push(entry);
      else (exclusion ? excluded : included).push(...found);
    }
    return { enabled: unique(included).filter((name) => !excluded.includes(name)), pending: unique(pending) };
  }

  enabled(): string[] {
    if (this.pinned !== undefined) return unique(this.pinned);
    return this.active === undefined ? [] : this.resolve(this.active.spec).enabled;
  }

  pending(): string[] {
    return this.active === undefined ? [] : this.resolve(this.active.spec).pending;
  }

  // What can be done.

  register(call: NaiveRegistration): NaiveOutcome {
    const groups = call.groups.map(normalise);
    const others = this.registrations.filter(({ namespace }) => namespace !== call.namespace);
    if (call.namespace === '') return { refused: 'EMPTY_NAMESPACE' };
    if (groups.includes('')) return { refused: 'EMPTY_GROUP_NAME' };
    if (groups.includes('all')) return { refused: 'RESERVED_NAME' };
    if (others.length < this.registrations.length && !call.allowOverride)
      return { refused: 'NAMESPACE_REGISTERED' };
    if (call.presets.some(([name]) => normalise(name) === 'all')) return { refused: 'RESERVED_NAME' };
    this.registrations = [...others, call];

    const warned: string[] = [];
    for (const other of others) {
      const clash = other.groups.some((name) => groups.includes(normalise(name)));
      if (clash && !call.allowOverride) warned.push('GROUP_COLLISION');
    }
    for (const [, members] of call.presets) {
      if (members.some((member) => !this.groups().includes(normalise(member)))) {
        warned.push('PRESET_MEMBER_UNREGISTERED');
      }
    }
    const mentioned = unique([...groups, ...call.presets.map(([name]) => normalise(name))]);
    if (mentioned.some((name) => /[^a-z0-9_]/.test(name))) warned.push('NAME_STYLE');
    const presetNames = this.presets().map(([name]) => name);
    for (const name of mentioned) {
      if (this.groups().includes(name) && presetNames.includes(name)) warned.push('PRESET_SHADOWS_GROUP');
    }
    if (this.setUp) warned.push('LATE_REGISTRATION');
    return ok([...warned, ...this.changed()]);
  }

  unregister(namespace: string): NaiveOutcome {
    if (!this.namespaces().includes(namespace)) return { refused: 'NAMESPACE_NOT_REGISTERED' };
    this.registrations = this.registrations.filter((other) => other.namespace !== namespace);
    return ok(this.changed());
  }

  clear(): NaiveOutcome {
    this.registrations = [];
    return ok(this.changed());
  }

  setSpec(spec: string): NaiveOutcome {
    this.pinned = undefined;
    this.kept = { spec, memory: '' };
    return ok(this.report(this.kept));
  }

  pin(groups: string[]): NaiveOutcome {
    this.kept = undefined;
    this.override = undefined;
    this.pinned = groups;
    return ok();
  }

  overrideWith(spec: string): NaiveOutcome {
    if (this.pinned !== undefined) return { refused: 'PINNED' };
    this.override = { spec, memory: '' };
    return ok(this.report(this.override));
  }

  clearOverride(): NaiveOutcome {
    if (this.pinned !== undefined) return { refused: 'PINNED' };
    if (this.override === undefined) return ok();
    this.override = undefined;
    return ok(this.changed());
  }

  private get active(): Layer | undefined {
    return this.override ?? this.kept;
  }

  /** The groups an entry without its sign stands for; undefined when it stands for nothing registered. */
  private lookUp(name: string): string[] | undefined {
    if (name.includes('*')) {
      const matches = this.groups().filter((group) => matchesNaively(name, group));
      return matches.length === 0 ? undefined : matches;
    }
    const preset = this.presets().find(([other]) => other === name);
    if (preset !== undefined) return preset[1];
    return this.groups().includes(name) ? [name] : undefined;
  }

  private changed(): string[] {
    const layer = this.active;
    if (layer === undefined) return [];
    return this.keyOf(layer) === layer.memory ? [] : this.report(layer);
  }

  private report(layer: Layer): string[] {
    layer.memory = this.keyOf(layer);
    const { enabled, pending } = this.resolve(layer.spec);
    if (layer.spec.trim() === '') return [];
    if (this.groups().length === 0) return ['NOTHING_REGISTERED'];
    if (pending.length > 0) return ['SPEC_UNRESOLVED'];
    const includes = layer.spec.split(',').some((entry) => !['', '-'].includes(normalise(entry).charAt(0)));
    return enabled.length === 0 && includes ? ['SPEC_SELECTED_NOTHING'] : [];
  }

  private keyOf(layer: Layer): string {
    const { enabled, pending } = this.resolve(layer.spec);
    return JSON.stringify([pending, this.groups().length === 0, enabled.length === 0]);
  }
}

/** Matches by trying every length for the first star. */
function matchesNaively(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] !== '*') return text[0] === pattern[0] && matchesNaively(pattern.slice(1), text.slice(1));
  return Array.from({ length: text.length + 1 }).some((_, taken) =>
    matchesNaively(pattern.slice(1), text.slice(taken)),
  );
}
