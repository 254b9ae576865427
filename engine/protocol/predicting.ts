// Predictions with a finished run as the window asks for them: a file matched, predicted, shown and saved; a form whose prediction
// moves as a person drags; how fast it is; and a server for other programs of this machine.

import type { CellValue, FileMatch, FileMatching, PredictedRows, PredictionFormat } from './data.ts';
import type {
  ModelForm,
  PredictionSpeed,
  RowAnswers,
  ServerAddress,
  ServerCounts,
  TextPiece,
  TextRequest,
  TextStart,
} from './serving.ts';

/** What a run predicts for a file, in figures. */
export interface PredictionSummary {
  readonly rows: number;
  /** Names of the classes; empty for values. */
  readonly classes: readonly string[];
  /** Rows predicted as each class; empty for values. */
  readonly counts: readonly number[];
  /** Mean probability of each class; for values one mean. */
  readonly means: readonly number[];
  /** [classes][bins] rows by the probability of a class, 0 … 1; for values one list between `range`. */
  readonly histograms: readonly (readonly number[])[];
  readonly range: readonly [number, number];
  /** Where the file says what is true. */
  readonly metrics: Readonly<Record<string, number>> | null;
  readonly seconds: number;
}

/** A file that was predicted. It is kept for pages and saving until it is closed. */
export interface FilePrediction {
  readonly prediction: string;
  readonly name: string;
  /** Null for pictures. */
  readonly match: FileMatch | null;
  readonly summary: PredictionSummary;
  /** What the file holds that the run did not expect. */
  readonly notes: readonly string[];
}

/** A run that is served. */
export interface ServedRun extends ServerAddress, ServerCounts {
  readonly run: number;
  readonly name: string;
}

/** What the window may ask about predictions: a part of `AppService`. */
export interface PredictingApp {
  /**
   * Predicts a file, or pictures. Nothing is refused: columns that would be stand in `match`, count as missing, and keep the result
   * from being saved. Progress and `cancel` go by the job.
   */
  predictFile(request: {
    job: string;
    run: number;
    tokens: readonly string[];
    match?: FileMatching;
  }): Promise<FilePrediction>;
  predictedRows(request: { prediction: string; offset: number; limit: number }): Promise<PredictedRows>;
  /** Asks where, and writes there. Refused (`input.unusable_column`) while a column is. */
  savePrediction(request: { job: string; prediction: string } & PredictionFormat): Promise<{ saved: string | null }>;
  closePrediction(request: { prediction: string }): Promise<void>;

  /** Keeps a run ready to answer, until `closeModel`. */
  openModel(request: { run: number }): Promise<ModelForm>;
  askModel(request: { run: number; rows: readonly Readonly<Record<string, CellValue>>[] }): Promise<RowAnswers>;
  /** Cells of the run's dataset as its model reads them: see `ServedModelService.read`. */
  readCells(request: {
    run: number;
    row: Readonly<Record<string, CellValue>>;
  }): Promise<Readonly<Record<string, CellValue>>>;
  /** A finished language model begins to write: see `ServedModelService.startText`. `closeModel` ends it too. */
  startText(request: TextRequest & { run: number }): Promise<TextStart>;
  nextText(request: { run: number; job: string }): Promise<TextPiece>;
  endText(request: { run: number; job: string }): Promise<void>;
  /** How fast it is on each device that there is; measured anew. A device that cannot: why. */
  modelSpeed(request: { run: number; device: 'cpu' | 'gpu' }): Promise<PredictionSpeed>;
  closeModel(request: { run: number }): Promise<void>;
  startServing(request: { run: number; port?: number }): Promise<ServedRun>;
  stopServing(request: { run: number }): Promise<void>;
  serving(): Promise<readonly ServedRun[]>;
  /** About once a second while a run is served, and when one begins or ends. */
  onServing(listener: (event: { runs: readonly ServedRun[] }) => void): () => void;
}
