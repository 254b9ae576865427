// How good the model is: the metrics of a split, and whether they can be believed.

import { predictsTokens } from '../model/spec.ts';
import type { PreparedData, SplitName } from '../protocol/data.ts';
import type { Metrics } from '../protocol/runs.ts';
import type { Diary } from './diary.ts';
import { constantLoss, doubtHint, doubtOf } from './doubt.ts';
import type { EvaluatedSplit } from './evaluation-files.ts';
import { evaluate } from './metrics.ts';
import type { RowRange } from './resident-rows.ts';
import type { Session } from './session.ts';

/** Validation losses below this are not looked at while training: batch statistics of first epochs may be far off. */
const earlyLoss = 100;

export type EvaluatedSplits = Readonly<Record<SplitName, EvaluatedSplit | null>>;

/** Scores of the weights that are kept. */
export interface FinalScores {
  readonly splits: EvaluatedSplits;
  /** `train_loss`, `val_loss`, `test_accuracy`, … */
  readonly metrics: Metrics;
  /** Why they cannot be believed, and what to do; null = no reason for doubt. */
  readonly doubt: string | null;
}

export class Scores {
  readonly #session: Session;
  readonly #data: PreparedData;
  readonly #diary: Diary;
  readonly #breathe: () => Promise<void>;
  #doubted = false;

  constructor(session: Session, data: PreparedData, diary: Diary, breathe: () => Promise<void>) {
    this.#session = session;
    this.#data = data;
    this.#diary = diary;
    this.#breathe = breathe;
  }

  /** The validation split, or null when it is empty. */
  validation(): Promise<EvaluatedSplit | null> {
    return this.#diary.during('validation', () => this.#evaluate('validation'));
  }

  /** All splits, by the weights on the device. */
  async final(): Promise<FinalScores> {
    const splits: Record<SplitName, EvaluatedSplit | null> = { train: null, validation: null, test: null };
    let metrics: Metrics = {};
    for (const split of ['train', 'validation', 'test'] as const) {
      splits[split] = await this.#diary.during('scoring', () => this.#evaluate(split));
      metrics = { ...metrics, ...ofSplit(split, splits[split]?.evaluation.metrics ?? {}) };
    }
    const doubt = splits.validation && this.#doubtOf(metrics['val_loss'], metrics['train_loss'], splits.validation);
    return { splits, metrics, doubt: doubt && `${doubt} ${doubtHint}` };
  }

  /** Says once when the validation loss of an epoch is no number, or beyond what early epochs may look like. */
  believe(epoch: number, trainLoss: number, validation: EvaluatedSplit): void {
    const { loss } = validation.evaluation.metrics;
    if (this.#doubted || (Number.isFinite(loss) && loss < earlyLoss)) return;
    const doubt = this.#doubtOf(loss, trainLoss, validation);
    if (doubt === null) return;
    this.#doubted = true;
    this.#diary.warn(`Epoch ${epoch}: ${doubt}`);
  }

  #doubtOf(loss: number | undefined, train: number | undefined, { targets }: EvaluatedSplit): string | null {
    // What a language model of constant answers would lose is not known.
    if (predictsTokens(this.#data.input)) return null;
    const { training, classWeights, model } = this.#session;
    const spec = { output: this.#data.output, training, weights: classWeights };
    const constant = constantLoss(targets, spec, model.outputs);
    return doubtOf({ train: train ?? NaN, validation: loss ?? NaN, constant });
  }

  async #evaluate(split: SplitName): Promise<EvaluatedSplit | null> {
    const range = splitRange(this.#data, split);
    if (range.end === range.start) return null;
    if (predictsTokens(this.#data.input)) return this.#ofTokens(split, range);
    const outputs = await this.#session.predict(range, this.#breathe);
    const targets = this.#session.rows.targets.subarray(range.start, range.end);
    const { training, classWeights: weights } = this.#session;
    const evaluation = evaluate(outputs, targets, { output: this.#data.output, training, weights });
    return { evaluation, outputs, targets };
  }

  /** Of a language model: nothing but what the loss says. */
  async #ofTokens(split: SplitName, range: RowRange): Promise<EvaluatedSplit> {
    const loss = await this.#session.tokenLoss(range, this.#breathe);
    const bytes = this.#data.bytesPerToken?.[split] ?? NaN;
    const metrics = { loss, perplexity: Math.exp(loss), bits_per_byte: loss / Math.LN2 / bytes };
    return { evaluation: { metrics }, outputs: new Float32Array(0), targets: new Float32Array(0) };
  }
}

/** Metrics of a split under the names they have in a run: `val_accuracy`. */
export function ofSplit(split: SplitName, metrics: Metrics): Metrics {
  const prefix = split === 'validation' ? 'val' : split;
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${prefix}_${name}`, value]));
}

/** Rows of a split: train first, then validation, then test. */
export function splitRange({ counts }: Pick<PreparedData, 'counts'>, split: SplitName): RowRange {
  const { train: first, validation, test } = counts;
  switch (split) {
    case 'train':
      return { start: 0, end: first };
    case 'validation':
      return { start: first, end: first + validation };
    case 'test':
      return { start: first + validation, end: first + validation + test };
  }
}
