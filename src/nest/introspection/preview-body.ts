import { describeValue } from '../../core/diagnostics/quote-details.js';
import { normaliseName } from '../../core/groups/span-group-spec.js';
import { SpanRegistry } from '../../core/groups/span-registry.js';
import { badRequest, readJsonBody, type RequestLike } from './json-body.js';
import { readSpec } from './override-body.js';

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

/** The content of a `POST /lens/groups/preview`. */
export interface AskedPreview {
  readonly seconds: number;
  /** Registered ones. */
  readonly groups: ReadonlySet<string>;
  /** The requested names that are not registered. */
  readonly pending: readonly string[];
}

/** Reads the body of `POST /lens/groups/preview`. @throws HttpException that says what is wrong, and where */
export function readPreviewBody(request: RequestLike, body: unknown): AskedPreview {
  const read = readJsonBody(request, body, ['seconds', 'groups', 'spec']);
  const { seconds = DEFAULT_SECONDS, groups, spec } = read;
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MAX_SECONDS)) {
    const wanted = `must be a number above 0 and at most ${MAX_SECONDS}`;
    throw badRequest('seconds', `${wanted}, not ${describeValue(seconds)}.`);
  }
  if (groups !== undefined && spec !== undefined)
    throw badRequest('spec', 'cannot be combined with groups; give one of the two.');
  if (groups === undefined && spec === undefined) {
    throw badRequest('groups', 'is missing: name the groups to count, such as ["db_query"], or give a spec.');
  }
  const names = groups === undefined ? [] : readNames(groups);
  const registered = SpanRegistry.groups();
  const isGroup = (name: string): boolean => registered.has(normaliseName(name));
  // A name that is no group's may be a preset or a pattern.
  const entries = spec ?? names.filter((name) => !isGroup(name)).join(',');
  const { enabled, pending } = SpanRegistry.resolve(
    readSpec(entries, spec === undefined ? 'groups' : 'spec'),
  );
  const named = names.filter(isGroup).map(normaliseName);
  return { seconds, groups: new Set([...named, ...enabled]), pending: [...pending].sort() };
}

function readNames(given: unknown): string[] {
  const wanted = 'must be a list of names, such as ["db_query"]';
  if (!Array.isArray(given)) throw badRequest('groups', `${wanted}, not ${describeValue(given)}.`);
  if (given.length === 0) throw badRequest('groups', `${wanted}, and not empty.`);
  const wrong = given.findIndex((name) => typeof name !== 'string');
  if (wrong !== -1) {
    throw badRequest(`groups[${wrong}]`, `must be a string, not ${describeValue(given[wrong])}.`);
  }
  return given as string[];
}
