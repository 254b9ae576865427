// The state of the tab Evaluation: which rows, what the run says of them, and what a person has set. It lives as long as the page of the run, so
// that the choice stays while tabs change. Every figure is made from the prediction table by
// engine/evaluation: scores and cut columns come with the table, the others follow the hand here.

import { confusionOf } from '../../../../engine/evaluation/class-scores.ts';
import { drawCurves, type DrawnCurves } from '../../../../engine/evaluation/curves.ts';
import { errorsOf, usualUnit } from '../../../../engine/evaluation/residuals.ts';
import { sliceSteps, type Slice, type SliceOptions } from '../../../../engine/evaluation/slices.ts';
import {
  outcomesByThreshold,
  plainThresholdScores,
  thresholdScores,
  outcomeAt,
  type Costs,
} from '../../../../engine/evaluation/threshold.ts';
import { mistakesOf } from '../../../../engine/evaluation/worst.ts';
import type { AppService } from '../../../../engine/protocol/app.ts';
import type {
  ClassRows,
  EvaluatedRows,
  EvaluatedRun,
  EvaluatedSplit,
  Openings,
  Score,
} from '../../../../engine/protocol/evaluated-rows.ts';
import { usualRows } from '../../../../engine/learners/declared/compared-rows.ts';
import { isCrossValidation } from '../../../../engine/protocol/folds.ts';
import type { RunRecord } from '../../../../engine/protocol/runs.ts';
import { failureOf, type Failure } from '../../../app/failure.ts';
import { breathe } from '../../../lib/breathe.ts';
import { inSlices } from '../../../lib/steps.ts';
import { ofWeights } from '../of-weights.ts';
import { readable } from './readable.ts';
import { toggled, weakestClasses } from './named-classes.ts';

export type Chosen = { readonly split: EvaluatedSplit } | { readonly token: string; readonly name: string };

/** Thresholds are chosen on validation rows alone: none chooses the rows it is judged by. */
const isOfValidation = (chosen: Chosen): boolean => 'split' in chosen && chosen.split === 'validation';

const usualCosts: Costs = { missed: 10, needless: 1 };
/** Milliseconds a slider rests before the slices of many rows are counted again. */
const rest = 120;

/** The curves of each class; null where they do not exist. */
export type ClassCurves = readonly (DrawnCurves | null)[];

/** Of the rows shown, of the linear model on them, and of the validation split where that is another. */
export interface ShownCurves {
  readonly own: ClassCurves;
  readonly linear: ClassCurves | null;
  readonly validation: ClassCurves | null;
}

export class EvaluationPage {
  chosen: Chosen = $state.raw({ split: 'validation' });
  result: EvaluatedRun | null = $state.raw(null);
  /** The same for the second and the third row of panes: figures of many rows take a while each, and the window answers in between. */
  later: readonly (EvaluatedRun | null)[] = $state.raw([null, null]);
  /** Whose rows the figures are of: while others are read, and where those were refused, not the ones chosen. */
  of: Chosen = $state.raw({ split: 'validation' });
  /** Of the validation split, where another one is shown: thresholds are judged by it. */
  validation: EvaluatedRun | null = $state.raw(null);
  slices: readonly Slice[] | null = $state.raw(null);
  curves: ShownCurves | null = $state.raw(null);
  opened: Openings | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  working: boolean = $state(false);
  threshold: number = $state(0.5);
  costs: Costs = $state.raw(usualCosts);
  /** Classes whose curves a person chose to be named, of more than two. */
  #named: readonly number[] | null = $state.raw(null);
  readonly #service: AppService;
  readonly #run: RunRecord;
  #asked = 0;
  #sliced = 0;
  #job = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tables = new Map<EvaluatedSplit, EvaluatedRun>();

  constructor(service: AppService, run: RunRecord) {
    this.#service = service;
    this.#run = run;
    this.chosen = { split: usualRows(run) };
    void this.#start();
  }

  readonly rows = $derived(this.result?.rows ?? null);
  readonly columns = $derived(this.result?.columns ?? null);
  readonly two = $derived(this.rows?.kind === 'classes' && this.rows.classes.length === 2);
  /** Counts by threshold of the rows shown, and of those that thresholds are judged by. */
  readonly outcomes = $derived(this.two ? outcomesByThreshold(this.rows as ClassRows) : null);
  /** Of the linear model: it is held against the same threshold. */
  readonly #linearOutcomes = $derived(
    this.two && this.result?.baselines.linear
      ? outcomesByThreshold({ ...(this.rows as ClassRows), probabilities: this.result.baselines.linear })
      : null,
  );
  readonly judged = $derived.by(() => {
    if (isOfValidation(this.of)) return this.outcomes;
    return this.validation?.rows.kind === 'classes' ? outcomesByThreshold(this.validation.rows) : null;
  });
  readonly confusion = $derived(this.rows?.kind === 'classes' ? confusionOf(this.rows, this.threshold) : null);
  /** The scores, with those that move with the threshold as they are at it. */
  readonly shown = $derived.by((): readonly Score[] => {
    const scores = this.result?.scores ?? [];
    if (this.outcomes === null || this.threshold === 0.5) return scores;
    const moved = thresholdScores(outcomeAt(this.outcomes, this.threshold), this.costs);
    const linear = this.#linearOutcomes && plainThresholdScores(outcomeAt(this.#linearOutcomes, this.threshold));
    return scores.map((score) =>
      score.name === 'accuracy' || score.name === 'balanced_accuracy' || score.name === 'f1'
        ? { ...score, ...moved[score.name], linear: linear?.[score.name] ?? null }
        : score,
    );
  });

  /** Classes whose curves have a name: those chosen, otherwise the weakest. */
  readonly named = $derived(this.#named ?? weakestClasses(this.curves?.own ?? []));

  toggleNamed(k: number): void {
    this.#named = toggled(this.named, k);
  }

  /** Those on show are not read again: a failure beside them is put away. */
  choose(chosen: Chosen): void {
    this.chosen = chosen;
    if (this.failure !== null && chosen === this.of && this.result !== null) {
      this.failure = null;
      return;
    }
    void this.#load();
  }

  setThreshold(threshold: number): void {
    this.threshold = Math.round(Math.min(1, Math.max(0, threshold)) * 100) / 100;
    clearTimeout(this.#timer);
    const many = (this.rows?.truth.length ?? 0) > 20_000;
    if (many) this.#timer = setTimeout(() => void this.#slice(), rest);
    else void this.#slice();
  }

  setCosts(costs: Costs): void {
    this.costs = costs;
    void this.#service.setSetting({ key: this.#costsKey, value: { ...costs } }).catch(() => undefined);
  }

  get #costsKey(): string {
    return `evaluation.costs.${this.#run.dataset.slice(0, 60)}`;
  }

  async #start(): Promise<void> {
    const kept = await this.#service.getSetting({ key: this.#costsKey }).catch(() => null);
    if (kept !== null) this.costs = kept as Costs;
    this.opened = await this.#service.openings({ run: this.#run.id }).catch(() => null);
    await this.#load();
  }

  /** Old figures stay until the new table is there; what is made from it piece by piece is not shown beside the new ones. */
  async #load(): Promise<void> {
    const asked = ++this.#asked;
    const { chosen } = this;
    const run = this.#run.id;
    if (this.working) void this.#service.cancel({ job: this.#job }).catch(() => undefined);
    this.#job = `evaluate-${run}-${asked}`;
    const which = 'split' in chosen ? { split: chosen.split } : { token: chosen.token };
    this.working = true;
    try {
      const known = 'split' in chosen ? this.#tables.get(chosen.split) : undefined;
      const result = known ?? readable(await this.#service.evaluate({ job: this.#job, run, ...which }));
      if ('split' in chosen) this.#tables.set(chosen.split, result);
      if (asked !== this.#asked) return;
      this.failure = null;
      this.opened = result.opened;
      [this.slices, this.curves] = [null, null];
      this.result = result;
      this.of = chosen;
      this.validation = isOfValidation(chosen) ? null : (this.#tables.get('validation') ?? null);
      await this.#showLater(asked);
      await this.#drawCurves(asked);
      await this.#slice();
      if (await this.#loadValidation(asked)) await this.#drawCurves(asked);
    } catch (error) {
      if (asked !== this.#asked) return;
      this.failure = failureOf(error);
      // Rows that were refused are not those on show.
      if (this.result !== null) this.chosen = this.of;
    } finally {
      if (asked === this.#asked) this.working = false;
    }
  }

  async #showLater(asked: number): Promise<void> {
    const { result } = this;
    for (const row of this.later.keys()) {
      await breathe();
      if (asked !== this.#asked) return;
      this.later = this.later.map((shown, i) => (i === row ? result : shown));
    }
    await breathe();
  }

  /** Whether there is one that was not there before. */
  async #loadValidation(asked: number): Promise<boolean> {
    if (isOfValidation(this.of) || this.validation !== null) return false;
    if (isCrossValidation(this.#run.config) || (this.#run.data?.counts.validation ?? 0) === 0) return false;
    const job = `${this.#job}-validation`;
    const result = readable(await this.#service.evaluate({ job, run: this.#run.id, split: 'validation' }));
    this.#tables.set('validation', result);
    if (asked === this.#asked) this.validation = result;
    return true;
  }

  /** Slice by slice of a frame: the rows may be many. */
  async #drawCurves(asked: number): Promise<void> {
    const { result, validation } = this;
    const draw = (rows: ClassRows): Promise<ClassCurves | null> =>
      inSlices(drawCurves(rows), () => asked === this.#asked);
    if (result?.rows.kind !== 'classes') return;
    const { linear } = result.baselines;
    const own = await draw(result.rows);
    const ofLinear = linear && this.two ? await draw({ ...result.rows, probabilities: linear }) : null;
    const ofValidation = this.two && validation?.rows.kind === 'classes' ? await draw(validation.rows) : null;
    if (own !== null && asked === this.#asked) this.curves = { own, linear: ofLinear, validation: ofValidation };
  }

  async #slice(): Promise<void> {
    const { rows, columns } = this;
    if (rows === null || columns === null) return;
    const asked = ++this.#sliced;
    const steps = sliceSteps(columns.cut, this.#errorsOf(rows));
    const slices = await inSlices(steps, () => asked === this.#sliced && rows === this.rows);
    if (slices !== null) this.slices = slices;
  }

  #errorsOf(rows: EvaluatedRows): SliceOptions {
    if (rows.kind === 'values') return { errors: errorsOf(rows, usualUnit(rows)).map(Math.abs), shares: false };
    const { wrong, missed } = mistakesOf(rows, this.threshold);
    return { errors: wrong, shares: true, counts: this.two ? [missed] : [] };
  }
}

/** The one of a run's page, while the run has these weights. */
export const evaluationOf = ofWeights((service, run) => new EvaluationPage(service, run));
