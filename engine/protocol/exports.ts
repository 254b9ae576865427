// Exports as they cross process borders: the files of a format, what proves that a model exported predicts as it does here, and
// who makes, runs and checks them.

import type { PreparedData, SplitName } from './data.ts';
import type { LogLine, MetricPoint, RunRecord } from './runs.ts';

interface FormatWords {
  readonly title: string;
  /** For the help of the command line and for lists. */
  readonly holds: string;
  /** Files beside each other that begin with the name of the run, or a folder. */
  readonly folder: boolean;
  /** How it is known to be right. */
  readonly proof: 'certified' | 'read back';
}

/** Every format a run can leave in, in the order of the lists people see. */
export const exportWords = {
  onnx: { title: 'ONNX', holds: 'model with its preprocessing, opset 20', folder: false, proof: 'certified' },
  safetensors: { title: 'safetensors', holds: 'weights as PyTorch names them', folder: false, proof: 'read back' },
  pytorch: {
    title: 'PyTorch project',
    holds: 'trains alone or under torchrun',
    folder: true,
    proof: 'read back',
  },
  'pytorch-ddp': {
    title: 'PyTorch on a cluster',
    holds: 'torchrun, SLURM, Kubernetes, Ray; comes back as a run',
    folder: true,
    proof: 'read back',
  },
  html: { title: 'Report', holds: 'scores, curves, settings, log', folder: false, proof: 'read back' },
  tensorboard: { title: 'TensorBoard', holds: 'all curves', folder: true, proof: 'read back' },
  mlflow: { title: 'MLflow folder', holds: 'settings, curves, model', folder: true, proof: 'read back' },
  json: { title: 'Specification', holds: 'everything as text', folder: false, proof: 'read back' },
} as const satisfies Readonly<Record<string, FormatWords>>;

export type ExportFormat = keyof typeof exportWords;
export const exportFormats = Object.keys(exportWords) as readonly ExportFormat[];

export interface ExportedFile {
  /** Within the export; `/` between folders. */
  readonly path: string;
  readonly data: Uint8Array;
}

/** An input of an ONNX model with values. `data` [shape], row by row. */
export interface ModelInput {
  readonly name: string;
  readonly type: 'double' | 'string' | 'uint8' | 'int64';
  readonly shape: readonly number[];
  readonly data: Float64Array | Uint8Array | Int32Array | readonly string[];
}

/** What this model answers to some rows. */
export interface Answers {
  readonly rows: number;
  /** Classes: [rows, classes]; null for numbers. */
  readonly probabilities: Float64Array | null;
  /** Class names; null for numbers. */
  readonly labels: readonly string[] | null;
  /** Numbers in the target's unit; null for classes. */
  readonly values: Float64Array | null;
  /** Numbers: what a difference is held against at least, the target's deviation. */
  readonly scale: number;
}

/** The proof that comes with an exported model. */
export interface Certificate {
  readonly version: 1;
  readonly passed: boolean;
  /** Whose rows it was tried with; drawn: made up, of a model whose rows are not here. */
  readonly split: SplitName | 'drawn';
  readonly rows: number;
  /** Rows of the dataset, from 0; the inputs stand in the same order. Of drawn rows there are none. */
  readonly sources: readonly number[];
  /** Of each row: see `relativeDifferences`. */
  readonly differences: readonly number[];
  readonly largest: number;
  readonly allowed: number;
  /** Rows with the same label; null for numbers. */
  readonly labelsEqual: number | null;
  /** Place of the row that differs most. */
  readonly worst: number;
  /** What is fed and what comes out, as `double N × 1`. */
  readonly inputs: readonly { readonly name: string; readonly type: string }[];
  readonly outputs: readonly { readonly name: string; readonly type: string }[];
  /** `onnxruntime 1.30.0` */
  readonly runtime: string;
  readonly opset: number;
}

/** Rows to check a model with, and what is expected. */
export interface ModelCheck {
  readonly model: Uint8Array;
  readonly inputs: readonly ModelInput[];
  readonly expected: Answers;
  readonly split: Certificate['split'];
  readonly sources: readonly number[];
  readonly opset: number;
  readonly outputs: readonly { readonly name: string; readonly type: string }[];
  readonly answers: { readonly answer: string; readonly probabilities: string | null };
}

/** What an export is made of: what the run keeps. Points and lines of the log only where the format tells of them. */
export interface ExportSource {
  readonly record: RunRecord;
  readonly model: string;
  readonly preprocessing: string;
  readonly weights: Uint8Array;
  /** What it took over from another run, of one that started from its weights; read where the format trains it again. */
  readonly start?: Uint8Array | null;
  readonly points: readonly MetricPoint[];
  readonly log: readonly LogLine[];
}

/** A cross-validation: what its folds came to, by their numbers. */
export interface FoldsSource extends Pick<ExportSource, 'record' | 'points' | 'log'> {
  readonly folds: readonly (Pick<ExportSource, 'record' | 'points'> & { readonly fold: number })[];
}

export interface ExportDraft {
  readonly files: readonly ExportedFile[];
  /** Null: there is nothing that a model's answers could be compared with. */
  readonly check: ModelCheck | null;
  /** What was found equal to the run when the files were read again, a statement each; of a model, its certificate says so. */
  readonly proven: readonly string[];
}

/** Makes exports: a process that computes. */
export interface ExporterService {
  /** `data`: the run's own rows, prepared again; null where the format needs none or the dataset is gone. */
  make(request: {
    format: ExportFormat;
    /** Begins the names of the files. */
    name: string;
    source: ExportSource | FoldsSource;
    data: PreparedData | null;
  }): Promise<ExportDraft>;
}

/** Runs exported models with onnxruntime: a process of its own, which knows nothing of how they were made. */
export interface OnnxService {
  /** `files`: the certificate, the rows it speaks of, and a script that checks the model again. */
  certify(request: {
    name: string;
    check: ModelCheck;
  }): Promise<{ certificate: Certificate; files: readonly ExportedFile[]; proven: readonly string[] }>;
}

/** An export that the app has made of a run and keeps in its home. */
export interface KeptExport {
  readonly format: ExportFormat;
  /** The file, or the folder, by its name. */
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
  readonly certificate: Certificate | null;
  /** What was found equal to the run, a statement each; earlier versions have written none. */
  readonly proven?: readonly string[];
}

/** What the window asks of exports: part of AppService. */
export interface RunExports {
  /** Those that are there, in the order of the formats. */
  exports(request: { run: number }): Promise<readonly KeptExport[]>;
  /** Makes one and keeps it in the place of an older one. Progress and `cancel` go by the job. */
  makeExport(request: { job: string; run: number; format: ExportFormat }): Promise<KeptExport>;
  /** Copies one to where the person says; a folder under the name they choose. Null = cancelled. */
  saveExport(request: { run: number; format: ExportFormat }): Promise<{ saved: string | null }>;
  /** Shows one in the system's file manager. */
  showExport(request: { run: number; format: ExportFormat }): Promise<void>;
  /** Lets the system take up a drag that has begun on one. */
  dragExport(request: { run: number; format: ExportFormat }): Promise<void>;
}
