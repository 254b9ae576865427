// How good a run is on each split, class by class, and what it predicted for each picture it was validated on. The trainer
// writes both as files of the run (`evaluation.json`, `predictions.json`); K classes.

import type { SplitName } from './data.ts';

export interface ClassScore {
  readonly name: string;
  /** Rows of this class. */
  readonly rows: number;
  /** Rows predicted as this class. */
  readonly predicted: number;
  /** Null where nothing was predicted as this class. */
  readonly precision: number | null;
  /** Null where the split has no row of this class. */
  readonly recall: number | null;
  readonly f1: number | null;
}

/** What evaluating a split gives: numbers by name, and for classes the counts behind them. */
export interface SplitEvaluation {
  /** `loss`; `accuracy`, `balanced_accuracy`, `f1`, `roc_auc`; or `r2`, `mae`, `rmse` in the target's unit. */
  readonly metrics: Readonly<Record<string, number>>;
  /** [K,K] row = true class, column = predicted. */
  readonly confusion?: readonly (readonly number[])[];
  readonly classes?: readonly ClassScore[];
}

/** `evaluation.json` */
export interface RunEvaluation {
  /** Epoch whose weights were evaluated. */
  readonly epoch: number;
  /** False while the run goes on: the validation split alone, after the last epoch. */
  readonly final: boolean;
  readonly bestEpoch: number;
  readonly splits: Readonly<Partial<Record<SplitName, SplitEvaluation>>>;
}

/** `predictions.json`: the rows of the validation split, one place in every list each. Pictures only. */
export interface RunPredictions {
  readonly epoch: number;
  readonly classes: readonly string[];
  /** Row of the dataset. */
  readonly rows: readonly number[];
  /** Class numbers. */
  readonly truth: readonly number[];
  readonly predicted: readonly number[];
  /** Of the predicted class, 0 … 1. */
  readonly probability: readonly number[];
}

/** A picture and what a run says it is. */
export interface PredictedPicture {
  readonly row: number;
  readonly file: string;
  readonly truth: string;
  readonly predicted: string;
  readonly probability: number;
}

/** A page of pictures of one cell of the confusion matrix, surest first. */
export interface PredictedPage {
  readonly epoch: number;
  readonly offset: number;
  readonly total: number;
  readonly pictures: readonly PredictedPicture[];
  /** Size of the thumbnails. */
  readonly width: number;
  readonly height: number;
  /** RGBA [pictures, height, width, 4] */
  readonly pixels: Uint8Array;
}

/** Pictures a finished run was shown. */
export interface ClassifiedPictures {
  /** Pictures there were; more than are listed here where they are too many for one answer. */
  readonly total: number;
  /** What was left out and why, in words. */
  readonly notes: readonly string[];
  readonly classes: readonly string[];
  readonly files: readonly string[];
  /** [pictures, classes] */
  readonly probabilities: Float64Array;
  /** Size at which the model saw them. */
  readonly width: number;
  readonly height: number;
  /** RGBA [pictures, height, width, 4] */
  readonly pixels: Uint8Array;
  /** Where the model looked for the class it found, or why that cannot be said. */
  readonly attention: ActivationMaps | { readonly reason: string };
  /** What of the pictures speaks for it; null: the learner does not tell. */
  readonly attributions: Attributions | null;
}

/** Integrated gradients (Sundararajan et al. 2017) of the predicted class, from the mean colour of the training pictures. */
export interface Attributions {
  readonly width: number;
  readonly height: number;
  /** [pictures, height, width], 0 … 1 of the strongest evidence for the class. */
  readonly values: Float32Array;
  /** Of the first pictures; of more there was no time. */
  readonly pictures: readonly {
    /** Points of the path. */
    readonly steps: number;
    /** Of all evidence, for and against; it should be the score's `difference` between picture and mean colour. */
    readonly sum: number;
    readonly difference: number;
  }[];
}

/** Class-activation maps (Zhou et al. 2016) of the predicted class. */
export interface ActivationMaps {
  readonly width: number;
  readonly height: number;
  /** [pictures, height, width], 0 … 1 of the strongest evidence for the class. */
  readonly values: Float32Array;
}
