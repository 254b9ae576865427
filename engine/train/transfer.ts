// Starting from the weights of another run: layer by layer what is taken and what is new, and why not where it does not fit.

import type { ResolvedModel } from '../model/resolve.ts';
import type { OutputSpec } from '../model/spec.ts';
import { classNames, classWords, gathered, greyWords, weightsFit } from '../model/weights-fit.ts';
import { InputError } from '../protocol/errors.ts';
import type { JobStart } from '../protocol/hosts.ts';
import { decodeCheckpoint, isCheckpoint } from './checkpoint.ts';
import { decodeSafetensors, type SafeTensor } from './safetensors.ts';
import type { Weights } from './weights.ts';

export interface Transfer {
  /** Names of the tensors that are taken. */
  readonly taken: readonly string[];
  readonly weights: Weights;
  /** A line a layer that has weights. */
  readonly said: readonly string[];
}

/** The weights in a file of a run, be it a checkpoint or weights alone. */
export function weightsIn(file: Uint8Array): Weights {
  return isCheckpoint(file) ? decodeCheckpoint(file).tensors : decodeSafetensors(file).tensors;
}

/**
 * Which weights of its parent a model takes. Throws InputError `model.weights` with the wanted and the found shape where a layer
 * is to be taken and does not fit, and where a layer is frozen that has nothing to take.
 */
export function transferTo(
  model: ResolvedModel,
  { file, parent, upTo = Infinity, classes: there }: Pick<JobStart, 'file' | 'parent' | 'upTo' | 'classes'>,
  frozenLayers: number,
  output: OutputSpec,
): Transfer {
  const weights: Record<string, SafeTensor> = { ...weightsIn(file) };
  const shapes = Object.fromEntries(Object.entries(weights).map(([name, { shape }]) => [name, shape]));
  const taken: string[] = [];
  const said: string[] = [];
  const fits = weightsFit(model, shapes, { upTo, frozen: frozenLayers, classes: classNames(output, there) });
  for (const { title, tensors, fit, frozen, wrong, layer, order, grey } of fits) {
    if (wrong) throw misshapen(title, { ...wrong, parent, layer });
    if (fit === 'new' && frozen) throw nothingToFreeze(title, parent);
    if (fit === 'taken') taken.push(...tensors);
    if (order) for (const name of tensors) weights[name] = inOrder(weights[name], order);
    if (grey) for (const name of tensors) weights[name] = inGrey(weights[name]);
  }
  for (const { title, fit, frozen, outputs, classes, order, grey } of gathered(fits)) {
    const names = classes ? `, as its classes are others: ${classWords(fit, classes)}` : '';
    const fresh = outputs ? `new, of ${outputs.wanted} in place of ${outputs.found}` : `new${names}`;
    const numbered = classes ? `, class by class: ${classWords(fit, classes)}` : '';
    const sorted = order ? ', its outputs in the order of the classes here' : '';
    const added = grey ? `, ${greyWords}` : '';
    const taken = `taken from run ${parent}${numbered}${sorted}${added}${frozen ? ', frozen' : ''}`;
    said.push(`${title}: ${fit === 'taken' ? taken : fresh}.`);
  }
  if (taken.length > 0) return { taken, weights, said };
  throw new InputError(
    'model.weights',
    `Nothing of run ${parent} fits this model.`,
    'Take the layers of that run: leave --model out.',
  );
}

/** The outputs, which a tensor of an output layer has last, as `order` numbers them. */
function inOrder({ shape, data }: SafeTensor, order: readonly number[]): SafeTensor {
  const width = order.length;
  return { shape, data: data.map((_, at) => data[at - (at % width) + order[at % width]]) };
}

/** What kernels have for the three colours of a picture in one: a grey one has the same in all of them. */
function inGrey(tensor: SafeTensor): SafeTensor {
  const { shape, data } = tensor;
  if (shape.length !== 4 || shape[1] !== 3) return tensor;
  const size = shape[2] * shape[3];
  const sums = Float32Array.from({ length: data.length / 3 }, (_, at) => {
    const first = 3 * (at - (at % size)) + (at % size);
    return data[first] + data[first + size] + data[first + 2 * size];
  });
  return { shape: [shape[0], 1, shape[2], shape[3]], data: sums };
}

interface Misshapen {
  readonly name: string;
  readonly wanted: readonly number[];
  readonly found?: readonly number[];
  readonly parent: number;
  readonly layer: number;
}

function misshapen(title: string, { name, wanted, found, parent, layer }: Misshapen): InputError {
  const has = found ? `[${found.join(', ')}]` : 'nothing of the kind';
  return new InputError(
    'model.weights',
    `${title} does not fit: ${name} has to be [${wanted.join(', ')}], run ${parent} has ${has}.`,
    layer > 0
      ? `Take the layers before it alone: --up-to ${layer}.`
      : 'The rows are others than those of that run: take a run on the same columns, or pictures of the same size and colours.',
  );
}

function nothingToFreeze(title: string, parent: number): InputError {
  return new InputError(
    'model.weights',
    `${title} is to be frozen, but nothing is taken from run ${parent} for it: it would stay as it was drawn by chance.`,
    'Freeze fewer layers, or take more.',
  );
}
