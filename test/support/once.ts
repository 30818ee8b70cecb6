/** Lives through something once, in the first test that looks at it; the others look at the same. */
export function once<Seen>(live: () => Promise<Seen>): () => Promise<Seen> {
  let seen: Promise<Seen> | undefined;
  return () => (seen ??= live());
}
