// Pairs of symbols by how often they occur: most first, of equal ones the lowest.

export class PairQueue {
  readonly #keys: number[] = [];
  readonly #counts: number[] = [];

  get length(): number {
    return this.#keys.length;
  }

  push(key: number, count: number): void {
    let at = this.#keys.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#isBefore(parent, key, count)) break;
      this.#put(at, this.#keys[parent], this.#counts[parent]);
      at = parent;
    }
    this.#put(at, key, count);
  }

  /** The first one. */
  pop(): { readonly key: number; readonly count: number } {
    const top = { key: this.#keys[0], count: this.#counts[0] };
    const key = this.#keys.pop()!;
    const count = this.#counts.pop()!;
    const length = this.#keys.length;
    if (length === 0) return top;
    let at = 0;
    for (let child = 1; child < length; child = 2 * at + 1) {
      const other = child + 1;
      if (other < length && this.#isBefore(other, this.#keys[child], this.#counts[child])) child = other;
      if (!this.#isBefore(child, key, count)) break;
      this.#put(at, this.#keys[child], this.#counts[child]);
      at = child;
    }
    this.#put(at, key, count);
    return top;
  }

  #isBefore(at: number, key: number, count: number): boolean {
    return this.#counts[at] === count ? this.#keys[at] < key : this.#counts[at] > count;
  }

  #put(at: number, key: number, count: number): void {
    this.#keys[at] = key;
    this.#counts[at] = count;
  }
}
