// AssemblyScript: gradient of batch normalisation. Threads share the channels: of a table (inner 1) they lie side by side and
// go four at a time; of images each is a set of planes.

import { multiplyAdd } from '../shared/math';
import { at, integer, LINE, pointer, read, shareStart, sumLanes, write } from '../shared/vectors';

export function batch_norm_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  if (integer(args, 10) == 1) tableGradient(args, thread, threads);
  else imageGradient(args, thread, threads);
}

function tableGradient(args: usize, thread: i32, threads: i32): void {
  const dy = pointer(args, 0);
  const x = pointer(args, 1);
  const gamma = pointer(args, 2);
  const mean = pointer(args, 3);
  const inverseDeviation = pointer(args, 4);
  const dx = pointer(args, 5);
  const rows = integer(args, 8);
  const channels = integer(args, 9);
  const size = f32x4.splat(<f32>rows);
  const end = shareStart(channels, LINE, thread + 1, threads);
  for (let j = shareStart(channels, LINE, thread, threads); j < end; j += 4) {
    const lanes = end - j;
    const average = read(mean, j, lanes);
    const inverse = read(inverseDeviation, j, lanes);
    let sum = f32x4.splat(0);
    let product = f32x4.splat(0);
    for (let i = j; i < rows * channels; i += channels) {
      const g = read(dy, i, lanes);
      sum = f32x4.add(sum, g);
      product = multiplyAdd(g, normalise(read(x, i, lanes), average, inverse), product);
    }
    write(pointer(args, 6), j, product, lanes);
    write(pointer(args, 7), j, sum, lanes);
    const scale = f32x4.mul(read(gamma, j, lanes), inverse);
    const sumShare = f32x4.div(sum, size);
    const productShare = f32x4.div(product, size);
    for (let i = j; i < rows * channels; i += channels) {
      const normalised = normalise(read(x, i, lanes), average, inverse);
      write(dx, i, inputGradient(read(dy, i, lanes), normalised, sumShare, productShare, scale), lanes);
    }
  }
}

function imageGradient(args: usize, thread: i32, threads: i32): void {
  const dy = pointer(args, 0);
  const x = pointer(args, 1);
  const dx = pointer(args, 5);
  const outer = integer(args, 8);
  const channels = integer(args, 9);
  const inner = integer(args, 10);
  const size = <f32>(outer * inner);
  const end = shareStart(channels, 1, thread + 1, threads);
  for (let channel = shareStart(channels, 1, thread, threads); channel < end; channel++) {
    const average = v128.load32_splat(at(pointer(args, 3), channel));
    const inverse = v128.load32_splat(at(pointer(args, 4), channel));
    let sums = f32x4.splat(0);
    let products = f32x4.splat(0);
    for (let o = 0; o < outer; o++) {
      const start = (o * channels + channel) * inner;
      for (let i = 0; i < inner; i += 4) {
        // Lanes past the end are 0 in dy, so they add nothing.
        const g = read(dy, start + i, inner - i);
        sums = f32x4.add(sums, g);
        products = multiplyAdd(g, normalise(read(x, start + i, inner - i), average, inverse), products);
      }
    }
    const sum = sumLanes(sums);
    const product = sumLanes(products);
    store<f32>(at(pointer(args, 6), channel), product);
    store<f32>(at(pointer(args, 7), channel), sum);
    const scale = f32x4.mul(v128.load32_splat(at(pointer(args, 2), channel)), inverse);
    const sumShare = f32x4.splat(sum / size);
    const productShare = f32x4.splat(product / size);
    for (let o = 0; o < outer; o++) {
      const start = (o * channels + channel) * inner;
      for (let i = 0; i < inner; i += 4) {
        const lanes = inner - i;
        const normalised = normalise(read(x, start + i, lanes), average, inverse);
        const gradient = inputGradient(read(dy, start + i, lanes), normalised, sumShare, productShare, scale);
        write(dx, start + i, gradient, lanes);
      }
    }
  }
}

/** x̂ = (x − mean)·inverseDeviation */
@inline
function normalise(x: v128, average: v128, inverse: v128): v128 {
  return f32x4.mul(f32x4.sub(x, average), inverse);
}

/** gamma·inverseDeviation·(dy − dbeta/n − x̂·dgamma/n) */
@inline
function inputGradient(dy: v128, normalised: v128, sumShare: v128, productShare: v128, scale: v128): v128 {
  return f32x4.mul(f32x4.sub(f32x4.sub(dy, sumShare), f32x4.mul(normalised, productShare)), scale);
}
