// Predicting a file with a run: the data host reads it as the run's own data was read and keeps its rows, a process of its own
// predicts them, and the window looks at pages of the result and saves it where the person says.

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { CancelledError, InputError } from '../../engine/protocol/errors.ts';
import type {
  DataService,
  FileMatching,
  PredictedRows,
  PredictionFormat,
  Progress,
} from '../../engine/protocol/data.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import type { PredictorService } from '../../engine/protocol/hosts.ts';
import type { FilePrediction, PredictionSummary } from '../../engine/protocol/predicting.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { fileRecipe, modelFileWarnings, readModelFiles } from '../../engine/runs/model-files.ts';
import type { Processes } from './processes.ts';
import { saveThroughDialog, type Dialogs } from './saving.ts';

export interface PredictionParts {
  readonly store: StoreService;
  readonly data: DataService;
  readonly processes: Pick<Processes, 'startCpuHost'>;
  readonly dialogs: Dialogs;
}

interface Kept {
  readonly handle: string;
  /** The file that was read, and what its predictions are called. */
  readonly path: string;
  readonly suggested: string;
  readonly refused: readonly string[];
}

interface FileRequest {
  readonly job: string;
  readonly run: number;
  readonly paths: readonly string[];
  readonly match?: FileMatching;
}

/** Predictions that are kept at a time: a window that was loaded again has forgotten its own. */
const mostKept = 3;

export class FilePredictions {
  readonly #parts: PredictionParts;
  readonly #kept = new Map<string, Kept>();
  readonly #jobs = new Map<string, AbortController>();
  readonly #progress = new Listeners<{ job: string; progress: Progress }>();

  constructor(parts: PredictionParts) {
    this.#parts = parts;
  }

  /** Throws InputError when the file cannot be read, CancelledError after `cancel`. */
  async predict(request: FileRequest): Promise<FilePrediction> {
    const controller = new AbortController();
    this.#jobs.set(request.job, controller);
    try {
      return await this.#predict(request, controller.signal);
    } finally {
      this.#jobs.delete(request.job);
    }
  }

  async #predict(request: FileRequest, signal: AbortSignal): Promise<FilePrediction> {
    const { job, run, paths } = request;
    const [file, ...more] = paths;
    const { store, data } = this.#parts;
    const { name } = await store.run({ run });
    const files = await readModelFiles(store, run);
    const { model, weights } = files;
    const warnings = await modelFileWarnings(store, run);
    const preprocessing = fileRecipe(files, run);
    const match = request.match ?? {};
    throwIfCancelled(signal);
    const prepared = await data.transform({ job, path: file, more, preprocessing, match, report: true, keep: true });
    const { handle } = prepared;
    try {
      const report = (rows: number): void => {
        const progress = { stage: 'Predicting', share: rows / prepared.counts.test, secondsLeft: null };
        this.#progress.emit({ job, progress });
      };
      const summary = await this.#compute({ run, model, weights, data: prepared }, signal, report);
      const prediction = randomUUID();
      const columns = prepared.match?.columns ?? [];
      const refused = columns.filter(({ status }) => status === 'refused').map((column) => column.name);
      this.#kept.set(prediction, { handle, path: file, suggested: `${name} predictions`, refused });
      for (const old of [...this.#kept.keys()].slice(0, -mostKept)) await this.close(old);
      const shown = more.length > 0 ? `${paths.length} files` : path.basename(file);
      const notes = [...warnings, ...prepared.warnings].map(({ message }) => message);
      return { prediction, name: shown, match: prepared.match ?? null, summary, notes };
    } catch (error) {
      await data.release({ handle });
      throw error;
    }
  }

  /** In a process of its own, which ends with the work or is ended by `cancel`. */
  async #compute(
    work: Parameters<PredictorService['predict']>[0],
    signal: AbortSignal,
    report: (rows: number) => void,
  ): Promise<PredictionSummary> {
    throwIfCancelled(signal);
    const host = await this.#parts.processes.startCpuHost();
    const stop = host.predictor.onPredicted(({ handle, rows }) => {
      if (handle === work.data.handle) report(rows);
    });
    try {
      throwIfCancelled(signal);
      const cancelled = new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new CancelledError())),
      );
      return await Promise.race([host.predictor.predict(work), cancelled]);
    } finally {
      stop();
      host.kill();
    }
  }

  cancel(job: string): void {
    this.#jobs.get(job)?.abort();
  }

  onProgress(listener: (event: { job: string; progress: Progress }) => void): () => void {
    return this.#progress.add(listener);
  }

  async rows(prediction: string, offset: number, limit: number): Promise<PredictedRows> {
    return this.#parts.data.predictedRows({ handle: this.#of(prediction).handle, offset, limit });
  }

  async save(job: string, prediction: string, format: PredictionFormat): Promise<string | null> {
    const { handle, path: input, suggested, refused } = this.#of(prediction);
    if (refused.length > 0) {
      throw new InputError(
        'input.unusable_column',
        `Nothing can be used of ${refused.join(', ')}: these predictions would be guesses.`,
        'Match the column, or go without it.',
      );
    }
    const { dialogs, data } = this.#parts;
    const make = async (): Promise<string> => (await data.writePredictions({ job, handle, ...format })).path;
    return saveThroughDialog(dialogs, `${suggested}.${format.format}`, make, input);
  }

  async close(prediction: string): Promise<void> {
    const kept = this.#kept.get(prediction);
    this.#kept.delete(prediction);
    if (kept) await this.#parts.data.release({ handle: kept.handle });
  }

  #of(prediction: string): Kept {
    const kept = this.#kept.get(prediction);
    if (kept) return kept;
    throw new InputError('input.prediction', 'These predictions are no longer kept.', 'Predict the file again.');
  }
}

function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new CancelledError();
}
