// The trash keeps a run for a month, then it empties itself: looked after when a history is opened, and every hour.

import { repeat } from './repeat.ts';

export const trashDays = 30;
const dayMilliseconds = 24 * 3_600_000;
const lookMilliseconds = 3_600_000;

/** Calls `purge` with the age of what has to go. Returns what ends that. */
export function emptyTrash(
  isDue: (before: number) => boolean,
  purge: (olderThan: number) => Promise<unknown>,
): () => void {
  const olderThan = trashDays * dayMilliseconds;
  const look = async (): Promise<void> => {
    if (isDue(Date.now() - olderThan)) await purge(olderThan);
  };
  // What fails is tried again; the trash is as it was.
  void look().catch(() => undefined);
  return repeat(lookMilliseconds, look);
}
