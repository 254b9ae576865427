// The models of tests/golden/make_pretrained_pictures.py: tensors whose values are functions of their places, and what PyTorch answers.

import fs from 'node:fs';
import path from 'node:path';
import { encodeSafetensors, type SafeTensor } from '../../engine/train/safetensors.ts';

export interface GoldenNet {
  /** About what the scales of its norms lie. */
  readonly norm: number;
  readonly tensors: Readonly<Record<string, readonly number[]>>;
  /** Of the two pictures. */
  readonly probabilities: readonly (readonly number[])[];
}

export const goldenNets = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, 'pretrained-pictures.json'), 'utf8'),
) as Readonly<Record<string, GoldenNet>>;

export const productOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** Value `i` of tensor `k`, in [−0.5, 0.5). */
export function hashed(i: number, k: number): number {
  let x = (Math.imul(i, 2654435761) + Math.imul(k + 1, 40503)) >>> 0;
  x = Math.imul(x ^ (x >>> 15), 2246822519) >>> 0;
  return ((x ^ (x >>> 13)) >>> 0) / 2 ** 32 - 0.5;
}

function valuesOf(name: string, shape: readonly number[], k: number, norm: number): Float32Array {
  const value = (u: number): number => {
    if (name.endsWith('running_mean')) return 0.2 * u;
    if (name.endsWith('running_var')) return 1 + 0.5 * u;
    if (shape.length === 1) return 0.2 * u + (name.endsWith('weight') ? norm : 0);
    return u * Math.sqrt(24 / productOf(shape.slice(1)));
  };
  return Float32Array.from({ length: productOf(shape) }, (_, i) => value(hashed(i, k)));
}

/** The tensors of a net as its library would save them. */
export function tensorsOf({ tensors, norm }: GoldenNet): Record<string, SafeTensor> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, shape], k) => [name, { shape, data: valuesOf(name, shape, k, norm) }]),
  );
}

export const fileOf = (net: GoldenNet): Uint8Array => encodeSafetensors({ tensors: tensorsOf(net), metadata: {} });

export const goldenSide = 64;

/** The two pictures [2, 3, 64, 64]. */
export const goldenPixels = (): Uint8Array =>
  Uint8Array.from({ length: 2 * 3 * goldenSide ** 2 }, (_, i) => Math.floor((hashed(i, 999) + 0.5) * 256));
