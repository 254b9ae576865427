// AssemblyScript: gradients and hessians as whole numbers; threads share the list.

import { at64, BLOCK, blocksOf, larger } from '../shared/tree_math';
import { at, pointer, shareStart } from '../shared/vectors';

/** 1.5 · 2⁵²: what is added to it is rounded, and stands in its lower bits. */
const SHIFT: f64 = 6755399441055744.0;

/** The power of two that is not below the largest of the maxima, over 2^bits. */
function stepOf(maxima: usize, blocks: i32, bits: i32): f64 {
  let largest: f64 = 0;
  for (let block = 0; block < blocks; block++) largest = larger(largest, load<f64>(at64(maxima, 2 * block)));
  if (largest == 0) return 1;
  let word = reinterpret<u64>(largest);
  if ((word & 0xfffffffffffff) != 0) word = (word & 0xfff0000000000000) + ((<u64>1) << 52);
  return reinterpret<f64>(word - ((<u64>bits) << 52));
}

export function tree_grid(args: usize, thread: i32, threads: i32, _step: i32): void {
  const list = pointer(args, 0);
  const pairs = pointer(args, 1);
  const maxima = pointer(args, 2);
  const job = pointer(args, 3);
  const packed = pointer(args, 4);
  const steps = pointer(args, 5);
  const count = load<i32>(job);
  const countBits = <u64>load<u32>(job, 12);
  const blocks = blocksOf(count);
  const gradientStep = stepOf(maxima, blocks, load<i32>(job, 4));
  const hessianStep = stepOf(maxima + 8, blocks, load<i32>(job, 8));
  if (thread == 0) {
    store<f64>(steps, gradientStep);
    store<f64>(steps, hessianStep, 8);
  }
  const gradientScale = 1 / gradientStep;
  const hessianScale = 1 / hessianStep;
  const base = reinterpret<u64>(SHIFT);
  const end = shareStart(count, BLOCK, thread + 1, threads);
  for (let i = shareStart(count, BLOCK, thread, threads); i < end; i++) {
    const place = (<usize>load<u32>(at(list, i))) << 4;
    const gradient = reinterpret<u64>(load<f64>(pairs + place) * gradientScale + SHIFT) - base;
    const hessian = reinterpret<u64>(load<f64>(pairs + place, 8) * hessianScale + SHIFT) - base;
    store<u64>(packed + place, gradient);
    store<u64>(packed + place, (hessian << countBits) + 1, 8);
  }
}
