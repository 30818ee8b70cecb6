import {
  eventKinds,
  graphqlKinds,
  httpKinds,
  jobKinds,
  messageKinds,
  type ResultKind,
  subscriptionKinds,
  webSocketKinds,
} from '../support/result-kinds.js';
import { SPAN_STARTS } from '../support/finished-spans.js';
import type { Moment } from '../support/timeline.js';

/** Under which heading of docs/span-life.md which kinds of results stand. */
const SECTIONS: Readonly<Record<string, readonly ResultKind[]>> = {
  'HTTP, on Express and Fastify': httpKinds,
  'Messages over TCP (`@MessagePattern`)': messageKinds,
  'Events over TCP (`@EventPattern`)': eventKinds,
  'WebSocket messages (`@SubscribeMessage`)': webSocketKinds,
  'GraphQL queries, mutations and fields': graphqlKinds,
  'GraphQL subscriptions': subscriptionKinds,
  'Jobs, listeners, and handlers of commands, queries and events': jobKinds,
};

const WORDS: Readonly<Record<Moment, string>> = {
  'guards run': 'the guards',
  'pipes run': 'the pipes',
  called: 'the call',
  returns: 'at the return',
  throws: 'at the throw',
  settles: 'when the promise settles',
  completes: 'when the observable completes',
  fails: 'when the observable fails',
  unsubscribed: 'when it is unsubscribed',
  exhausted: 'when the generator is exhausted',
  'returned early': 'when the generator is returned',
  'next macrotask': 'at the next macrotask',
};

/** The tables of docs/span-life.md, by heading, as the tests of the handlers have measured them. */
export function spanLifeTables(): Map<string, string[][]> {
  return new Map([
    ['Where it starts', starts()],
    ...Object.entries(SECTIONS).map(([heading, kinds]): [string, string[][]] => [
      heading,
      kinds.map((kind) => [kind.result, WORDS[kind.ends], statusOf(kind)]),
    ]),
  ]);
}

function starts(): string[][] {
  const { decorated, intercepted, job } = SPAN_STARTS;
  const rows = {
    'a handler with `@SpanGroup`': decorated,
    'a handler with `SpanGroupInterceptor`': intercepted,
    'another method with `@SpanGroup`': job,
  };
  return Object.entries(rows).map(([what, moments]) => [
    what,
    ...moments.map((moment) => (moment === undefined ? '' : WORDS[moment])),
  ]);
}

function statusOf({ status, cancelled }: ResultKind): string {
  if (status === 'error') return '`ERROR`';
  return cancelled ? 'unset, cancelled' : 'unset';
}
