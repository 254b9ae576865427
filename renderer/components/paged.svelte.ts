// A long list fetched page by page as it scrolls into view. Old pages stay visible until their new ones are there.

import { SvelteMap } from 'svelte/reactivity';

export type LoadPage<T> = (
  offset: number,
  limit: number,
) => Promise<{ readonly total: number; readonly rows: readonly T[] }>;

export class PagedList<T> {
  total: number = $state(0);
  /** The first answer has come. */
  loaded: boolean = $state(false);
  readonly #pages = new SvelteMap<number, readonly T[]>();
  readonly #asked = new Set<number>();
  readonly #load: LoadPage<T>;
  readonly #size: number;
  readonly #kept: number;
  /** Counts refreshes: answers to an earlier question are dropped. */
  #generation = 0;
  #inView: readonly [number, number] = [0, 1];

  constructor(load: LoadPage<T>, options: { size?: number; kept?: number } = {}) {
    this.#load = load;
    this.#size = options.size ?? 100;
    this.#kept = options.kept ?? 40;
  }

  at(index: number): T | undefined {
    return this.#pages.get(Math.floor(index / this.#size))?.[index % this.#size];
  }

  /** All rows that are here, with their places. */
  *known(): Generator<readonly [number, T]> {
    for (const [page, rows] of this.#pages)
      for (let i = 0; i < rows.length; i++) yield [page * this.#size + i, rows[i]];
  }

  /** Fetches what is missing of rows [first, last). */
  ensure(first: number, last: number): void {
    this.#inView = [Math.floor(first / this.#size), Math.floor(Math.max(first, last - 1) / this.#size)];
    for (let page = this.#inView[0]; page <= this.#inView[1]; page++) void this.#fetch(page);
  }

  /** Asks again for what is in view; `clear` also forgets what is shown (another question altogether). */
  async refresh(clear = false): Promise<void> {
    this.#generation++;
    this.#asked.clear();
    if (clear) this.#inView = [0, 0];
    const [from, to] = this.#inView;
    const pages = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    await Promise.all(pages.map((page) => this.#fetch(page)));
    for (const page of [...this.#pages.keys()]) if (!this.#asked.has(page)) this.#pages.delete(page);
  }

  async #fetch(page: number): Promise<void> {
    if (this.#asked.has(page)) return;
    this.#asked.add(page);
    const generation = this.#generation;
    try {
      const { total, rows } = await this.#load(page * this.#size, this.#size);
      if (generation !== this.#generation) return;
      this.total = total;
      this.loaded = true;
      this.#pages.set(page, rows);
      this.#forgetFar();
    } catch (error) {
      this.#asked.delete(page);
      throw error;
    }
  }

  /** Keeps memory bounded: pages farthest from the view go first. */
  #forgetFar(): void {
    if (this.#pages.size <= this.#kept) return;
    const [from, to] = this.#inView;
    const distance = (page: number): number => Math.max(from - page, page - to, 0);
    const far = [...this.#pages.keys()].sort((a, b) => distance(b) - distance(a))[0];
    this.#pages.delete(far);
    this.#asked.delete(far);
  }
}
