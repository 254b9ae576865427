// The state of the runs table: the question asked of the history (search, filters, order), the rows that came, what is
// selected. Everything is found, filtered and sorted by the history; this side holds only the pages in view.

import { SvelteSet } from 'svelte/reactivity';
import type { AppService } from '../../../engine/protocol/app.ts';
import type { RunQuery } from '../../../engine/protocol/store.ts';
import type { RunState } from '../../../engine/protocol/runs.ts';
import { partOf } from '../../lib/run-words.ts';
import { leadingSeries } from '../../lib/series.ts';
import { throttle } from '../../lib/throttle.ts';
import { PagedList } from '../../components/paged.svelte.ts';
import { listedFields, listedSeries, type ListedRun } from './runs-columns.ts';

export type Shelf = 'all' | 'starred' | 'trash';

export interface Filters {
  readonly search: string;
  readonly states: readonly RunState[];
  readonly dataset: string | null;
  readonly tags: readonly string[];
  readonly group: string | null;
}

/** What the table shows, but for its columns. */
export interface TableState {
  readonly shelf: Shelf;
  readonly filters: Filters;
  readonly sort: NonNullable<RunQuery['sort']>;
  readonly series: string;
}

const noFilters: Filters = { search: '', states: [], dataset: null, tags: [], group: null };

export class RunsTable {
  shelf: Shelf = $state('all');
  filters: Filters = $state.raw(noFilters);
  sort: NonNullable<RunQuery['sort']> = $state.raw({ by: 'createdAt', descending: true });
  /** Series of the score columns, such as `val_accuracy`. */
  series: string = $state('val_accuracy');
  current: number | undefined = $state();
  /** Tags of all runs, most used first. */
  tags: readonly string[] = $state.raw([]);
  /** Groups that runs belong to, by name. */
  groups: readonly string[] = $state.raw([]);
  readonly selected = new SvelteSet<number>();
  readonly rows: PagedList<ListedRun>;
  readonly #service: AppService;
  #anchor: number | null = null;
  #seriesChosen = false;

  constructor(service: AppService) {
    this.#service = service;
    this.rows = new PagedList(async (offset, limit) => {
      const asked = { ...this.query, fields: listedFields, series: listedSeries };
      const { total, runs } = await service.runs({ ...asked, offset, limit });
      if (offset === 0) this.#chooseSeries(runs);
      return { total, rows: runs };
    });
  }

  get query(): RunQuery {
    const { search, states, dataset, tags, group } = this.filters;
    return {
      search: search.trim() || undefined,
      // Folds stand on the page of their cross-validation; whoever looks for words finds them too.
      withoutFolds: search.trim() === '' || undefined,
      states: states.length > 0 ? states : undefined,
      dataset: dataset ?? undefined,
      tags: tags.length > 0 ? tags : undefined,
      group: group ?? undefined,
      starred: this.shelf === 'starred' ? true : undefined,
      deleted: this.shelf === 'trash' ? true : undefined,
      sort: this.sort,
    };
  }

  get isFiltered(): boolean {
    const { search, states, dataset, tags, group } = this.filters;
    return group !== null || search.trim() !== '' || states.length > 0 || dataset !== null || tags.length > 0;
  }

  /** Loads and follows changes of the history; returns the function that stops. */
  open(): () => void {
    const loadTags = async (): Promise<void> => {
      const [tags, groups] = await Promise.all([this.#service.tags(), this.#service.groups()]);
      this.tags = tags;
      this.groups = groups.map(({ name }) => name);
    };
    // The table may have asked already for what it shows.
    this.rows.ensure(0, 1);
    void loadTags();
    const refresh = throttle(() => void this.rows.refresh(), 500);
    // Drawing takes a core from the training that is shown.
    const refreshScores = throttle(() => void this.rows.refresh(), 1000);
    const reloadTags = throttle(() => void loadTags(), 500);
    return this.#service.onRunsChanged(({ runs, trained }) => {
      const onlyTrained = runs.length === trained.length;
      if (!onlyTrained) {
        reloadTags();
        refresh();
      } else if (this.#showsScores(trained)) refreshScores();
    });
  }

  filter(change: Partial<Filters>): void {
    this.filters = { ...this.filters, ...change };
    this.#askAnew();
  }

  get state(): TableState {
    return { shelf: this.shelf, filters: this.filters, sort: this.sort, series: this.series };
  }

  /** Shows what a view has kept. */
  apply({ shelf, filters, sort, series }: TableState): void {
    Object.assign(this, { shelf, filters, sort, series });
    this.#seriesChosen = true;
    this.selected.clear();
    this.#askAnew();
  }

  clearFilters(): void {
    this.filter(noFilters);
  }

  show(shelf: Shelf): void {
    this.shelf = shelf;
    this.selected.clear();
    this.#askAnew();
  }

  sortBy(by: string, descending: boolean): void {
    this.sort = this.sort.by === by ? { by, descending: !this.sort.descending } : { by, descending };
    this.#askAnew();
  }

  /** Score shown and sorted by; a sort by the old score goes over to the new one. */
  setSeries(series: string): void {
    const sorted = this.sort.by.endsWith(`.${this.series}`);
    this.#seriesChosen = true;
    if (sorted) this.sort = { by: this.sort.by.replace(this.series, series), descending: this.sort.descending };
    this.series = series;
    if (sorted) this.#askAnew();
  }

  /** A click on a row: alone, with Ctrl added or taken away, with Shift from the last one to here. */
  pick(index: number, { extend, add }: { extend: boolean; add: boolean }): void {
    const run = this.rows.at(index);
    if (!run) return;
    this.current = index;
    if (extend && this.#anchor !== null) {
      const [from, to] = [Math.min(this.#anchor, index), Math.max(this.#anchor, index)];
      for (let i = from; i <= to; i++) {
        const between = this.rows.at(i);
        if (between) this.selected.add(between.id);
      }
      return;
    }
    this.#anchor = index;
    if (!add) {
      this.selected.clear();
      this.selected.add(run.id);
    } else if (!this.selected.delete(run.id)) this.selected.add(run.id);
  }

  async selectAll(): Promise<void> {
    const { runs } = await this.#service.runs({ ...this.query, fields: ['id'], limit: this.rows.total });
    for (const run of runs) this.selected.add(run.id);
  }

  /** Runs acted on: the selected ones, else the current one. */
  /** Why what is chosen does not go to the trash: a fold goes with its cross-validation alone. */
  get parted(): string | undefined {
    const run = this.current === undefined ? undefined : this.rows.at(this.current);
    const ids = this.selected.size > 0 ? this.selected : new Set(run ? [run.id] : []);
    for (const [, known] of this.rows.known()) {
      const words = ids.has(known.id) ? partOf(known, ids) : undefined;
      if (words !== undefined) return words;
    }
    return undefined;
  }

  async chosen(): Promise<ListedRun[]> {
    const known = new Map([...this.rows.known()].map(([, run]) => [run.id, run]));
    const run = this.current === undefined ? undefined : this.rows.at(this.current);
    const ids = this.selected.size > 0 ? [...this.selected] : run ? [run.id] : [];
    return Promise.all(ids.map((id) => known.get(id) ?? this.#service.run({ run: id })));
  }

  /** Some of these runs are in view, or would be by their scores. */
  #showsScores(runs: readonly number[]): boolean {
    if (/^(best|last)\.|^duration$/.test(this.sort.by)) return true;
    return [...this.rows.inView()].some(({ id }) => runs.includes(id));
  }

  #askAnew(): void {
    this.current = undefined;
    void this.rows.refresh(true);
  }

  /** Until one is chosen, the score is the one most of the newest runs are judged by. */
  #chooseSeries(runs: readonly ListedRun[]): void {
    if (this.#seriesChosen) return;
    const counts = new Map<string, number>();
    for (const run of runs) {
      if (Object.keys(run.best).length === 0) continue;
      const series = leadingSeries(run);
      counts.set(series, (counts.get(series) ?? 0) + 1);
    }
    const [most] = [...counts].sort((a, b) => b[1] - a[1]);
    if (most) this.series = most[0];
  }
}
