// The pictures behind a run: those of a cell of its confusion matrix, and new ones it is to name. The run's files say what
// was predicted, the data host has the pixels, a process of its own runs the model.

import type { DataService, PreparedData } from '../../engine/protocol/data.ts';
import { parseRunJson } from '../../engine/protocol/model-file.ts';
import type {
  ClassifiedPictures,
  PredictedPage,
  RunEvaluation,
  RunPredictions,
} from '../../engine/protocol/evaluation.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { RunFile } from '../../engine/protocol/runs.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { readModelFiles } from '../../engine/runs/model-files.ts';
import { placesOf, type MatrixCell } from '../../engine/runs/predicted-rows.ts';
import type { Processes } from './processes.ts';

/** Pictures classified at once, and bytes of pixels that may be shown of them: of more the first, and it is said. */
const mostPictures = 1000;
const mostPixelBytes = 2 ** 26;

interface Parts {
  readonly store: StoreService;
  readonly data: DataService;
  readonly processes: Pick<Processes, 'startCpuHost'>;
}

export async function readEvaluation(store: StoreService, run: number): Promise<RunEvaluation | null> {
  return (await readJson(store, run, 'evaluation.json')) as RunEvaluation | null;
}

export async function predictedPictures(
  { store, data }: Pick<Parts, 'store' | 'data'>,
  { run, offset = 0, limit = 60, size, ...cell }: MatrixCell & PageRequest,
): Promise<PredictedPage | null> {
  const predictions = (await readJson(store, run, 'predictions.json')) as RunPredictions | null;
  if (predictions === null) return null;
  const { dataset, config } = await store.run({ run });
  const places = placesOf(predictions, cell);
  const shown = places.slice(offset, offset + limit);
  const rows = shown.map((place) => predictions.rows[place]);
  const page = await data.pictures({ dataset, settings: config.settings, rows, limit: rows.length, size });
  const { epoch, classes, truth, predicted, probability } = predictions;
  return {
    epoch,
    offset,
    total: places.length,
    pictures: page.pictures.map(({ row, file }, i) => ({
      row,
      file,
      truth: classes[truth[shown[i]]],
      predicted: classes[predicted[shown[i]]],
      probability: probability[shown[i]],
    })),
    width: page.width,
    height: page.height,
    pixels: page.pixels,
  };
}

interface PageRequest {
  readonly run: number;
  readonly offset?: number;
  readonly limit?: number;
  readonly size?: number;
}

/** @throws InputError if the file is no picture, or the run was not trained on pictures. */
export async function classifyFiles(
  parts: Parts,
  { job, run, paths }: { readonly job: string; readonly run: number; readonly paths: readonly string[] },
): Promise<ClassifiedPictures> {
  const [path = '', ...more] = paths;
  const preprocessing = await picturePreprocessing(parts.store, run);
  return classify(parts, run, await parts.data.transform({ job, path, more, preprocessing }));
}

export async function classifyRows(
  parts: Parts,
  { run, rows }: { readonly run: number; readonly rows: readonly number[] },
): Promise<ClassifiedPictures> {
  const preprocessing = await picturePreprocessing(parts.store, run);
  const { dataset } = await parts.store.run({ run });
  return classify(parts, run, await parts.data.prepareRows({ dataset, rows, preprocessing }));
}

async function classify(
  { store, data, processes }: Parts,
  run: number,
  prepared: PreparedData,
): Promise<ClassifiedPictures> {
  try {
    const { model, weights } = await readModelFiles(store, run);
    const host = await processes.startCpuHost();
    try {
      const shown = firstRows(prepared, mostOf(prepared));
      const answer = await host.classifier.classify({ run, model, weights, data: shown });
      return { ...answer, total: prepared.counts.test, notes: prepared.warnings.map(({ message }) => message) };
    } finally {
      host.kill();
    }
  } finally {
    await data.release({ handle: prepared.handle });
  }
}

function mostOf({ input }: PreparedData): number {
  if (input.kind !== 'image') return mostPictures;
  return Math.max(1, Math.min(mostPictures, Math.floor(mostPixelBytes / (4 * input.width * input.height))));
}

/** Prepared pictures without those after the first few. */
function firstRows(data: PreparedData, most: number): PreparedData {
  const rows = Math.min(most, data.counts.test);
  const shardStarts = [...data.shardStarts.filter((start) => start < rows), rows];
  // A shard that goes on behind the last row is cut by whoever reads it.
  return { ...data, counts: { train: 0, validation: 0, test: rows }, shardStarts, files: data.files?.slice(0, rows) };
}

async function picturePreprocessing(store: StoreService, run: number): Promise<unknown> {
  const preprocessing = await readJson(store, run, 'preprocessing.json');
  const isPictures = typeof preprocessing === 'object' && preprocessing !== null && 'kind' in preprocessing;
  if (isPictures) return preprocessing;
  throw new TrainyardError(
    'run.no_pictures',
    preprocessing === null ? `Run ${run} has no trained model yet.` : `Run ${run} was trained on a table.`,
    preprocessing === null
      ? 'Train it to its end first.'
      : 'Choose “Predict for a file” to predict the rows of a table.',
  );
}

async function readJson(store: StoreService, run: number, file: RunFile): Promise<unknown> {
  const text = await readText(store, run, file);
  return text === null ? null : parseRunJson(text, run, file);
}

async function readText(store: StoreService, run: number, file: RunFile): Promise<string | null> {
  const bytes = await store.readFile({ run, file });
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
