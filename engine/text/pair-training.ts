// Learns merges from counted words: the pair of neighbours that occurs most becomes one symbol, again and again. Pairs are counted once, and
// a merge changes only the words it occurs in. Of pairs that occur equally often that of the lower symbols is first, as in the tokenizers
// package, whose merges these are.

import { PairQueue } from './pair-queue.ts';

export interface PairTraining {
  /** Words and how often they occur. */
  readonly words: readonly (readonly [string, number])[];
  /** Symbols at most, those given included. */
  readonly vocabulary: number;
  /** Names that come first, such as `[UNK]`: no symbols of words. */
  readonly special: readonly string[];
  /** Characters that are symbols whether they occur or not. */
  readonly alphabet: readonly string[];
  /** Different characters at most; the rarest are left out of all words. */
  readonly mostCharacters: number;
  /** Written in front of symbols that do not begin a word: `##`. */
  readonly prefix: string;
}

export interface LearntPairs {
  /** By their ids. */
  readonly symbols: readonly string[];
  /** In the order in which they were learnt. */
  readonly merges: readonly (readonly [string, string])[];
}

/** A pair as one number: ids are below it. */
const pairBase = 2 ** 24;

interface Pair {
  count: number;
  /** Words it occurs in, or did; some twice. */
  words: number[];
}

export function learnPairs(training: PairTraining): LearntPairs {
  const learning = new Learning(training);
  return learning.learn(training.vocabulary);
}

class Learning {
  readonly #prefix: string;
  readonly #symbols: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #merges: (readonly [string, string])[] = [];
  readonly #pairs = new Map<number, Pair>();
  readonly #queue = new PairQueue();
  /** The symbols of all words, those of word w from `#starts[w]` on, `#lengths[w]` of them. */
  readonly #text: Int32Array;
  readonly #starts: Int32Array;
  readonly #lengths: Int32Array;
  readonly #counts: Float64Array;
  /** The last merge that visited a word. */
  readonly #visited: Int32Array;

  constructor({ words, special, alphabet, mostCharacters, prefix }: PairTraining) {
    this.#prefix = prefix;
    for (const name of special) this.#idOf(name);
    const characters = commonCharacters(words, alphabet, mostCharacters);
    for (const character of characters) this.#idOf(character);
    this.#text = new Int32Array(words.reduce((sum, [word]) => sum + word.length, 0));
    this.#starts = new Int32Array(words.length);
    this.#lengths = new Int32Array(words.length);
    this.#counts = Float64Array.from(words, ([, count]) => count);
    this.#visited = new Int32Array(words.length).fill(-1);
    const known = new Set(characters);
    let place = 0;
    words.forEach(([word], w) => {
      this.#starts[w] = place;
      for (const character of word) {
        if (!known.has(character)) continue;
        const begins = place === this.#starts[w];
        this.#text[place++] = this.#idOf(begins ? character : prefix + character);
      }
      this.#lengths[w] = place - this.#starts[w];
    });
  }

  learn(vocabulary: number): LearntPairs {
    for (let w = 0; w < this.#starts.length; w++) this.#countPairs(w);
    for (const [key, { count }] of this.#pairs) this.#queue.push(key, count);
    while (this.#symbols.length < vocabulary && this.#queue.length > 0) {
      const { key, count } = this.#queue.pop();
      const pair = this.#pairs.get(key)!;
      if (pair.count < 1) continue;
      if (pair.count !== count) this.#queue.push(key, pair.count);
      else this.#merge(Math.floor(key / pairBase), key % pairBase, pair);
    }
    return { symbols: this.#symbols, merges: this.#merges };
  }

  #idOf(symbol: string): number {
    const known = this.#ids.get(symbol);
    if (known !== undefined) return known;
    this.#symbols.push(symbol);
    this.#ids.set(symbol, this.#symbols.length - 1);
    return this.#symbols.length - 1;
  }

  #countPairs(w: number): void {
    const end = this.#starts[w] + this.#lengths[w] - 1;
    for (let place = this.#starts[w]; place < end; place++) {
      this.#change(this.#text[place], this.#text[place + 1], w, this.#counts[w]);
    }
  }

  /** More of a pair, or less of it, in a word. True: it was not known. */
  #change(left: number, right: number, w: number, by: number): boolean {
    const key = left * pairBase + right;
    const pair = this.#pairs.get(key);
    if (!pair) {
      this.#pairs.set(key, { count: by, words: [w] });
      return true;
    }
    pair.count += by;
    if (by > 0 && pair.words.at(-1) !== w) pair.words.push(w);
    return false;
  }

  #merge(left: number, right: number, { words }: Pair): void {
    const [a, b] = [this.#symbols[left], this.#symbols[right]];
    const made = this.#idOf(a + (this.#prefix && b.startsWith(this.#prefix) ? b.slice(this.#prefix.length) : b));
    this.#merges.push([a, b]);
    const merge = this.#merges.length;
    const begun = new Set<number>();
    for (const w of words) {
      if (this.#visited[w] === merge) continue;
      this.#visited[w] = merge;
      this.#mergeIn(w, left, right, made, begun);
    }
    this.#pairs.get(left * pairBase + right)!.words = [];
    for (const key of begun) {
      const { count } = this.#pairs.get(key)!;
      if (count > 0) this.#queue.push(key, count);
    }
  }

  /** Puts `made` wherever `left` and `right` are neighbours in a word. */
  #mergeIn(w: number, left: number, right: number, made: number, begun: Set<number>): void {
    const text = this.#text;
    const count = this.#counts[w];
    const start = this.#starts[w];
    const end = start + this.#lengths[w];
    let to = start;
    const more = (a: number, b: number): void => {
      if (this.#change(a, b, w, count)) begun.add(a * pairBase + b);
      else if (a === made || b === made) begun.add(a * pairBase + b);
    };
    for (let from = start; from < end; from++) {
      if (from + 1 >= end || text[from] !== left || text[from + 1] !== right) {
        text[to++] = text[from];
        continue;
      }
      if (to > start) {
        this.#change(text[to - 1], left, w, -count);
        more(text[to - 1], made);
      }
      this.#change(left, right, w, -count);
      if (from + 2 < end) {
        this.#change(right, text[from + 2], w, -count);
        more(made, text[from + 2]);
      }
      text[to++] = made;
      from++;
    }
    this.#lengths[w] = to - start;
  }
}

/** Characters of the words, those given always, in the order of their numbers. */
function commonCharacters(
  words: readonly (readonly [string, number])[],
  alphabet: readonly string[],
  most: number,
): readonly string[] {
  const counts = new Map<string, number>(alphabet.map((character) => [character, Infinity]));
  for (const [word, times] of words) {
    for (const character of word) counts.set(character, (counts.get(character) ?? 0) + times);
  }
  const order = (character: string): number => character.codePointAt(0)!;
  return [...counts]
    .toSorted(([a, timesA], [b, timesB]) => (timesA === timesB ? order(a) - order(b) : timesB - timesA))
    .slice(0, Math.max(alphabet.length, most))
    .map(([character]) => character)
    .toSorted((a, b) => order(a) - order(b));
}
