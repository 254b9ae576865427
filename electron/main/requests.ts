// What the page may ask, checked before anything is done: one schema a method of AppService, strict in type and size. A
// method without a schema cannot be called.

import { z } from 'zod';
import { priorities } from '../../engine/protocol/queue.ts';
import { declarations } from '../../engine/learners/declared/registry.ts';
import { mostLayers, type ModelSpec } from '../../engine/model/spec.ts';
import type { AppService } from '../../engine/protocol/app.ts';
import type { DatasetSettings } from '../../engine/protocol/data.ts';
import { exportFormats } from '../../engine/protocol/exports.ts';
import { recordFields } from '../../engine/protocol/store.ts';
import { runStates, type RunConfig } from '../../engine/protocol/runs.ts';
import { columnTypes, splitKinds, tasks, textFields } from '../../engine/settings/dataset.ts';
import { generationFields } from '../../engine/settings/generation.ts';
import { largestShown, readingFields } from '../../engine/settings/reading.ts';
import { runFields } from '../../engine/settings/run.ts';
import { optimizers, type OptimizerName } from '../../engine/settings/training.ts';
import { fieldSchemas, schemaOf, wordsTo } from '../../engine/settings/schema.ts';

const name = z.string().max(200);
const token = z.uuid();
const job = z.string().min(1).max(100);
const dataset = z.string().regex(/^[\w-]{1,128}$/);
const run = z.int().positive();
const runs = z.array(run).max(100_000);
const count = z.int().min(0).max(1_000_000_000);
const share = z.number().min(0).max(1);

const columnType = z.enum(columnTypes);
const readOptions = schemaOf(readingFields);

const { tokenizer, vocabulary, length } = fieldSchemas(textFields);
const texts = z.strictObject({
  columns: z.array(z.string()).max(100_000).optional(),
  tokenizer: tokenizer.optional(),
  vocabulary: vocabulary.optional(),
  length: length.optional(),
  kept: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
});

const settings = z.strictObject({
  types: wordsTo(columnType).optional(),
  target: z.string().optional(),
  task: z.enum(tasks).optional(),
  ignored: z.array(z.string()).max(100_000).optional(),
  split: z.tuple([share, share, share]).optional(),
  splitBy: z.strictObject({ kind: z.enum(splitKinds), column: z.string() }).optional(),
  joined: z.literal(true).optional(),
  fold: z
    .strictObject({
      number: z.int().min(1).max(100),
      of: z.int().min(2).max(100),
      dealt: z.literal('by class').optional(),
    })
    .optional(),
  texts: texts.optional(),
  normalization: z
    .strictObject({ mean: z.array(z.number()).min(1).max(3), deviation: z.array(z.number().positive()).min(1).max(3) })
    .optional(),
  labels: wordsTo(z.string().max(1000)).optional(),
});

/** The settings of a dataset as the history holds them; null: none, or what cannot be read. */
export const savedSettings = (stored: unknown): DatasetSettings | null => settings.safeParse(stored).data ?? null;

/** Layers are checked in full, with places and hints, when the model is built. */
const model: z.ZodType<ModelSpec> = z.looseObject({
  version: z.literal(1),
  preset: name.optional(),
  layers: z.array(z.looseObject({ type: z.string().max(100) })).max(mostLayers),
});

const surroundings = fieldSchemas(runFields);
const time = z.number().min(0).max(8.64e15);
const common = { dataset, settings, until: time.optional(), ...surroundings };

/** What every run has, and exactly the settings that its learner declares. */
const [first, ...others] = declarations.map(({ name: learner, own, fields, free, layers }) =>
  z.strictObject({
    learner: z.literal(learner),
    ...(layers ? { model } : {}),
    [own]: schemaOf(fields, Object.fromEntries(Object.entries(free).map(([member, { table }]) => [member, table]))),
    ...common,
  }),
);
const config = z.discriminatedUnion('learner', [first, ...others]) as unknown as z.ZodType<RunConfig>;

const checkpoint = z.union([z.enum(['best', 'last']), z.int().min(1).max(1_000_000)]);

const runState = z.enum(runStates);

const runQuery = z.strictObject({
  search: z.string().max(1000).optional(),
  states: z.array(runState).optional(),
  dataset: dataset.optional(),
  parent: run.optional(),
  withoutFolds: z.boolean().optional(),
  tags: z.array(name).max(100).optional(),
  starred: z.boolean().optional(),
  group: name.optional(),
  deleted: z.boolean().optional(),
  sort: z.strictObject({ by: name, descending: z.boolean() }).optional(),
  offset: count.optional(),
  limit: count.optional(),
  fields: z.array(z.enum(recordFields)).max(recordFields.length).optional(),
  series: z.array(name).max(1000).optional(),
});

const patch = z.strictObject({
  name: name.min(1).optional(),
  tags: z.array(name).max(100).optional(),
  notes: z.string().max(100_000).optional(),
  starred: z.boolean().optional(),
  group: name.min(1).nullable().optional(),
});

const cell = z.union([z.string().max(100_000), z.number(), z.boolean(), z.null()]);
const matching = z.strictObject({
  columns: wordsTo(z.string().nullable()).optional(),
  values: wordsTo(wordsTo(z.string())).optional(),
});

const pictureLimit = z.int().min(0).max(500);
const shownSize = z.int().min(1).max(largestShown);
const nothing = z.undefined();
const oneRun = z.strictObject({ run });
const evaluatedSplit = z.enum(['train', 'validation', 'test', 'out of fold']);
const evaluated = z.strictObject({
  job,
  run,
  split: evaluatedSplit.optional(),
  token: token.optional(),
  force: z.boolean().optional(),
});
const oneLab = z.strictObject({ lab: z.int().positive() });
const labDevice = z.string().regex(/^(cpu|cpu-1|cpu-wasm|gpu-\d{1,3})$/);
const optimizerNames = Object.keys(optimizers) as [OptimizerName, ...OptimizerName[]];
const networkInput = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('table'),
    width: count,
    numeric: count,
    embeddings: z.array(z.strictObject({ name: z.string(), vocabulary: count, dimensions: count })).max(100_000),
    numbers: z.array(z.int().min(0)).max(1_000_000).optional(),
    texts: z
      .array(
        z.strictObject({ name: z.string(), vocabulary: count, length: count, predicted: z.literal(true).optional() }),
      )
      .max(1_000)
      .optional(),
  }),
  z.strictObject({ kind: z.literal('image'), channels: count, height: count, width: count }),
]);
const settingKey = z.string().regex(/^[\w.-]{1,100}$/);
const largestFile = 200 * 1024 * 1024;

type Method = { [K in keyof AppService]: K extends `on${string}` ? never : K }[keyof AppService];

/** What a method takes: one request, or nothing. */
type Request<M extends Method> = Parameters<AppService[M]> extends [infer R] ? R : undefined;

/** A schema that accepts exactly what the method takes: a word or a member that only one of them knows does not compile. */
type Exactly<Schema, Wanted> =
  Schema extends z.ZodType<infer Output>
    ? [Plain<Output>, Plain<Wanted>] extends [Plain<Wanted>, Plain<Output>]
      ? Schema
      : never
    : never;

/** Read-only or not, and whether a member may be missing or undefined, makes no difference between types that are compared. */
type Plain<T> = T extends Uint8Array
  ? 'bytes'
  : T extends object
    ? { -readonly [K in keyof T]-?: Plain<T[K]> | (undefined extends T[K] ? undefined : never) }
    : T;

const exportFormat = z.enum(exportFormats);
const oneExport = z.strictObject({ run, format: exportFormat });
const explained = { job, run, split: evaluatedSplit, wanted: count.optional() };

const schemas = {
  info: nothing,
  devices: nothing,
  network: nothing,
  takeOpened: nothing,
  takeCut: z.strictObject({ anew: z.boolean() }),
  licences: nothing,
  about: nothing,
  commandLink: nothing,
  linkCommand: nothing,
  unlinkCommand: nothing,
  menuEntry: nothing,
  addMenuEntry: nothing,
  removeMenuEntry: nothing,
  diagnostics: nothing,
  crashes: nothing,
  crashesSeen: nothing,
  deleteCrashes: nothing,
  reportError: z.strictObject({ message: z.string().max(10_000), trace: z.string().max(100_000) }),
  choose: z.strictObject({ kind: z.enum(['file', 'folder', 'backup']) }),
  importModel: z.strictObject({ token }),
  importPath: z.strictObject({ job, token, options: readOptions.optional(), settings: settings.optional() }),
  importSample: z.strictObject({ job, sample: name }),
  cancel: z.strictObject({ job }),
  datasets: nothing,
  describe: z.strictObject({ dataset, settings }),
  saveSettings: z.strictObject({ dataset, settings }),
  datasetShape: z.strictObject({ dataset, settings }),
  readingOf: oneRun,
  removeDataset: z.strictObject({ dataset }),
  rows: z.strictObject({
    dataset,
    offset: count,
    limit: z.int().min(0).max(10_000),
    only: z.array(count).max(10_000).optional(),
  }),
  pictures: z.strictObject({
    dataset,
    offset: count.optional(),
    limit: pictureLimit.optional(),
    class: z.string().max(1000).optional(),
    rows: z.array(count).max(1000).optional(),
    size: shownSize.optional(),
  }),
  skippedFiles: z.strictObject({ dataset }),
  startRun: z.strictObject({
    name: name.optional(),
    config,
    from: z
      .strictObject({ run, checkpoint: checkpoint.optional(), upTo: z.int().min(1).max(1000).optional() })
      .optional(),
    advisedBy: run.optional(),
  }),
  checkpoints: oneRun,
  weightShapes: z.strictObject({ run, checkpoint: checkpoint.optional() }),
  thinCheckpoints: z.strictObject({ run, budget: z.number().min(0).max(1e15) }),
  extendRun: z.strictObject({ run, name: name.optional(), config, checkpoint: checkpoint.optional() }),
  resumeRun: z.strictObject({ run, device: surroundings.device.optional() }),
  pauseRun: oneRun,
  continueRun: oneRun,
  stopRun: oneRun,
  changeQueue: z.strictObject({
    run,
    to: z.int().min(0).max(1_000_000).optional(),
    priority: z.enum(priorities).optional(),
    after: run.nullable().optional(),
    notBefore: time.nullable().optional(),
  }),
  pauseQueue: z.strictObject({ paused: z.boolean() }),
  queuePaused: nothing,
  queuePlan: nothing,
  powerHold: nothing,
  tellBattery: z.strictObject({ share: share.nullable() }),
  run: oneRun,
  runs: runQuery,
  tags: nothing,
  groups: nothing,
  bills: nothing,
  metrics: z.strictObject({
    run,
    series: z.array(name).max(1000).optional(),
    limit: count.optional(),
    afterStep: z.int().min(-1).optional(),
  }),
  log: z.strictObject({ run, after: count.optional() }),
  trials: z.strictObject({ run, after: count.optional(), limit: count.optional() }),
  updateRun: z.strictObject({ run, patch }),
  deleteRuns: z.strictObject({ runs }),
  restoreRuns: z.strictObject({ runs }),
  purgeRuns: z.strictObject({ runs }),
  predictFile: z.strictObject({ job, run, tokens: z.array(token).min(1).max(10_000), match: matching.optional() }),
  predictedRows: z.strictObject({ prediction: token, offset: count, limit: z.int().min(0).max(1000) }),
  savePrediction: z.strictObject({
    job,
    prediction: token,
    format: z.enum(['csv', 'parquet']),
    original: z.boolean(),
    probabilities: z.boolean(),
    reasons: z.boolean(),
    escapeFormulas: z.boolean().optional(),
  }),
  closePrediction: z.strictObject({ prediction: token }),
  openModel: oneRun,
  askModel: z.strictObject({ run, rows: z.array(wordsTo(cell)).max(1000) }),
  readCells: z.strictObject({ run, row: wordsTo(cell) }),
  startText: z.strictObject({ run, job, prompt: z.string().max(1_000_000), ...fieldSchemas(generationFields) }),
  nextText: z.strictObject({ run, job }),
  endText: z.strictObject({ run, job }),
  modelSpeed: z.strictObject({ run, device: z.enum(['cpu', 'gpu']) }),
  closeModel: oneRun,
  startServing: z.strictObject({ run, port: z.int().min(1).max(65_535).optional() }),
  stopServing: oneRun,
  serving: nothing,
  evaluation: oneRun,
  evaluate: evaluated,
  openings: oneRun,
  predictedPictures: z.strictObject({
    run,
    truth: count.nullable(),
    predicted: count.nullable(),
    offset: count.optional(),
    limit: pictureLimit.optional(),
    size: shownSize.optional(),
  }),
  classifyFiles: z.strictObject({ job, run, tokens: z.array(token).min(1).max(10_000) }),
  classifyRows: z.strictObject({ run, rows: z.array(count).min(1).max(16) }),
  explain: z.strictObject(explained),
  explainColumns: z.strictObject({ ...explained, columns: z.array(count).min(1).max(12) }),
  explainRow: z.strictObject({ ...explained, row: count.optional() }),
  cancelExplanation: z.strictObject({ job }),
  lookAtTree: z.strictObject({ run, tree: count, wanted: count.optional() }),
  profileRun: z.strictObject({ job, run }),
  cancelProfile: z.strictObject({ job }),
  checkRun: z.strictObject({ job, config }),
  cancelCheck: z.strictObject({ job }),
  exportRun: z.strictObject({ run, format: z.enum(['json', 'safetensors']) }),
  exports: oneRun,
  makeExport: z.strictObject({ job, run, format: exportFormat }),
  saveExport: oneExport,
  showExport: oneExport,
  dragExport: oneExport,
  saveFile: z.strictObject({
    suggested: name,
    data: z.instanceof(Uint8Array).refine((data) => data.byteLength <= largestFile, 'is larger than 200 MB'),
  }),
  measureLab: z.strictObject({ seconds: z.number().min(1).max(3600) }),
  labConditions: nothing,
  timeRaces: z.strictObject({
    near: labDevice,
    far: labDevice,
    input: networkInput,
    classes: z.int().min(0).max(1_000_000),
    optimizer: z.strictObject({
      name: z.enum(optimizerNames),
      learningRate: z.number().min(0).max(1000),
      momentum: z.number().min(0).max(1),
    }),
    points: z.array(z.strictObject({ at: z.number().positive(), batch: z.int().min(1).max(65_536), model })).max(20),
  }),
  cancelLab: nothing,
  labs: nothing,
  lab: oneLab,
  deleteLab: oneLab,
  exportLab: oneLab,
  importLab: z.strictObject({ token }),
  ownCatalogue: nothing,
  setOwnPrice: z.strictObject({
    list: z.enum(['devices', 'offers']),
    id: name.min(1),
    field: z.enum(['streetPrice', 'onDemand', 'spot']),
    value: z.number().min(0).max(1e7).nullable(),
  }),
  backUp: z.strictObject({ job, datasets: z.boolean() }),
  restoreBackup: z.strictObject({ job, token }),
  repairHistory: nothing,
  exportRuns: z.strictObject({ job, runs: runs.min(1), datasets: z.boolean() }),
  importRuns: z.strictObject({ job, token }),
  usage: nothing,
  emptyTrash: nothing,
  compact: nothing,
  dropSetAside: nothing,
  getSetting: z.strictObject({ key: settingKey }),
  setSetting: z.strictObject({ key: settingKey, value: z.json() as z.ZodType<unknown> }),
  setAppearance: z.strictObject({ theme: z.enum(['system', 'light', 'dark']), zoom: z.number().min(0.5).max(3) }),
  reload: nothing,
} satisfies Readonly<Record<Method, z.ZodType>>;

export const requests: { readonly [M in Method]: Exactly<(typeof schemas)[M], Request<M>> } = schemas;
