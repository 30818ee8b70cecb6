import type { ResultKind } from './result-kinds.js';

/** Asks once for each kind of result: what a client gets without NestLens is compared with several answers. */
export function onceAKind<Answer>(
  ask: (kind: ResultKind) => Promise<Answer>,
): (kind: ResultKind) => Promise<Answer> {
  const answers = new Map<ResultKind, Promise<Answer>>();
  return (kind) => {
    const answer = answers.get(kind) ?? ask(kind);
    answers.set(kind, answer);
    return answer;
  };
}
