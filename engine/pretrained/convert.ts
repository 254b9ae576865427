// From the tensors of a foreign file to the weights of a model of ours: which of them each of ours is made of, whether they are there
// in the shape that is wanted, and what becomes of the others. Nothing is read before all of that is known.

import type { Shape } from '../graph/graph.ts';
import { sizeOf } from '../graph/op.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import { InputError } from '../protocol/errors.ts';
import type { Weights } from '../train/weights.ts';
import type { TensorSource } from './safetensors-file.ts';

/** A tensor of the file, and the shape it has to have. */
export interface Wanted {
  readonly name: string;
  readonly shape: Shape;
}

/** One of our tensors, and what it is made of. */
export interface Origin {
  /** Of ours. */
  readonly name: string;
  readonly from: readonly Wanted[];
  /** Its values of theirs; absent: those of the first as they are. */
  readonly make?: (parts: readonly Float32Array[]) => Float32Array;
}

export interface Converted {
  readonly weights: Weights;
  /** Tensors of the file that no part of the model is made of. */
  readonly unused: readonly string[];
}

/**
 * The weights of the model. Tensors whose names `ignored` matches are not told of as unused. Throws InputError `input.weights` with
 * the tensors that are missing or have another shape than wanted.
 */
export async function convertWeights(
  model: ResolvedModel,
  origins: readonly Origin[],
  source: TensorSource,
  ignored: RegExp,
): Promise<Converted> {
  const wanted = origins.flatMap(({ from }) => from);
  refuseMisshapen(wanted, source);
  const shapes = new Map([...model.parameters, ...model.states].map(({ name, shape }) => [name, shape]));
  const weights: Record<string, Weights[string]> = {};
  for (const { name, from, make } of origins) {
    const shape = shapes.get(name);
    if (!shape) throw new RangeError(`the model has no tensor ${name}`);
    const parts = [];
    for (const part of from) parts.push(await source.read(part.name));
    const data = make ? make(parts) : parts[0];
    if (data.length !== sizeOf(shape)) throw new RangeError(`${name} is made of ${data.length} values`);
    refuseOdd(source.name, from[0]?.name ?? name, data);
    weights[name] = { shape, data };
  }
  const used = new Set(wanted.map(({ name }) => name));
  return { weights, unused: [...source.shapes.keys()].filter((name) => !used.has(name) && !ignored.test(name)) };
}

/** Tensors named at most, of those that do not fit. */
const mostNamed = 3;

function refuseMisshapen(wanted: readonly Wanted[], { name: file, shapes }: TensorSource): void {
  const wrong = wanted.flatMap(({ name, shape }) => {
    const found = shapes.get(name);
    if (found?.join() === shape.join()) return [];
    return [`${name} ${found ? `is [${found.join(', ')}]` : 'is missing'}, the model needs [${shape.join(', ')}]`];
  });
  if (wrong.length === 0) return;
  const more = wrong.length > mostNamed ? `; and ${wrong.length - mostNamed} more of ${wanted.length} do not fit` : '';
  throw new InputError(
    'input.weights',
    `${file} does not fit: ${wrong.slice(0, mostNamed).join('; ')}${more}.`,
    'Check that file and architecture belong together.',
  );
}

function refuseOdd(file: string, tensor: string, data: Float32Array): void {
  const odd = data.findIndex((value) => !Number.isFinite(value));
  if (odd < 0) return;
  throw new InputError(
    'input.weights',
    `${file}: value ${odd} of tensor ${tensor} is ${data[odd]}: as float32 it is no number.`,
    'A model with such weights predicts nothing: use another copy, or one saved as F32.',
  );
}

/** [columns, rows] of [rows, columns]: PyTorch keeps dense weights as [out, in], we as [in, out]. */
export function transposed(values: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) turned[column * rows + row] = values[row * columns + column];
  }
  return turned;
}

/** The output layer, of a dense layer as PyTorch keeps it. */
export function headOrigins(layer: string, module: string, inputs: number, outputs: number): readonly Origin[] {
  return [
    {
      name: `${layer}.weight`,
      from: [{ name: `${module}.weight`, shape: [outputs, inputs] }],
      make: ([values]) => transposed(values, outputs, inputs),
    },
    { name: `${layer}.bias`, from: [{ name: `${module}.bias`, shape: [outputs] }] },
  ];
}
