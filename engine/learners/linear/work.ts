// Work that can be laid down: it yields after some thousandths of a second, and whoever runs it decides when it goes on.

/** Yields the multiplications done since it last did: the same on any machine, however busy. */
export type Work<Result> = Generator<number, Result, void>;

/** Multiplications between two yields. */
const slice = 4_000_000;

/** Numbers of a block that stay in the second-level cache, and cost the collector little. */
const heldAtOnce = 16_384;

/** Rows of a block, so many multiplications and numbers held each. */
export function blockOf(multiplications: number, held = 0): number {
  const rows = Math.min(slice / Math.max(1, multiplications), heldAtOnce / held);
  return Math.max(1, Math.floor(rows));
}

/** Does all of it at once. */
export function finish<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
