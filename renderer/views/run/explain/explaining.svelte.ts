// What the tab Explain knows: computed when it is asked for, and again for another split or class; single rows and columns beside it.

import { byImportance } from '../../../../engine/explanation/importance.ts';
import type { AppService } from '../../../../engine/protocol/app.ts';
import { rowsOffered, usualRows } from '../../../../engine/learners/declared/compared-rows.ts';
import type { Progress } from '../../../../engine/protocol/data.ts';
import type { EvaluatedSplit } from '../../../../engine/protocol/evaluated-rows.ts';
import type { Contributions, Dependence, Explanation } from '../../../../engine/protocol/explanation.ts';
import { ownValue } from '../../../../engine/protocol/own.ts';
import type { RunRecord } from '../../../../engine/protocol/runs.ts';
import { failureOf, wasCancelled, type Failure } from '../../../app/failure.ts';
import { ofWeights } from '../of-weights.ts';

/** Charts of single columns side by side. */
const chartsShown = 3;
let jobs = 0;

export const ofTrees = {
  gain: 'Gain of splits',
  splits: 'Number of splits',
  contribution: 'Mean |contribution|',
} as const;
export const isOfTrees = (measure: string): measure is keyof typeof ofTrees => Object.hasOwn(ofTrees, measure);

const sharesOf = (values: Float64Array): Float64Array => {
  const all = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => (all > 0 ? value / all : 0));
};

/** The columns' shares of a measure of trees, [C]; null: it is none, or not known. */
function ofTreesIn({ gains, contributions }: Explanation, measure: string): Float64Array | null {
  if (!isOfTrees(measure)) return null;
  const values = measure === 'contribution' ? contributions?.mean : gains?.[measure];
  return values ? sharesOf(values) : null;
}

export class Explaining {
  readonly run: number;
  split: EvaluatedSplit = $state('validation');
  /** Splits that have rows. */
  readonly splits: readonly EvaluatedSplit[];
  wanted: number | undefined = $state();
  found: Explanation | null = $state.raw(null);
  why: Contributions | null = $state.raw(null);
  dependence: readonly Dependence[] = $state.raw([]);
  /** Score importance is told in. */
  score: string = $state('');
  /** That score, or of trees what the splits gained or how many there are. */
  measure: string = $state('');
  chosen: number | null = $state(null);
  progress: Progress | null = $state.raw(null);
  working: boolean = $state(false);
  failure: Failure | null = $state.raw(null);
  readonly #service: AppService;
  #job = '';

  constructor(run: Pick<RunRecord, 'id' | 'data' | 'config' | 'relation'>, service: AppService) {
    this.run = run.id;
    this.split = usualRows(run);
    this.splits = rowsOffered(run);
    this.#service = service;
  }

  get #asked(): { job: string; run: number; split: EvaluatedSplit; wanted?: number } {
    return { job: this.#job, run: this.run, split: this.split, wanted: this.wanted };
  }

  async compute(): Promise<void> {
    // What nobody waits for any more.
    if (this.working) void this.cancel().catch(() => undefined);
    this.#job = `explain ${this.run} ${++jobs}`;
    const job = this.#job;
    this.working = true;
    const stop = this.#service.onProgress((event) => {
      if (event.job === job) this.progress = event.progress;
    });
    try {
      const found = await this.#service.explain(this.#asked);
      if (job !== this.#job) return;
      const scores = Object.keys(found.importance.scores);
      if (!scores.includes(this.score)) this.score = scores[0] ?? '';
      if (ofTreesIn(found, this.measure) === null) this.measure = this.score;
      [this.found, this.dependence, this.failure] = [found, found.dependence, null];
      this.chosen = found.dependence[0]?.column ?? null;
      this.why = await this.#service.explainRow({ ...this.#asked, row: this.why?.source });
    } catch (error) {
      // Of trees nothing is said of a row that was cancelled; what was found before stays.
      if (job === this.#job && !(this.found && wasCancelled(error))) this.failure = failureOf(error);
    } finally {
      stop();
      if (job === this.#job) [this.working, this.progress] = [false, null];
    }
  }

  cancel(): Promise<void> {
    return this.#service.cancelExplanation({ job: this.#job });
  }

  async choose({
    split,
    wanted,
    measure,
  }: {
    readonly split?: EvaluatedSplit;
    readonly wanted?: number;
    readonly measure?: string;
  }): Promise<void> {
    if (measure !== undefined) {
      this.measure = measure;
      if (!isOfTrees(measure)) this.score = measure;
      return;
    }
    if (split !== undefined && split !== this.split) [this.split, this.why] = [split, null];
    if (wanted !== undefined) this.wanted = wanted;
    if (this.found || this.failure) await this.compute();
  }

  async showRow(row: number): Promise<void> {
    try {
      this.why = await this.#service.explainRow({ ...this.#asked, row });
      this.failure = null;
    } catch (error) {
      this.failure = failureOf(error);
    }
  }

  /** Brings the chart of a column to the left. */
  async showColumn(column: number): Promise<void> {
    this.chosen = column;
    const here = this.dependence.find((one) => one.column === column);
    const others = this.dependence.filter((one) => one.column !== column);
    try {
      const one = here ?? (await this.#service.explainColumns({ ...this.#asked, columns: [column] }))[0];
      this.dependence = [one, ...others].slice(0, chartsShown);
    } catch (error) {
      this.failure = failureOf(error);
    }
  }

  /** Columns by their importance, the first first. */
  get order(): ReturnType<typeof byImportance> {
    const { found, measure } = this;
    if (found === null) return [];
    const shares = ofTreesIn(found, measure);
    if (shares === null) return byImportance(found.importance, measure);
    const rows = Array.from(shares, (mean, column) => ({
      column,
      together: [],
      spread: { mean, deviation: 0, noise: mean === 0 },
    }));
    return rows.sort((a, b) => b.spread.mean - a.spread.mean);
  }

  /** [C] what is drawn of each column: a value a shuffle, or its share of what trees tell. */
  get drops(): readonly (readonly number[])[] {
    const { found, measure } = this;
    const shares = found && ofTreesIn(found, measure);
    if (shares) return Array.from(shares, (share) => [share]);
    return found?.importance.columns.map((one) => ownValue(one.drops, measure) ?? []) ?? [];
  }
}

/** The one of a run's page: what was computed stays while tabs change, and while the run has these weights. */
export const explainingOf = ofWeights((service, run) => new Explaining(run, service));
