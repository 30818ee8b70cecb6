/** A property of an object; undefined if reading it throws, as a getter or a proxy may. */
export function readProperty(from: object, key: string): unknown {
  try {
    return (from as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}
