// An export from beginning to end: what the run keeps is read, a process that computes makes the files, another one runs an exported
// model and certifies it. Who writes the files, and where, is the caller's business.

import { trainedRows } from '../learners/declared/prepared.ts';
import { cutsTextsApart } from '../learners/auto/file.ts';
import { declarationOf, formatsOf, trainsAgain } from '../learners/declared/registry.ts';
import { readModelFile } from '../learners/model-file.ts';
import type { CheckpointChoice } from '../protocol/going-on.ts';
import type { DataService, PreparedData } from '../protocol/data.ts';
import { TrainyardError } from '../protocol/errors.ts';
import {
  exportWords,
  type Certificate,
  type ExportedFile,
  type ExporterService,
  type ExportFormat,
  type ExportSource,
  type FoldsSource,
  type OnnxService,
} from '../protocol/exports.ts';
import { isCrossValidation } from '../protocol/folds.ts';
import { isPretrained } from '../protocol/pretrained.ts';
import type { RunRecord } from '../protocol/runs.ts';
import type { StoreService } from '../protocol/store.ts';
import { unlessDatasetGone } from './dataset-gone.ts';
import { foldsOf } from './cross-validation.ts';
import { divisionOf } from '../protocol/division.ts';
import { prepareWhole } from './whole-rows.ts';
import { readModelFilesOf } from './model-files.ts';

/** A process, to be ended when its work is done or not wanted any more. */
interface Host<T> {
  readonly service: T;
  kill(): void;
}

export type ExporterHost = Host<ExporterService>;
export type OnnxHost = Host<OnnxService>;

export interface ExportParts {
  readonly store: Pick<StoreService, 'run' | 'runs' | 'readFile' | 'files' | 'metrics' | 'log'>;
  readonly data: Pick<DataService, 'prepare' | 'release' | 'cancel'>;
  readonly exporter: () => Promise<ExporterHost>;
  readonly onnx: () => Promise<OnnxHost>;
}

export interface ExportRequest {
  readonly run: number;
  readonly format: ExportFormat;
  /** Which of the states it has kept; default: the best. */
  readonly checkpoint?: CheckpointChoice;
  /** Begins the names of the files. */
  readonly name: string;
  /** Of the preparation, for its progress. */
  readonly job: string;
  /** Aborted: everything is ended and `run.cancelled` is thrown. */
  readonly signal?: AbortSignal;
  readonly onStage?: (stage: string, share: number | null) => void;
  /** Checks this ONNX file instead of the one it would make. */
  readonly instead?: Uint8Array;
}

export interface MadeExport {
  readonly files: readonly ExportedFile[];
  /** Null: a format that nothing predicts with. */
  readonly certificate: Certificate | null;
  /** What was found equal to the run, a statement each: of the certificate, or of what was read back. */
  readonly proven: readonly string[];
}

/** Formats for which the rows of the run are prepared again. */
const ofRows: ReadonlySet<ExportFormat> = new Set<ExportFormat>(['onnx', ...trainsAgain]);
/** Formats that tell how the run went. */
const ofCurves: ReadonlySet<ExportFormat> = new Set<ExportFormat>(['html', 'tensorboard', 'mlflow', ...trainsAgain]);

/**
 * Makes an export. Throws as `readModelFiles`, `run.export` where the format has no words for the model, what preparing the dataset
 * throws, CancelledError.
 */
export async function makeExport(parts: ExportParts, request: ExportRequest): Promise<MadeExport> {
  const { format, name, job, signal, onStage } = request;
  const { store, data } = parts;
  const hosts: Host<unknown>[] = [];
  const cancelled = new Promise<never>((_resolve, reject) => {
    signal?.addEventListener('abort', () => {
      for (const host of hosts) host.kill();
      void data.cancel({ job });
      reject(signal.reason);
    });
  });
  cancelled.catch(() => undefined);
  const unlessCancelled = <T>(work: Promise<T>): Promise<T> => Promise.race([work, cancelled]);
  const start = async <T>(open: () => Promise<Host<T>>): Promise<T> => {
    const opened = open();
    opened.then(
      (host) => (signal?.aborted ? host.kill() : hosts.push(host)),
      () => undefined,
    );
    return (await unlessCancelled(opened)).service;
  };
  let prepared: PreparedData | null = null;
  try {
    const source = await readSource(store, request);
    await checkFormat(store, source.record, format);
    if (ofRows.has(format) && !('folds' in source) && !isPretrained(source.record.config)) {
      onStage?.('Preparing rows', null);
      prepared = await unlessCancelled(preparedRows(parts, source.record, job, format));
    }
    onStage?.('Writing the model', 0.4);
    const exporter = await start(parts.exporter);
    const { files, check, proven } = await unlessCancelled(exporter.make({ format, name, source, data: prepared }));
    if (check === null) return { files, certificate: null, proven };
    onStage?.('Checking it against the run', 0.7);
    const onnx = await start(parts.onnx);
    const asked = request.instead ? { ...check, model: request.instead } : check;
    const { certificate, files: proof, proven: compared } = await unlessCancelled(onnx.certify({ name, check: asked }));
    return { files: [...files, ...proof], certificate, proven: compared };
  } finally {
    for (const host of hosts) host.kill();
    if (prepared) await data.release({ handle: prepared.handle });
  }
}

/** The rows of a run as it was trained; of a cross-validation all of them, as columns as they are. */
async function preparedRows(
  { store, data }: Pick<ExportParts, 'store' | 'data'>,
  record: RunRecord,
  job: string,
  format: ExportFormat,
): Promise<PreparedData> {
  const others = formatsOf(record.config).filter((one) => !ofRows.has(one));
  const what = format === 'onnx' ? 'is checked on its rows' : 'trains on its rows';
  const instead = `${exportWords[format].title} ${what}; ${listed(others)} ${others.length === 1 ? 'does' : 'do'} without.`;
  return unlessDatasetGone(record, prepareRows({ store, data }, record, job), instead);
}

async function prepareRows(
  { store, data }: Pick<ExportParts, 'store' | 'data'>,
  record: RunRecord,
  job: string,
): Promise<PreparedData> {
  if (isCrossValidation(record.config)) return prepareWhole(data, record, job);
  const division = await divisionOf(store, record);
  const { settings, seed, dataset } = division;
  return data.prepare({ job, dataset, options: { ...trainedRows(record.config), settings, seed } });
}

/** Throws TrainyardError `run.export` for a format that a run cannot leave in. */
async function checkFormat(
  store: ExportParts['store'],
  { id, config }: RunRecord,
  format: ExportFormat,
): Promise<void> {
  const formats = formatsOf(config);
  if (formats.includes(format)) return;
  const { title } = exportWords[format];
  const words = (leaves: readonly ExportFormat[]): string => listed(leaves, 'disjunction');
  if (isCrossValidation(config)) {
    const model = await readModelFilesOf(store, id).catch(() => null);
    const apart = model !== null && cutsTextsApart(readModelFile(model.model, id));
    const leaves = formats.filter((one) => one !== 'onnx' || !apart);
    throw new TrainyardError(
      'run.export',
      `Run ${id} is a cross-validation, the mean of the models of its folds: ${title} holds one model alone.`,
      `It leaves as ${words(leaves)}; or export one of its folds.`,
    );
  }
  if (isPretrained(config) && trainsAgain.has(format)) {
    throw new TrainyardError(
      'run.export',
      'A project of PyTorch trains, and the rows that this model learned from are not here.',
      'Export it as ONNX or safetensors, or begin a run with it and export that.',
    );
  }
  const noun = config.settings.task === 'language' ? 'a language model' : declarationOf(config).noun;
  throw new TrainyardError('run.export', `There is no ${title} of ${noun}.`, `It leaves as ${words(formats)}.`);
}

/** `ONNX, Report and Specification`. */
const listed = (formats: readonly ExportFormat[], type: 'conjunction' | 'disjunction' = 'conjunction'): string =>
  new Intl.ListFormat('en-GB', { type }).format(formats.map((one) => exportWords[one].title));

async function readSource(
  store: ExportParts['store'],
  { run, checkpoint, format }: ExportRequest,
): Promise<ExportSource | FoldsSource> {
  const record = await store.run({ run });
  if (isCrossValidation(record.config) && format !== 'onnx') {
    const folds = [...(await foldsOf(store, run))].map(async ([fold, one]) => {
      return { fold, record: one, points: await store.metrics({ run: one.id }) };
    });
    const [points, log, all] = await Promise.all([store.metrics({ run }), store.log({ run }), Promise.all(folds)]);
    return { record, points, log, folds: all.sort((a, b) => a.fold - b.fold) };
  }
  const files = await readModelFilesOf(store, run, checkpoint);
  const [points, log] = ofCurves.has(format)
    ? await Promise.all([store.metrics({ run }), store.log({ run })])
    : [[], []];
  const again = trainsAgain.has(format) && record.relation === 'started from';
  return { record, ...files, points, log, start: again ? await startOf(store, record) : null };
}

/** What a run started from: its own copy, which earlier histories kept until it ended, or the model of others it started from, which stays as it is. */
async function startOf(store: ExportParts['store'], { id, parent }: RunRecord): Promise<Uint8Array | null> {
  const own = await store.readFile({ run: id, file: 'start.bin' });
  if (own !== null || parent === null) return own;
  const from = await store.run({ run: parent }).catch(() => null);
  return from && isPretrained(from.config) ? store.readFile({ run: parent, file: 'best.safetensors' }) : null;
}
