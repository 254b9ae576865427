// Models to start from, and training settings that suit the size of the data.

import { cifarResnet, lenet, mobilenet, resnet18, smallCnn, vgg, type ImageInput } from './image-presets.ts';
import type { InputSpec, ModelSpec, Task, TrainingSpec } from './spec.ts';

export interface Preset {
  readonly name: string;
  readonly title: string;
  /** One sentence for people: when to take it. */
  readonly summary: string;
  readonly input: 'table' | 'image';
  /** The model; of images, for 32 × 32 pixels in colour. */
  readonly spec: ModelSpec;
  /** Models that depend on the size of the images. */
  readonly specFor?: (input: ImageInput) => ModelSpec;
}

/** An MLP with these hidden layers. */
export function mlp(hidden: readonly number[], options: { dropout?: number; preset?: string } = {}): ModelSpec {
  const layers = hidden.flatMap((units) => [
    { type: 'dense', units, activation: 'relu' },
    ...(options.dropout ? [{ type: 'dropout', rate: options.dropout }] : []),
  ]);
  return {
    version: 1,
    ...(options.preset ? { preset: options.preset } : {}),
    layers: [...layers, { type: 'output' }],
  };
}

export const presets: readonly Preset[] = [
  {
    name: 'linear',
    title: 'Linear',
    summary: 'Linear or logistic regression: the yardstick every other model has to beat.',
    input: 'table',
    spec: mlp([], { preset: 'linear' }),
  },
  {
    name: 'small',
    title: 'Small MLP',
    summary: '64 and 32 units: quick, right for most small tables.',
    input: 'table',
    spec: mlp([64, 32], { preset: 'small' }),
  },
  {
    name: 'medium',
    title: 'Medium MLP',
    summary: '256, 128 and 64 units with dropout: for tens of thousands of rows.',
    input: 'table',
    spec: mlp([256, 128, 64], { dropout: 0.1, preset: 'medium' }),
  },
  {
    name: 'wide',
    title: 'Wide MLP',
    summary: '256, 256 and 128 units with dropout: for many classes to tell apart.',
    input: 'table',
    spec: mlp([256, 256, 128], { dropout: 0.1, preset: 'wide' }),
  },
  {
    name: 'large',
    title: 'Large MLP',
    summary: '512, 512, 256 and 128 units with dropout: for hundreds of thousands of rows.',
    input: 'table',
    spec: mlp([512, 512, 256, 128], { dropout: 0.2, preset: 'large' }),
  },
  imagePreset('small-cnn', 'Small CNN', 'Three convolutions: quick, for a first look at any images.', smallCnn),
  imagePreset('lenet', 'LeNet-5', 'The classic for digits and letters of about 28 pixels.', lenet),
  imagePreset('resnet20', 'ResNet-20', 'Small and good: the right start for images of about 32 pixels.', () =>
    cifarResnet(20, 'resnet20'),
  ),
  imagePreset('resnet32', 'ResNet-32', 'As ResNet-20, deeper: 1.7 times the work.', () => cifarResnet(32, 'resnet32')),
  imagePreset('resnet56', 'ResNet-56', 'As ResNet-20, deeper: three times the work.', () =>
    cifarResnet(56, 'resnet56'),
  ),
  imagePreset('vgg', 'VGG-11', 'Wide and plain: 9 million parameters, for tens of thousands of images.', vgg),
  imagePreset('resnet18', 'ResNet-18', 'For larger images and many classes: 11 million parameters.', resnet18),
  imagePreset('mobilenet', 'MobileNet', 'Depthwise convolutions: a small model for larger images.', mobilenet),
];

function imagePreset(name: string, title: string, summary: string, specFor: (input: ImageInput) => ModelSpec): Preset {
  const usual: ImageInput = { kind: 'image', channels: 3, height: 32, width: 32 };
  return { name, title, summary, input: 'image', spec: specFor(usual), specFor };
}

/** A preset's model for this input. */
export function specOf(preset: Preset, input: InputSpec): ModelSpec {
  return input.kind === 'image' && preset.specFor ? preset.specFor(input) : preset.spec;
}

export const presetNamed = (name: string): Preset | undefined => presets.find((preset) => preset.name === name);

/** Classes and training rows from which a table needs a wider network to tell them apart. */
const manyClasses = 9;
const enoughForWide = 1_500;

/**
 * The preset that suits so many training rows and classes of a table (0 = a number is predicted), or images. Of 16 real tables
 * with up to 8,500 training rows the larger networks help those with many classes (letters, 26 classes: log loss 0.25 → 0.11;
 * wind directions, 25: accuracy 0.87 → 0.95) and make others too sure of themselves (spam: 0.18 → 0.20).
 */
export function defaultPreset(rows: number, input?: InputSpec, classes = 0): Preset {
  if (input?.kind === 'image') return presetNamed(Math.max(input.height, input.width) > 48 ? 'small-cnn' : 'resnet20')!;
  const wide = classes >= manyClasses && rows >= enoughForWide;
  const name = rows < 20_000 ? (wide ? 'wide' : 'small') : rows < 200_000 ? 'medium' : 'large';
  return presetNamed(name)!;
}

/**
 * Training settings for so many training rows of a table (about 3,000 to 10,000 steps, stopped early when validation stalls)
 * or of images.
 */
export function defaultTraining(rows: number, task: Task, input?: InputSpec, model?: ModelSpec): TrainingSpec {
  const table = tableTraining(rows, task, model?.preset === 'wide' ? 9_000 : 6_000);
  return input?.kind === 'image' ? imageTraining(rows, table, task, input, model) : table;
}

/** Pictures to train on from which a cycle is long enough to rise to its peak without diverging. */
const fewestForCycle = 2000;

/**
 * One cycle of SGD up to 0.2, with flips and shifts: the common recipe for residual nets on small images. Few images need more
 * against learning them by heart: on 5,000 of CIFAR-10, label smoothing, covered squares and twice the weight decay took
 * ResNet-20 from 0.708 to 0.747. Nets without batch norm, few rows, and numbers as targets do not stand such steps and take
 * AdamW.
 */
function imageTraining(
  rows: number,
  table: TrainingSpec,
  task: Task,
  input: ImageInput,
  model: ModelSpec | undefined,
): TrainingSpec {
  const steep =
    rows >= fewestForCycle &&
    task === 'classification' &&
    (!model || model.layers.some(({ type }) => type === 'batch_norm'));
  const few = rows < 10_000;
  const colour = input.channels > 1;
  const shorter = Math.min(input.height, input.width);
  const optimizer = steep
    ? ({ name: 'sgd', learningRate: 0.2, weightDecay: few ? 1e-3 : 5e-4, momentum: 0.9, nesterov: true } as const)
    : ({ name: 'adamw', learningRate: 0.002, weightDecay: 0.01 } as const);
  return {
    ...table,
    epochs: few ? 40 : rows < 30_000 ? 25 : 15,
    batch: 64,
    labelSmoothing: task === 'classification' ? 0.1 : 0,
    optimizer: { ...table.optimizer, ...optimizer },
    schedule: { ...table.schedule, name: 'one_cycle' },
    earlyStopping: { ...table.earlyStopping, enabled: false },
    augmentation: {
      // Grey images are digits, letters and scans more often than not: mirrored ones would be wrong.
      flip: colour,
      crop: Math.round(shorter / (colour ? 8 : 14)),
      rotation: 0,
      zoom: 0,
      brightness: 0,
      contrast: 0,
      saturation: 0,
      cutout: colour ? Math.round(shorter / 4) : 0,
      mixup: 0,
    },
  };
}

/** `wanted`: steps to aim at; networks for many classes go on improving for longer. */
function tableTraining(rows: number, task: Task, wanted: number): TrainingSpec {
  const batch = rows < 4_000 ? 32 : rows < 20_000 ? 64 : rows < 100_000 ? 128 : rows < 500_000 ? 256 : 512;
  const steps = Math.max(1, Math.ceil(rows / batch));
  const epochs = Math.min(200, Math.max(10, Math.round(wanted / steps)));
  return {
    epochs,
    batch,
    seed: 1,
    loss: 'auto',
    huberDelta: 1,
    labelSmoothing: 0,
    classWeights: 'none',
    optimizer: {
      name: 'adamw',
      learningRate: task === 'classification' ? 0.003 : 0.002,
      weightDecay: defaultWeightDecay(rows, task),
      momentum: 0.9,
      nesterov: false,
      beta1: 0.9,
      beta2: 0.999,
      epsilon: 1e-8,
      alpha: 0.99,
    },
    clipNorm: 0,
    schedule: { name: 'cosine', warmupEpochs: 0, stepEpochs: 30, gamma: 0.1, finalShare: 0.01 },
    earlyStopping: { enabled: true, patience: 20, minimumDelta: 0 },
  };
}

/**
 * AdamW's decay, as PyTorch's `weight_decay`: × learning rate it is the share taken off each weight at each step, 0.01 as usual,
 * but few rows need a strong one: over 12 seeds of six small tables (150 to 1,800 rows) this raised the mean test score of every
 * one or kept it; diabetes (353 training rows) from R² 0.44 to 0.48.
 */
function defaultWeightDecay(rows: number, task: Task): number {
  const strength = task === 'regression' ? Math.min(3, 1_000 / rows) : Math.min(1, 300 / rows);
  return Number(Math.max(0.01, strength).toPrecision(2));
}
