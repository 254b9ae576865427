// All settings of a run as names and words, in reading order: what Compare sets side by side and a run's page lists.

import { ownValue } from '../../../engine/protocol/own.ts';
import { layers as registry } from '../../../engine/model/registry.ts';
import type { LayerSpec } from '../../../engine/model/spec.ts';
import type { LinearConfig, NetworkConfig, RunRecord } from '../../../engine/protocol/runs.ts';
import { leftOutText, splitOrigin, splitRule, usualSplit } from '../../../engine/protocol/use.ts';
import { fixed, percent, short } from '../../app/format.ts';
import { modelName } from '../../app/run-words.ts';

export type Setting = readonly [name: string, value: string];

const words: Readonly<Record<string, string>> = {
  adam: 'Adam',
  adamw: 'AdamW',
  sgd: 'SGD',
  rmsprop: 'RMSProp',
  auto: 'by the task',
  one_cycle: 'one cycle',
  cross_entropy: 'cross-entropy',
  binary_cross_entropy: 'binary cross-entropy',
  mse: 'mean square error',
  mae: 'mean absolute error',
  huber: 'Huber',
};

export function settingsOf(run: RunRecord): Setting[] {
  const { settings, device, threads, seed } = run.config;
  return [
    ['Dataset', run.datasetName],
    ['Target', settings.target ?? 'found'],
    ['Split', splitText(run)],
    ['Left out', leftOut(run)],
    ['Model', modelName(run)],
    ...ownSettings(run),
    ['Seed', String(seed)],
    ['Device', (run.device || device).replace(/^(cpu|gpu)/, (kind) => kind.toUpperCase())],
    ['Threads', run.threads > 0 ? fixed(run.threads) : threads > 0 ? fixed(threads) : '–'],
  ];
}

/** Those of the run's learner. */
function ownSettings(run: RunRecord): Setting[] {
  const { config } = run;
  return config.learner === 'network' ? networkSettings(run, config) : linearSettings(run, config);
}

function linearSettings(run: RunRecord, { linear: { penalty, classWeights } }: LinearConfig): Setting[] {
  return [
    ['Parameters', run.parameters > 0 ? fixed(run.parameters) : '–'],
    ['Penalty', penalty > 0 ? short(penalty) : 'the best found'],
    ['Class weights', classWeights],
  ];
}

function networkSettings(run: RunRecord, { model, training }: NetworkConfig): Setting[] {
  const { optimizer, schedule, earlyStopping } = training;
  const momentum = optimizer.name === 'sgd' || optimizer.name === 'rmsprop';
  const adaptive = optimizer.name === 'adam' || optimizer.name === 'adamw';
  const list: (Setting | false)[] = [
    ['Layers', model.layers.map(layerText).join(' → ')],
    ['Parameters', run.parameters > 0 ? fixed(run.parameters) : '–'],
    ['Epochs', fixed(training.epochs)],
    ['Batch size', batchText(run, training.batch)],
    ['Optimizer', words[optimizer.name]],
    ['Learning rate', short(optimizer.learningRate)],
    ['Weight decay', decayText(optimizer)],
    momentum && ['Momentum', short(optimizer.momentum) + (optimizer.nesterov ? ', Nesterov' : '')],
    adaptive && ['Betas', `${short(optimizer.beta1)}, ${short(optimizer.beta2)}`],
    ['Schedule', scheduleText(schedule)],
    ['Early stopping', earlyStopping.enabled ? `after ${fixed(earlyStopping.patience)} epochs without gain` : 'never'],
    ['Loss', words[training.loss] ?? training.loss],
    training.labelSmoothing > 0 && ['Label smoothing', short(training.labelSmoothing)],
    ['Class weights', training.classWeights],
    training.clipNorm > 0 && ['Gradient clipping', short(training.clipNorm)],
  ];
  return list.filter((entry) => entry !== false);
}

/** The split that was used, in rows; until the data is prepared, the shares asked for. */
function splitText({ data, config }: RunRecord): string {
  const way = splitRule(config.settings);
  const rule = way === '' ? '' : `; ${way}`;
  if (data === null)
    return `${(config.settings.split ?? usualSplit).map((share) => percent(share)).join(' / ')} asked for${rule}`;
  const { train, validation, test } = data.counts;
  const rows = `${fixed(train)} train / ${fixed(validation)} validation / ${fixed(test)} test`;
  const origin = splitOrigin(data);
  return `${rows}${rule}${origin === '' ? '' : `; ${origin}`}${validation === 0 ? '; nothing validates' : ''}`;
}

/** Rows a step; a split with fewer rows makes them smaller. */
function batchText({ data }: RunRecord, batch: number): string {
  const used = Math.min(batch, data?.counts.train ?? batch);
  return used < batch ? `${fixed(used)} (all rows; ${fixed(batch)} asked for)` : fixed(batch);
}

function leftOut({ data, config }: RunRecord): string {
  if (data !== null) return leftOutText(data.leftOut);
  return leftOutText((config.settings.ignored ?? []).map((column) => ({ column, reason: 'ignored' })));
}

/** What each step takes off the weights. AdamW's decay is apart from the gradient, as in PyTorch's `weight_decay`. */
function decayText({ name, weightDecay }: NetworkConfig['training']['optimizer']): string {
  if (weightDecay === 0) return '0';
  return `${short(weightDecay)} × ${name === 'adamw' ? 'learning rate a step' : 'weights, added to the gradient'}`;
}

/** `Conv 2D 32 × 3×3 relu, stride 2`: what a layer is known by, then by name whatever is not as usual. */
function layerText(layer: LayerSpec): string {
  const { fields, title } = registry.get(layer.type) ?? { fields: [], title: layer.type };
  if (layer.type === 'output') return 'Output';
  const values = new Map(fields.map(({ name, default: usual }) => [name, ownValue(layer, name) ?? usual]));
  const say = (name: string): string => valueText(values.get(name));
  const activation = say('activation');
  const known = new Map([
    ['filters', `${say('filters')} × ${say('kernel')}×${say('kernel')}`],
    ['channels', `${say('channels')} × ${say('height')}×${say('width')}`],
    ['size', `${say('size')}×${say('size')}`],
    ['factor', `×${say('factor')}`],
    ['units', say('units')],
    ['rate', say('rate')],
    ['activation', activation === 'none' ? '' : activation],
  ]);
  const start = fields.flatMap(({ name }) => known.get(name) || []);
  const rest = fields
    .filter(({ name, default: usual }) => !known.has(name) && !saidAlong.has(name) && values.get(name) !== usual)
    .filter(({ name }) => name !== 'slope' || activation === 'leaky_relu')
    .map(({ name, label }) => {
      const value = values.get(name);
      if (typeof value === 'boolean') return `${value ? '' : 'no '}${label.toLowerCase()}`;
      return `${label.toLowerCase()} ${say(name)}`;
    });
  return [[title, ...start].join(' '), ...rest].join(', ');
}

/** Arguments that stand behind another. */
const saidAlong = new Set(['kernel', 'height', 'width']);

function valueText(value: unknown): string {
  return typeof value === 'number' ? short(value) : String(value);
}

function scheduleText(schedule: NetworkConfig['training']['schedule']): string {
  const warmup = schedule.warmupEpochs > 0 ? `, warm-up ${short(schedule.warmupEpochs)}` : '';
  if (schedule.name === 'step') return `× ${short(schedule.gamma)} every ${fixed(schedule.stepEpochs)}${warmup}`;
  return (words[schedule.name] ?? schedule.name) + warmup;
}
