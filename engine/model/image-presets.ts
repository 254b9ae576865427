// Models to start from on images: small nets of our own and nets of the literature, fitted to the size of the images. Parameter
// counts and work are held against the published figures by tests/unit/image-presets.test.ts.

import { preNormBlock } from './text-presets.ts';
import type { InputSpec, LayerSpec, ModelSpec } from './spec.ts';

export type ImageInput = Extract<InputSpec, { kind: 'image' }>;

const output: LayerSpec = { type: 'output' };
const relu: LayerSpec = { type: 'activation', activation: 'relu' };
const pool: LayerSpec = { type: 'max_pool', size: 2, stride: 2 };
const globalPool: LayerSpec = { type: 'global_average_pool' };

/** Nets of ImageNet shrink large images at once; small ones they take as they are. */
const largeSide = 64;
const side = ({ height, width }: ImageInput): number => Math.min(height, width);

interface ConvolutionOptions {
  readonly id?: string;
  readonly from?: string;
  readonly stride?: number;
  readonly kernel?: number;
  readonly groups?: number;
}

/** A convolution without bias, then batch norm; `id` names the pair. The padding keeps the size at stride 1. */
export function normalised(filters: number, options: ConvolutionOptions = {}): readonly LayerSpec[] {
  const { id, from, kernel = 3, stride = 1, groups = 1 } = options;
  const conv: LayerSpec = {
    type: 'conv2d',
    ...(id ? { id: `${id}.conv` } : {}),
    ...(from ? { from } : {}),
    filters,
    kernel,
    stride,
    padding: (kernel - 1) / 2,
    ...(groups > 1 ? { groups } : {}),
    bias: false,
  };
  return [conv, { type: 'batch_norm', ...(id ? { id } : {}) }];
}

/** Basic block (He et al. 2016) on the output of `from`, with a 1 × 1 projection where the shape changes. */
function residualBlock(id: string, from: string, filters: number, stride: number, project: boolean): LayerSpec[] {
  const shortcut = project ? normalised(filters, { id: `${id}.short`, from, stride, kernel: 1 }) : [];
  return [
    ...normalised(filters, { id: `${id}.1`, from, stride }),
    relu,
    ...normalised(filters, { id: `${id}.2` }),
    ...shortcut,
    { type: 'add', id: `${id}.sum`, from: [`${id}.2`, project ? `${id}.short` : from] },
    { ...relu, id },
  ];
}

/** Bottleneck block (He et al. 2016) with the stride in its 3 × 3 convolution, as it is usually built today. */
function bottleneck(id: string, from: string, filters: number, stride: number, project: boolean): LayerSpec[] {
  const shortcut = project ? normalised(filters, { id: `${id}.short`, from, stride, kernel: 1 }) : [];
  const inner = filters / 4;
  return [
    ...normalised(inner, { id: `${id}.1`, from, kernel: 1 }),
    relu,
    ...normalised(inner, { id: `${id}.2`, stride }),
    relu,
    ...normalised(filters, { id: `${id}.3`, kernel: 1 }),
    ...shortcut,
    { type: 'add', id: `${id}.sum`, from: [`${id}.3`, project ? `${id}.short` : from] },
    { ...relu, id },
  ];
}

interface Stage {
  /** Of what its blocks put out. */
  readonly filters: number;
  readonly stride: number;
  readonly blocks: number;
}

function stages(
  list: readonly Stage[],
  from: string,
  channels: number,
  block: typeof residualBlock = residualBlock,
): readonly LayerSpec[] {
  const layers: LayerSpec[] = [];
  let before = from;
  let width = channels;
  list.forEach(({ filters, stride, blocks }, s) => {
    for (let b = 0; b < blocks; b++) {
      const id = `s${s + 1}b${b + 1}`;
      const step = b === 0 ? stride : 1;
      layers.push(...block(id, before, filters, step, step !== 1 || filters !== width));
      before = id;
      width = filters;
    }
  });
  return layers;
}

/** ResNet for CIFAR (He et al. 2016, section 4.2) with 6n + 2 layers and projection shortcuts. */
export function cifarResnet(layers: number, preset: string): ModelSpec {
  const blocks = (layers - 2) / 6;
  const widths = [
    { filters: 16, stride: 1, blocks },
    { filters: 32, stride: 2, blocks },
    { filters: 64, stride: 2, blocks },
  ];
  const stem = [...normalised(16, { id: 'stem.norm' }), { ...relu, id: 'stem' }];
  return { version: 1, preset, layers: [...stem, ...stages(widths, 'stem', 16), globalPool, output] };
}

/** ResNet-18 (He et al. 2016); on images under 64 pixels with a 3 × 3 stem that keeps their size. */
export const resnet18 = (input: ImageInput): ModelSpec => basicResnet(input, [2, 2, 2, 2], 'resnet18');

/** ResNet-34 (He et al. 2016), with the stem of `resnet18`. */
export const resnet34 = (input: ImageInput): ModelSpec => basicResnet(input, [3, 4, 6, 3], 'resnet34');

function basicResnet(input: ImageInput, blocks: readonly number[], preset: string): ModelSpec {
  const widths = blocks.map((count, i) => ({ filters: 64 * 2 ** i, stride: i === 0 ? 1 : 2, blocks: count }));
  const layers = [...resnetStem(input), ...stages(widths, 'stem', 64), globalPool, output];
  return { version: 1, preset, layers };
}

/** ResNet-50 (He et al. 2016), with the stem of `resnet18`. */
export function resnet50(input: ImageInput): ModelSpec {
  const blocks = [3, 4, 6, 3];
  const widths = blocks.map((count, i) => ({ filters: 256 * 2 ** i, stride: i === 0 ? 1 : 2, blocks: count }));
  const layers = [...resnetStem(input), ...stages(widths, 'stem', 64, bottleneck), globalPool, output];
  return { version: 1, preset: 'resnet50', layers };
}

function resnetStem(input: ImageInput): readonly LayerSpec[] {
  if (side(input) < largeSide) return [...normalised(64), { ...relu, id: 'stem' }];
  const pooling: LayerSpec = { type: 'max_pool', id: 'stem', size: 3, stride: 2, padding: 1 };
  return [...normalised(64, { kernel: 7, stride: 2 }), relu, pooling];
}

/** MobileNet (Howard et al. 2017): depthwise convolutions between 1 × 1 ones. The stem halves images of 64 pixels and more. */
export function mobilenet(input: ImageInput): ModelSpec {
  const pairs = [
    [64, 1],
    [128, 2],
    [128, 1],
    [256, 2],
    [256, 1],
    [512, 2],
    ...Array.from({ length: 5 }, () => [512, 1]),
    [1024, 2],
    [1024, 1],
  ];
  const layers = [...normalised(32, { stride: side(input) >= largeSide ? 2 : 1 }), relu];
  let channels = 32;
  for (const [filters, stride] of pairs) {
    layers.push(...normalised(channels, { stride, groups: channels }), relu);
    layers.push(...normalised(filters, { kernel: 1 }), relu);
    channels = filters;
  }
  return { version: 1, preset: 'mobilenet', layers: [...layers, globalPool, output] };
}

const relu6: LayerSpec = { type: 'activation', activation: 'relu6' };

/** Of each stage: times the channels are widened, filters, blocks, stride of the first. */
const invertedStages = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
];

/** MobileNetV2 (Sandler et al. 2018). Images under 64 pixels are not halved by the stem and the first stage that would. */
export function mobilenetV2(input: ImageInput): ModelSpec {
  const large = side(input) >= largeSide;
  const layers = [...normalised(32, { id: 'stem.norm', stride: large ? 2 : 1 }), { ...relu6, id: 'stem' }];
  let [before, channels] = ['stem', 32];
  invertedStages.forEach(([widened, filters, blocks, stride], s) => {
    for (let b = 0; b < blocks; b++) {
      const id = `s${s + 1}b${b + 1}`;
      const step = b > 0 || (s === 1 && !large) ? 1 : stride;
      layers.push(...invertedBlock(id, before, { channels, widened, filters, stride: step }));
      [before, channels] = [id, filters];
    }
  });
  layers.push(
    ...normalised(1280, { id: 'last', kernel: 1 }),
    relu6,
    globalPool,
    { type: 'dropout', rate: 0.2 },
    output,
  );
  return { version: 1, preset: 'mobilenet-v2', layers };
}

interface Inverted {
  readonly channels: number;
  readonly widened: number;
  readonly filters: number;
  readonly stride: number;
}

/** Widens, filters each channel by itself, narrows without an activation; added to its input where that has the same shape. */
function invertedBlock(id: string, from: string, { channels, widened, filters, stride }: Inverted): LayerSpec[] {
  const inner = channels * widened;
  const wide = widened === 1 ? [] : [...normalised(inner, { id: `${id}.1`, from, kernel: 1 }), relu6];
  const depthwise = normalised(inner, { id: `${id}.2`, ...(widened === 1 ? { from } : {}), stride, groups: inner });
  const added = stride === 1 && channels === filters;
  const narrow = normalised(filters, { id: added ? `${id}.3` : id, kernel: 1 });
  const layers = [...wide, ...depthwise, relu6, ...narrow];
  return added ? [...layers, { type: 'add', id, from: [`${id}.3`, from] }] : layers;
}

/** Pixels of a side of a patch: 16 of the usual 224, else the largest power of two that leaves seven patches along the shorter side. */
const patchOf = (input: ImageInput): number => Math.max(1, Math.min(16, 2 ** Math.floor(Math.log2(side(input) / 7))));

/** ViT-Tiny (Touvron et al. 2021, after Dosovitskiy et al. 2021): 12 blocks, 192 wide, 3 heads, as timm has it; patches of 16 pixels, smaller ones for smaller images. */
export function visionTransformer(input: ImageInput): ModelSpec {
  const [blocks, width] = [12, 192];
  const of = { blocks, width, heads: 3, positions: 0, activation: 'gelu', epsilon: 1e-6 } as const;
  return {
    version: 1,
    preset: 'vit-tiny',
    layers: [
      { type: 'patch_embedding', id: 'patches', size: patchOf(input), dimensions: width, classToken: true },
      { type: 'position_embedding', id: 'places' },
      ...Array.from({ length: blocks }, (_, i) => preNormBlock(`b${i + 1}`, i === 0 ? 'places' : `b${i}`, of)).flat(),
      { type: 'layer_norm', id: 'norm', epsilon: of.epsilon },
      { type: 'pool_positions', pool: 'first' },
      output,
    ],
  };
}

/** The convolutions of VGG-11 (Simonyan & Zisserman 2015) with batch norm, as far as the image can be halved. */
export function vgg(input: ImageInput): ModelSpec {
  const groups = [[64], [128], [256, 256], [512, 512], [512, 512]];
  let left = side(input);
  const layers = groups.flatMap((group) => {
    const convolutions = group.flatMap((filters): readonly LayerSpec[] => [
      { type: 'conv2d', filters },
      { type: 'batch_norm' },
      relu,
    ]);
    const halves = left >= 2;
    left = Math.floor(left / 2);
    return halves ? [...convolutions, pool] : convolutions;
  });
  return { version: 1, preset: 'vgg', layers: [...layers, globalPool, output] };
}

/** LeNet-5 (LeCun et al. 1998) as it is usually built today: ReLU, max pooling, padding on images of 28 pixels. */
export function lenet(input: ImageInput): ModelSpec {
  const padding = side(input) < 32 ? 2 : 0;
  return {
    version: 1,
    preset: 'lenet',
    layers: [
      { type: 'conv2d', filters: 6, kernel: 5, padding, activation: 'relu' },
      pool,
      { type: 'conv2d', filters: 16, kernel: 5, padding: 0, activation: 'relu' },
      pool,
      { type: 'flatten' },
      { type: 'dense', units: 120, activation: 'relu' },
      { type: 'dense', units: 84, activation: 'relu' },
      output,
    ],
  };
}

/** Three convolutions with batch norm: quick on a CPU. */
export function smallCnn(): ModelSpec {
  const layers = [...normalised(32), relu, pool, ...normalised(64), relu, pool, ...normalised(128), relu];
  return { version: 1, preset: 'small-cnn', layers: [...layers, globalPool, output] };
}
