// AssemblyScript: sums of neighbouring elements, in four accumulators of four lanes that hide the latency of an addition.
// The order is fixed by the length alone.

import { multiplyAdd } from './math';
import { firstLanes, read, sumLanes } from './vectors';

/** Σx */
export function sum(x: usize, count: i32): f32 {
  let sum0 = f32x4.splat(0);
  let sum1 = sum0;
  let sum2 = sum0;
  let sum3 = sum0;
  let i = 0;
  for (; i + 16 <= count; i += 16) {
    sum0 = f32x4.add(sum0, read(x, i, 4));
    sum1 = f32x4.add(sum1, read(x, i + 4, 4));
    sum2 = f32x4.add(sum2, read(x, i + 8, 4));
    sum3 = f32x4.add(sum3, read(x, i + 12, 4));
  }
  for (; i < count; i += 4) sum0 = f32x4.add(sum0, read(x, i, count - i));
  return sumLanes(f32x4.add(f32x4.add(sum0, sum1), f32x4.add(sum2, sum3)));
}

/** Σ(x − center)² */
export function sumSquaredDifferences(x: usize, count: i32, center: f32): f32 {
  const c = f32x4.splat(center);
  let sum0 = f32x4.splat(0);
  let sum1 = sum0;
  let sum2 = sum0;
  let sum3 = sum0;
  let i = 0;
  for (; i + 16 <= count; i += 16) {
    sum0 = addSquare(sum0, f32x4.sub(read(x, i, 4), c));
    sum1 = addSquare(sum1, f32x4.sub(read(x, i + 4, 4), c));
    sum2 = addSquare(sum2, f32x4.sub(read(x, i + 8, 4), c));
    sum3 = addSquare(sum3, f32x4.sub(read(x, i + 12, 4), c));
  }
  for (; i < count; i += 4) {
    const lanes = count - i;
    sum0 = addSquare(sum0, firstLanes(f32x4.sub(read(x, i, lanes), c), lanes, f32x4.splat(0)));
  }
  return sumLanes(f32x4.add(f32x4.add(sum0, sum1), f32x4.add(sum2, sum3)));
}

/** Σ a·(b − center) */
export function sumProduct(a: usize, b: usize, count: i32, center: f32): f32 {
  const c = f32x4.splat(center);
  let sum0 = f32x4.splat(0);
  let sum1 = sum0;
  let sum2 = sum0;
  let sum3 = sum0;
  let i = 0;
  for (; i + 16 <= count; i += 16) {
    sum0 = multiplyAdd(read(a, i, 4), f32x4.sub(read(b, i, 4), c), sum0);
    sum1 = multiplyAdd(read(a, i + 4, 4), f32x4.sub(read(b, i + 4, 4), c), sum1);
    sum2 = multiplyAdd(read(a, i + 8, 4), f32x4.sub(read(b, i + 8, 4), c), sum2);
    sum3 = multiplyAdd(read(a, i + 12, 4), f32x4.sub(read(b, i + 12, 4), c), sum3);
  }
  // Lanes past the end are 0 in a, so they add nothing.
  for (; i < count; i += 4) {
    const lanes = count - i;
    sum0 = multiplyAdd(read(a, i, lanes), f32x4.sub(read(b, i, lanes), c), sum0);
  }
  return sumLanes(f32x4.add(f32x4.add(sum0, sum1), f32x4.add(sum2, sum3)));
}

@inline
function addSquare(total: v128, x: v128): v128 {
  return multiplyAdd(x, x, total);
}
