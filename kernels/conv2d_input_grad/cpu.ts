// AssemblyScript: gradient of a convolution by its input, as products without a wasted multiplication: elements of dx that
// differ by whole strides are reached by the same taps, so each of the stride² phases is a dense convolution of dy;
// by Winograd's transforms where they pay. Threads share the images.

import { depthwiseBackward } from '../shared/conv_depthwise';
import { finishImage } from '../shared/conv_finish';
import { clearImage, convolveImage, describeTarget, describeWeights } from '../shared/conv_product';
import {
  batch,
  channels,
  dilation,
  filters,
  groups,
  height,
  isDepthwise,
  kernel,
  outputHeight,
  outputWidth,
  padding,
  readShape,
  stride,
  width,
} from '../shared/conv_shape';
import { addTap, describeSource, taps } from '../shared/conv_source';
import { openTiling, winogradPays } from '../shared/conv_tiling';
import { convolveByTransforms, describeFilters, describeFinish } from '../shared/conv_winograd';
import { at, integer, pointer, real, shareStart } from '../shared/vectors';

export function conv2d_input_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const w = pointer(args, 1);
  const bias = pointer(args, 2);
  const dx = pointer(args, 4);
  readShape(args, 5);
  const activation = integer(args, 15);
  const slope = f32x4.splat(real(args, 16));
  const saved = integer(args, 17) != 0 ? pointer(args, 3) : 0;
  const start = shareStart(batch, 1, thread, threads);
  const end = shareStart(batch, 1, thread + 1, threads);

  openTiling(outputHeight, outputWidth, 2 - padding);
  if (winogradPays(filters, channels)) {
    describeFilters(w, kernel * kernel, channels * kernel * kernel, true);
    describeFinish(bias, saved, activation);
    convolveByTransforms(dy, filters, dx, channels, slope, thread, threads);
    return;
  }
  if (isDepthwise()) {
    for (let i = start * channels; i < end * channels; i++) {
      const weights = at(w, (i % channels) * kernel * kernel);
      depthwiseBackward(at(dy, i * outputHeight * outputWidth), weights, at(dx, i * height * width));
    }
  } else {
    for (let group = 0; group < groups; group++) {
      for (let phase = 0; phase < stride * stride; phase++) phaseGradient(dy, w, dx, group, phase, start, end);
    }
  }
  const size = channels * height * width;
  for (let n = start; n < end; n++) {
    const imageSaved = saved != 0 ? at(saved, n * size) : 0;
    finishImage(at(dx, n * size), channels, height * width, bias, imageSaved, activation, slope);
  }
}

/** The elements of dx at rows and columns `phase` modulo the stride. */
function phaseGradient(dy: usize, w: usize, dx: usize, group: i32, phase: i32, start: i32, end: i32): void {
  const phaseRow = phase / stride;
  const phaseColumn = phase % stride;
  if (phaseRow >= height || phaseColumn >= width) return;
  const gridRows = (height - phaseRow + stride - 1) / stride;
  const gridColumns = (width - phaseColumn + stride - 1) / stride;
  describeSource(outputHeight, outputWidth, 1, gridColumns);
  for (let ky = 0; ky < kernel; ky++) {
    const row = phaseRow + padding - ky * dilation;
    if (row % stride != 0) continue;
    for (let kx = 0; kx < kernel; kx++) {
      const column = phaseColumn + padding - kx * dilation;
      if (column % stride == 0) addTap(row / stride, column / stride, ky * kernel + kx);
    }
  }
  describeTarget(height * width, width, stride, phaseRow * width + phaseColumn, gridRows, gridColumns);
  const groupChannels = channels / groups;
  const groupFilters = filters / groups;
  const outputPlane = outputHeight * outputWidth;
  const area = kernel * kernel;
  const weights = at(w, group * groupFilters * groupChannels * area);
  describeWeights(weights, area, groupChannels * area, groupChannels, groupFilters);
  for (let n = start; n < end; n++) {
    const target = at(dx, (n * channels + group * groupChannels) * height * width);
    if (taps == 0) clearImage(target);
    else convolveImage(at(dy, (n * filters + group * groupFilters) * outputPlane), outputPlane, target);
  }
}
