// Merges pairs of neighbours in the order in which training made them. Short words by looking for the lowest rank again and again,
// long ones with a heap, so that a text without spaces takes no time beyond n log n.

/** Merges by their pair. */
export interface Merges {
  readonly ranks: PairRanks;
  /** What a merge makes, by rank. */
  readonly made: Int32Array;
}

/** No merge. */
const none = 2 ** 31 - 1;

/** Ranks of pairs: a table with open addresses, as pairs of large vocabularies make keys of a Map slow. */
export class PairRanks {
  readonly #mask: number;
  /** Left, right and rank of each place; a left of -1 is an empty one. */
  readonly #places: Int32Array;

  /** With room for so many pairs. */
  constructor(pairs: number) {
    this.#mask = 2 ** Math.ceil(Math.log2(2 * pairs + 2)) - 1;
    this.#places = new Int32Array(3 * (this.#mask + 1)).fill(-1);
  }

  set(left: number, right: number, rank: number): void {
    this.#places.set([left, right, rank], this.#find(left, right));
  }

  /** The rank of a pair, `none` where it is no merge. */
  of(left: number, right: number): number {
    const at = this.#find(left, right);
    return this.#places[at] < 0 ? none : this.#places[at + 2];
  }

  #find(left: number, right: number): number {
    const places = this.#places;
    const mixed = Math.imul(left, 0x9e3779b1) + Math.imul(right, 0x85ebca6b);
    for (let place = (mixed ^ (mixed >>> 15)) & this.#mask; ; place = (place + 1) & this.#mask) {
      const at = 3 * place;
      if (places[at] < 0 || (places[at] === left && places[at + 1] === right)) return at;
    }
  }
}

/** Symbols up to which looking at all pairs is fastest. */
const shortest = 48;

/** The symbols of a word after all merges; those given are changed. Of equal ranks the leftmost pair is first. */
export function mergedSymbols(symbols: number[], merges: Merges): readonly number[] {
  return symbols.length <= shortest ? mergedByLooking(symbols, merges) : mergedByHeap(symbols, merges);
}

/** Ranks of the pairs of the word that is merged, by their left symbol. */
const ofPairs = new Int32Array(shortest);

function mergedByLooking(symbols: number[], { ranks, made }: Merges): readonly number[] {
  let pairs = symbols.length - 1;
  for (let i = 0; i < pairs; i++) ofPairs[i] = ranks.of(symbols[i], symbols[i + 1]);
  for (;;) {
    let best = none;
    let place = -1;
    for (let i = 0; i < pairs; i++) {
      if (ofPairs[i] >= best) continue;
      best = ofPairs[i];
      place = i;
    }
    if (place < 0) break;
    symbols[place] = made[best];
    pairs--;
    for (let i = place + 1; i <= pairs; i++) symbols[i] = symbols[i + 1];
    for (let i = place; i < pairs; i++) ofPairs[i] = ofPairs[i + 1];
    if (place > 0) ofPairs[place - 1] = ranks.of(symbols[place - 1], symbols[place]);
    if (place < pairs) ofPairs[place] = ranks.of(symbols[place], symbols[place + 1]);
  }
  symbols.length = Math.min(symbols.length, pairs + 1);
  return symbols;
}

/** The symbols as a list of neighbours, the pairs that are merges in a heap by rank and place. */
function mergedByHeap(symbols: readonly number[], { ranks, made }: Merges): readonly number[] {
  const count = symbols.length;
  const ids = Int32Array.from(symbols);
  const before = Int32Array.from(ids, (_, place) => place - 1);
  const after = Int32Array.from(ids, (_, place) => (place + 1 < count ? place + 1 : -1));
  const gone = -1;
  const heap = new PairHeap();
  const offer = (left: number): void => {
    if (left < 0 || after[left] < 0) return;
    const rank = ranks.of(ids[left], ids[after[left]]);
    if (rank !== none) heap.push(rank, left);
  };
  for (let place = 0; place + 1 < count; place++) offer(place);
  while (heap.length > 0) {
    const { rank, place } = heap.pop();
    const right = after[place];
    // What it was offered for may have been merged into another since.
    if (ids[place] === gone || right < 0 || ranks.of(ids[place], ids[right]) !== rank) continue;
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
