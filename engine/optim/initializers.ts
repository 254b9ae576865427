// First values of parameters. Every parameter has its own stream of random numbers, so adding a layer at the end does not
// change those before it.

import { fillNormal, fillUniform, streams } from './random.ts';

export type InitializerSpec =
  | { readonly kind: 'constant'; readonly value: number }
  /** U(−bound, bound) with bound = 1/√fanIn: PyTorch's default for linear and convolution layers. */
  | { readonly kind: 'uniform_fan_in'; readonly fanIn: number }
  /** N(0, 2/fanIn): He et al. 2015, for ReLU. */
  | { readonly kind: 'he_normal'; readonly fanIn: number }
  | { readonly kind: 'normal'; readonly deviation: number }
  /** U(−bound, bound) */
  | { readonly kind: 'uniform'; readonly bound: number }
  /** −1 or 1, each as likely. */
  | { readonly kind: 'signs' };

/** Fills a parameter with its first values. `index` is its position among the model's parameters. */
export function initialize(spec: InitializerSpec, target: Float32Array, seed: number, index: number): void {
  const stream = streams.initializer + (index << 8);
  switch (spec.kind) {
    case 'constant':
      target.fill(spec.value);
      return;
    case 'uniform_fan_in': {
      const bound = 1 / Math.sqrt(spec.fanIn);
      fillUniform(target, seed, stream, -bound, bound);
      return;
    }
    case 'he_normal':
      fillNormal(target, seed, stream, Math.sqrt(2 / spec.fanIn));
      return;
    case 'normal':
      fillNormal(target, seed, stream, spec.deviation);
      return;
    case 'uniform':
      fillUniform(target, seed, stream, -spec.bound, spec.bound);
      return;
    case 'signs':
      fillUniform(target, seed, stream, -1, 1);
      for (let i = 0; i < target.length; i++) target[i] = target[i] < 0 ? -1 : 1;
      return;
    default:
      spec satisfies never;
  }
}
