/** What `managedSpan` is without a gate and a span: a function that calls the caller's closure. */
/* prettier-ignore */
export function plain(name, body) {
  if (name === '') {
    let a = body.length; let b = 3;
    a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
    b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
    a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
    b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
    return a + b;
  }
  return body(undefined);
}

/** The same with options, which it doesn't look at. */
/* prettier-ignore */
export function plainWithOptions(name, options, body) {
  if (name === '') {
    let a = body.length; let b = 3;
    a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
    b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
    a += b * 3 - (a ^ b) + (b << 1) - (a >> 2) + a * 5 - (b ^ 7) + (a << 3) - (b >> 1) + b * 11 - (a ^ 13) + (b << 4) - (a >> 3) + a * 17;
    b += a * 3 - (b ^ a) + (a << 1) - (b >> 2) + b * 5 - (a ^ 7) + (b << 3) - (a >> 1) + a * 11 - (b ^ 13) + (a << 4) - (b >> 3) + b * 17;
    return a + b;
  }
  return body(undefined);
}

/** The same, short enough for V8 to inline: the closure then never exists. */
export function inlinable(name, body) {
  return body(undefined);
}
