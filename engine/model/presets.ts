// Models to start from, and training settings that suit the size of the data.

import {
  cifarResnet,
  lenet,
  mobilenet,
  mobilenetV2,
  resnet18,
  resnet34,
  resnet50,
  smallCnn,
  vgg,
  visionTransformer,
  type ImageInput,
} from './image-presets.ts';
import { usualTraining } from '../settings/network.ts';
import { realMlpSteps, type TableRecipe, type TrainedOn } from '../settings/training.ts';
import { predictsTokens, readsTexts, type InputSpec, type ModelSpec, type Task, type TrainingSpec } from './spec.ts';
import {
  bagOfPairs,
  bert,
  distilbert,
  gpt,
  convolutionClassifier,
  recurrentClassifier,
  textClassifier,
  type TextInput,
} from './text-presets.ts';

export interface Preset {
  readonly name: string;
  readonly title: string;
  /** One sentence for people: when to take it. */
  readonly summary: string;
  readonly input: 'table' | 'image' | 'text';
  /** The model; of images, for 32 × 32 pixels in colour; of texts, for one text. */
  readonly spec: ModelSpec;
  /** Models that depend on the size of the images, or on what stands beside a text. */
  readonly specFor?: (input: InputSpec) => ModelSpec;
  /** Steps to train for with a table, where other than usual. */
  readonly steps?: number;
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

/** What stands in front of the layers of RealMLP (Holzmüller et al. 2024). */
const realMlpFront = (waves: object = {}): ModelSpec['layers'] => [
  { type: 'robust_scale' },
  { type: 'number_embedding', ...waves },
  { type: 'scale' },
];
const realMlpDense = { type: 'dense', activation: 'mish', parametrisation: 'ntk' } as const;
const realMlpDropout = { type: 'dropout', rate: 0.15 } as const;
const realMlpOutput = { type: 'output', parametrisation: 'ntk' } as const;

/** The paper's own: three layers of 256. */
function realMlp(): ModelSpec {
  const hidden = [1, 2, 3].flatMap(() => [{ ...realMlpDense, units: 256 }, realMlpDropout]);
  return { version: 1, preset: 'realmlp', layers: [...realMlpFront(), ...hidden, realMlpOutput] };
}

/** Networks of two layers of 64 behind one front, side by side in one plan: their mean errs less than one of them, wide or not. */
function realMlpMembers(members: number): ModelSpec {
  const units = 64;
  return {
    version: 1,
    preset: 'tabular',
    layers: [
      ...realMlpFront({ frequencies: 8 }),
      { ...realMlpDense, units: members * units },
      { type: 'members', members, sees: 'part' },
      realMlpDropout,
      { ...realMlpDense, type: 'member_dense', units, weights: 'own' },
      realMlpDropout,
      realMlpOutput,
    ],
  };
}

/** Members of two layers (Gorishniy et al. 2024); narrower than theirs, which are made for GPUs. */
function tabM(): ModelSpec {
  const hidden = { type: 'member_dense', units: 128, activation: 'relu' };
  const dropout = { type: 'dropout', rate: 0.1 };
  return {
    version: 1,
    preset: 'tabm',
    layers: [
      { type: 'robust_scale' },
      { type: 'number_embedding', rate: 1 },
      { type: 'members' },
      ...[1, 2].flatMap(() => [hidden, dropout]),
      { type: 'output' },
    ],
  };
}

/** The recipe that networks with such layers are trained by. */
function recipeOf({ layers }: ModelSpec): TableRecipe | undefined {
  if (layers.some(({ parametrisation }) => parametrisation === 'ntk')) return 'realmlp';
  if (layers.some(({ type }) => type === 'attention')) return 'transformer';
  return layers.some(({ type }) => type === 'members') ? 'tabm' : undefined;
}

/** Of every BERT. */
const bertShape = { positions: 512, dropout: 0.1 } as const;

export const presets: readonly Preset[] = [
  {
    name: 'small',
    title: 'Small MLP',
    summary: '64 and 32 units: quick, and right for very small tables',
    input: 'table',
    spec: mlp([64, 32], { preset: 'small' }),
  },
  {
    name: 'medium',
    title: 'Medium MLP',
    summary: '256, 128 and 64 units with dropout: for tens of thousands of rows',
    input: 'table',
    spec: mlp([256, 128, 64], { dropout: 0.1, preset: 'medium' }),
  },
  {
    name: 'wide',
    title: 'Wide MLP',
    summary: '256, 256 and 128 units with dropout: for many classes to tell apart',
    input: 'table',
    spec: mlp([256, 256, 128], { dropout: 0.1, preset: 'wide' }),
    steps: 9_000,
  },
  {
    name: 'large',
    title: 'Large MLP',
    summary: '512, 512, 256 and 128 units with dropout: for hundreds of thousands of rows',
    input: 'table',
    spec: mlp([512, 512, 256, 128], { dropout: 0.2, preset: 'large' }),
  },
  {
    name: 'tabular',
    title: 'MLP for tables',
    summary: 'Robust scaling and waves for numbers, then four networks of 64 units twice: quick, right for most tables',
    input: 'table',
    spec: realMlpMembers(4),
    steps: 6_000,
  },
  {
    name: 'realmlp',
    title: 'RealMLP',
    summary: 'Robust scaling, waves for numbers and a long schedule: the strong single network for tables',
    input: 'table',
    spec: realMlp(),
  },
  {
    name: 'tabm',
    title: 'TabM',
    summary: '32 members in one network, whose answers are averaged: slower, and often the best network for tables',
    input: 'table',
    spec: tabM(),
  },
  imagePreset('small-cnn', 'Small CNN', 'Three convolutions: quick, for a first look at any images', smallCnn),
  imagePreset('lenet', 'LeNet-5', 'The classic for digits and letters of about 28 pixels', lenet),
  imagePreset('resnet20', 'ResNet-20', 'Small and good: the right start for images of about 32 pixels', () =>
    cifarResnet(20, 'resnet20'),
  ),
  imagePreset('resnet32', 'ResNet-32', 'As ResNet-20, deeper: 1.7 times the work', () => cifarResnet(32, 'resnet32')),
  imagePreset('resnet56', 'ResNet-56', 'As ResNet-20, deeper: three times the work', () => cifarResnet(56, 'resnet56')),
  imagePreset('vgg', 'VGG-11', 'Wide and plain: 9 million parameters, for tens of thousands of images', vgg),
  imagePreset('resnet18', 'ResNet-18', 'For larger images and many classes: 11 million parameters', resnet18),
  imagePreset('resnet34', 'ResNet-34', 'As ResNet-18, deeper: twice the work, 21 million parameters', resnet34),
  imagePreset(
    'resnet50',
    'ResNet-50',
    'Bottleneck blocks: 24 million parameters, mostly begun with those of others',
    resnet50,
  ),
  imagePreset(
    'mobilenet-v2',
    'MobileNetV2',
    'Inverted blocks: two million parameters, for small machines',
    mobilenetV2,
  ),
  imagePreset(
    'vit-tiny',
    'ViT-Tiny',
    'A transformer on patches: 12 blocks, 5.4 million parameters; from scratch it wants many images, and a GPU',
    visionTransformer,
  ),
  imagePreset('mobilenet', 'MobileNet', 'Depthwise convolutions: a small model for larger images', mobilenet),
  textPreset(
    'text-bag',
    'Bag of words and pairs',
    'The mean of learned vectors of words and of pairs of neighbours (fastText): quick, and right for a few thousand texts',
    (name) => bagOfPairs(name, { tokens: 32, pairs: 8, rows: 131_072, dropout: 0.2 }),
  ),
  textPreset(
    'text-small',
    'Text classifier',
    'Two blocks of attention, 128 wide: for tens of thousands of texts, whose order matters',
    (name) => textClassifier(name, { blocks: 2, width: 128, heads: 4, positions: 0, dropout: 0.1 }),
  ),
  textPreset(
    'text-lstm',
    'LSTM',
    'Reads both ways with a memory of 64 values each: the classic before attention',
    (name) => recurrentClassifier(name, 'lstm', 128),
  ),
  textPreset('text-gru', 'GRU', 'As the LSTM, with a quarter fewer weights', (name) =>
    recurrentClassifier(name, 'gru', 128),
  ),
  textPreset(
    'text-cnn',
    'Text convolutions',
    'Two convolutions over neighbouring words: quick, for what short runs of words tell',
    (name) => convolutionClassifier(name, 128),
  ),
  textPreset('bert-tiny', 'BERT-tiny', 'The smallest BERT: 2 blocks, 128 wide', (name) =>
    bert(name, { ...bertShape, blocks: 2, width: 128, heads: 2 }),
  ),
  textPreset('bert-mini', 'BERT-mini', '4 blocks, 256 wide: 11 million parameters', (name) =>
    bert(name, { ...bertShape, blocks: 4, width: 256, heads: 4 }),
  ),
  textPreset('bert-small', 'BERT-small', '4 blocks, 512 wide: 29 million parameters', (name) =>
    bert(name, { ...bertShape, blocks: 4, width: 512, heads: 8 }),
  ),
  textPreset('distilbert', 'DistilBERT', 'Half of BERT-base: 6 blocks, 768 wide; from scratch it wants a GPU', (name) =>
    distilbert(name, { ...bertShape, blocks: 6, width: 768, heads: 12 }),
  ),
  textPreset('bert-base', 'BERT-base', '12 blocks, 768 wide: 110 million parameters; it wants a GPU', (name) =>
    bert(name, { ...bertShape, blocks: 12, width: 768, heads: 12 }),
  ),
  textPreset(
    'gpt-char',
    'Small GPT',
    '4 causal blocks, 128 wide: reads from left to right, made for characters',
    (name) => gpt(name, { blocks: 4, width: 128, heads: 4, positions: 0, dropout: 0.1 }),
  ),
  textPreset('gpt-small', 'GPT-2 small', '12 causal blocks, 768 wide: 124 million parameters; it wants a GPU', (name) =>
    gpt(name, { blocks: 12, width: 768, heads: 12, positions: 1024, dropout: 0.1 }),
  ),
];

function textPreset(
  name: string,
  title: string,
  summary: string,
  modelOf: (name: string) => (input: TextInput) => ModelSpec,
): Preset {
  const specFor = modelOf(name);
  const one: TextInput = { kind: 'table', width: 0, numeric: 0, embeddings: [] };
  return { name, title, summary, input: 'text', spec: specFor(one), specFor: (input) => specFor(input as TextInput) };
}

function imagePreset(name: string, title: string, summary: string, specFor: (input: ImageInput) => ModelSpec): Preset {
  const usual: ImageInput = { kind: 'image', channels: 3, height: 32, width: 32 };
  return {
    name,
    title,
    summary,
    input: 'image',
    spec: specFor(usual),
    specFor: (input) => specFor(input as ImageInput),
  };
}

/** Whether a preset is for data like this. */
export function presetFits(preset: Preset, input: InputSpec): boolean {
  if (input.kind !== 'table' || preset.input === 'image') return preset.input === input.kind;
  const [numbers, texts] = [input.numeric + input.embeddings.length, input.texts?.length ?? 0];
  return preset.input === 'text' ? texts > 0 : numbers > 0 || texts === 0;
}

/** A preset's model for this input. */
export function specOf(preset: Preset, input: InputSpec): ModelSpec {
  return preset.specFor && presetFits(preset, input) ? preset.specFor(input) : preset.spec;
}

export const presetNamed = (name: string): Preset | undefined => presets.find((preset) => preset.name === name);

/** Classes and training rows from which a table needs a wider network to tell them apart. */
const manyClasses = 9;
const enoughForWide = 1_500;

/** Texts from which attention can learn what a bag of words and pairs knows from its first epochs on. */
const enoughTexts = 20_000;

/** Training rows below which numbers are predicted by the plain small network: waves learn them by heart. */
const fewNumbers = 500;

/**
 * The preset that suits so many training rows and classes of a table (0 = a number is predicted), or images. Up to 20,000 rows of a table have
 * the small network with RealMLP's recipe, where it is not for the plain ones ([table-networks.md](../../docs/table-networks.md) has figures).
 */
export function defaultPreset(rows: number, input?: InputSpec, classes = 0): Preset {
  if (input?.kind === 'image') return presetNamed(Math.max(input.height, input.width) > 48 ? 'small-cnn' : 'resnet20')!;
  if (input && predictsTokens(input)) return presetNamed('gpt-char')!;
  if (input?.kind === 'table' && input.texts?.length)
    return presetNamed(rows < enoughTexts ? 'text-bag' : 'text-small')!;
  const plain = plainPreset(rows, classes);
  return plain.name === 'small' && (classes > 0 || rows >= fewNumbers) ? presetNamed('tabular')! : plain;
}

/**
 * The same of the plain networks, which are the quickest to train. Of 16 real tables with up to 8,500 training rows the larger networks help those
 * with many classes (letters, 26 classes: log loss 0.25 → 0.11; wind directions, 25: accuracy 0.87 → 0.95) and make others too sure of themselves
 * (spam: 0.18 → 0.20).
 */
export function plainPreset(rows: number, classes = 0): Preset {
  const wide = classes >= manyClasses && rows >= enoughForWide;
  const name = rows < 20_000 ? (wide ? 'wide' : 'small') : rows < 200_000 ? 'medium' : 'large';
  return presetNamed(name)!;
}

/** Steps a training aims at with a table; networks for many classes go on improving for longer. */
const usualSteps = 6_000;

/** Whether there are texts to read that are no targets; without knowing the data, by the layers. */
const readsText = (model?: ModelSpec, input?: InputSpec): boolean =>
  input
    ? readsTexts(input) && !predictsTokens(input)
    : (model?.layers.some(({ type }) => type === 'token_embedding') ?? false);

/** What the defaults of a training depend on; without a model, as for one that stands the common recipe. */
export function trainedOn(
  rows: number,
  task: Task,
  {
    input,
    model,
    classes = 0,
    begun,
  }: {
    readonly input?: InputSpec;
    readonly model?: ModelSpec;
    readonly classes?: number;
    /** With weights that others have trained. */
    readonly begun?: boolean;
  },
): TrainedOn {
  const own = model && recipeOf(model);
  const texts = readsText(model, input);
  const recipe = input?.kind === 'image' && own !== 'transformer' ? undefined : own;
  return {
    rows,
    task,
    classes,
    ...(begun ? { begun } : {}),
    ...(texts ? { texts } : {}),
    pictures: input?.kind === 'image' ? input : null,
    model: {
      batchNorm: !model || model.layers.some(({ type }) => type === 'batch_norm'),
      recipe,
      steps: presetNamed(model?.preset ?? '')?.steps ?? (recipe === 'realmlp' ? realMlpSteps : usualSteps),
    },
  };
}

/** Training settings for so many training rows of a table or of images. */
export function defaultTraining(rows: number, task: Task, input?: InputSpec, model?: ModelSpec): TrainingSpec {
  return usualTraining(trainedOn(rows, task, { input, model }));
}
