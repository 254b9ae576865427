// What the page may ask, checked before anything is done: one schema a method of AppService, strict in type and size. A
// method without a schema cannot be called.

import { z } from 'zod';
import type { AppService } from '../../engine/protocol/app.ts';

const name = z.string().max(200);
const token = z.uuid();
const job = z.string().min(1).max(100);
const dataset = z.string().regex(/^[\w-]{1,128}$/);
const run = z.int().positive();
const runs = z.array(run).max(100_000);
const count = z.int().min(0).max(1_000_000_000);
const positive = z.number().positive();
const share = z.number().min(0).max(1);

const columnType = z.enum(['number', 'category', 'datetime', 'boolean', 'text', 'identifier']);

const readOptions = z.strictObject({
  delimiter: z.string().min(1).max(4).optional(),
  decimal: z.enum(['.', ',']).optional(),
  encoding: z.enum(['utf-8', 'utf-16', 'latin-1']).optional(),
  header: z.boolean().optional(),
  skipBadLines: z.boolean().optional(),
  image: z
    .strictObject({
      size: z.int().min(8).max(1024).optional(),
      fit: z.enum(['crop', 'pad', 'stretch']).optional(),
    })
    .optional(),
});

const settings = z.strictObject({
  types: z.record(z.string(), columnType).optional(),
  target: z.string().optional(),
  task: z.enum(['classification', 'regression']).optional(),
  ignored: z.array(z.string()).max(100_000).optional(),
  split: z.tuple([share, share, share]).optional(),
  splitBy: z.strictObject({ kind: z.enum(['time', 'group']), column: z.string() }).optional(),
  labels: z.record(z.string(), z.string().max(1000)).optional(),
});

/** Layers are checked in full, with places and hints, when the model is built. */
const model = z.looseObject({
  version: z.literal(1),
  preset: name.optional(),
  layers: z.array(z.looseObject({ type: z.string().max(100) })).max(1000),
});

const training = z.strictObject({
  epochs: z.int().min(1).max(1_000_000),
  batch: z.int().min(1).max(1_000_000),
  seed: z.int().min(0).max(0xffff_ffff),
  loss: z.enum(['auto', 'cross_entropy', 'binary_cross_entropy', 'mse', 'mae', 'huber']),
  huberDelta: positive,
  labelSmoothing: share,
  classWeights: z.enum(['none', 'balanced']),
  optimizer: z.strictObject({
    name: z.enum(['adam', 'adamw', 'sgd', 'rmsprop']),
    learningRate: positive,
    weightDecay: z.number().min(0),
    momentum: share,
    nesterov: z.boolean(),
    beta1: share,
    beta2: share,
    epsilon: positive,
    alpha: share,
  }),
  clipNorm: z.number().min(0),
  schedule: z.strictObject({
    name: z.enum(['constant', 'step', 'cosine', 'one_cycle']),
    warmupEpochs: z.number().min(0),
    stepEpochs: positive,
    gamma: positive,
    finalShare: share,
  }),
  earlyStopping: z.strictObject({
    enabled: z.boolean(),
    patience: z.int().min(0),
    minimumDelta: z.number().min(0),
  }),
  augmentation: z
    .strictObject({
      flip: z.boolean(),
      crop: z.int().min(0).max(256),
      rotation: z.number().min(0).max(45),
      zoom: z.number().min(0).max(0.9),
      brightness: share,
      contrast: share,
      saturation: share,
      cutout: z.int().min(0).max(1024),
      mixup: z.number().min(0).max(2),
    })
    .optional(),
});

const device = z.enum(['auto', 'cpu', 'gpu', 'reference']);

const config = z.strictObject({
  dataset,
  settings,
  model,
  training,
  device,
  threads: z.int().min(0).max(1024),
});

const runState = z.enum(['queued', 'running', 'paused', 'completed', 'stopped', 'failed', 'interrupted']);

const runQuery = z.strictObject({
  search: z.string().max(1000).optional(),
  states: z.array(runState).optional(),
  dataset: dataset.optional(),
  tags: z.array(name).max(100).optional(),
  starred: z.boolean().optional(),
  deleted: z.boolean().optional(),
  sort: z.strictObject({ by: name, descending: z.boolean() }).optional(),
  offset: count.optional(),
  limit: count.optional(),
});

const patch = z.strictObject({
  name: name.min(1).optional(),
  tags: z.array(name).max(100).optional(),
  notes: z.string().max(100_000).optional(),
  starred: z.boolean().optional(),
});

const pictureLimit = z.int().min(0).max(500);
const pictureSize = z.int().min(1).max(1024);
const nothing = z.undefined();
const oneRun = z.strictObject({ run });
const settingKey = z.string().regex(/^[\w.-]{1,100}$/);
const largestFile = 200 * 1024 * 1024;

type Method = { [K in keyof AppService]: K extends `on${string}` ? never : K }[keyof AppService];

export const requests: Readonly<Record<Method, z.ZodType>> = {
  info: nothing,
  devices: nothing,
  network: nothing,
  licences: nothing,
  choose: z.strictObject({ kind: z.enum(['file', 'folder']) }),
  importPath: z.strictObject({ job, token, options: readOptions.optional(), settings: settings.optional() }),
  importSample: z.strictObject({ job, sample: name }),
  cancel: z.strictObject({ job }),
  datasets: nothing,
  describe: z.strictObject({ dataset, settings }),
  saveSettings: z.strictObject({ dataset, settings }),
  datasetShape: z.strictObject({ dataset, settings }),
  removeDataset: z.strictObject({ dataset }),
  rows: z.strictObject({ dataset, offset: count, limit: z.int().min(0).max(10_000) }),
  pictures: z.strictObject({
    dataset,
    offset: count.optional(),
    limit: pictureLimit.optional(),
    class: z.string().max(1000).optional(),
    rows: z.array(count).max(1000).optional(),
    size: pictureSize.optional(),
  }),
  skippedFiles: z.strictObject({ dataset }),
  startRun: z.strictObject({ name: name.optional(), config }),
  resumeRun: z.strictObject({ run, device: device.optional() }),
  pauseRun: oneRun,
  continueRun: oneRun,
  stopRun: oneRun,
  run: oneRun,
  runs: runQuery,
  tags: nothing,
  metrics: z.strictObject({
    run,
    series: z.array(name).max(1000).optional(),
    limit: count.optional(),
    afterStep: z.int().min(-1).optional(),
  }),
  log: oneRun,
  updateRun: z.strictObject({ run, patch }),
  deleteRuns: z.strictObject({ runs }),
  restoreRuns: z.strictObject({ runs }),
  purgeRuns: z.strictObject({ runs }),
  predict: z.strictObject({ job, run, token, force: z.boolean().optional() }),
  evaluation: oneRun,
  predictedPictures: z.strictObject({
    run,
    truth: count.nullable(),
    predicted: count.nullable(),
    offset: count.optional(),
    limit: pictureLimit.optional(),
    size: pictureSize.optional(),
  }),
  classifyFiles: z.strictObject({ job, run, tokens: z.array(token).min(1).max(10_000) }),
  classifyRows: z.strictObject({ run, rows: z.array(count).min(1).max(16) }),
  exportRun: z.strictObject({ run, format: z.enum(['json', 'safetensors']) }),
  saveFile: z.strictObject({
    suggested: name,
    data: z.instanceof(Uint8Array).refine((data) => data.byteLength <= largestFile, 'is larger than 200 MB'),
  }),
  getSetting: z.strictObject({ key: settingKey }),
  setSetting: z.strictObject({ key: settingKey, value: z.json() }),
  setAppearance: z.strictObject({ theme: z.enum(['system', 'light', 'dark']), zoom: z.number().min(0.5).max(3) }),
  reload: nothing,
};
