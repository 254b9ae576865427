// How often things occur, in memory that does not grow with the texts.

/** Different things counted at most: beyond it the rarest are forgotten. */
const mostCounted = 1_000_000;

/** Counts by string. Past `most` different ones those seen least go, fewest first, until a quarter of the room is free. */
export class Counts {
  readonly #counts = new Map<string, number>();
  readonly #most: number;

  constructor(most = mostCounted) {
    this.#most = most;
  }

  add(name: string, times = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
    if (this.#counts.size > this.#most) this.#forget();
  }

  /** Everything counted, in the order of first sight. */
  entries(): readonly (readonly [string, number])[] {
    return [...this.#counts];
  }

  /** Names seen most, `most` at most; of equal ones that which sorts first by its UTF-16 units. */
  frequent(most: number): readonly string[] {
    return this.entries()
      .toSorted(([a, timesA], [b, timesB]) => timesB - timesA || (a < b ? -1 : 1))
      .slice(0, Math.max(0, most))
      .map(([name]) => name);
  }

  #forget(): void {
    const kept = Math.floor(this.#most * 0.75);
    for (let least = 1; this.#counts.size > kept; least *= 2) {
      for (const [name, times] of this.#counts) {
        if (times <= least) this.#counts.delete(name);
        if (this.#counts.size <= kept) break;
      }
    }
  }
}
