// Tensors as PyTorch keeps them: names are the same, a dense weight is [out,in].

import { isNetworkFile } from '../learners/network/file.ts';
import { resolveModel, outputWidth } from '../model/resolve.ts';
import type { ModelFile } from '../protocol/model-file.ts';
import type { SafeTensor } from '../train/safetensors.ts';
import type { Weights } from '../train/weights.ts';
import { torchLayers } from './torch/layers.ts';

export function outward(file: ModelFile, weights: Weights): Record<string, SafeTensor> {
  const turned = turnedIn(file);
  return Object.fromEntries(
    Object.entries(weights).map(([name, tensor]) => [name, turned(name, tensor) ? outputFirst(tensor) : tensor]),
  );
}

/**
 * Which tensors of a model are [in,out] here and leave as [out,in]: of a network the weights of layers that are dense there, of other models every
 * matrix called weight. Tables of embeddings, and what a module multiplies by from the right, stay as they are.
 */
export function turnedIn(file: ModelFile): (name: string, tensor: Pick<SafeTensor, 'shape'>) => boolean {
  const isMatrix = (name: string, { shape }: Pick<SafeTensor, 'shape'>): boolean =>
    shape.length === 2 && name.endsWith('.weight');
  if (!isNetworkFile(file)) return isMatrix;
  const { layers } = resolveModel(file.model, file.input, outputWidth(file.output, file.training.loss));
  const dense = layers.filter(({ def }) => torchLayers[def.type].turned).map(({ id }) => `${id}.weight`);
  const names = new Set(dense);
  return (name, tensor) => names.has(name) && isMatrix(name, tensor);
}

/** A matrix the other way round. */
export function outputFirst({ shape, data }: SafeTensor): SafeTensor {
  const [inputs, units] = shape;
  const turned = new Float32Array(data.length);
  for (let i = 0; i < inputs; i++) for (let u = 0; u < units; u++) turned[u * inputs + i] = data[i * units + u];
  return { shape: [units, inputs], data: turned };
}
