// The small curves of the runs in view: fetched a few at a time, kept by run and how far it had come.

import { SvelteMap } from 'svelte/reactivity';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { ListedRun } from './runs-columns.ts';

const atOnce = 4;
const points = 32;
const kept = 2000;

export class Sparklines {
  readonly #curves = new SvelteMap<string, readonly number[]>();
  readonly #service: AppService;
  #queue: { readonly key: string; readonly run: number; readonly series: string }[] = [];
  readonly #asked = new Set<string>();
  #busy = 0;

  constructor(service: AppService) {
    this.#service = service;
  }

  of(run: ListedRun, series: string): readonly number[] {
    return this.#curves.get(keyOf(run, series)) ?? [];
  }

  /** Asks for the curves of these runs; what scrolled out of view before its turn is dropped. */
  ensure(runs: readonly ListedRun[], series: string): void {
    const wanted = runs
      .filter((run) => series in run.best)
      .map((run) => ({ key: keyOf(run, series), run: run.id, series }));
    for (const { key } of this.#queue) this.#asked.delete(key);
    this.#queue = wanted.filter(({ key }) => !this.#asked.has(key));
    for (const { key } of this.#queue) this.#asked.add(key);
    while (this.#busy < atOnce && this.#queue.length > 0) void this.#next();
  }

  async #next(): Promise<void> {
    this.#busy++;
    for (let entry = this.#queue.shift(); entry; entry = this.#queue.shift()) {
      const { key, run, series } = entry;
      const found = await this.#service.metrics({ run, series: [series], limit: points }).catch(() => []);
      this.#curves.set(
        key,
        found.map((point) => point.value),
      );
      if (this.#curves.size > kept) this.#forgetOldest();
    }
    this.#busy--;
  }

  #forgetOldest(): void {
    const [oldest] = this.#curves.keys();
    this.#curves.delete(oldest);
    this.#asked.delete(oldest);
  }
}

/** A live run's curve is fetched again every twentieth of the way. */
function keyOf(run: ListedRun, series: string): string {
  const done = run.result ? 'end' : Math.floor((20 * (run.progress?.step ?? 0)) / (run.progress?.steps || 1));
  return `${run.id}/${series}/${done}`;
}
