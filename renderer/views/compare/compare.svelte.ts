// The state of Compare: which runs, in the order of their letters, and their curves. The address holds the runs.

import { SvelteMap } from 'svelte/reactivity';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { failureOf } from '../../app/failure.ts';
import type { Failure } from '../../app/failure.ts';
import { leadingSeries } from '../../lib/series.ts';
import { throttle } from '../../lib/throttle.ts';
import type { Curve } from '../../components/chart/curves.ts';
import { extend, groupPoints } from '../run/run.svelte.ts';
import type { Series } from '../run/run.svelte.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { markedIndex } from '../run/run-curves.ts';
import { lowerWins, parseSeries } from '../../lib/series.ts';

/** Runs that have a colour of their own; further ones are grey. */
export const coloured = 6;
const letters = ['A', 'B', 'C', 'D', 'E', 'F'] as const;
const dashes: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4]];
const pointLimit = 2000;

export type XAxis = 'epoch' | 'step' | 'seconds';

export interface ComparedRun {
  readonly run: RunRecord;
  /** A … F, then numbers. */
  readonly letter: string;
  readonly token: string;
  readonly dash: readonly number[];
}

export class Comparison {
  runs: readonly ComparedRun[] = $state.raw([]);
  failure: Failure | null = $state.raw(null);
  /** Those of the runs asked for that are not there: the others are compared without them. */
  gone: readonly number[] = $state.raw([]);
  readonly #series = new SvelteMap<string, Series>();
  readonly #service: AppService;
  readonly #ids: readonly number[];
  readonly #changed = new Set<number>();

  constructor(ids: readonly number[], service: AppService) {
    this.#ids = ids;
    this.#service = service;
  }

  /** Loads and follows the runs; returns the function that stops following. */
  open(): () => void {
    // One after the other, so that an older answer never lies over a newer one.
    let loading = this.#load(this.#ids);
    const reload = throttle(() => {
      const changed = [...this.#changed];
      this.#changed.clear();
      loading = loading.then(() => this.#load(changed));
    }, 1000);
    const take = (runs: readonly number[]): void => {
      const ours = runs.filter((run) => this.#ids.includes(run));
      ours.forEach((run) => this.#changed.add(run));
      if (ours.length > 0) reload();
    };
    const stops = [
      this.#service.onReport(({ run }) => take([run])),
      this.#service.onRunsChanged(({ runs }) => take(runs)),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** Metrics of the validation split that any of the runs has, the leading one of the first run first. */
  get metrics(): string[] {
    const found = new Set<string>();
    const [first] = this.runs;
    if (first) found.add(leadingSeries(first.run));
    for (const { run } of this.runs) {
      for (const name of Object.keys(run.best))
        if (parseSeries(name).split === 'validation' && name !== 'val_loss') found.add(name);
    }
    return [...found].filter((name) => name !== 'val_loss');
  }

  curves(name: string, axis: XAxis): Curve[] {
    return this.runs.flatMap(({ run, letter, token, dash }, index) => {
      const series = this.#series.get(`${run.id}/${name}`);
      if (!series) return [];
      return {
        id: String(run.id),
        label: letter,
        token,
        dash,
        width: index === 0 ? 2.2 : 1.75,
        inkLabel: true,
        x: axis === 'epoch' ? series.epoch : axis === 'step' ? series.step : series.seconds,
        y: series.value,
        best:
          index < coloured
            ? markedIndex(series, ownValue(run.best, name)?.epoch, lowerWins(parseSeries(name).metric))
            : undefined,
      };
    });
  }

  series(run: number, name: string): Series | undefined {
    return this.#series.get(`${run}/${name}`);
  }

  /** Asks anew of those that changed; the others stay as they are. */
  async #load(changed: readonly number[]): Promise<void> {
    try {
      const found = await Promise.all(changed.map((run) => this.#find(run)));
      const fresh = found.filter((run) => run !== null);
      this.gone = [...new Set([...this.gone, ...changed.filter((_, index) => found[index] === null)])];
      const known = new Map([...this.runs.map(({ run }) => run), ...fresh].map((run) => [run.id, run]));
      this.gone.forEach((run) => known.delete(run));
      const runs = this.#ids.flatMap((id) => known.get(id) ?? []);
      this.runs = runs.map((run, index) => ({
        run,
        letter: letters[index] ?? String(index + 1),
        token: index < coloured ? `run-${letters[index].toLowerCase()}` : 'bar2',
        dash: dashes[index] ?? [],
      }));
      await Promise.all(fresh.map((run) => this.#loadSeries(run)));
      this.failure = null;
    } catch (error) {
      changed.forEach((run) => this.#changed.add(run));
      this.failure = failureOf(error);
    }
  }

  /** Null: there is no such run, or not any more. */
  #find(run: number): Promise<RunRecord | null> {
    return this.#service.run({ run }).catch((error: unknown) => {
      if (failureOf(error).code === 'input.unknown_run') return null;
      throw error;
    });
  }

  async #loadSeries(run: RunRecord): Promise<void> {
    const names = Object.keys(run.best).filter((name) => parseSeries(name).split === 'validation');
    const points = await this.#service.metrics({ run: run.id, series: names, limit: pointLimit });
    for (const [name, group] of groupPoints(points)) {
      this.#series.set(`${run.id}/${name}`, extend({ step: [], epoch: [], seconds: [], value: [] }, group));
    }
  }
}
