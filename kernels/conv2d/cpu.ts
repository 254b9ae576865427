// AssemblyScript: convolution by Winograd's transforms where they pay, else as an implicit matrix product, image by image; depthwise plane
// by plane. Threads share the images.

import { depthwiseForward } from '../shared/conv_depthwise';
import { finishImage } from '../shared/conv_finish';
import { convolveImage, describeTarget, describeWeights } from '../shared/conv_product';
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
import { addTap, describeSource } from '../shared/conv_source';
import { openTiling, winogradPays } from '../shared/conv_tiling';
import { convolveByTransforms, describeFilters, describeFinish } from '../shared/conv_winograd';
import { at, integer, pointer, real, shareStart } from '../shared/vectors';

export function conv2d(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const w = pointer(args, 1);
  const bias = pointer(args, 2);
  const y = pointer(args, 3);
  readShape(args, 4);
  const activation = integer(args, 14);
  const slope = f32x4.splat(real(args, 15));
  const plane = height * width;
  const outputPlane = outputHeight * outputWidth;
  const start = shareStart(batch, 1, thread, threads);
  const end = shareStart(batch, 1, thread + 1, threads);

  openTiling(height, width, padding);
  if (winogradPays(channels, filters)) {
    describeFilters(w, channels * kernel * kernel, kernel * kernel, false);
    describeFinish(bias, 0, activation);
    convolveByTransforms(x, channels, y, filters, slope, thread, threads);
    return;
  }
  if (isDepthwise()) {
    for (let i = start * channels; i < end * channels; i++) {
      depthwiseForward(at(x, i * plane), at(w, (i % channels) * kernel * kernel), at(y, i * outputPlane));
    }
  } else {
    describeSource(height, width, stride, outputWidth);
    for (let tap = 0; tap < kernel * kernel; tap++) {
      addTap((tap / kernel) * dilation - padding, (tap % kernel) * dilation - padding, tap);
    }
    describeTarget(outputPlane, outputWidth, 1, 0, outputHeight, outputWidth);
    const groupChannels = channels / groups;
    const groupFilters = filters / groups;
    const size = groupChannels * kernel * kernel;
    for (let group = 0; group < groups; group++) {
      describeWeights(at(w, group * groupFilters * size), size, kernel * kernel, groupFilters, groupChannels);
      for (let n = start; n < end; n++) {
        const source = at(x, (n * channels + group * groupChannels) * plane);
        const target = at(y, (n * filters + group * groupFilters) * outputPlane);
        convolveImage(source, plane, target);
      }
    }
  }
  for (let n = start; n < end; n++) {
    finishImage(at(y, n * filters * outputPlane), filters, outputPlane, bias, 0, activation, slope);
  }
}
