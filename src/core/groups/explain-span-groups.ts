import { processState } from '../state/process-state.js';
import { activeLayer } from './active-layer.js';
import { indexRegistry } from './registry-index.js';
import { ALL, groupsOf, parseSpanGroupSpec, resolveSpec } from './span-group-spec.js';

/** What the process knows of one registered group. */
export interface ExplainedSpanGroup {
  readonly name: string;
  readonly enabled: boolean;
  /** Who registered it. */
  readonly namespaces: string[];
  /** The presets that name it, without `all`. */
  readonly presets: string[];
  /** The entries of the spec that turned it on; empty while it is off, or pinned on. */
  readonly because: string[];
}

/** Every registered group: whether it is on, and why. Every list is sorted. */
export function explainSpanGroups(): ExplainedSpanGroup[] {
  const index = indexRegistry();
  const explained = new Map<string, ExplainedSpanGroup>();
  for (const name of [...index.groups].sort()) {
    const enabled = processState.enabled.has(name);
    explained.set(name, { name, enabled, namespaces: [], presets: [], because: [] });
  }
  for (const namespace of [...processState.namespaces.keys()].sort()) {
    const { groups } = processState.namespaces.get(namespace)!;
    for (const group of groups) explained.get(group)!.namespaces.push(namespace);
  }
  for (const preset of [...index.presets.keys()].sort()) {
    for (const member of index.presets.get(preset)!) explained.get(member)?.presets.push(preset);
  }
  for (const entry of [...(activeLayer()?.spec.included ?? [])].sort()) {
    for (const group of groupsOf(entry, index) ?? []) {
      const facts = explained.get(group)!;
      if (facts.enabled) facts.because.push(entry);
    }
  }
  return [...explained.values()];
}

/** The entries of a spec, apart from wildcards, that turn a registered group on: its name, its presets, and `all`. */
export function entriesFor(group: string): string[] {
  const index = indexRegistry();
  const presets = [...index.presets.keys()].filter((preset) => index.presets.get(preset)!.has(group)).sort();
  // If a name is a preset and a group, it means the preset.
  const names = index.presets.has(group) ? [] : [group];
  // Odd names are none of these: what begins with a `-` takes groups away, what has a `*` is a pattern.
  return [...names, ...presets, ALL].filter((entry) =>
    resolveSpec(parseSpanGroupSpec(entry), index).enabled.has(group),
  );
}
