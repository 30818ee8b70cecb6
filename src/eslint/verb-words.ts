/** Verbs that are hardly ever nouns: a name that begins with one names an action. */
const VERBS = new Set(
  (
    'accept activate add allocate append apply approve ask assign attach authenticate authorise authorize begin bring ' +
    'buy calculate cancel choose clear collect compute confirm connect consume convert copy create deactivate decline ' +
    'decode decrypt delete deliver dequeue deserialise deserialize detach determine disable disconnect do emit enable ' +
    'encode encrypt enqueue ensure evaluate execute fetch find fulfil fulfill generate get give handle ignore ' +
    'initialise initialize insert invalidate invoke keep make merge modify move notify obtain open parse pay perform ' +
    'persist prepare prepend publish put receive reject remove rename replace resolve retrieve save seek select send ' +
    'serialise serialize set ship show sort store submit subscribe take tell transform trigger try unregister ' +
    'unsubscribe update use validate verify'
  ).split(' '),
);

/** Verbs that are also nouns: they count only before an object, as in `process_payment`. */
const VERBS_BEFORE_OBJECTS = new Set(
  'book build call charge check close count load place process read refund render reserve run search start stop write'.split(
    ' ',
  ),
);

/** Words after a noun: `read_model`, `load_balancer`, `search_index` are things. */
const HEADS_OF_NOUNS = new Set(
  (
    'api balancer cache cluster count counter digit duration engine error event gate group handler history index ' +
    'integration job limit list lock log loop manager model output path phase pool process provider queue rate replica ' +
    'result service set side span state status step store time timeout up view worker'
  ).split(' '),
);

const ALSO_NOUNS = new Set(['set', 'sort', 'store', 'ship', 'open', 'move', 'copy', 'update', 'merge']);

/** Gerunds that have become names of things. */
const NOUNS_IN_ING = new Set(
  'accounting banking billing booking building caching charging clearing indexing invoicing keying listing loading logging mapping merging messaging moving opening parsing pricing processing publishing rating reading rendering routing scheduling setting shipping sorting tracing training writing'.split(
    ' ',
  ),
);

const VOWEL = /[aeiou]/;

/** The verb of a gerund: `saving` -> `save`, `getting` -> `get`. */
function verbOf(gerund: string): string | undefined {
  if (!gerund.endsWith('ing')) return undefined;
  const stem = gerund.slice(0, -3);
  const doubled = /([^aeiou])\1$/.test(stem) ? [stem.slice(0, -1)] : [];
  return [stem, `${stem}e`, ...doubled].find((verb) => VERBS.has(verb) || VERBS_BEFORE_OBJECTS.has(verb));
}

/**
 * The verb that a name begins with; undefined if the name is a thing. It guesses by lists, and rather misses a verb than
 * complains about a noun.
 */
export function verbIn(name: string): string | undefined {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const [first, second] = words;
  if (first === undefined || !VOWEL.test(first)) return undefined;
  const isCompound = second !== undefined && HEADS_OF_NOUNS.has(second);
  if (VERBS.has(first))
    return (isCompound || second === undefined) && ALSO_NOUNS.has(first) ? undefined : first;
  if (VERBS_BEFORE_OBJECTS.has(first)) return second === undefined || isCompound ? undefined : first;
  if (verbOf(first) === undefined) return undefined;
  return NOUNS_IN_ING.has(first) && (second === undefined || !isPlural(second)) ? undefined : first;
}

/** `loading_users` is an action; `loading_phase` is a thing. */
const isPlural = (word: string): boolean => /[^s]s$/.test(word) && !/(us|is)$/.test(word);
