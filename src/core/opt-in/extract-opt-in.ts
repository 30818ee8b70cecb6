import { type Context, propagation, type TextMapGetter } from '@opentelemetry/api';
import { optedInGroups, withOptedInGroups } from '../groups/opted-in-groups.js';
import { processState } from '../state/process-state.js';
import { admitRequest, type AdmittedRequest, admittedRequestOf } from './admitted-request.js';
import { MAX_SIGNED_LENGTH, OPT_IN_HEADER } from './signed-groups.js';

const BAGGAGE_HEADER = 'baggage';
/** More than any HTTP server accepts. The headers of a message may be longer. */
const MAX_BAGGAGE_LENGTH = 65_536;

/**
 * The context of a request or message whose headers turn groups on; else the given context. It reads the header, or, without
 * one, the entry of that name in the baggage header.
 */
export function extractOptIn<C>(context: Context, carrier: C, getter: TextMapGetter<C>): Context {
  const { requestOptIn: optIn, pinned } = processState;
  if (optIn === undefined || pinned || typeof carrier !== 'object' || carrier === null) return context;
  try {
    const opted = optedInGroups(context);
    if (opted !== undefined) {
      // Another copy of the package may have judged the request already.
      const known = admittedRequestOf(opted);
      return known === undefined ? context : withBaggage(context, known, optIn.propagate);
    }
    const sent = getter.get(carrier, OPT_IN_HEADER);
    const inBaggage = sent === undefined ? entryOf(getter.get(carrier, BAGGAGE_HEADER)) : undefined;
    const given = sent ?? inBaggage;
    if (given === undefined) return context;
    const request = admitRequest(optIn, carrier, given);
    const inside = request === undefined ? context : withOptedInGroups(context, request.groups);
    return withBaggage(inside, request, optIn.propagate);
  } catch {
    return context; // The headers can't be read.
  }
}

/** Only verified text goes out again, and only if `propagate` is set. */
function withBaggage(context: Context, request: AdmittedRequest | undefined, propagates: boolean): Context {
  const baggage = propagation.getBaggage(context);
  const sent = baggage?.getEntry(OPT_IN_HEADER)?.value;
  const text = propagates ? request?.text : undefined;
  if (sent === text) return context;
  const entries = baggage ?? propagation.createBaggage();
  const next =
    text === undefined
      ? entries.removeEntry(OPT_IN_HEADER)
      : entries.setEntry(OPT_IN_HEADER, { value: text });
  return propagation.setBaggage(context, next);
}

const ENTRY = new RegExp(`(?:^|,)\\s*${OPT_IN_HEADER}\\s*=\\s*([^,;\\s]*)`, 'g');

/** The entry's value in a baggage header. It is parsed here, because a process may have no propagator for baggage. */
function entryOf(header: string | string[] | undefined): string | string[] | undefined {
  if (header === undefined) return undefined;
  const text = typeof header === 'string' ? header : header.join(',');
  if (text.length > MAX_BAGGAGE_LENGTH || !text.includes(OPT_IN_HEADER)) return undefined;
  const values = [...text.matchAll(ENTRY)].map(([, value]) => decode(value!));
  return values.length > 1 ? values : values[0];
}

function decode(value: string): string {
  // Percent signs make a text up to three times as long.
  if (value.length > 3 * MAX_SIGNED_LENGTH) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
