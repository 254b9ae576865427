// Work that can be laid down: it yields after some thousandths of a second, and whoever runs it decides when it goes on.

export type Work<Result> = Generator<void, Result, void>;

/** Multiplications between two yields. */
const slice = 4_000_000;

/** Rows of a block, so many multiplications each. */
export function blockOf(multiplications: number): number {
  return Math.max(1, Math.floor(slice / Math.max(1, multiplications)));
}

/** Does all of it at once. */
export function finish<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
