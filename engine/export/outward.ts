// Tensors as PyTorch keeps them: names are the same, a dense weight is [out,in].

import type { SafeTensor } from '../train/safetensors.ts';
import type { Weights } from '../train/weights.ts';

export function outward(weights: Weights): Record<string, SafeTensor> {
  return Object.fromEntries(Object.entries(weights).map(([name, tensor]) => [name, outputFirst(name, tensor)]));
}

/** Dense weights are kept [in, out] and leave as [out, in]; embedding tables stay as they are. */
function outputFirst(name: string, { shape, data }: SafeTensor): SafeTensor {
  if (shape.length !== 2 || !name.endsWith('.weight')) return { shape, data };
  const [inputs, units] = shape;
  const turned = new Float32Array(data.length);
  for (let i = 0; i < inputs; i++) for (let u = 0; u < units; u++) turned[u * inputs + i] = data[i * units + u];
  return { shape: [units, inputs], data: turned };
}
