/** Takes back what was put in force. */
export type TakeBack = () => void;

/**
 * Puts several things in force, or none: if one throws, those before it are taken back, so that a set-up that fails leaves
 * nothing behind.
 *
 * @param put keeps the way back of each thing as soon as that is in force. `keep` returns whether there is one, because a
 * thing that can't be put gives none
 * @returns takes all of them back, the last first; never throws
 */
export function putAll(put: (keep: (wayBack: TakeBack | undefined) => boolean) => void): TakeBack {
  const waysBack: TakeBack[] = [];
  const takeAllBack = (): void => {
    for (const takeBack of waysBack.splice(0).reverse()) {
      try {
        takeBack();
      } catch {
        // An object of another program refuses. The rest is taken back all the same, and the shutdown goes on.
      }
    }
  };
  try {
    put((wayBack) => wayBack !== undefined && waysBack.push(wayBack) > 0);
  } catch (error) {
    takeAllBack();
    throw error;
  }
  return takeAllBack;
}
