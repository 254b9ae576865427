// A model that others have trained, as it is read from their files: all that a finished run of ours keeps, and what is to be said of it.

import type { InputSpec, ModelSpec, OutputSpec, Task } from '../model/spec.ts';
import type { AboutPretrained } from '../protocol/pretrained.ts';
import type { Weights } from '../train/weights.ts';
import type { TensorSource } from './safetensors-file.ts';

export interface Pretrained extends AboutPretrained {
  readonly model: ModelSpec;
  /** What its architecture is called where it is no preset: `DistilBERT`. */
  readonly architecture?: string;
  readonly input: InputSpec;
  readonly output: OutputSpec;
  readonly task: Task;
  /** The recipe that makes rows of it of raw data. */
  readonly preprocessing: unknown;
  readonly weights: Weights;
}

/** What was found at a path: the tensors, and the texts that stand beside them in a folder. */
export interface FoundModel {
  readonly name: string;
  readonly tensors: TensorSource;
  /** By the names of their files: `config.json`, `tokenizer.json`, … */
  readonly texts: Readonly<Record<string, string>>;
}

export interface ReadOptions {
  /** Name of an architecture; absent: told by the tensors. */
  readonly architecture?: string;
  /** Names of the classes, in the order of the outputs. */
  readonly classes?: readonly string[];
  /** Tokens of a text that are read; absent: as many as the model has positions. */
  readonly length?: number;
}
