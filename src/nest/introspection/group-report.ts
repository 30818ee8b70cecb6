import { quoteDetails } from '../../core/diagnostics/quote-details.js';
import { entriesFor } from '../../core/groups/explain-span-groups.js';
import { nearestNames } from '../../core/groups/nearest-name.js';
import type { LensReport, SpanGroupDescription } from './lens-report.js';

/** The answer of `GET /lens/groups/:name`: the group as in the whole document, with its sites. */
export interface SpanGroupReport extends SpanGroupDescription {
  /** Its decorated handlers and methods in this application. */
  siteList: NonNullable<SpanGroupDescription['siteList']>;
  /** The entries of a spec that turn it on, apart from wildcards: its name, its presets, `all`. */
  turnedOnBy: string[];
}

/** The answer for a name that is not registered. */
export interface UnknownSpanGroup {
  message: string;
  /** The registered groups that the name may mean, nearest first. */
  nearest: string[];
}

const MAX_NEAREST = 5;

/** One group of a document that lists sites; undefined if there is none of that name. */
export function reportGroup({ groups }: LensReport, name: string): SpanGroupReport | undefined {
  const group = groups.find((one) => one.name === name);
  return group && { ...group, siteList: group.siteList ?? [], turnedOnBy: entriesFor(name) };
}

/** Lists the groups that an unknown name may mean. */
export function reportUnknownGroup({ groups, presets }: LensReport, name: string): UnknownSpanGroup {
  const registered = groups.map((group) => group.name);
  const nearest = nearestNames(name, registered, MAX_NEAREST);
  const members = Object.hasOwn(presets, name) ? presets[name]! : undefined;
  const quoted = quoteDetails({ name, members: members ?? [], nearest });
  const hint =
    members !== undefined
      ? `It is a preset, which names ${quoted.members}.`
      : nearest.length > 0
        ? `Near it are ${quoted.nearest}.`
        : 'GET the document of all groups lists those that there are.';
  return { message: `No span group of this process is named '${quoted.name}'. ${hint}`, nearest };
}
