// A picture model of torchvision's or timm's names: told by its tensors or named, and read with the recipe it was trained by.

import type { ImageInput } from '../model/image-presets.ts';
import { outputWidth, resolveModel, type ResolvedModel } from '../model/resolve.ts';
import type { ModelSpec, OutputSpec } from '../model/spec.ts';
import { InputError } from '../protocol/errors.ts';
import { convertWeights, type Origin } from './convert.ts';
import { ignoredOfPictures, namingOf, pictureNets, pictureOrigins, type PictureNet } from './picture-nets.ts';
import type { FoundModel, Pretrained, ReadOptions } from './pretrained.ts';
import type { TensorSource } from './safetensors-file.ts';
import { classNames, unusedText } from './shared.ts';
import type { TimmConfig } from './timm-config.ts';
import { supported, unknownArchitecture } from './supported.ts';

/** What the weights of ImageNet were trained on: 224 × 224 pixels, normalised by the means and deviations of its channels. */
const usualInput: ImageInput = { kind: 'image', channels: 3, height: 224, width: 224 };
const imagenet = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };

/** Share of a net's tensors from which a file is taken for one of it, where nobody says what it is. */
const enough = 0.5;

/** `timm`: what its folder says of the model. */
export async function readPicturesNet(
  found: FoundModel,
  options: ReadOptions,
  timm: Partial<TimmConfig> = {},
): Promise<Pretrained> {
  const { tensors } = found;
  const net = netOf(tensors, options.architecture);
  const input = { ...usualInput, ...timm.size, channels: channelsOf(tensors) };
  const spec = net.spec(input);
  const names = new Set(tensors.shapes.keys());
  const { naming } = namingOf(resolved(spec, input, 1), net, names);
  const outputs = tensors.shapes.get(`${naming.head}.weight`)?.[0] ?? 0;
  refuseOneOutput(found.name, outputs);
  const classes = classNames(
    found.name,
    outputs,
    options.classes ?? (timm.classes?.length === outputs ? timm.classes : undefined),
  );
  const output: OutputSpec = { kind: 'classes', classes };
  const model = resolved(spec, input, outputWidth(output, 'auto'));
  const own = ownNormalisation(timm, input.channels);
  const normalisation = own ?? (input.channels === 3 ? imagenet : grey);
  const origins = pictureOrigins(model, naming, outputs);
  const { weights, unused } = await convertWeights(model, origins, tensors, ignoredOfPictures);
  refuseDeeper(found.name, net, origins, unused);
  return {
    title: `${net.title} by ${naming.library}'s names`,
    source: found.name,
    model: spec,
    input,
    output,
    task: 'classification',
    preprocessing: { version: 1, ...input, fit: 'crop', ...normalisation, classes },
    weights,
    head: outputs > 0,
    said: [...(own ? [] : [guessed(normalisation)]), ...(unused.length > 0 ? [unusedText(unused)] : [])],
  };
}

const resolved = (spec: ModelSpec, input: ImageInput, outputs: number): ResolvedModel =>
  resolveModel(spec, input, outputs);

/** The net that is named, or whose tensors these are. */
function netOf(tensors: TensorSource, name: string | undefined): PictureNet {
  if (name !== undefined) {
    const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
    const named = pictureNets.find((net) => plain.startsWith(net.name.replace('_', '')));
    if (named) return named;
    throw unknownArchitecture(name);
  }
  const names = new Set(tensors.shapes.keys());
  const tried = pictureNets.map((net) => {
    const model = resolved(net.spec(usualInput), usualInput, 1);
    const wanted = pictureOrigins(model, namingOf(model, net, names).naming, 0).flatMap(({ from }) => from);
    const fitting = wanted.filter(({ name, shape }) => tensors.shapes.get(name)?.join() === shape.join()).length;
    // Of two nets one of which holds all tensors of the other, it is the one of which the file has most.
    return { net, share: fitting / Math.max(wanted.length, names.size / 2), fitting };
  });
  const best = tried.reduce((best, next) => (next.fitting > best.fitting ? next : best));
  if (best.share >= enough) return best.net;
  const [first = 'none', second] = names;
  throw new InputError(
    'input.architecture',
    `${tensors.name}: which architecture this is cannot be told by its ${names.size} tensors (${second ? `${first}, ${second}, …` : first}).`,
    `Say which: --architecture NAME. These are read: ${supported}.`,
  );
}

/** Channels of the first convolution: 1 or 3 are pictures. */
function channelsOf({ name, shapes }: TensorSource): 1 | 3 {
  const stem = ['conv1.weight', 'conv_stem.weight', 'features.0.0.weight'].map((stem) => shapes.get(stem));
  const channels = stem.find((shape) => shape !== undefined)?.[1] ?? 3;
  if (channels === 1 || channels === 3) return channels;
  throw new InputError(
    'input.weights',
    `${name} was made for pictures of ${channels} channels.`,
    'Pictures here are grey or have three colours.',
  );
}

type Normalisation = typeof imagenet;
const grey: Normalisation = { mean: [0.5], deviation: [0.5] };

/** What the folder says, if it says it for each channel. */
function ownNormalisation({ mean, deviation }: Partial<TimmConfig>, channels: number): Normalisation | null {
  if (mean?.length !== channels || deviation?.length !== channels) return null;
  return { mean: [...mean], deviation: [...deviation] };
}

const guessed = ({ mean, deviation }: Normalisation): string =>
  `How its pictures were normalised is not said in the file: the usual means ${mean.join(', ')} and deviations ${deviation.join(', ')} are taken.`;

/** Tensors beside those of the model, in modules that it has too: more blocks (ResNet-101) or parts of them (squeeze and excitation), which would be left out of every prediction. */
function refuseDeeper(name: string, net: PictureNet, origins: readonly Origin[], unused: readonly string[]): void {
  const moduleOf = (tensor: string): string => tensor.split('.', 1)[0];
  const modules = new Set(origins.flatMap(({ from }) => from.map(({ name }) => moduleOf(name))));
  const more = unused.filter((tensor) => modules.has(moduleOf(tensor)));
  if (more.length === 0) return;
  throw new InputError(
    'input.architecture',
    `${name} is no ${net.title}, whose tensors it has: there ${more.length === 1 ? 'is 1 more' : `are ${more.length} more`} in its blocks (${more.slice(0, 3).join(', ')}${more.length > 3 ? ', …' : ''}).`,
    `These are read: ${supported}.`,
  );
}

function refuseOneOutput(name: string, outputs: number): void {
  if (outputs !== 1) return;
  throw new InputError(
    'input.weights',
    `${name} has one output: which two classes it tells apart, or what it measures, is not said.`,
    'Models with two or more classes are read.',
  );
}
