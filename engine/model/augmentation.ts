// Augmentation settings as the kernel gather_images takes them, and a preview of what they do: pictures drawn by the kernel's
// reference with the random numbers of training, for people to look at.

import { reference } from '../../kernels/gather_images/reference.ts';
import type { ImageAugmentation } from '../graph/attributes.ts';
import { augmentationStream } from '../graph/ops/sources.ts';
import { drawBeta, streams } from '../optim/random.ts';
import type { AugmentationSpec } from './spec.ts';

export const noAugmentation: AugmentationSpec = {
  flip: false,
  crop: 0,
  rotation: 0,
  zoom: 0,
  brightness: 0,
  contrast: 0,
  saturation: 0,
  cutout: 0,
  mixup: 0,
};

/** The kernel's limits for these settings. */
export function augmentationLimits(spec: AugmentationSpec = noAugmentation): ImageAugmentation {
  const { flip, mixup, rotation, ...limits } = spec;
  return { ...limits, rotation: (rotation * Math.PI) / 180, flip: flip ? 1 : 0, mixup: mixup > 0 ? 1 : 0 };
}

export interface PreviewOptions {
  /** Pictures [count, channels, height, width], bytes. */
  readonly pictures: Uint8Array;
  readonly count: number;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  readonly augmentation: AugmentationSpec;
  readonly seed: number;
  /** Another step, other changes. */
  readonly step: number;
}

/** The pictures as one training step would see them: [count, channels, height, width], bytes. */
export function previewAugmentation(options: PreviewOptions): Uint8Array {
  const { pictures, count, channels, height, width, augmentation, seed, step } = options;
  const size = channels * height * width;
  const share = augmentation.mixup > 0 ? drawBeta(augmentation.mixup, seed, streams.mixup, step) : 1;
  const batchX = new Float64Array(count * size);
  // Mean a half and deviation 1: what comes out is the pixel itself, and what is covered or beyond the border is grey.
  const normalization = Float64Array.from({ length: 2 * channels }, (_, i) => (i % 2 === 0 ? 0.5 : 1));
  reference(
    {
      x: Float64Array.from(pictures.subarray(0, count * size)),
      y: null,
      indices: Float64Array.from({ length: count }, (_, i) => i),
      normalization,
      scalars: Float64Array.of(0, 0, 0, share),
      counters: Float64Array.of(step),
    },
    { batchX, batchY: null },
    {
      ...augmentationLimits(augmentation),
      rows: count,
      channels,
      height,
      width,
      targets: 0,
      classes: 0,
      batch: count,
      steps: 1,
      seed,
      stream: augmentationStream,
    },
    0,
  );
  return Uint8Array.from(batchX, (value) => Math.min(255, Math.max(0, Math.round(255 * (value + 0.5)))));
}
