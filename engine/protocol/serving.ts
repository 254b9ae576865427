// A finished run kept ready to answer: rows as objects in, predictions out. A form asks it as a person drags, a server asks it for
// programs of this machine. It lives in a process of its own.

import type { OutputSpec } from '../model/spec.ts';
import type { GenerationSettings } from '../settings/generation.ts';
import type { CellValue } from './data.ts';

/** The files of a run that answer for it. */
export interface ModelSource {
  readonly run: number;
  readonly name: string;
  readonly model: string;
  readonly weights: Uint8Array;
  readonly preprocessing: string;
}

/** A column of the model as a person sets it. */
export interface FormField {
  readonly name: string;
  readonly kind: 'number' | 'boolean' | 'datetime' | 'category' | 'text';
  /** What fills gaps: the middle of the training rows, or their most frequent category. Times in milliseconds. */
  readonly middle: CellValue;
  /** Training had rows without a value here, so that the model knows what to make of one. */
  readonly gaps: boolean;
  /** Category: those that training knows, the most frequent first. */
  readonly categories?: readonly string[];
  /** Number, datetime: a range that holds most training rows, where nothing better is known. */
  readonly usual?: readonly [number, number];
}

export interface ModelForm {
  readonly output: OutputSpec;
  readonly fields: readonly FormField[];
}

/** What a model says of some rows. */
export interface RowAnswers {
  /** Class numbers, or values in the target's unit. */
  readonly values: readonly number[];
  /** [rows][classes]; null for values. */
  readonly probabilities: readonly (readonly number[])[] | null;
  /** What could not be used of each row. */
  readonly reasons: readonly (readonly string[])[];
  /** What looks wrong about all rows together, in words: columns that were exchanged. */
  readonly warnings: readonly string[];
}

/** How fast a device predicts with a model. */
export interface PredictionSpeed {
  /** Median of one row at a time. */
  readonly rowMilliseconds: number;
  readonly rowsPerSecond: number;
}

/** Where programs of this machine find a model. */
export interface ServerAddress {
  /** `http://127.0.0.1:8471` */
  readonly address: string;
  readonly token: string;
  /** The model's name in the paths of the open inference protocol. */
  readonly model: string;
}

export interface ServerCounts {
  readonly requests: number;
  readonly failed: number;
  /** Of the last thousand requests that were answered; null before the first. */
  readonly medianMilliseconds: number | null;
}

/** A text to write on from a prompt; `job` is the asker's own name for it. */
export interface TextRequest extends GenerationSettings {
  readonly job: string;
  readonly prompt: string;
}

/** A text has been begun. */
export interface TextStart {
  /** What the model cannot read of the prompt, in words; null: it can read all of it. */
  readonly unread: string | null;
}

/** The next part of a text, in whole characters; `done`: it ends here. */
export interface TextPiece {
  readonly text: string;
  readonly done: boolean;
}

/** Offered by the process that keeps a model ready. */
export interface ServedModelService {
  /** Has to be called once, before everything else. A language model has no fields: it writes. */
  open(request: ModelSource): Promise<ModelForm>;
  /** Rows as objects with the file's column names; null is a missing value. */
  predict(request: { rows: readonly Readonly<Record<string, CellValue>>[] }): Promise<RowAnswers>;
  /** A row as the model reads it: times in milliseconds; null is what is not there or cannot be used. */
  read(request: { row: Readonly<Record<string, CellValue>> }): Promise<Readonly<Record<string, CellValue>>>;
  /** A language model begins a text, in the place of the one before. Throws InputError `run.no_language`. */
  startText(request: TextRequest): Promise<TextStart>;
  /** Writes for a moment and gives what has come; a text that another has taken the place of, or that was ended, is done. */
  nextText(request: { job: string }): Promise<TextPiece>;
  endText(request: { job: string }): Promise<void>;
  speed(): Promise<PredictionSpeed>;
  /** Serves on the loopback address alone; `port` 0 or absent: one that is free; a token is made where none is given. */
  listen(request: { port?: number; token?: string }): Promise<ServerAddress>;
  /** Answers what has been asked and closes. */
  unlisten(): Promise<void>;
  counts(): Promise<ServerCounts>;
}
