// AssemblyScript: batch normalisation with the statistics of the batch. Threads share the channels: of a table (inner 1) they
// lie side by side and go four at a time; of images each is a set of planes.

import { activateRange } from '../shared/activate_range';
import { NONE } from '../shared/activations';
import { addRow, addSquaredDifferences } from '../shared/columns';
import { multiplyAdd } from '../shared/math';
import { sum, sumSquaredDifferences } from '../shared/sums';
import { at, integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

export function batch_norm(args: usize, thread: i32, threads: i32, step: i32): void {
  if (integer(args, 10) == 1) normaliseTable(args, thread, threads);
  else normaliseImages(args, thread, threads);
}

/** Row by row over this thread's columns; the sums so far stand where mean and inverse deviation will be. */
function normaliseTable(args: usize, thread: i32, threads: i32): void {
  const rows = integer(args, 8);
  const channels = integer(args, 9);
  const start = shareStart(channels, LINE, thread, threads);
  const count = shareStart(channels, LINE, thread + 1, threads) - start;
  const x = at(pointer(args, 0), start);
  const gamma = at(pointer(args, 1), start);
  const beta = at(pointer(args, 2), start);
  const y = at(pointer(args, 3), start);
  const mean = at(pointer(args, 4), start);
  const inverseDeviation = at(pointer(args, 5), start);

  memory.fill(mean, 0, (<usize>count) << 2);
  for (let row = 0; row < rows; row++) addRow(mean, at(x, row * channels), count);
  for (let j = 0; j < count; j += 4) {
    write(mean, j, f32x4.div(read(mean, j, count - j), f32x4.splat(<f32>rows)), count - j);
  }
  memory.fill(inverseDeviation, 0, (<usize>count) << 2);
  for (let row = 0; row < rows; row++) addSquaredDifferences(inverseDeviation, at(x, row * channels), mean, count);
  for (let j = 0; j < count; j += 4) {
    const lanes = count - j;
    keepStatistics(args, start + j, lanes, rows, read(mean, j, lanes), read(inverseDeviation, j, lanes));
  }
  for (let row = 0; row < rows; row++) {
    for (let j = 0; j < count; j += 4) {
      const lanes = count - j;
      const i = row * channels + j;
      const centred = f32x4.sub(read(x, i, lanes), read(mean, j, lanes));
      const scale = f32x4.mul(read(inverseDeviation, j, lanes), read(gamma, j, lanes));
      write(y, i, multiplyAdd(centred, scale, read(beta, j, lanes)), lanes);
    }
    finish(args, y, row * channels, count);
  }
}

function normaliseImages(args: usize, thread: i32, threads: i32): void {
  const x = pointer(args, 0);
  const gamma = pointer(args, 1);
  const beta = pointer(args, 2);
  const y = pointer(args, 3);
  const outer = integer(args, 8);
  const channels = integer(args, 9);
  const inner = integer(args, 10);
  const size = outer * inner;
  const end = shareStart(channels, 1, thread + 1, threads);
  for (let channel = shareStart(channels, 1, thread, threads); channel < end; channel++) {
    let total: f32 = 0;
    for (let o = 0; o < outer; o++) total += sum(at(x, (o * channels + channel) * inner), inner);
    const mean = total / <f32>size;
    let squares: f32 = 0;
    for (let o = 0; o < outer; o++) {
      squares += sumSquaredDifferences(at(x, (o * channels + channel) * inner), inner, mean);
    }
    const average = f32x4.splat(mean);
    const inverse = keepStatistics(args, channel, 1, size, average, f32x4.splat(squares));
    const scale = f32x4.mul(inverse, v128.load32_splat(at(gamma, channel)));
    const shift = v128.load32_splat(at(beta, channel));
    for (let o = 0; o < outer; o++) {
      const start = (o * channels + channel) * inner;
      for (let i = 0; i < inner; i += 4) {
        const lanes = inner - i;
        write(y, start + i, multiplyAdd(f32x4.sub(read(x, start + i, lanes), average), scale, shift), lanes);
      }
      finish(args, y, start, inner);
    }
  }
}

/** Applies the activation to `count` elements of y from `start` on, just written. */
function finish(args: usize, y: usize, start: i32, count: i32): void {
  const code = integer(args, 13);
  if (code != NONE) activateRange(code, y, y, f32x4.splat(real(args, 14)), start, start + count);
}

/** Writes the statistics of up to four channels from `channel` on, updates the running ones, returns the inverse deviation. */
function keepStatistics(args: usize, channel: i32, lanes: i32, size: i32, average: v128, squares: v128): v128 {
  const epsilon = f32x4.splat(real(args, 11));
  const momentum = f32x4.splat(real(args, 12));
  const variance = f32x4.div(squares, f32x4.splat(<f32>size));
  const inverse = f32x4.div(f32x4.splat(1), f32x4.sqrt(f32x4.add(variance, epsilon)));
  write(pointer(args, 4), channel, average, lanes);
  write(pointer(args, 5), channel, inverse, lanes);
  moveTowards(pointer(args, 6), channel, lanes, average, momentum);
  moveTowards(pointer(args, 7), channel, lanes, f32x4.div(squares, f32x4.splat(<f32>max(size - 1, 1))), momentum);
  return inverse;
}

/** running ← running + momentum·(value − running) */
@inline
function moveTowards(running: usize, channel: i32, lanes: i32, value: v128, momentum: v128): void {
  const old = read(running, channel, lanes);
  write(running, channel, multiplyAdd(momentum, f32x4.sub(value, old), old), lanes);
}
