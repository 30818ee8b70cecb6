/**
 * Bodies of work that V8 calls instead of inlining: a branch that never runs makes each longer than the 460 bytes of bytecode
 * that V8 inlines. Otherwise the "direct call" of a benchmark is no call at all. Import it with a query of your own
 * (`./work.mjs?a`, `./work.mjs?b`) to get functions that share no type feedback with the others.
 */
/* prettier-ignore */
export class Subject {
  work(a, b) {
    if (a < 0) {
      a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
      b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
      a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
      b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
    }
    return (a + b) | 0;
  }

  async workLater(a, b) {
    if (a < 0) {
      a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
      b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
      a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
      b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
    }
    return (a + b) | 0;
  }
}

/* prettier-ignore */
export function work(a, b) {
  if (a < 0) {
    a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
    b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
    a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
    b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
  }
  return (a + b) | 0;
}

/* prettier-ignore */
export async function workLater(a, b) {
  if (a < 0) {
    a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
    b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
    a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
    b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
  }
  return (a + b) | 0;
}
