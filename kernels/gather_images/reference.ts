// Oracle of gather_images.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { drawImage } from '../draws.ts';
import type { kernel } from './kernel.ts';

type Parameters = Readonly<Record<ParameterOf<typeof kernel>, number>>;

/** One augmented, normalised image. `pixels` [channels,height,width] bytes, `normalization` [channels,2]. */
function render(
  pixels: Float64Array,
  normalization: Float64Array,
  p: Parameters,
  index: number,
  counter: number,
): Float64Array {
  const { channels, height, width } = p;
  const draw = drawImage(p, index, counter);
  const at = (channel: number, row: number, column: number): number =>
    row < 0 || row >= height || column < 0 || column >= width
      ? normalization[2 * channel]
      : pixels[(channel * height + row) * width + column] / 255;
  const result = new Float64Array(pixels.length);
  for (let r = 0; r < height; r++) {
    for (let c = 0; c < width; c++) {
      const u = (draw.mirrored ? -1 : 1) * (c - (width - 1) / 2);
      const v = r - (height - 1) / 2;
      const column = (u * draw.cos + v * draw.sin) / draw.zoom + (width - 1) / 2 + draw.columns;
      const row = (v * draw.cos - u * draw.sin) / draw.zoom + (height - 1) / 2 + draw.rows;
      const [left, top] = [Math.floor(column), Math.floor(row)];
      const [right, bottom] = [column - left, row - top];
      const colour = Array.from({ length: channels }, (_, k) => {
        const upper = at(k, top, left) * (1 - right) + at(k, top, left + 1) * right;
        const lower = at(k, top + 1, left) * (1 - right) + at(k, top + 1, left + 1) * right;
        const sampled = (upper * (1 - bottom) + lower * bottom) * draw.brightness;
        return (sampled - normalization[2 * k]) * draw.contrast + normalization[2 * k];
      });
      const grey = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
      const coveredRow = r >= draw.coverTop && r < draw.coverTop + p.cutout;
      const covered = coveredRow && c >= draw.coverLeft && c < draw.coverLeft + p.cutout;
      colour.forEach((value, k) => {
        const saturated = channels === 3 ? grey + (value - grey) * draw.saturation : value;
        const held = Math.min(1, Math.max(0, saturated));
        const element = (k * height + r) * width + c;
        result[element] = covered ? 0 : (held - normalization[2 * k]) / normalization[2 * k + 1];
      });
    }
  }
  return result;
}

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params, step) => {
  const { channels, height, width, targets, classes, batch } = params;
  const { x, indices, normalization, counters } = present(inputs);
  const { y, scalars } = inputs;
  const { batchX } = present(outputs);
  const { batchY } = outputs;
  const size = channels * height * width;
  const share = params.mixup && scalars ? scalars[4 * step + 3] : 1;
  for (let i = 0; i < batch; i++) {
    // An image and, mixed in, the one that stands as far from the batch's other end.
    const parts = [{ index: i, share }, ...(share < 1 ? [{ index: batch - 1 - i, share: 1 - share }] : [])];
    const image = batchX.subarray(i * size, (i + 1) * size).fill(0);
    const targetWidth = classes > 0 ? classes : targets;
    batchY?.fill(0, i * targetWidth, (i + 1) * targetWidth);
    for (const part of parts) {
      const row = indices[step * batch + part.index];
      const pixels = x.subarray(row * size, (row + 1) * size);
      const rendered = render(pixels, normalization, params, part.index, counters[step]);
      rendered.forEach((value, j) => (image[j] += part.share * value));
      if (!y || !batchY) continue;
      if (classes > 0) batchY[i * classes + y[row * targets]] += part.share;
      else for (let j = 0; j < targets; j++) batchY[i * targets + j] += part.share * y[row * targets + j];
    }
  }
};
