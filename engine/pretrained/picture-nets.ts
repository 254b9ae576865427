// The picture models whose weights are read: each with the names that torchvision and timm give its tensors, against our layers.

import { mobilenetV2, resnet18, resnet34, resnet50, type ImageInput } from '../model/image-presets.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import type { ModelSpec } from '../model/spec.ts';
import { headOrigins, type Origin } from './convert.ts';

/** Their module of one of our layers: `layer1.0.conv1` of `s1b1.1.conv`. */
type ModuleOf = (layer: string) => string;

interface Naming {
  /** Whose names these are. */
  readonly library: 'torchvision' | 'timm';
  /** Module of the output layer. */
  readonly head: string;
  readonly moduleOf: ModuleOf;
}

export interface PictureNet {
  /** As `--architecture` says it. */
  readonly name: string;
  readonly title: string;
  readonly spec: (input: ImageInput) => ModelSpec;
  readonly namings: readonly Naming[];
}

/** Layers of our ResNets: `0` and `1` are the stem, `s2b1.short.conv` the projection of the first block of the second stage. */
const resnetModule: ModuleOf = (layer) => {
  if (layer === '0') return 'conv1';
  if (layer === '1') return 'bn1';
  const [, stage, block, part, conv] = /^s(\d)b(\d+)\.(short|\d)(\.conv)?$/.exec(layer)!;
  const within = `layer${stage}.${Number(block) - 1}`;
  if (part === 'short') return `${within}.downsample.${conv ? 0 : 1}`;
  return `${within}.${conv ? 'conv' : 'bn'}${part}`;
};
// timm keeps torchvision's names of ResNets.
const resnetNamings: readonly Naming[] = [{ library: 'torchvision', head: 'fc', moduleOf: resnetModule }];

/** A layer of our MobileNetV2, taken apart: the block, which of its convolutions (1 widens, 2 per channel, 3 narrows), and which of the pair. */
interface InvertedPart {
  readonly stage: number;
  readonly block: number;
  readonly part: 1 | 2 | 3;
  readonly norm: boolean;
}

function invertedPart(layer: string): InvertedPart {
  const [, stage, block, part = '3', conv] = /^s(\d)b(\d)(?:\.(\d))?(\.conv)?$/.exec(layer)!;
  return { stage: Number(stage), block: Number(block), part: Number(part) as 1 | 2 | 3, norm: conv === undefined };
}

/** Blocks of the stages of MobileNetV2. */
const invertedBlocks = [1, 2, 3, 4, 3, 3, 1];

const torchvisionMobile: ModuleOf = (layer) => {
  const [, end, pair] = /^(stem\.norm|last)(\.conv)?$/.exec(layer) ?? [];
  if (end !== undefined) return `features.${end === 'last' ? 18 : 0}.${pair ? 0 : 1}`;
  const { stage, block, part, norm } = invertedPart(layer);
  const place = invertedBlocks.slice(0, stage - 1).reduce((sum, blocks) => sum + blocks, block);
  const first = stage === 1 ? 2 : 1;
  const module = `features.${place}.conv.${part - first}`;
  if (part < 3) return `${module}.${norm ? 1 : 0}`;
  return norm ? `features.${place}.conv.${part - first + 1}` : module;
};

const timmMobile: ModuleOf = (layer) => {
  const [, end, pair] = /^(stem\.norm|last)(\.conv)?$/.exec(layer) ?? [];
  if (end === 'last') return pair ? 'conv_head' : 'bn2';
  if (end !== undefined) return pair ? 'conv_stem' : 'bn1';
  const { stage, block, part, norm } = invertedPart(layer);
  const within = `blocks.${stage - 1}.${block - 1}`;
  if (stage === 1) return `${within}.${norm ? `bn${part - 1}` : part === 2 ? 'conv_dw' : 'conv_pw'}`;
  return `${within}.${norm ? `bn${part}` : ['conv_pw', 'conv_dw', 'conv_pwl'][part - 1]}`;
};

export const pictureNets: readonly PictureNet[] = [
  { name: 'resnet18', title: 'ResNet-18', spec: resnet18, namings: resnetNamings },
  { name: 'resnet34', title: 'ResNet-34', spec: resnet34, namings: resnetNamings },
  { name: 'resnet50', title: 'ResNet-50', spec: resnet50, namings: resnetNamings },
  {
    name: 'mobilenet_v2',
    title: 'MobileNetV2',
    spec: mobilenetV2,
    namings: [
      { library: 'torchvision', head: 'classifier.1', moduleOf: torchvisionMobile },
      { library: 'timm', head: 'classifier', moduleOf: timmMobile },
    ],
  },
];

/** Counters of training that no model needs. */
export const ignoredOfPictures = /(^|\.)num_batches_tracked$/;

/** What each tensor of the model is made of; without the output layer where `classes` is 0. */
export function pictureOrigins(model: ResolvedModel, { head, moduleOf }: Naming, classes: number): readonly Origin[] {
  return model.layers.flatMap((layer): readonly Origin[] => {
    const { id, def, inputShapes, parameters, states } = layer;
    if (def.type === 'output') return classes > 0 ? headOrigins(id, head, inputShapes[0][0], classes) : [];
    return [...parameters, ...states].map(({ name, shape }) => {
      const theirs = `${moduleOf(id)}.${name.slice(id.length + 1)}`;
      return { name, from: [{ name: theirs, shape }] };
    });
  });
}

/** How the names of a file are those of a net: the naming whose tensors it has most of, and how many of how many. */
export function namingOf(
  model: ResolvedModel,
  { namings }: PictureNet,
  names: ReadonlySet<string>,
): { readonly naming: Naming; readonly share: number } {
  const tried = namings.map((naming) => {
    const wanted = pictureOrigins(model, naming, 0).flatMap(({ from }) => from);
    return { naming, share: wanted.filter(({ name }) => names.has(name)).length / wanted.length };
  });
  return tried.reduce((best, next) => (next.share > best.share ? next : best));
}
