// AssemblyScript: threads share the rows of the batch; four of them go through time together.

import { sigmoid, tanh } from '../shared/math';
import { addProducts, GROUP, positionOf } from '../shared/recurrence';
import { scratch } from '../shared/scratch';
import { tokensOf } from '../shared/tokens';
import { at, copy, integer, pointer, read, shareStart, write } from '../shared/vectors';

// The call: globals, since each thread has an instance of its own.
let x: usize = 0;
let bias: usize = 0;
let y: usize = 0;
let kept: usize = 0;
let length: i32 = 0;
let units: i32 = 0;
let gates: i32 = 0;
let reverse: i32 = 0;

export function recurrence(args: usize, thread: i32, threads: i32, step: i32): void {
  x = pointer(args, 0);
  const w = pointer(args, 1);
  bias = pointer(args, 2);
  const lengths = pointer(args, 3);
  y = pointer(args, 4);
  kept = pointer(args, 5);
  const batch = integer(args, 6);
  length = integer(args, 7);
  units = integer(args, 8);
  gates = integer(args, 9);
  reverse = integer(args, 10);
  const last = shareStart(batch, 1, thread + 1, threads);
  for (let row = shareStart(batch, 1, thread, threads); row < last; row += GROUP) {
    runGroup(row, min(GROUP, last - row), w, lengths);
  }
}

function runGroup(row: i32, count: i32, w: usize, lengths: usize): void {
  // Rows that are not there, or through, add nothing to a row nobody reads.
  const nothing = scratch;
  const nobody = at(scratch, units);
  memory.fill(nothing, 0, (<usize>units) << 2);
  const rows = gates == 4 ? 5 : 4;
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const tokens = tokensOf(lengths, row + i, length);
    longest = max(longest, tokens);
    const padding = (row + i) * length + tokens;
    const left = <usize>(length - tokens) << 2;
    memory.fill(at(y, padding * units), 0, left * units);
    memory.fill(at(kept, padding * rows * units), 0, left * rows * units);
  }
  for (let step = 0; step < longest; step++) {
    let from0 = nothing;
    let from1 = nothing;
    let from2 = nothing;
    let from3 = nothing;
    let to0 = nobody;
    let to1 = nobody;
    let to2 = nobody;
    let to3 = nobody;
    for (let i = 0; i < count; i++) {
      const tokens = tokensOf(lengths, row + i, length);
      if (step >= tokens) continue;
      const position = (row + i) * length + positionOf(step, tokens, reverse);
      const to = at(kept, position * rows * units);
      begin(to, at(x, position * gates * units));
      const from = step == 0 ? nothing : at(y, ((row + i) * length + positionOf(step - 1, tokens, reverse)) * units);
      if (i == 0) {
        from0 = from;
        to0 = to;
      } else if (i == 1) {
        from1 = from;
        to1 = to;
      } else if (i == 2) {
        from2 = from;
        to2 = to;
      } else {
        from3 = from;
        to3 = to;
      }
    }
    if (step > 0) {
      const straight = gates == 4 ? 4 * units : 2 * units;
      const stride = gates * units;
      addProducts(from0, from1, from2, from3, w, stride, to0, to1, to2, to3, units, straight);
      // The candidate of a GRU is not yet to be added to: its product stands beside it.
      const aside = (<usize>(3 * units)) << 2;
      if (gates == 3) {
        const candidate = at(w, 2 * units);
        addProducts(from0, from1, from2, from3, candidate, stride, to0 + aside, to1 + aside, to2 + aside, to3 + aside, units, units);
      }
    }
    for (let i = 0; i < count; i++) {
      const tokens = tokensOf(lengths, row + i, length);
      if (step >= tokens) continue;
      const position = (row + i) * length + positionOf(step, tokens, reverse);
      const before = (row + i) * length + positionOf(step - 1, tokens, reverse);
      const own = at(kept, position * rows * units);
      const target = at(y, position * units);
      if (gates == 4) longShort(own, step == 0 ? nothing : at(kept, (before * rows + 4) * units), target);
      else gated(own, step == 0 ? nothing : at(y, before * units), target);
    }
  }
}

/** The gates without what the units add themselves. */
function begin(to: usize, given: usize): void {
  const straight = gates == 4 ? 4 * units : 2 * units;
  for (let j = 0; j < straight; j += 4) {
    const lanes = straight - j;
    write(to, j, f32x4.add(read(given, j, lanes), read(bias, j, lanes)), lanes);
  }
  if (gates == 4) return;
  copy(at(to, straight), at(given, straight), units);
  copy(at(to, 3 * units), at(bias, straight), units);
}

/** An LSTM's step: gates and cell in place, `before` being the cell's state before. */
function longShort(own: usize, before: usize, target: usize): void {
  for (let u = 0; u < units; u += 4) {
    const lanes = units - u;
    const i = sigmoid(read(own, u, lanes));
    const f = sigmoid(read(own, units + u, lanes));
    const g = tanh(read(own, 2 * units + u, lanes));
    const o = sigmoid(read(own, 3 * units + u, lanes));
    const c = f32x4.add(f32x4.mul(f, read(before, u, lanes)), f32x4.mul(i, g));
    write(own, u, i, lanes);
    write(own, units + u, f, lanes);
    write(own, 2 * units + u, g, lanes);
    write(own, 3 * units + u, o, lanes);
    write(own, 4 * units + u, c, lanes);
    write(target, u, f32x4.mul(o, tanh(c)), lanes);
  }
}

/** A GRU's step. */
function gated(own: usize, before: usize, target: usize): void {
  for (let u = 0; u < units; u += 4) {
    const lanes = units - u;
    const r = sigmoid(read(own, u, lanes));
    const z = sigmoid(read(own, units + u, lanes));
    const q = read(own, 3 * units + u, lanes);
    const n = tanh(f32x4.add(read(own, 2 * units + u, lanes), f32x4.mul(r, q)));
    write(own, u, r, lanes);
    write(own, units + u, z, lanes);
    write(own, 2 * units + u, n, lanes);
    write(target, u, f32x4.add(n, f32x4.mul(z, f32x4.sub(read(before, u, lanes), n))), lanes);
  }
}
