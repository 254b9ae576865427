// Collects the images of a step: bytes become normalised floats, and while training each image is drawn anew: shifted,
// mirrored, turned, zoomed, recoloured, partly covered, mixed with another. Random numbers are counted, so that every device
// draws the same ones; see draws.ts for their meaning and order.

import { defineKernel } from '../contract.ts';
import { optimizerScalar, uniform, whole, word } from '../samples.ts';

const plain = {
  targets: 1,
  classes: 0,
  steps: 1,
  seed: 1,
  stream: 2000,
  flip: 0,
  crop: 0,
  rotation: 0,
  zoom: 0,
  brightness: 0,
  contrast: 0,
  saturation: 0,
  cutout: 0,
  mixup: 0,
};
const small = { rows: 9, channels: 3, height: 9, width: 7, batch: 5 };

export const kernel = defineKernel({
  name: 'gather_images',
  summary:
    'batchX[i] = (pixel/255 − mean)/deviation of image indices[step·batch + i], augmented; batchY its targets, or with ' +
    '`classes` the share of each class. `mixup`: scalars[step·4 + 3] of the image and the rest of image batch − 1 − i.',
  inputs: [
    {
      name: 'x',
      shape: (p) => [p.rows, p.channels, p.height, p.width],
      type: 'u8',
      sample: (_, random) => whole(random, 256),
    },
    {
      name: 'y',
      shape: (p) => [p.rows, p.targets],
      optional: true,
      sample: (p, random) => whole(random, Math.max(2, p.classes)),
    },
    {
      name: 'indices',
      shape: (p) => [p.steps * p.batch],
      type: 'u32',
      sample: (p, random) => whole(random, p.rows),
    },
    {
      name: 'normalization',
      shape: (p) => [p.channels, 2],
      sample: (_, random, index) => (index % 2 === 0 ? uniform(random, 0.3, 0.6) : uniform(random, 0.2, 0.3)),
    },
    {
      name: 'scalars',
      shape: (p) => [p.steps, 4],
      optional: true,
      sample: (_, random, index) => (index % 4 === 3 ? random() : optimizerScalar(index)),
    },
    { name: 'counters', shape: (p) => [p.steps], type: 'u32', sample: (_, random) => word(random) },
  ],
  outputs: [
    { name: 'batchX', shape: (p) => [p.batch, p.channels, p.height, p.width] },
    { name: 'batchY', shape: (p) => [p.batch, p.classes > 0 ? p.classes : p.targets], optional: true },
  ],
  params: {
    rows: 'i32',
    channels: 'i32',
    height: 'i32',
    width: 'i32',
    targets: 'i32',
    classes: 'i32',
    batch: 'i32',
    steps: 'i32',
    seed: 'i32',
    stream: 'i32',
    flip: 'i32',
    crop: 'i32',
    rotation: 'f32',
    zoom: 'f32',
    brightness: 'f32',
    contrast: 'f32',
    saturation: 'f32',
    cutout: 'i32',
    mixup: 'i32',
  },
  usesStep: true,
  cost: (p) => {
    const pixels = p.batch * p.channels * p.height * p.width;
    return { flops: 2 * pixels, bytes: 5 * pixels };
  },
  tolerance: {
    relative: 3e-6,
    absolute: 2e-5,
    why: 'the place a turned image is read at rounds to 1e-6 of a pixel; neighbours differ by up to 5 deviations',
  },
  cases: [
    { params: { ...plain, rows: 1, channels: 1, height: 1, width: 1, batch: 1 }, absent: ['scalars'] },
    { params: { ...plain, ...small, steps: 3 }, absent: ['scalars'], step: 2 },
    { params: { ...plain, ...small, targets: 0 }, absent: ['y', 'batchY', 'scalars'] },
    { params: { ...plain, ...small, channels: 1, flip: 1, crop: 2, seed: 5 }, absent: ['scalars'] },
    { params: { ...plain, ...small, flip: 1, crop: 3, steps: 2, cutout: 3 }, absent: ['scalars'], step: 1 },
    { params: { ...plain, ...small, rotation: 0.3, zoom: 0.2, flip: 1, seed: -3 }, absent: ['scalars'] },
    { params: { ...plain, ...small, brightness: 0.4, contrast: 0.3, saturation: 0.5 }, absent: ['scalars'] },
    { params: { ...plain, ...small, channels: 1, brightness: 0.2, saturation: 0.5, cutout: 4 }, absent: ['scalars'] },
    { params: { ...plain, ...small, mixup: 1, classes: 4, flip: 1, crop: 1, steps: 2 }, step: 1 },
    { params: { ...plain, ...small, mixup: 1, targets: 2, rotation: 0.1, crop: 1, contrast: 0.2 } },
  ],
});
