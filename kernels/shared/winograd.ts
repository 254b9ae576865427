// AssemblyScript: Winograd's minimal filtering F(4×4, 3×3), line by line: the transforms of native/winograd.h (points 0, ±5/8, ±3/2 and
// infinity, which err half as much as the usual ±1, ±2), each for `count` lines in a row. Elements are vectors whose lanes are channels or
// filters; element i of a line is at from + i·fromStep, the next line at from + fromNext. All distances are in bytes.

import { at } from './vectors';

/** Elements of a transformed tile along a side, results along it, and all elements. */
export const SIDE = 6;
export const STEP = 4;
export const POINTS = 36;
/** Bytes of a vector. */
export const VECTOR: usize = 16;

const A: f32 = 0.625;
const B: f32 = 1.5;
const AA: f32 = A * A;
const BB: f32 = B * B;
const AT_ZERO: f32 = 1 / (AA * BB);
const AT_A: f32 = 1 / (2 * AA * (AA - BB));
const AT_B: f32 = 1 / (2 * BB * (BB - AA));

/** The constants in memory: read before a loop they stay in registers, as literals they would be made anew in each turn. */
const CONSTANTS = memory.data<f32>([
  0.625, // A
  1.5, // B
  0.390625, // AA
  2.25, // BB
  2.640625, // AA + BB
  0.87890625, // AA · BB
  0.244140625, // A · AA
  3.375, // B · BB
]);

@inline
function constant(index: i32): v128 {
  return v128.load32_splat(at(CONSTANTS, index));
}

/** v = Bᵀ·d: six elements of an image. */
export function transformImages(
  from: usize,
  fromStep: usize,
  fromNext: usize,
  to: usize,
  toStep: usize,
  toNext: usize,
  count: i32,
): void {
  const a = constant(0);
  const b = constant(1);
  const aa = constant(2);
  const bb = constant(3);
  const sum = constant(4);
  const product = constant(5);
  for (let i = 0; i < count; i++) {
    const d1 = v128.load(from + fromStep);
    const d2 = v128.load(from + 2 * fromStep);
    const d3 = v128.load(from + 3 * fromStep);
    const d4 = v128.load(from + 4 * fromStep);
    const d0 = v128.load(from);
    v128.store(to, f32x4.relaxed_madd(d0, product, f32x4.relaxed_nmadd(d2, sum, d4)));
    const evenA = f32x4.relaxed_nmadd(d2, bb, d4);
    const oddA = f32x4.relaxed_nmadd(d1, bb, d3);
    v128.store(to + toStep, f32x4.relaxed_madd(oddA, a, evenA));
    v128.store(to + 2 * toStep, f32x4.relaxed_nmadd(oddA, a, evenA));
    const evenB = f32x4.relaxed_nmadd(d2, aa, d4);
    const oddB = f32x4.relaxed_nmadd(d1, aa, d3);
    v128.store(to + 3 * toStep, f32x4.relaxed_madd(oddB, b, evenB));
    v128.store(to + 4 * toStep, f32x4.relaxed_nmadd(oddB, b, evenB));
    const d5 = v128.load(from + 5 * fromStep);
    v128.store(to + 5 * toStep, f32x4.relaxed_madd(d1, product, f32x4.relaxed_nmadd(d3, sum, d5)));
    from += fromNext;
    to += toNext;
  }
}

/** y = Aᵀ·m: four results. */
export function finishResults(
  from: usize,
  fromStep: usize,
  fromNext: usize,
  to: usize,
  toStep: usize,
  toNext: usize,
  count: i32,
): void {
  const a = constant(0);
  const b = constant(1);
  const aa = constant(2);
  const bb = constant(3);
  const aaa = constant(6);
  const bbb = constant(7);
  for (let i = 0; i < count; i++) {
    const m1 = v128.load(from + fromStep);
    const m2 = v128.load(from + 2 * fromStep);
    const m3 = v128.load(from + 3 * fromStep);
    const m4 = v128.load(from + 4 * fromStep);
    const evenA = f32x4.add(m1, m2);
    const oddA = f32x4.sub(m1, m2);
    const evenB = f32x4.add(m3, m4);
    const oddB = f32x4.sub(m3, m4);
    v128.store(to, f32x4.add(v128.load(from), f32x4.add(evenA, evenB)));
    v128.store(to + toStep, f32x4.relaxed_madd(oddB, b, f32x4.mul(oddA, a)));
    v128.store(to + 2 * toStep, f32x4.relaxed_madd(evenB, bb, f32x4.mul(evenA, aa)));
    const high = f32x4.relaxed_madd(oddB, bbb, f32x4.mul(oddA, aaa));
    v128.store(to + 3 * toStep, f32x4.add(v128.load(from + 5 * fromStep), high));
    from += fromNext;
    to += toNext;
  }
}

/** m = A·g: the transposed of `finishResults`, for four gradients of results. */
export function transformGradients(
  from: usize,
  fromStep: usize,
  fromNext: usize,
  to: usize,
  toStep: usize,
  toNext: usize,
  count: i32,
): void {
  const a = constant(0);
  const b = constant(1);
  const aa = constant(2);
  const bb = constant(3);
  for (let i = 0; i < count; i++) {
    const g0 = v128.load(from);
    const g1 = v128.load(from + fromStep);
    const g2 = v128.load(from + 2 * fromStep);
    const g3 = v128.load(from + 3 * fromStep);
    v128.store(to, g0);
    const evenA = f32x4.relaxed_madd(g2, aa, g0);
    const oddA = f32x4.relaxed_madd(g3, aa, g1);
    v128.store(to + toStep, f32x4.relaxed_madd(oddA, a, evenA));
    v128.store(to + 2 * toStep, f32x4.relaxed_nmadd(oddA, a, evenA));
    const evenB = f32x4.relaxed_madd(g2, bb, g0);
    const oddB = f32x4.relaxed_madd(g3, bb, g1);
    v128.store(to + 3 * toStep, f32x4.relaxed_madd(oddB, b, evenB));
    v128.store(to + 4 * toStep, f32x4.relaxed_nmadd(oddB, b, evenB));
    v128.store(to + 5 * toStep, g3);
    from += fromNext;
    to += toNext;
  }
}

/** u = G·w: three weights. */
@inline
export function transformWeights(from: usize, fromStep: usize, to: usize, toStep: usize): void {
  const w0 = v128.load(from);
  const w1 = v128.load(from + fromStep);
  const w2 = v128.load(from + 2 * fromStep);
  v128.store(to, f32x4.mul(w0, f32x4.splat(AT_ZERO)));
  const evenA = f32x4.relaxed_madd(w2, f32x4.splat(AA * AT_A), f32x4.mul(w0, f32x4.splat(AT_A)));
  const oddA = f32x4.mul(w1, f32x4.splat(A * AT_A));
  v128.store(to + toStep, f32x4.add(evenA, oddA));
  v128.store(to + 2 * toStep, f32x4.sub(evenA, oddA));
  const evenB = f32x4.relaxed_madd(w2, f32x4.splat(BB * AT_B), f32x4.mul(w0, f32x4.splat(AT_B)));
  const oddB = f32x4.mul(w1, f32x4.splat(B * AT_B));
  v128.store(to + 3 * toStep, f32x4.add(evenB, oddB));
  v128.store(to + 4 * toStep, f32x4.sub(evenB, oddB));
  v128.store(to + 5 * toStep, w2);
}

/** w = Gᵀ·u: the transposed of `transformWeights`, for the gradients of three weights. */
@inline
export function finishWeights(from: usize, fromStep: usize, to: usize, toStep: usize): void {
  const u1 = v128.load(from + fromStep);
  const u2 = v128.load(from + 2 * fromStep);
  const u3 = v128.load(from + 3 * fromStep);
  const u4 = v128.load(from + 4 * fromStep);
  const evenA = f32x4.mul(f32x4.add(u1, u2), f32x4.splat(AT_A));
  const oddA = f32x4.mul(f32x4.sub(u1, u2), f32x4.splat(AT_A));
  const evenB = f32x4.mul(f32x4.add(u3, u4), f32x4.splat(AT_B));
  const oddB = f32x4.mul(f32x4.sub(u3, u4), f32x4.splat(AT_B));
  v128.store(to, f32x4.relaxed_madd(v128.load(from), f32x4.splat(AT_ZERO), f32x4.add(evenA, evenB)));
  v128.store(to + toStep, f32x4.relaxed_madd(oddB, f32x4.splat(B), f32x4.mul(oddA, f32x4.splat(A))));
  const high = f32x4.relaxed_madd(evenB, f32x4.splat(BB), f32x4.mul(evenA, f32x4.splat(AA)));
  v128.store(to + 2 * toStep, f32x4.add(v128.load(from + 5 * fromStep), high));
}

/** Transposes four vectors: v128 number i at from + i·fromStep to to + i·toStep. */
@inline
export function transposeSquare(r0: v128, r1: v128, r2: v128, r3: v128, to: usize, toStep: usize): void {
  const low01 = v128.shuffle<f32>(r0, r1, 0, 4, 1, 5);
  const low23 = v128.shuffle<f32>(r2, r3, 0, 4, 1, 5);
  const high01 = v128.shuffle<f32>(r0, r1, 2, 6, 3, 7);
  const high23 = v128.shuffle<f32>(r2, r3, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f32>(low01, low23, 0, 1, 4, 5));
  v128.store(to + toStep, v128.shuffle<f32>(low01, low23, 2, 3, 6, 7));
  v128.store(to + 2 * toStep, v128.shuffle<f32>(high01, high23, 0, 1, 4, 5));
  v128.store(to + 3 * toStep, v128.shuffle<f32>(high01, high23, 2, 3, 6, 7));
}
