// AssemblyScript: threads share the rows of the batch; four of them go back through time together.

import { tanh } from '../shared/math';
import { addTurnedProducts, GROUP, positionOf } from '../shared/recurrence';
import { scratch } from '../shared/scratch';
import { tokensOf } from '../shared/tokens';
import { at, copy, integer, pointer, read, shareStart, write } from '../shared/vectors';

// The call: globals, since each thread has an instance of its own.
let dy: usize = 0;
let kept: usize = 0;
let y: usize = 0;
let w: usize = 0;
let lengths: usize = 0;
let dx: usize = 0;
let dh: usize = 0;
let previous: usize = 0;
let length: i32 = 0;
let units: i32 = 0;
let gates: i32 = 0;
let reverse: i32 = 0;

export function recurrence_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  dy = pointer(args, 0);
  kept = pointer(args, 1);
  y = pointer(args, 2);
  w = pointer(args, 3);
  lengths = pointer(args, 4);
  dx = pointer(args, 5);
  dh = pointer(args, 6);
  if (dh == 0) dh = dx;
  previous = pointer(args, 7);
  const batch = integer(args, 8);
  length = integer(args, 9);
  units = integer(args, 10);
  gates = integer(args, 11);
  reverse = integer(args, 12);
  const last = shareStart(batch, 1, thread + 1, threads);
  for (let row = shareStart(batch, 1, thread, threads); row < last; row += GROUP) {
    runGroup(row, min(GROUP, last - row));
  }
}

/** Scratch: zeros as long as a row's gates, a row nobody reads, then of each row what flows to the step before and to its cell. */
function runGroup(row: i32, count: i32): void {
  const width = gates * units;
  const nothing = scratch;
  const nobody = at(nothing, width);
  const carried = at(nobody, units);
  const cells = at(carried, GROUP * units);
  memory.fill(nothing, 0, (<usize>width) << 2);
  memory.fill(carried, 0, (<usize>(2 * GROUP * units)) << 2);
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const tokens = tokensOf(lengths, row + i, length);
    longest = max(longest, tokens);
    const padding = (row + i) * length + tokens;
    const left = <usize>(length - tokens) << 2;
    memory.fill(at(dx, padding * width), 0, left * width);
    memory.fill(at(dh, padding * width), 0, left * width);
    memory.fill(at(previous, padding * units), 0, left * units);
  }
  for (let step = longest - 1; step >= 0; step--) {
    let from0 = nothing;
    let from1 = nothing;
    let from2 = nothing;
    let from3 = nothing;
    for (let i = 0; i < count; i++) {
      const tokens = tokensOf(lengths, row + i, length);
      if (step >= tokens) continue;
      const position = (row + i) * length + positionOf(step, tokens, reverse);
      const before = (row + i) * length + positionOf(step - 1, tokens, reverse);
      const own = at(previous, position * units);
      copy(own, step == 0 ? nothing : at(y, before * units), units);
      const flowing = at(carried, i * units);
      const cell = at(cells, i * units);
      if (gates == 4) longShort(position, step == 0 ? nothing : at(kept, (before * 5 + 4) * units), flowing, cell);
      else gated(position, own, flowing);
      const from = at(dh, position * width);
      if (i == 0) from0 = from;
      else if (i == 1) from1 = from;
      else if (i == 2) from2 = from;
      else from3 = from;
    }
    if (step == 0) break;
    const to1 = count > 1 ? at(carried, units) : nobody;
    const to2 = count > 2 ? at(carried, 2 * units) : nobody;
    const to3 = count > 3 ? at(carried, 3 * units) : nobody;
    addTurnedProducts(from0, from1, from2, from3, w, carried, to1, to2, to3, units, width);
  }
}

/** g·x·(1 − x), the slope of a sigmoid whose value is x. */
@inline
function throughSigmoid(g: v128, x: v128): v128 {
  return f32x4.mul(f32x4.mul(g, x), f32x4.sub(f32x4.splat(1), x));
}

/** g·(1 − x²), of a tanh. */
@inline
function throughTanh(g: v128, x: v128): v128 {
  return f32x4.mul(g, f32x4.sub(f32x4.splat(1), f32x4.mul(x, x)));
}

/** dx of a position; `flowing` is emptied for the products to come, `cell` becomes what flows to the state before. */
function longShort(position: i32, before: usize, flowing: usize, cell: usize): void {
  const own = at(kept, position * 5 * units);
  const slopes = at(dy, position * units);
  const to = at(dx, position * 4 * units);
  for (let u = 0; u < units; u += 4) {
    const lanes = units - u;
    const slope = f32x4.add(read(slopes, u, lanes), read(flowing, u, lanes));
    const i = read(own, u, lanes);
    const f = read(own, units + u, lanes);
    const g = read(own, 2 * units + u, lanes);
    const o = read(own, 3 * units + u, lanes);
    const c = tanh(read(own, 4 * units + u, lanes));
    const d = f32x4.add(read(cell, u, lanes), throughTanh(f32x4.mul(slope, o), c));
    write(to, u, throughSigmoid(f32x4.mul(d, g), i), lanes);
    write(to, units + u, throughSigmoid(f32x4.mul(d, read(before, u, lanes)), f), lanes);
    write(to, 2 * units + u, throughTanh(f32x4.mul(d, i), g), lanes);
    write(to, 3 * units + u, throughSigmoid(f32x4.mul(slope, c), o), lanes);
    write(cell, u, f32x4.mul(d, f), lanes);
    write(flowing, u, f32x4.splat(0), lanes);
  }
}

/** dx and dh of a position; `flowing` becomes what flows straight to the step before. */
function gated(position: i32, before: usize, flowing: usize): void {
  const own = at(kept, position * 4 * units);
  const slopes = at(dy, position * units);
  const to = at(dx, position * 3 * units);
  const back = at(dh, position * 3 * units);
  for (let u = 0; u < units; u += 4) {
    const lanes = units - u;
    const slope = f32x4.add(read(slopes, u, lanes), read(flowing, u, lanes));
    const r = read(own, u, lanes);
    const z = read(own, units + u, lanes);
    const n = read(own, 2 * units + u, lanes);
    const candidate = throughTanh(f32x4.mul(slope, f32x4.sub(f32x4.splat(1), z)), n);
    const reset = throughSigmoid(f32x4.mul(candidate, read(own, 3 * units + u, lanes)), r);
    const update = throughSigmoid(f32x4.mul(slope, f32x4.sub(read(before, u, lanes), n)), z);
    write(to, u, reset, lanes);
    write(to, units + u, update, lanes);
    write(to, 2 * units + u, candidate, lanes);
    write(back, u, reset, lanes);
    write(back, units + u, update, lanes);
    write(back, 2 * units + u, f32x4.mul(candidate, r), lanes);
    write(flowing, u, f32x4.mul(slope, z), lanes);
  }
}
