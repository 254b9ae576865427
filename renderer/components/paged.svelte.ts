// A long list fetched page by page as it scrolls into view. Pages that are scrolled past are not fetched: only what is in view
// when the scrolling rests, two pages at a time. Old pages stay visible until their new ones are there.

import { untrack } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';

export type LoadPage<T> = (
  offset: number,
  limit: number,
) => Promise<{ readonly total: number; readonly rows: readonly T[] }>;

/** Pages on their way at the same time; what comes into view meanwhile waits, and goes again when it is scrolled past. */
const atOnce = 2;
/** Milliseconds without another page in view after which a quick scroll is over. */
const rest = 100;

export class PagedList<T> {
  total: number = $state(0);
  /** The first answer has come. */
  loaded: boolean = $state(false);
  readonly #pages = new SvelteMap<number, readonly T[]>();
  readonly #asked = new Set<number>();
  readonly #load: LoadPage<T>;
  readonly #size: number;
  readonly #kept: number;
  /** Each fetches missing pages of what is in view, one after another. */
  readonly #workers = new Set<Promise<void>>();
  /** Counts refreshes: answers to an earlier question are dropped. */
  #generation = 0;
  /** First and last page in view. */
  #inView: readonly [number, number] = [0, 0];
  /** The last page there is, as far as the answers to this question tell. */
  #last = 0;
  #movedAt = -Infinity;
  #scrolling: ReturnType<typeof setTimeout> | undefined;

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

  /** All rows in view that are here. */
  *inView(): Generator<T> {
    const [from, to] = this.#inView;
    for (let page = from; page <= to; page++) yield* this.#pages.get(page) ?? [];
  }

  /** Fetches what is missing of rows [first, last): at once, or after a quick scroll when it rests. */
  ensure(first: number, last: number): void {
    const [from, to] = [Math.floor(first / this.#size), Math.floor(Math.max(first, last - 1) / this.#size)];
    if (from !== this.#inView[0] || to !== this.#inView[1]) {
      this.#inView = [from, to];
      const now = performance.now();
      const quick = now - this.#movedAt < rest;
      this.#movedAt = now;
      this.#stopWaiting();
      if (quick) this.#scrolling = setTimeout(() => this.#rested(), rest);
    }
    if (this.#scrolling === undefined) this.#fill();
  }

  /** Asks again for what is in view; `clear`: another question altogether, how much there is to see is not known. */
  async refresh(clear = false): Promise<void> {
    const generation = ++this.#generation;
    this.#asked.clear();
    this.#stopWaiting();
    if (clear) this.#last = 0;
    this.#fill();
    await Promise.all(this.#workers);
    if (generation !== this.#generation) return;
    for (const page of [...this.#pages.keys()]) if (!this.#asked.has(page)) this.#pages.delete(page);
  }

  #stopWaiting(): void {
    clearTimeout(this.#scrolling);
    this.#scrolling = undefined;
  }

  #rested(): void {
    this.#scrolling = undefined;
    this.#fill();
  }

  /** Sees to it that what is missing of what is in view is fetched. */
  #fill(): void {
    while (this.#workers.size < atOnce && this.#missing() !== undefined) {
      const worker = this.#work().finally(() => this.#workers.delete(worker));
      this.#workers.add(worker);
    }
  }

  async #work(): Promise<void> {
    for (let page = this.#missing(); page !== undefined; page = this.#missing()) {
      await this.#fetch(page);
      if (this.#scrolling !== undefined) return;
    }
  }

  #missing(): number | undefined {
    const [from, to] = this.#inView.map((page) => Math.min(page, this.#last));
    for (let page = from; page <= to; page++) if (!this.#asked.has(page)) return page;
    return undefined;
  }

  async #fetch(page: number): Promise<void> {
    this.#asked.add(page);
    const generation = this.#generation;
    try {
      // When the question changes is told by `refresh`, not by an effect that happens to ask.
      const { total, rows } = await untrack(() => this.#load(page * this.#size, this.#size));
      if (generation !== this.#generation) return;
      this.total = total;
      this.loaded = true;
      this.#last = Math.max(0, Math.ceil(total / this.#size) - 1);
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
