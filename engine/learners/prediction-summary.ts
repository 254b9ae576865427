// Predictions in figures, added up window by window: how many of each class, how sure, and how they are spread.

import type { OutputSpec } from '../model/spec.ts';
import type { PredictionSummary } from '../protocol/predicting.ts';
import type { PredictedAll, Predictions } from './predict.ts';

/** Bars of a histogram. */
const bins = 20;
/** Standard deviations of the training's targets on either side of their mean that a histogram of values covers. */
const reach = 3;

export class SummaryOfPredictions {
  readonly #output: OutputSpec;
  readonly #counts: number[];
  readonly #sums: number[];
  readonly #histograms: number[][];
  #rows = 0;

  constructor(output: OutputSpec) {
    this.#output = output;
    const kinds = output.kind === 'classes' ? output.classes.length : 1;
    this.#counts = new Array<number>(output.kind === 'classes' ? kinds : 0).fill(0);
    this.#sums = new Array<number>(kinds).fill(0);
    this.#histograms = Array.from({ length: kinds }, () => new Array<number>(bins).fill(0));
  }

  add({ rows, values, probabilities }: Predictions): void {
    const [low, high] = this.#range;
    const kinds = this.#sums.length;
    for (let row = 0; row < rows; row++) {
      if (probabilities) this.#counts[values[row]]++;
      for (let kind = 0; kind < kinds; kind++) {
        const value = probabilities ? probabilities[row * kinds + kind] : values[row];
        this.#sums[kind] += value;
        const bin = Math.floor(((value - low) / (high - low)) * bins);
        this.#histograms[kind][Math.min(bins - 1, Math.max(0, bin))]++;
      }
    }
    this.#rows += rows;
  }

  get #range(): readonly [number, number] {
    const output = this.#output;
    if (output.kind === 'classes') return [0, 1];
    return [output.offset - reach * output.scale, output.offset + reach * output.scale];
  }

  summary({ evaluation }: PredictedAll, seconds: number): PredictionSummary {
    return {
      rows: this.#rows,
      classes: this.#output.kind === 'classes' ? this.#output.classes : [],
      counts: this.#counts,
      means: this.#sums.map((sum) => sum / Math.max(1, this.#rows)),
      histograms: this.#histograms,
      range: this.#range,
      metrics: evaluation?.metrics ?? null,
      seconds,
    };
  }
}
