// A model and its training settings as plain JSON: what a person edits, a run stores and an export carries.
// Everything derived (shapes, parameter counts, graphs) is computed from these values and the input's description.

import type { ActivationName } from '../../kernels/activations.ts';

/** One layer: `type` names a LayerDef of the registry, the other fields are its arguments. */
export interface LayerSpec {
  readonly type: string;
  /** Name other layers refer to; also the prefix of its parameters. Default: its position. */
  readonly id?: string;
  /** Where the inputs come from; default: the layer before. `input` is the model's input. */
  readonly from?: string | readonly string[];
  readonly [argument: string]: unknown;
}

/** Layers of a model at most: planning takes half a second for so many. */
export const mostLayers = 1_000;

export interface ModelSpec {
  readonly version: 1;
  /** Preset this spec came from, if any: shown in the history. */
  readonly preset?: string;
  /** The last layer has to be `output`: a dense layer as wide as the target needs. */
  readonly layers: readonly LayerSpec[];
}

/** What the data feeds a model: fixed by the dataset's preprocessing. */
export type InputSpec =
  | {
      readonly kind: 'table';
      /** Columns of the row matrix: first `numeric` ready-made features, then one code column a category, then `length` codes a text. */
      readonly width: number;
      readonly numeric: number;
      readonly embeddings: readonly EmbeddedColumn[];
      /** Which of the numeric features are numbers, not marks of 0 and 1; absent: all. */
      readonly numbers?: readonly number[];
      /** Absent: none. */
      readonly texts?: readonly TextColumn[];
    }
  | { readonly kind: 'image'; readonly channels: number; readonly height: number; readonly width: number }
  /** Columns as they are, in this order: what learns from them has to be no network. */
  | {
      readonly kind: 'columns';
      readonly columns: readonly RawColumn[];
      /** Texts as they are, behind all columns. Absent: none. */
      readonly texts?: readonly RawText[];
    };

/** What networks are fed. */
export type NetworkInput = Exclude<InputSpec, { readonly kind: 'columns' }>;

/** Throws TypeError for columns as they are, which no network is fed. */
export function networkInputOf(input: InputSpec): NetworkInput {
  if (input.kind === 'columns') throw new TypeError('columns as they are feed no network');
  return input;
}

/** Values of one row: bytes of a picture, else numbers. */
export function valuesOf(input: InputSpec): number {
  if (input.kind === 'columns') return input.columns.length + sumOf((input.texts ?? []).map(({ width }) => width));
  return input.kind === 'table' ? input.width : input.channels * input.height * input.width;
}

/**
 * A column as it is. Numbers in their unit, 0 and 1, milliseconds since 1970, each NaN where there is none; a category as its
 * code: see `rawCodes`.
 */
export type RawColumn =
  | { readonly name: string; readonly kind: 'number' | 'boolean' | 'datetime' }
  /** `categories`: those of the training rows; `texts`: they are texts, of which every row may have its own. */
  | {
      readonly name: string;
      readonly kind: 'category';
      readonly categories: readonly string[];
      readonly texts?: true;
    };

/** Whether a column as it is holds texts. */
export const isText = (column: RawColumn): boolean => column.kind === 'category' && column.texts === true;

/** Whether rows hold texts. */
export const readsTexts = (input: InputSpec): boolean => input.kind !== 'image' && (input.texts ?? []).length > 0;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** A column of text as it is: `width` numbers that hold its characters (engine/text/packed.ts). */
export interface RawText {
  readonly name: string;
  readonly width: number;
}

/** Codes of a raw category column: nothing there, something that training did not see, then the categories in their order. */
export const rawCodes = { missing: 0, unseen: 1, first: 2 } as const;

/** A category column with too many values for one-hot: it gets a learned embedding. Code 0 = unknown or missing. */
export interface EmbeddedColumn {
  readonly name: string;
  readonly vocabulary: number;
  readonly dimensions: number;
}

/** A column of text: its tokens as codes, padding behind the last one (engine/text/tokenizer.ts). */
export interface TextColumn {
  readonly name: string;
  /** Codes are below it: the tokenizer's vocabulary and the padding, 0. */
  readonly vocabulary: number;
  /** Tokens a row at most; longer texts are cut. */
  readonly length: number;
  /** It is a language model's: each token is a target as well, told by those before it. Then it is the only input. */
  readonly predicted?: true;
}

/** Whether each row has a target at each of its positions, the token that follows. */
export const predictsTokens = (input: InputSpec): boolean =>
  input.kind === 'table' && input.texts?.[0]?.predicted === true;

/** Targets of a row: one, or of a language model one a position. */
export const targetsOf = (input: InputSpec): number => (predictsTokens(input) ? valuesOf(input) : 1);

/** What the model has to predict. */
export type OutputSpec =
  | { readonly kind: 'classes'; readonly classes: readonly string[] }
  /** Regression on a standardised target: real value = prediction · scale + offset. */
  | { readonly kind: 'value'; readonly name: string; readonly offset: number; readonly scale: number };

export type { AugmentationSpec } from '../settings/augmentation.ts';
export type { Task } from '../settings/dataset.ts';
export { usualTraining, type TrainingSpec } from '../settings/network.ts';
export type { LossName, OptimizerName, ScheduleName } from '../settings/training.ts';
export type { ActivationName };
