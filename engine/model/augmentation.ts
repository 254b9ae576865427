// Augmentation of images: what a person sets as the limits of the kernel gather_images, and a look at what it does, by the
// kernel's own oracle and the run's own random numbers.

import { reference } from '../../kernels/gather_images/reference.ts';
import type { ImageAugmentation } from '../graph/attributes.ts';
import { noAugmentation } from '../settings/augmentation.ts';
import { drawBeta, streams } from '../optim/random.ts';
import type { AugmentationSpec, InputSpec } from './spec.ts';

/** The kernel's limits. */
export function imageAugmentation(spec: AugmentationSpec = noAugmentation): ImageAugmentation {
  const { flip, mixup, rotation, ...limits } = spec;
  return { ...limits, rotation: (rotation * Math.PI) / 180, flip: flip ? 1 : 0, mixup: mixup > 0 ? 1 : 0 };
}

/** Images as bytes, [images, channels, height, width]. */
export interface ImageBytes {
  readonly input: Extract<InputSpec, { kind: 'image' }>;
  readonly bytes: Uint8Array;
}

/**
 * The images as step `step` of a run with this seed would see them if they were its batch; bytes again. Places outside an
 * image have the mean of these images, in training that of the training split.
 */
export function previewAugmentation(
  { input, bytes }: ImageBytes,
  spec: AugmentationSpec,
  seed: number,
  step: number,
): Uint8Array {
  const { channels, height, width } = input;
  const size = height * width;
  const batch = bytes.length / (channels * size);
  const mean = channelMeans(bytes, channels, size);
  const share = spec.mixup > 0 ? drawBeta(spec.mixup, seed, streams.mixup, step) : 0;
  const batchX = new Float64Array(bytes.length);
  const limits = imageAugmentation(spec);
  reference(
    {
      x: Float64Array.from(bytes),
      y: null,
      indices: Float64Array.from({ length: batch }, (_, image) => image),
      normalization: Float64Array.from(mean.flatMap((value) => [value, 1])),
      scalars: Float64Array.of(0, 0, 0, share),
      counters: Float64Array.of(step),
    },
    { batchX, batchY: null },
    {
      ...limits,
      ...{ rows: batch, channels, height, width, targets: 0, classes: 0, batch, steps: 1 },
      ...{ seed, stream: streams.augmentation },
    },
    0,
  );
  return Uint8Array.from(batchX, (value, i) => {
    const level = 255 * (value + mean[Math.floor(i / size) % channels]);
    return Math.round(Math.min(255, Math.max(0, level)));
  });
}

/** Means of the channels, 0 … 1. */
function channelMeans(bytes: Uint8Array, channels: number, size: number): readonly number[] {
  const sums = new Array<number>(channels).fill(0);
  bytes.forEach((value, i) => (sums[Math.floor(i / size) % channels] += value));
  return sums.map((sum) => (sum * channels) / Math.max(1, bytes.length) / 255);
}
