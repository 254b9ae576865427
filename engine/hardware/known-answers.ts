// Published results that a forecast is held against: what was run on what, and how long it took. A forecast is to be within
// `factor`: 1.3 where precision and software are stated, 2 otherwise; `null` where the figure itself is doubtful and only shown.

export type KnownModel =
  | 'resnet50'
  | 'bert-base'
  | 'bert-large'
  | 'gpt2'
  | 'gpt3'
  | 'llama2-70b-lora'
  | 'llama3.2-1b'
  | 'bert-mlperf'
  | 'gpt3-mlperf'
  | 'cifar10';
export type KnownPrecision = 'float32' | 'tf32' | 'mixed16' | 'unstated';
export type KnownUnit =
  'examples/s' | 'seconds' | 'minutes' | 'hours' | 'days' | 'years' | 'TFLOP/s' | 'kWh' | 'relative';

export interface KnownAnswer {
  readonly id: string;
  readonly what: string;
  readonly task: 'training' | 'inference' | 'product';
  readonly model: KnownModel | null;
  /** A device of the catalogue, or the name of one that is not in it. */
  readonly device: string;
  readonly count: number;
  readonly precision: KnownPrecision;
  readonly published: { readonly value: number; readonly unit: KnownUnit };
  /** What a forecast needs besides: examples of the whole job, of a batch, tokens an example, FLOP where the model is not built in. */
  readonly inputs: {
    readonly examples?: number;
    readonly epochs?: number;
    readonly batch?: number;
    readonly sequence?: number;
    readonly tokens?: number;
    readonly flops?: number;
    /** N of an N×N×N product. */
    readonly product?: number;
    /** TFLOP/s a device that the publication states. */
    readonly sustained?: number;
  };
  readonly factor: 1.3 | 2 | null;
  readonly source: string;
  readonly note?: string;
}

/** Images of ImageNet's training split. */
export const imagenet = 1_281_167;
const dle = 'https://github.com/NVIDIA/DeepLearningExamples';
const mlperf = 'https://developer.nvidia.com/deep-learning-performance-training-inference/training';
const smc = 'https://smc.co/mlperfv40/results/llama2-70b-lora';
const mlperf41 =
  'https://maxmazo.com/technology/mlperf-4-1-tests-unveil-nvidia-blackwells-llama-training-acceleration-by-2-2x-google-showcases-45-decrease-in-training-costs-with-trillium';
const tensorflow = 'https://github.com/tensorflow/benchmarks/issues/419';
/** Pieces of SQuAD 1.1’s training split at 384 tokens. */
const squad = 88_524;

type Rate = readonly [device: string, count: number, precision: KnownPrecision, rate: number];

/** Images a second of ResNet-50's training, 224 × 224. Batches: 112 in float32 and 256 in 16 bits on 16 GB. */
const resnetRates: readonly Rate[] = [
  ['v100-16gb', 1, 'float32', 367],
  ['v100-16gb', 1, 'mixed16', 1200],
  ['v100-16gb', 8, 'float32', 2855],
  ['v100-16gb', 8, 'mixed16', 8322],
  ['a100-80gb', 1, 'tf32', 938],
  ['a100-80gb', 1, 'mixed16', 2470],
  ['a100-80gb', 8, 'tf32', 7248],
  ['a100-80gb', 8, 'mixed16', 16_621],
];

/** Sequences a second of fine-tuning BERT-large on SQuAD, 384 tokens. */
const squadRates: readonly Rate[] = [
  ['a100-80gb', 1, 'tf32', 61.5],
  ['a100-80gb', 1, 'mixed16', 110.5],
  ['a100-80gb', 8, 'mixed16', 846.7],
  ['v100-32gb', 1, 'float32', 12],
  ['v100-32gb', 1, 'mixed16', 52],
  ['v100-32gb', 8, 'mixed16', 382],
];

/** Sequences a second of pretraining BERT-large, 128 tokens. */
const pretrainRates: readonly Rate[] = [
  ['a100-80gb', 1, 'tf32', 317],
  ['a100-80gb', 1, 'mixed16', 580],
  ['v100-32gb', 1, 'float32', 50],
  ['v100-32gb', 1, 'mixed16', 224],
];

const rates = (
  prefix: string,
  what: string,
  model: KnownModel,
  inputs: KnownAnswer['inputs'],
  from: readonly Rate[],
): KnownAnswer[] =>
  from.map(([device, count, precision, value]) => ({
    id: `${prefix}-${device}-${count}-${precision}`,
    what,
    task: 'training',
    model,
    device,
    count,
    precision,
    published: { value, unit: 'examples/s' },
    inputs: model === 'resnet50' ? { ...inputs, batch: precision === 'mixed16' ? 256 : 112 } : inputs,
    factor: 1.3,
    source: dle,
  }));

/** MLPerf's Llama-2 70B LoRA on 8, 64 and 512 H100: minutes and kWh; faster costs 3.9 times the energy. */
const llama: readonly KnownAnswer[] = (
  [
    [8, 29.1, 3.27],
    [64, 5.4, 5.66],
    [512, 2.1, 12.73],
  ] as const
).flatMap(([count, minutes, kilowattHours]) => {
  const base = {
    task: 'training',
    model: 'llama2-70b-lora',
    device: 'h100-sxm',
    count,
    precision: 'mixed16',
    inputs: {},
    factor: 2,
    source: smc,
  } as const;
  const note = 'training goes on to a quality; 8 and 64 devices follow from the published power';
  return [
    {
      ...base,
      id: `llama2-lora-${count}`,
      what: 'Llama-2 70B LoRA, MLPerf 4.0',
      published: { value: minutes, unit: 'minutes' },
      note,
    },
    {
      ...base,
      id: `llama2-lora-${count}-energy`,
      what: 'the same, energy',
      published: { value: kilowattHours, unit: 'kWh' },
      note: '6.741 kW mean a node of 8',
    },
  ] as const;
});

export const knownAnswers: readonly KnownAnswer[] = [
  ...rates('resnet50', 'ResNet-50, training', 'resnet50', { examples: imagenet, epochs: 1 }, resnetRates),
  ...rates(
    'bert-squad',
    'BERT-large, fine-tuning on SQuAD',
    'bert-large',
    { examples: squad, epochs: 2, sequence: 384 },
    squadRates,
  ),
  ...rates('bert-pretrain', 'BERT-large, pretraining at 128 tokens', 'bert-large', { sequence: 128 }, pretrainRates),
  {
    id: 'bert-pretrain-512',
    what: 'BERT-large, pretraining at 512 tokens',
    task: 'training',
    model: 'bert-large',
    device: 'a100-80gb',
    count: 1,
    precision: 'mixed16',
    published: { value: 210, unit: 'examples/s' },
    inputs: { sequence: 512 },
    factor: null,
    source: dle,
    note: 'more tokens a second than at 128: doubtful, nothing is calibrated on it',
  },
  ...(
    [
      ['tf32', 0.102],
      ['mixed16', 0.0574],
    ] as const
  ).map(([precision, value]): KnownAnswer => ({
    id: `squad-8-a100-${precision}`,
    what: 'BERT-large on SQuAD from start to end',
    task: 'training',
    model: 'bert-large',
    device: 'a100-80gb',
    count: 8,
    precision,
    published: { value, unit: 'hours' },
    inputs: { examples: squad, epochs: 2, sequence: 384 },
    factor: 1.3,
    source: dle,
  })),
  ...(
    [
      ['float32', 80],
      ['mixed16', 40],
    ] as const
  ).map(([precision, value]): KnownAnswer => ({
    id: `bert-base-squad-v100-${precision}`,
    what: 'BERT-base on SQuAD 1.1, two epochs',
    task: 'training',
    model: 'bert-base',
    device: 'v100-16gb',
    count: 1,
    precision,
    published: { value, unit: 'minutes' },
    inputs: { examples: squad, epochs: 2, sequence: 384 },
    factor: 1.3,
    source: 'https://github.com/huggingface/transformers/issues/277',
    note: precision === 'mixed16' ? 'about; the README said 24' : undefined,
  })),
  {
    id: 'bert-base-cpu',
    what: 'BERT-base on a CPU, untuned',
    task: 'training',
    model: 'bert-base',
    device: 'a CPU, unstated',
    count: 1,
    precision: 'float32',
    published: { value: 0.43, unit: 'examples/s' },
    inputs: { sequence: 384 },
    factor: null,
    source: 'https://github.com/google-research/bert/issues/526',
    note: 'which CPU is not said',
  },
  {
    id: 'resnet50-3700x',
    what: 'ResNet-50, TensorFlow 1.15 as it comes',
    task: 'training',
    model: 'resnet50',
    device: 'Ryzen 7 3700X, 8 cores',
    count: 1,
    precision: 'float32',
    published: { value: 9.3, unit: 'examples/s' },
    inputs: { examples: imagenet, epochs: 1 },
    factor: 2,
    source: tensorflow,
    note: '228 GFLOP/s, a quarter of its peak',
  },
  {
    id: 'resnet50-9900k',
    what: 'ResNet-50 without MKL',
    task: 'training',
    model: 'resnet50',
    device: 'Core i9-9900K, 8 cores',
    count: 1,
    precision: 'float32',
    published: { value: 3, unit: 'examples/s' },
    inputs: { examples: imagenet, epochs: 1 },
    factor: null,
    source: tensorflow,
    note: '2.5 to 3.5: the library is worth a factor 3',
  },
  {
    id: 'resnet50-c5',
    what: 'ResNet-50, 128 nodes of 36 Xeon cores, tuned Caffe, 85 epochs',
    task: 'training',
    model: 'resnet50',
    device: 'Xeon, 36 cores (c5.18xlarge)',
    count: 128,
    precision: 'float32',
    published: { value: 3.43, unit: 'hours' },
    inputs: { examples: imagenet, epochs: 85 },
    factor: 2,
    source: 'https://github.com/stanford-futuredata/dawn-bench-entries',
    note: 'about 69 images a second and node',
  },
  {
    id: 'resnet50-skylake',
    what: 'ResNet-50, MLPerf 0.5, two sockets',
    task: 'training',
    model: 'resnet50',
    device: 'Xeon Skylake, 2 sockets',
    count: 1,
    precision: 'float32',
    published: { value: 0.85, unit: 'relative' },
    inputs: { examples: imagenet, epochs: 61 },
    factor: null,
    source: 'https://www.intel.ai/mlperf-results-validate-cpus-for-dl-training',
    note: 'of a P100 reference whose minutes are from memory',
  },
  {
    id: 'resnet50-amx',
    what: 'ResNet-50, 16 nodes of Xeon with AMX',
    task: 'training',
    model: 'resnet50',
    device: 'xeon-8480',
    count: 32,
    precision: 'mixed16',
    published: { value: 88.5, unit: 'minutes' },
    inputs: {},
    factor: null,
    source: 'https://edacafe.com/nbc/articles/1/1966810',
    note: 'from memory',
  },
  ...(
    [
      [8, 13.466],
      [64, 2.664],
      [3584, 0.183],
    ] as const
  ).map(([count, value]): KnownAnswer => ({
    id: `resnet50-mlperf-h100-${count}`,
    what: 'ResNet-50, MLPerf 3.0',
    task: 'training',
    model: 'resnet50',
    device: 'h100-sxm',
    count,
    precision: 'mixed16',
    published: { value, unit: 'minutes' },
    inputs: { examples: imagenet, epochs: 37 },
    factor: 2,
    source: mlperf,
    note: '37 epochs are from memory',
  })),
  {
    id: 'resnet50-mlperf-a100-8',
    what: 'ResNet-50, MLPerf 1.1',
    task: 'training',
    model: 'resnet50',
    device: 'a100-80gb',
    count: 8,
    precision: 'mixed16',
    published: { value: 29.1, unit: 'minutes' },
    inputs: { examples: imagenet, epochs: 37 },
    factor: null,
    source: mlperf,
    note: 'read from a damaged page',
  },
  {
    id: 'bert-mlperf-h100-8',
    what: 'BERT, MLPerf 3.0',
    task: 'training',
    model: 'bert-mlperf',
    device: 'h100-sxm',
    count: 8,
    precision: 'mixed16',
    published: { value: 5.349, unit: 'minutes' },
    inputs: {},
    factor: 2,
    source: mlperf,
  },
  ...(
    [
      ['v100-16gb', 1, 96],
      ['v100-16gb', 256, 1261],
      ['t4', 1, 98],
      ['t4', 256, 415],
    ] as const
  ).map(([device, batch, value]): KnownAnswer => ({
    id: `resnet50-inference-${device}-${batch}`,
    what: 'ResNet-50, inference',
    task: 'inference',
    model: 'resnet50',
    device,
    count: 1,
    precision: 'float32',
    published: { value, unit: 'examples/s' },
    inputs: { batch },
    factor: 1.3,
    source: dle,
    note: batch === 1 ? 'one picture at a time waits for launches, on either card' : undefined,
  })),
  {
    id: 'gpt2-a100-8',
    what: 'GPT-2 124M, a step of 524,288 tokens',
    task: 'training',
    model: 'gpt2',
    device: 'a100-80gb',
    count: 8,
    precision: 'mixed16',
    published: { value: 0.3, unit: 'seconds' },
    inputs: { tokens: 524_288, sequence: 1024, sustained: 163 },
    factor: 1.3,
    source: 'https://github.com/karpathy/llm.c',
  },
  {
    id: 'gpt3-a100-1024',
    what: 'GPT-3 175B, 300e9 tokens',
    task: 'training',
    model: 'gpt3',
    device: 'a100-80gb',
    count: 1024,
    precision: 'mixed16',
    published: { value: 34, unit: 'days' },
    inputs: { tokens: 300e9, sequence: 2048, sustained: 140 },
    factor: 1.3,
    source: 'https://arxiv.org/abs/2104.04473',
    note: 'with recomputation: 8 FLOP a parameter and token',
  },
  {
    id: 'gpt3-cpu',
    what: 'GPT-3 175B on a CPU that sustains 1 TFLOP/s',
    task: 'training',
    model: 'gpt3',
    device: 'a CPU of 1 TFLOP/s',
    count: 1,
    precision: 'float32',
    published: { value: 9980, unit: 'years' },
    inputs: { flops: 3.15e23, sustained: 1 },
    factor: 1.3,
    source: 'derived',
    note: '1,996 years at 5 TFLOP/s',
  },
  ...llama,
  ...(
    [
      ['b200-sxm', 12.958],
      ['h200-sxm', 24],
    ] as const
  ).map(([device, value]): KnownAnswer => ({
    id: `llama2-lora-${device}`,
    what: 'Llama-2 70B LoRA, MLPerf 4.1',
    task: 'training',
    model: 'llama2-70b-lora',
    device,
    count: 8,
    precision: 'mixed16',
    published: { value, unit: 'minutes' },
    inputs: {},
    factor: 2,
    source: mlperf41,
  })),
  ...(
    [
      ['b200-sxm', 64, 193.7],
      ['tpu-v5p', 2048, 29.6],
      ['tpu-v6e', 2048, 27.3],
    ] as const
  ).map(([device, count, value]): KnownAnswer => ({
    id: `gpt3-mlperf-${device}`,
    what: 'GPT-3, MLPerf 4.1',
    task: 'training',
    model: 'gpt3-mlperf',
    device,
    count,
    precision: 'mixed16',
    published: { value, unit: 'minutes' },
    inputs: {},
    factor: 2,
    source: mlperf41,
  })),
  ...(
    [
      ['float32', 51.9],
      ['tf32', 402],
      ['mixed16', 798],
    ] as const
  ).map(([precision, value]): KnownAnswer => ({
    id: `product-h100-${precision}`,
    what: 'A product of 4096³ to 8192³ in PyTorch',
    task: 'product',
    model: null,
    device: 'h100-sxm',
    count: 1,
    precision,
    published: { value, unit: 'TFLOP/s' },
    inputs: { product: 8192 },
    factor: 1.3,
    source: 'https://github.com/stas00/ml-engineering',
    note: '77 to 81 % of the peak',
  })),
  ...(
    [
      ['eager', 48.8],
      ['graphs', 8.1],
    ] as const
  ).map(([way, value]): KnownAnswer => ({
    id: `llama1b-b200-${way}`,
    what: `Llama 3.2 1B, one sequence of 512, ${way}`,
    task: 'training',
    model: 'llama3.2-1b',
    device: 'b200-sxm',
    count: 1,
    precision: 'mixed16',
    published: { value: value / 1e3, unit: 'seconds' },
    inputs: { batch: 1, sequence: 512 },
    factor: way === 'graphs' ? 2 : null,
    source: 'https://github.com/stas00/ml-engineering',
    note: way === 'eager' ? 'launches and unfused traffic are 83 % of it: no roofline says that' : undefined,
  })),
  {
    id: 'cifar10-a100',
    what: 'CIFAR-10 to 94 %',
    task: 'training',
    model: 'cifar10',
    device: 'a100-80gb',
    count: 1,
    precision: 'mixed16',
    published: { value: 2.59, unit: 'seconds' },
    inputs: {},
    factor: null,
    source: 'https://github.com/KellerJordan/cifar10-airbench',
    note: 'a network and a schedule of its own',
  },
];
