// AssemblyScript: gradients of a convolution by weight and bias. Threads share the rows (channel, tap) of the weight, and the
// filters of the bias: every gradient is summed by one thread, over the images in order.

import { depthwiseWeights } from '../shared/conv_depthwise';
import {
  batch,
  channels,
  filters,
  height,
  isDepthwise,
  kernel,
  outputHeight,
  outputWidth,
  padding,
  readShape,
  width,
} from '../shared/conv_shape';
import { weightGradient } from '../shared/conv_weights';
import { openTiling, winogradPays } from '../shared/conv_tiling';
import { weightGradientByTransforms } from '../shared/winograd_weights';
import { sum } from '../shared/sums';
import { at, pointer, shareStart } from '../shared/vectors';

export function conv2d_weight_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const dy = pointer(args, 1);
  const dw = pointer(args, 2);
  const db = pointer(args, 3);
  readShape(args, 4);
  const positions = outputHeight * outputWidth;
  const start = shareStart(filters, 1, thread, threads);
  const end = shareStart(filters, 1, thread + 1, threads);

  openTiling(height, width, padding);
  if (isDepthwise()) {
    const area = kernel * kernel;
    for (let channel = start; channel < end; channel++) {
      const gradient = at(dw, channel * area);
      memory.fill(gradient, 0, (<usize>area) << 2);
      for (let n = 0; n < batch; n++) {
        const plane = n * channels + channel;
        depthwiseWeights(at(x, plane * height * width), at(dy, plane * positions), gradient);
      }
    }
  } else if (winogradPays(channels, filters)) {
    weightGradientByTransforms(x, dy, dw, thread, threads);
  } else {
    weightGradient(x, dy, dw, thread, threads);
  }
  if (db == 0) return;
  for (let filter = start; filter < end; filter++) {
    let total: f32 = 0;
    for (let n = 0; n < batch; n++) total += sum(at(dy, (n * filters + filter) * positions), positions);
    store<f32>(at(db, filter), total);
  }
}
