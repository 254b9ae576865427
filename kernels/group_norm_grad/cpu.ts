// AssemblyScript: gradient of group normalisation. Threads share the groups of all examples for dx and the channels for
// dgamma and dbeta; the sums of a plane are computed for each, which costs less than a barrier.

import { multiplyAdd } from '../shared/math';
import { sum, sumProduct } from '../shared/sums';
import { at, integer, pointer, read, shareStart, write } from '../shared/vectors';

export function group_norm_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const count = integer(args, 8) * integer(args, 11);
  const groupEnd = shareStart(count, 1, thread + 1, threads);
  for (let group = shareStart(count, 1, thread, threads); group < groupEnd; group++) inputGradient(args, group);
  const channels = integer(args, 9);
  const channelEnd = shareStart(channels, 1, thread + 1, threads);
  for (let channel = shareStart(channels, 1, thread, threads); channel < channelEnd; channel++) {
    parameterGradients(args, channel);
  }
}

function inputGradient(args: usize, group: i32): void {
  const dy = pointer(args, 0);
  const x = pointer(args, 1);
  const gamma = pointer(args, 2);
  const dx = pointer(args, 5);
  const inner = integer(args, 10);
  const groups = integer(args, 11);
  const width = integer(args, 9) / groups;
  const size = width * inner;
  const mean = load<f32>(at(pointer(args, 3), group));
  const inverse = load<f32>(at(pointer(args, 4), group));
  let gradientSum: f32 = 0;
  let productSum: f32 = 0;
  for (let j = 0; j < width; j++) {
    const first = group * size + j * inner;
    const weight = load<f32>(at(gamma, (group % groups) * width + j));
    gradientSum += weight * sum(at(dy, first), inner);
    productSum += weight * inverse * sumProduct(at(dy, first), at(x, first), inner, mean);
  }
  const sumShare = f32x4.splat(gradientSum / <f32>size);
  const productShare = f32x4.splat(productSum / <f32>size);
  for (let j = 0; j < width; j++) {
    const first = group * size + j * inner;
    const weight = v128.load32_splat(at(gamma, (group % groups) * width + j));
    for (let i = 0; i < inner; i += 4) {
      const lanes = inner - i;
      const centred = f32x4.sub(read(x, first + i, lanes), f32x4.splat(mean));
      const normalised = f32x4.mul(centred, f32x4.splat(inverse));
      const gradient = f32x4.sub(f32x4.mul(weight, read(dy, first + i, lanes)), sumShare);
      const difference = f32x4.sub(gradient, f32x4.mul(normalised, productShare));
      write(dx, first + i, f32x4.mul(difference, f32x4.splat(inverse)), lanes);
    }
  }
}

function parameterGradients(args: usize, channel: i32): void {
  const dy = pointer(args, 0);
  const x = pointer(args, 1);
  const batch = integer(args, 8);
  const channels = integer(args, 9);
  const inner = integer(args, 10);
  const groups = integer(args, 11);
  let dgamma: f32 = 0;
  let dbeta: f32 = 0;
  for (let n = 0; n < batch; n++) {
    const first = (n * channels + channel) * inner;
    const group = n * groups + channel / (channels / groups);
    const mean = load<f32>(at(pointer(args, 3), group));
    const product = sumProduct(at(dy, first), at(x, first), inner, mean);
    dgamma = dgamma + load<f32>(at(pointer(args, 4), group)) * product;
    dbeta = dbeta + sum(at(dy, first), inner);
  }
  store<f32>(at(pointer(args, 6), channel), dgamma);
  store<f32>(at(pointer(args, 7), channel), dbeta);
}
