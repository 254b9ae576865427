// How a network is trained: the settings of the learner `network`. Defaults aim at what a careful colleague would choose for so
// many rows of a table (about 3,000 to 10,000 steps, stopped early when validation stalls) or of pictures.
// Long because it is one table: forms, help and comparisons take the settings in its order.

import type { Task } from './dataset.ts';
import { fieldsFor, type SettingsOf } from './field.ts';

/** What the defaults of a training depend on. */
export interface TrainedOn {
  readonly task: Task;
  /** Rows of the training split. */
  readonly rows: number;
  /** Classes of the target; 0 = a number, or not known yet. */
  readonly classes: number;
  readonly pictures: { readonly channels: number; readonly height: number; readonly width: number } | null;
  /** Rows have a text, which is no target itself. */
  readonly texts?: boolean;
  readonly model: {
    /** It stands the steep steps of the common recipe for residual nets. */
    readonly batchNorm: boolean;
    /** Steps to aim at with a table. */
    readonly steps: number;
    /** Networks for tables that have settings of their own. */
    readonly recipe?: TableRecipe;
  };
  /** Asked for, where others than the usual one are. */
  readonly optimizer?: OptimizerName;
  /** It begins with weights that others have trained: small steps keep what they know. */
  readonly begun?: boolean;
}

/** Of networks for tables, RealMLP (Holzmüller et al. 2024) and TabM (Gorishniy et al. 2024), and of those with attention. */
export type TableRecipe = 'realmlp' | 'tabm' | 'transformer';

export const optimizers = { adamw: 'AdamW', adam: 'Adam', sgd: 'SGD', rmsprop: 'RMSProp' } as const;
export type OptimizerName = keyof typeof optimizers;

export const schedules = {
  constant: 'Constant',
  cosine: 'Cosine',
  one_cycle: 'One cycle',
  step: 'Steps',
  coslog4: 'Four waves',
} as const;
export type ScheduleName = keyof typeof schedules;

/** Schedules that go by the number of epochs, after which they hold their last rate. */
const byEpochs = ['cosine', 'one_cycle', 'coslog4'] as const satisfies readonly ScheduleName[];
export const endsByEpochs = (name: ScheduleName): boolean => (byEpochs as readonly ScheduleName[]).includes(name);

const classes = ({ task }: Pick<TrainedOn, 'task'>): boolean => task === 'classification';
const numbers = ({ task }: TrainedOn): boolean => task === 'regression';

/** Of every learner that has it; `balanced`: each class weighs the inverse of its share in the training split. */
export const classWeightsField = {
  kind: 'choice',
  label: 'Class weights',
  help: 'weigh rare classes up',
  advanced: true,
  fits: classes,
  choices: { none: 'None', balanced: 'Balanced' },
  quiet: 'none',
  default: 'none',
} as const;

/** Losses and for what they are. */
export const losses = {
  cross_entropy: { label: 'Cross-entropy', fits: classes },
  binary_cross_entropy: {
    label: 'Binary cross-entropy',
    fits: (data: TrainedOn) => classes(data) && (data.classes === 2 || data.classes === 0),
  },
  mse: { label: 'Mean square error', fits: numbers },
  mae: { label: 'Mean absolute error', fits: numbers },
  huber: { label: 'Huber', fits: numbers },
} as const;
export type LossName = keyof typeof losses;

const most = 1_000_000;

export const trainingFields = fieldsFor<TrainedOn>()({
  'optimizer.name': {
    kind: 'choice',
    label: 'Optimizer',
    help: 'default adamw; sgd for images',
    flag: 'optimizer',
    choices: optimizers,
    default: (data) => data.optimizer ?? usualOptimizer(data),
  },
  'optimizer.learningRate': {
    kind: 'number',
    label: 'Learning rate',
    help: 'learning rate',
    flag: 'lr',
    minimum: 1e-9,
    maximum: 100,
    default: usualRate,
  },
  'schedule.name': {
    kind: 'choice',
    label: 'Schedule',
    help: 'learning-rate schedule, default cosine; one_cycle for images, coslog4 (four waves) for tabular and realmlp',
    flag: 'schedule',
    choices: schedules,
    default: ({ pictures, model }) => (pictures ? 'one_cycle' : model.recipe === 'realmlp' ? 'coslog4' : 'cosine'),
  },
  batch: {
    kind: 'number',
    whole: true,
    label: 'Batch size',
    help: 'rows a step',
    minimum: 1,
    maximum: most,
    default: usualBatch,
  },
  epochs: {
    kind: 'number',
    whole: true,
    label: 'Epochs',
    help: 'passes over the training rows',
    minimum: 1,
    maximum: most,
    default: usualEpochs,
  },
  'earlyStopping.enabled': {
    kind: 'switch',
    label: 'Stop early',
    help: 'stop when validation stalls',
    flag: null,
    words: ['Never', 'When validation stalls'],
    default: ({ pictures, model }) => pictures === null && model.recipe !== 'realmlp',
  },
  // Of the validation loss.
  'earlyStopping.patience': {
    kind: 'number',
    whole: true,
    label: 'Epochs without gain',
    help: 'epochs without improvement before stopping; 0 = never stop early',
    minimum: 1,
    maximum: most,
    switchedBy: 'earlyStopping.enabled',
    default: 20,
  },
  loss: {
    kind: 'choice',
    label: 'Loss',
    help: 'what is made small',
    advanced: true,
    choices: { auto: 'By the task', ...losses },
    default: 'auto',
  },
  classWeights: classWeightsField,
  labelSmoothing: {
    kind: 'number',
    label: 'Label smoothing',
    help: 'label smoothing',
    flag: 'smoothing',
    minimum: 0,
    maximum: 0.99,
    advanced: true,
    fits: classes,
    when: { loss: ['auto', 'cross_entropy'] },
    quiet: 0,
    default: ({ task, pictures }) => (pictures && task === 'classification' ? 0.1 : 0),
  },
  huberDelta: {
    kind: 'number',
    label: 'Huber delta',
    help: 'error from which huber grows linearly',
    minimum: 1e-6,
    maximum: 1e6,
    advanced: true,
    when: { loss: ['huber'] },
    default: 1,
  },
  // The batch stays the rows of a step: its gradient is the mean over all of it, however many parts make it.
  accumulate: {
    kind: 'number',
    whole: true,
    label: 'Parts of a batch',
    help: 'compute a batch in N parts and add their gradients up: takes less memory (more parts by itself where they do not fit)',
    hint: 'more take less memory',
    minimum: 1,
    maximum: 65_536,
    advanced: true,
    quiet: 1,
    default: 1,
  },
  bucketing: {
    kind: 'switch',
    label: 'Buckets of lengths',
    help: 'make batches of texts of like length, which are not padded to the longest of all',
    hint: 'less padding: faster',
    fits: ({ texts }) => texts === true,
    advanced: true,
    quiet: true,
    before: false,
    default: ({ texts }) => texts === true,
  },
  // The same bits either way: it may change while a run goes on.
  checkpointing: {
    kind: 'switch',
    label: 'Gradient checkpointing',
    help: 'keep only the inputs of blocks and compute their activations again in the backward pass: less memory, about a third more time',
    hint: 'less memory, more time',
    advanced: true,
    quiet: false,
    default: false,
  },
  // What is stored: sums are float32 in any case.
  precision: {
    kind: 'choice',
    label: 'Precision',
    help: 'mixed16 (on a GPU): activations stored in 16 bits, products summed in float32, weights and gradients in float32',
    hint: 'of activations, on a GPU',
    choices: { float32: 'float32', mixed16: '16 bits, mixed' },
    advanced: true,
    quiet: 'float32',
    default: 'float32',
  },
  // As PyTorch's `weight_decay`. AdamW takes it × learning rate off each weight at each step; the others add it × weight to its
  // gradient.
  'optimizer.weightDecay': {
    kind: 'number',
    label: 'Weight decay',
    help: 'adamw: a step takes X × learning rate off each weight, as in PyTorch (default 0.01, for few rows up to 1, regression 3); others: X × weight is added to the gradient',
    hint: {
      by: 'optimizer.name',
      adamw: '× learning rate off each weight a step; PyTorch’s weight_decay',
      else: '× weight, added to the gradient',
    },
    unit: { by: 'optimizer.name', adamw: '× learning rate a step', else: '× weights, added to the gradient' },
    minimum: 0,
    maximum: 1000,
    advanced: true,
    default: usualWeightDecay,
  },
  'optimizer.momentum': {
    kind: 'number',
    label: 'Momentum',
    help: 'of sgd and rmsprop',
    minimum: 0,
    maximum: 0.9999,
    advanced: true,
    when: { 'optimizer.name': ['sgd', 'rmsprop'] },
    default: ({ optimizer }) => (optimizer === 'rmsprop' ? 0 : 0.9),
  },
  'optimizer.nesterov': {
    kind: 'switch',
    label: 'Nesterov momentum',
    help: 'look ahead with the momentum of sgd',
    advanced: true,
    when: { 'optimizer.name': ['sgd'] },
    quiet: false,
    default: isSteep,
  },
  'optimizer.beta1': {
    kind: 'number',
    label: 'Beta 1',
    help: 'smoothing of the gradient, of adam and adamw',
    minimum: 0,
    maximum: 0.9999,
    advanced: true,
    when: { 'optimizer.name': ['adam', 'adamw'] },
    quiet: 0.9,
    default: 0.9,
  },
  'optimizer.beta2': {
    kind: 'number',
    label: 'Beta 2',
    help: 'smoothing of its square, of adam and adamw',
    minimum: 0,
    maximum: 0.999999,
    advanced: true,
    when: { 'optimizer.name': ['adam', 'adamw'] },
    quiet: 0.999,
    before: 0.999,
    default: ({ model }) => (model.recipe === 'realmlp' ? 0.95 : 0.999),
  },
  'optimizer.alpha': {
    kind: 'number',
    label: 'Smoothing (alpha)',
    help: 'smoothing of the squared gradient, of rmsprop',
    minimum: 0,
    maximum: 0.999999,
    advanced: true,
    when: { 'optimizer.name': ['rmsprop'] },
    quiet: 0.99,
    default: 0.99,
  },
  'optimizer.epsilon': {
    kind: 'number',
    label: 'Epsilon',
    help: 'added where adam, adamw and rmsprop divide',
    minimum: 1e-12,
    maximum: 1,
    advanced: true,
    when: { 'optimizer.name': ['adam', 'adamw', 'rmsprop'] },
    quiet: 1e-8,
    default: 1e-8,
  },
  clipNorm: {
    kind: 'number',
    label: 'Clip gradients at',
    zero: 'never',
    help: 'largest gradient norm; 0 = no clipping',
    flag: 'clip',
    minimum: 0,
    maximum: 1e6,
    advanced: true,
    quiet: 0,
    default: 0,
  },
  // Best and last are kept in any case, and count.
  'checkpoints.every': {
    kind: 'number',
    whole: true,
    label: 'Keep every … epochs',
    zero: 'by itself',
    help: 'keep the state after every so many epochs; 0 = every 10th, two seconds apart at least',
    flag: 'keep-every',
    minimum: 0,
    maximum: most,
    advanced: true,
    quiet: 0,
    default: 0,
  },
  'checkpoints.budget': {
    kind: 'number',
    label: 'Checkpoints take at most',
    zero: 'best and last',
    help: 'megabytes that the states kept of a run may take; 0 = best and last alone',
    hint: 'MB',
    flag: 'keep-megabytes',
    minimum: 0,
    maximum: 1e6,
    advanced: true,
    quiet: 100,
    default: 100,
  },
  frozenLayers: {
    kind: 'number',
    whole: true,
    label: 'Frozen layers',
    zero: 'none',
    help: 'first layers that keep the weights they begin with: N, the name of the last of them, or body for all before the head; 0 = none',
    flag: 'freeze',
    minimum: 0,
    maximum: 1000,
    advanced: true,
    quiet: 0,
    default: 0,
  },
  layerDecay: {
    kind: 'number',
    label: 'Layer-wise rates',
    help: "each block's learning rate is that of the block behind it times this; 1 = all learn alike",
    flag: 'layer-decay',
    minimum: 0.1,
    maximum: 1,
    advanced: true,
    quiet: 1,
    default: 1,
  },
  // Before the schedule proper.
  'schedule.warmupEpochs': {
    kind: 'number',
    label: 'Warm-up epochs',
    help: 'epochs of linear warm-up',
    flag: 'warmup',
    minimum: 0,
    maximum: most,
    advanced: true,
    quiet: 0,
    default: 0,
  },
  'schedule.stepEpochs': {
    kind: 'number',
    whole: true,
    label: 'Epochs a step',
    help: 'step: epochs until the learning rate changes',
    minimum: 1,
    maximum: most,
    advanced: true,
    when: { 'schedule.name': ['step'] },
    default: 30,
  },
  'schedule.gamma': {
    kind: 'number',
    label: 'Factor a step',
    help: 'step: what the learning rate is multiplied by',
    minimum: 1e-6,
    maximum: 1,
    advanced: true,
    when: { 'schedule.name': ['step'] },
    default: 0.1,
  },
  'schedule.finalShare': {
    kind: 'number',
    label: 'Last share of the rate',
    help: 'cosine: lowest learning rate as a share of the highest',
    minimum: 0,
    maximum: 1,
    advanced: true,
    when: { 'schedule.name': ['cosine'] },
    quiet: 0.01,
    default: 0.01,
  },
  // What a run that goes on for longer than it was planned has: the schedule it began with, and its last rate.
  'schedule.overEpochs': {
    kind: 'number',
    whole: true,
    label: 'Schedule ends at epoch',
    zero: 'the last',
    help: 'cosine, one_cycle, coslog4: epoch at which the schedule ends, and after which its last rate is held; 0 = the last',
    flag: 'schedule-epochs',
    minimum: 0,
    maximum: most,
    advanced: true,
    when: { 'schedule.name': byEpochs },
    quiet: 0,
    default: 0,
  },
  'schedule.regularisation': {
    kind: 'choice',
    label: 'Dropout and decay',
    help: 'dropout, and weight decay of adam and adamw: constant, or flat_cosine: from half of the epochs on down to 0',
    flag: 'regularisation',
    choices: { constant: 'Constant', flat_cosine: 'Falling' },
    advanced: true,
    fits: ({ pictures }) => pictures === null,
    quiet: 'constant',
    before: 'constant',
    default: ({ model }) => (model.recipe === 'realmlp' ? 'flat_cosine' : 'constant'),
  },
  'earlyStopping.minimumDelta': {
    kind: 'number',
    label: 'Smallest gain that counts',
    help: 'smallest improvement that counts',
    flag: 'minimum-gain',
    minimum: 0,
    maximum: 1e6,
    advanced: true,
    when: { 'earlyStopping.enabled': [true] },
    quiet: 0,
    default: 0,
  },
});

/** How a network is trained, but for the changes to pictures. */
export type NetworkSettings = SettingsOf<typeof trainingFields>;

/** Steps of RealMLP at most, and learning rate × decay × steps in all of them. */
export const realMlpSteps = 12_000;
const realMlpDecay = 16;

/** Pictures to train on from which a cycle is long enough to rise to its peak without diverging. */
const fewestForCycle = 2000;
const fewPictures = 10_000;

/**
 * One cycle of SGD up to 0.2, with flips and shifts: the common recipe for residual nets on small images. Few images need more
 * against learning them by heart: on 5,000 of CIFAR-10, label smoothing, covered squares and twice the weight decay took
 * ResNet-20 from 0.708 to 0.747. Nets without batch norm, few rows, and numbers as targets do not stand such steps and take
 * AdamW.
 */
function isSteep({ rows, task, pictures, model }: TrainedOn): boolean {
  return pictures !== null && rows >= fewestForCycle && task === 'classification' && model.batchNorm;
}

function usualOptimizer(data: TrainedOn): OptimizerName {
  return isSteep(data) ? 'sgd' : 'adamw';
}

const isUsual = (data: TrainedOn): boolean => (data.optimizer ?? usualOptimizer(data)) === usualOptimizer(data);

/** AdamW's for models of pictures that begin with weights of others: a sixth of the usual one. */
const begunRate = 3e-4;
/** The same of models of texts: between the rates that BERTs from tiny to base are fine-tuned with (Turc et al. 2019: 3e-5 … 3e-4). */
const begunTextRate = 1e-4;

function usualRate(data: TrainedOn): number {
  const { task, pictures, optimizer, model, begun } = data;
  if (begun && pictures && optimizer !== 'sgd') return begunRate;
  if (model.recipe === 'realmlp' && isUsual(data)) return task === 'classification' ? 0.04 : 0.2;
  if (model.recipe === 'transformer' && isUsual(data)) return begun ? begunTextRate : 5e-4;
  const adaptive = task === 'classification' && !pictures ? 0.003 : 0.002;
  if (isUsual(data)) return isSteep(data) ? 0.2 : adaptive;
  return optimizer === 'sgd' ? 0.05 : adaptive;
}

/**
 * AdamW's decay × learning rate is the share taken off each weight at each step, 0.01 as usual, but few rows need a strong one:
 * over 12 seeds of six small tables (150 to 1,800 rows) this raised the mean test score of every one or kept it; diabetes (353
 * training rows) from R² 0.44 to 0.48.
 */
function usualWeightDecay(data: TrainedOn): number {
  const { rows, task, pictures, model } = data;
  if (!isUsual(data)) return 0;
  if (model.recipe === 'realmlp') return decayOverAll(data);
  if (model.recipe === 'transformer') return 0.01;
  if (pictures) return isSteep(data) ? (rows < fewPictures ? 1e-3 : 5e-4) : 0.01;
  const strength = task === 'regression' ? Math.min(3, 1_000 / rows) : Math.min(1, 300 / rows);
  return Number(Math.max(0.01, strength).toPrecision(2));
}

/**
 * RealMLP's share taken off at each step, so that all steps together take about as much off: 0.02, as in the paper, is that for many
 * rows; few, of which there are fewer steps, need more (vehicle: log loss 0.52 → 0.39; spam: 0.168 → 0.164).
 */
function decayOverAll(data: TrainedOn): number {
  const steps = Math.ceil(data.rows / usualBatch(data)) * usualEpochs(data);
  const inAll = (realMlpDecay * data.model.steps) / realMlpSteps;
  return Number(Math.min(1, Math.max(0.02, inAll / (usualRate(data) * steps))).toPrecision(2));
}

function usualBatch({ rows, pictures, model }: TrainedOn): number {
  if (pictures) return 64;
  if (model.recipe === 'transformer') return rows < 100_000 ? 32 : 64;
  if (model.recipe) return rows < 100_000 ? 256 : 512;
  return rows < 4_000 ? 32 : rows < 20_000 ? 64 : rows < 100_000 ? 128 : rows < 500_000 ? 256 : 512;
}

function usualEpochs(data: TrainedOn): number {
  const { rows, pictures, model } = data;
  if (pictures) return rows < fewPictures ? 40 : rows < 30_000 ? 25 : 15;
  const steps = Math.max(1, Math.ceil(rows / usualBatch(data)));
  const wanted = Math.round(model.steps / steps);
  // 256, as in the paper, of all its steps.
  if (model.recipe === 'realmlp') return Math.min(Math.round((256 * model.steps) / realMlpSteps), Math.max(16, wanted));
  if (model.recipe === 'transformer') return Math.min(20, Math.max(3, wanted));
  return Math.min(200, Math.max(10, wanted));
}
