// The files in which a run tells how good it is: `evaluation.json` after an epoch and at the end, and for pictures
// `predictions.json` with what was predicted for each row of the validation split, so that a cell of the confusion matrix
// can show its pictures. Both are of the same weights.

import type { PreparedData, SplitName } from '../protocol/data.ts';
import type { RunEvaluation, RunPredictions, SplitEvaluation } from '../protocol/evaluation.ts';
import type { RunFile } from '../protocol/runs.ts';
import { likeliest, probabilities } from './metrics.ts';
import { encodeText } from './safetensors.ts';

/** While a run goes on its files are written at most this often. */
const liveMilliseconds = 2000;
/** Larger ones are written at the end alone: cells of the matrix, rows of the predictions. */
const liveCells = 40_000;
const liveRows = 20_000;

export interface EvaluatedSplit {
  readonly evaluation: SplitEvaluation;
  /** Raw outputs [rows, outputs]. */
  readonly outputs: Float32Array;
  readonly targets: Float32Array;
}

export interface EvaluationFilesOptions {
  readonly data: Pick<PreparedData, 'input' | 'output' | 'counts' | 'sources'>;
  readonly clock: () => number;
  readonly onFile: (event: { file: RunFile; data: Uint8Array }) => void;
}

export class EvaluationFiles {
  readonly #options: EvaluationFilesOptions;
  #last = -Infinity;

  constructor(options: EvaluationFilesOptions) {
    this.#options = options;
  }

  /** After an epoch. Nothing is written when the last writing is not long ago, or for numbers as targets. */
  live(epoch: number, bestEpoch: number, validation: EvaluatedSplit): void {
    const now = this.#options.clock();
    const { confusion } = validation.evaluation;
    if (!confusion || confusion.length ** 2 > liveCells || now - this.#last < liveMilliseconds) return;
    this.#last = now;
    this.#evaluation({ epoch, final: false, bestEpoch, splits: { validation: validation.evaluation } });
    if (validation.targets.length <= liveRows) this.#predictions(epoch, validation);
  }

  /** At the end, after `done` epochs, of the weights kept: those of the best one, where there is any. */
  final(done: number, bestEpoch: number, splits: Readonly<Record<SplitName, EvaluatedSplit | null>>): void {
    const epoch = bestEpoch > 0 ? bestEpoch : done;
    const evaluations = Object.entries(splits).map(([name, split]) => [name, split?.evaluation ?? { metrics: {} }]);
    this.#evaluation({ epoch, final: true, bestEpoch, splits: Object.fromEntries(evaluations) });
    if (splits.validation) this.#predictions(epoch, splits.validation);
  }

  #evaluation(evaluation: RunEvaluation): void {
    this.#options.onFile({ file: 'evaluation.json', data: encodeText(JSON.stringify(evaluation)) });
  }

  #predictions(epoch: number, { outputs, targets }: EvaluatedSplit): void {
    const { input, output, counts, sources } = this.#options.data;
    if (input.kind !== 'image' || output.kind !== 'classes' || !sources) return;
    const { classes } = output;
    const shares = probabilities(outputs, targets.length, classes.length);
    const predicted = Array.from(targets, (_, row) => likeliest(shares, row, classes.length));
    const predictions: RunPredictions = {
      epoch,
      classes,
      rows: Array.from(sources.subarray(counts.train, counts.train + counts.validation)),
      truth: Array.from(targets),
      predicted,
      probability: predicted.map((k, row) => Math.round(shares[row * classes.length + k] * 1e5) / 1e5),
    };
    this.#options.onFile({ file: 'predictions.json', data: encodeText(JSON.stringify(predictions)) });
  }
}
