// Networks in words: presets, layers, epochs.

import { heldRateText } from '../../model/held-rate.ts';
import { frozenModel } from '../../model/freeze.ts';
import { presetNamed } from '../../model/presets.ts';
import { outputWidth, resolveModel } from '../../model/resolve.ts';
import type { InputSpec, ModelSpec, TrainingSpec } from '../../model/spec.ts';
import { augmentationFields, noAugmentation } from '../../settings/augmentation.ts';
import { completeTraining } from '../../settings/network.ts';
import { valueAt } from '../../settings/values.ts';
import { endsByEpochs, trainingFields } from '../../settings/training.ts';
import { isPretrained } from '../../protocol/pretrained.ts';
import { InputError } from '../../protocol/errors.ts';
import { momentText } from '../../protocol/words.ts';
import { exportFormats } from '../../protocol/exports.ts';
import type { RunStart } from '../../protocol/family.ts';
import type { RunConfig } from '../../protocol/runs.ts';
import type { Declaration, Fact } from '../declared/declare.ts';

export interface NetworkConfig extends RunConfig {
  readonly learner: 'network';
  readonly model: ModelSpec;
  readonly training: Omit<TrainingSpec, 'seed'>;
}

/** The settings of a run that trains a network: the seed among the training settings is that of the whole run. */
export function networkConfig(
  common: Omit<NetworkConfig, 'learner' | 'model' | 'training' | 'seed'>,
  model: ModelSpec,
  { seed, ...training }: TrainingSpec,
): NetworkConfig {
  return { ...common, learner: 'network', model, training, seed };
}

/** Titles of presets that runs of earlier versions have and new ones are not offered. */
const formerTitles: ReadonlyMap<string, string> = new Map([['linear', 'Linear network']]);

export function isNetwork(config: RunConfig): config is NetworkConfig {
  return config.learner === 'network';
}

/** Layers that read no texts have nothing to learn from where there is nothing else. Throws InputError `input.no_features`. */
function refuseUnreadTexts({ layers }: ModelSpec, input: InputSpec): void {
  if (input.kind !== 'table' || input.numeric + input.embeddings.length > 0) return;
  const [text] = input.texts ?? [];
  if (text === undefined || layers.some(({ type }) => type === 'token_embedding')) return;
  throw new InputError(
    'input.no_features',
    `${text.name} is text, which a network of these layers does not read, and there is no other column to learn from.`,
    'Choose a model of texts, such as text-bag, or begin the layers with a token embedding.',
  );
}

export const declaration: Declaration<NetworkConfig> = {
  name: 'network',
  title: 'Network',
  noun: 'a network',
  summary: 'Layers of weighted sums that learn step by step',
  fields: trainingFields,
  own: 'training',
  about: { title: () => 'Training' },
  free: {
    augmentation: {
      title: 'Augmentation',
      note: 'each picture is drawn anew in every epoch; 0 = never',
      table: augmentationFields,
      fits: ({ pictures }) => pictures !== null,
      none: noAugmentation,
      of: 'Pictures',
    },
  },
  formats: exportFormats,
  trees: false,
  forms: ['matrix', 'pixels'],
  texts: 'tokens',
  devices: ['auto', 'cpu', 'gpu', 'reference'],
  unit: { one: 'epoch', many: 'epochs' },
  curves: true,
  doneBy: 'As many epochs as there is time for, or as bring anything; the rate falls to the end of them.',

  layers: ({ model }) => model.layers,
  complete: (config) => ({ ...config, training: completeTraining(config.training) }),
  check({ model, training }, { input, output }) {
    refuseUnreadTexts(model, input);
    frozenModel(resolveModel(model, input, outputWidth(output, training.loss)), training.frozenLayers ?? 0);
  },
  units: ({ training }) => training.epochs,
  extended,
  goesOn,
  begunAnew,
  heldRate: ({ training }) => heldRateText(training),
  checkpointBudget: ({ training }) => training.checkpoints.budget * 1e6,
  preset: ({ model }) => model.preset ?? null,
  modelTitle({ model: { preset } }) {
    if (!preset) return 'Own model';
    return presetNamed(preset)?.title ?? formerTitles.get(preset) ?? preset;
  },
  label: ({ model }) => model.preset ?? `${model.layers.length} layers`,
  listed: ({ training: { batch, optimizer } }) => ({
    batch,
    optimizer: optimizer.name,
    learningRate: optimizer.learningRate,
  }),
  ofPictures: ({ training }) => training.augmentation !== undefined,
  facts: (config, parameters) => [
    [
      'model',
      `${config.model.preset ?? 'custom'}, ${parameters.toLocaleString('en')} parameters${frozenText(config.training.frozenLayers)}`,
    ],
    ['layers', config.model.layers.map(({ type, units }) => (units ? `${type} ${String(units)}` : type)).join(' → ')],
    // By which settings others have trained theirs nobody knows.
    ...(isPretrained(config) ? [] : [trainingFact(config)]),
  ],
  settings: ({ model, training }) => ({ model, ...training }),
  speed: ({ model, training: { batch, optimizer, clipNorm } }) => [model.layers, batch, optimizer.name, clipNorm > 0],
};

const frozenText = (frozen = 0): string =>
  frozen === 0 ? '' : frozen === 1 ? ', the first layer frozen' : `, the first ${frozen} layers frozen`;

function trainingFact({ training, seed, until }: NetworkConfig): Fact {
  const { optimizer, schedule } = training;
  const decay =
    optimizer.weightDecay === 0
      ? ''
      : `, weight decay ${optimizer.weightDecay}${optimizer.name === 'adamw' ? ' × learning rate a step' : ''}`;
  const rate = `${optimizer.name} ${optimizer.learningRate}${decay}, ${schedule.name}`;
  const epochs = until === undefined ? `${training.epochs} epochs` : `epochs until ${momentText(until)}`;
  return ['training', `${epochs}, batch ${training.batch}, ${rate}, seed ${seed}`];
}

/** For so many epochs; a schedule that goes by their number stays the one it was, and holds its last rate after it. */
function extended(config: NetworkConfig, epochs: number): NetworkConfig {
  const { training } = config;
  const { overEpochs, name } = training.schedule;
  const planned = overEpochs > 0 ? overEpochs : training.epochs;
  const schedule = { ...training.schedule, overEpochs: endsByEpochs(name) && planned !== epochs ? planned : 0 };
  return { ...config, training: { ...training, epochs, schedule } };
}

/** The end that `extended` gave the schedule is that of the one before. */
function begunAnew(before: NetworkConfig, after: NetworkConfig): NetworkConfig {
  const { training } = after;
  const { overEpochs } = extended(before, training.epochs).training.schedule;
  if (training.schedule.overEpochs !== overEpochs) return after;
  return { ...after, training: { ...training, schedule: { ...training.schedule, overEpochs: 0 } } };
}

/** Settings that decide what a loss is. */
const ofLoss = ['loss', 'huberDelta', 'labelSmoothing', 'classWeights'] as const;

function goesOn(before: NetworkConfig, after: NetworkConfig): Pick<RunStart, 'anew' | 'incomparable'> {
  if (JSON.stringify(before.model) !== JSON.stringify(after.model)) {
    throw new InputError(
      'input.continue',
      'A run goes on with the layers it has.',
      'To take its weights into another model, train with --from, or “Transfer” in the app.',
    );
  }
  const [one, other] = [extended(before, after.training.epochs).training, after.training];
  const differs = (name: string): boolean => valueAt(one, name) !== valueAt(other, name);
  const schedule = Object.keys(trainingFields).filter((name) => name.startsWith('schedule.'));
  const anew = ['optimizer.name', 'optimizer.learningRate', 'batch', 'bucketing', ...schedule].some(differs);
  return { ...(anew ? { anew } : {}), ...(ofLoss.some(differs) ? { incomparable: true } : {}) };
}
