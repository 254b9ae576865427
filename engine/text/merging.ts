// Merges pairs of neighbours in the order in which training made them. Short words by looking for the lowest rank again and again,
// long ones with a heap, so that a text without spaces takes no time beyond n log n.

/** Merges by their pair. */
export interface Merges {
  /** Rank of the pair `left · size + right`. */
  readonly ranks: ReadonlyMap<number, number>;
  /** What a merge makes, by rank. */
  readonly made: Int32Array;
  /** Ids are below it. */
  readonly size: number;
}

/** Symbols up to which looking at all pairs is fastest. */
const shortest = 48;

/** The symbols of a word after all merges; those given are changed. Of equal ranks the leftmost pair is first. */
export function mergedSymbols(symbols: number[], merges: Merges): readonly number[] {
  return symbols.length <= shortest ? mergedByLooking(symbols, merges) : mergedByHeap(symbols, merges);
}

function mergedByLooking(symbols: number[], { ranks, made, size }: Merges): readonly number[] {
  const rankAt = (place: number): number => ranks.get(symbols[place] * size + symbols[place + 1]) ?? Infinity;
  const ofPairs = Array.from({ length: Math.max(0, symbols.length - 1) }, (_, place) => rankAt(place));
  for (;;) {
    let best = Infinity;
    let place = -1;
    for (let i = 0; i < ofPairs.length; i++) {
      if (ofPairs[i] >= best) continue;
      best = ofPairs[i];
      place = i;
    }
    if (place < 0) return symbols;
    symbols[place] = made[best];
    symbols.splice(place + 1, 1);
    ofPairs.splice(place, 1);
    if (place > 0) ofPairs[place - 1] = rankAt(place - 1);
    if (place < ofPairs.length) ofPairs[place] = rankAt(place);
  }
}

/** The symbols as a list of neighbours, the pairs that are merges in a heap by rank and place. */
function mergedByHeap(symbols: readonly number[], { ranks, made, size }: Merges): readonly number[] {
  const count = symbols.length;
  const ids = Int32Array.from(symbols);
  const before = Int32Array.from(ids, (_, place) => place - 1);
  const after = Int32Array.from(ids, (_, place) => (place + 1 < count ? place + 1 : -1));
  const gone = -1;
  const heap = new PairHeap();
  const offer = (left: number): void => {
    if (left < 0 || after[left] < 0) return;
    const rank = ranks.get(ids[left] * size + ids[after[left]]);
    if (rank !== undefined) heap.push(rank, left);
  };
  for (let place = 0; place + 1 < count; place++) offer(place);
  while (heap.length > 0) {
    const { rank, place } = heap.pop();
    const right = after[place];
    // What it was offered for may have been merged into another since.
    if (ids[place] === gone || right < 0 || ranks.get(ids[place] * size + ids[right]) !== rank) continue;
    ids[place] = made[rank];
    ids[right] = gone;
    after[place] = after[right];
    if (after[right] >= 0) before[after[right]] = place;
    offer(before[place]);
    offer(place);
  }
  return Array.from(ids).filter((id) => id !== gone);
}

/** Lowest rank first, of equal ones the lowest place: one number a pair, exact below 2^53. */
class PairHeap {
  readonly #keys: number[] = [];

  get length(): number {
    return this.#keys.length;
  }

  push(rank: number, place: number): void {
    const keys = this.#keys;
    const key = rank * 2 ** 31 + place;
    let at = keys.length;
    keys.push(key);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (keys[parent] <= key) break;
      keys[at] = keys[parent];
      at = parent;
    }
    keys[at] = key;
  }

  pop(): { readonly rank: number; readonly place: number } {
    const keys = this.#keys;
    const top = keys[0];
    const key = keys.pop()!;
    if (keys.length > 0) {
      let at = 0;
      for (let child = 1; child < keys.length; child = 2 * at + 1) {
        if (child + 1 < keys.length && keys[child + 1] < keys[child]) child++;
        if (keys[child] >= key) break;
        keys[at] = keys[child];
        at = child;
      }
      keys[at] = key;
    }
    return { rank: Math.floor(top / 2 ** 31), place: top % 2 ** 31 };
  }
}
