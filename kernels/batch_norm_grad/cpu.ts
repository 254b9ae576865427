// AssemblyScript: gradient of batch normalisation. Threads share the channels: of a table (inner 1) they lie side by side and
// go four at a time; of images each is a set of planes.

import { multiplyAdd } from '../shared/math';
import { sum, sumProduct } from '../shared/sums';
import { at, integer, LINE, pointer, read, shareStart, write } from '../shared/vectors';

export function batch_norm_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  if (integer(args, 10) == 1) tableGradient(args, thread, threads);
  else imageGradient(args, thread, threads);
}

/** Row by row over this thread's columns, with the sums so far in dgamma and dbeta. */
function tableGradient(args: usize, thread: i32, threads: i32): void {
  const rows = integer(args, 8);
  const channels = integer(args, 9);
  const start = shareStart(channels, LINE, thread, threads);
  const count = shareStart(channels, LINE, thread + 1, threads) - start;
  const dy = at(pointer(args, 0), start);
  const x = at(pointer(args, 1), start);
  const gamma = at(pointer(args, 2), start);
  const mean = at(pointer(args, 3), start);
  const inverseDeviation = at(pointer(args, 4), start);
  const dx = at(pointer(args, 5), start);
  const dgamma = at(pointer(args, 6), start);
  const dbeta = at(pointer(args, 7), start);

  memory.fill(dgamma, 0, (<usize>count) << 2);
  memory.fill(dbeta, 0, (<usize>count) << 2);
  for (let row = 0; row < rows; row++) {
    for (let j = 0; j < count; j += 4) {
      const lanes = count - j;
      const i = row * channels + j;
      const g = read(dy, i, lanes);
      const normalised = normalise(read(x, i, lanes), read(mean, j, lanes), read(inverseDeviation, j, lanes));
      write(dgamma, j, multiplyAdd(g, normalised, read(dgamma, j, lanes)), lanes);
      write(dbeta, j, f32x4.add(g, read(dbeta, j, lanes)), lanes);
    }
  }
  const share = f32x4.splat(<f32>1 / <f32>rows);
  for (let row = 0; row < rows; row++) {
    for (let j = 0; j < count; j += 4) {
      const lanes = count - j;
      const i = row * channels + j;
      const inverse = read(inverseDeviation, j, lanes);
      const normalised = normalise(read(x, i, lanes), read(mean, j, lanes), inverse);
      const sumShare = f32x4.mul(read(dbeta, j, lanes), share);
      const productShare = f32x4.mul(read(dgamma, j, lanes), share);
      const scale = f32x4.mul(read(gamma, j, lanes), inverse);
      write(dx, i, inputGradient(read(dy, i, lanes), normalised, sumShare, productShare, scale), lanes);
    }
  }
}

/** Plane by plane: a plane is summed up twice while it is in the cache. */
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
    const mean = load<f32>(at(pointer(args, 3), channel));
    const inverseDeviation = load<f32>(at(pointer(args, 4), channel));
    let dbeta: f32 = 0;
    let dgamma: f32 = 0;
    for (let o = 0; o < outer; o++) {
      const plane = (o * channels + channel) * inner;
      dbeta += sum(at(dy, plane), inner);
      dgamma += sumProduct(at(dy, plane), at(x, plane), inner, mean);
    }
    dgamma *= inverseDeviation;
    store<f32>(at(pointer(args, 6), channel), dgamma);
    store<f32>(at(pointer(args, 7), channel), dbeta);
    const average = f32x4.splat(mean);
    const inverse = f32x4.splat(inverseDeviation);
    const scale = f32x4.mul(v128.load32_splat(at(pointer(args, 2), channel)), inverse);
    const sumShare = f32x4.splat(dbeta / size);
    const productShare = f32x4.splat(dgamma / size);
    for (let o = 0; o < outer; o++) {
      const plane = (o * channels + channel) * inner;
      for (let i = 0; i < inner; i += 4) {
        const lanes = inner - i;
        const normalised = normalise(read(x, plane + i, lanes), average, inverse);
        const gradient = inputGradient(read(dy, plane + i, lanes), normalised, sumShare, productShare, scale);
        write(dx, plane + i, gradient, lanes);
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
