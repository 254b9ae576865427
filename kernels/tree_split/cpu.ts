// AssemblyScript: the best cut of each column of numbers; threads share the columns of all leaves.

import { scratch } from '../shared/scratch';
import { at64, larger, lesser } from '../shared/tree_math';
import { at, integer, pointer, shareStart } from '../shared/vectors';

/** Bytes of a bin as a shift; bytes of a split. */
const ENTRY = 4;
const SPLIT = 64;

// Of the column that is being cut.
let l1: f64 = 0;
let l2: f64 = 0;
let low: f64 = 0;
let high: f64 = 0;
let bound: bool = false;

@inline
function shrunk(gradient: f64): f64 {
  const size = larger(0, abs(gradient) - l1);
  return gradient < 0 ? -size : size;
}

/** What a leaf adds to the scores of its rows. */
function leafValue(gradient: f64, hessian: f64): f64 {
  const below = hessian + l2;
  const value = below > 0 ? -shrunk(gradient) / below : 0;
  return lesser(high, larger(low, value));
}

/** Twice what a leaf takes off the loss. */
@inline
function leafScore(gradient: f64, hessian: f64): f64 {
  const t = shrunk(gradient);
  const below = hessian + l2;
  if (!(below > 0)) return 0;
  if (!bound) return (t * t) / below;
  const value = leafValue(gradient, hessian);
  return -(2 * t * value + below * value * value);
}

@inline
function gradientOf(word: i64, steps: usize): f64 {
  return <f64>word * load<f64>(steps);
}

@inline
function hessianOf(word: i64, steps: usize, countBits: i64): f64 {
  return <f64>(word >> countBits) * load<f64>(steps, 8);
}

@inline
function rowsOf(word: i64, countBits: i64): f64 {
  return <f64>(word & (((<i64>1) << countBits) - 1));
}

function findCut(
  histogram: usize,
  bins: i32,
  rules: usize,
  direction: f64,
  steps: usize,
  countBits: i64,
  split: usize,
  sums: usize,
): void {
  const minGain = load<f64>(rules, 16);
  const minRows = load<f64>(rules, 24);
  const minHessian = load<f64>(rules, 32);
  let gradientWord: i64 = 0;
  let hessianWord: i64 = 0;
  for (let bin = 0; bin <= bins; bin++) {
    gradientWord += load<i64>(histogram + (<usize>bin << ENTRY));
    hessianWord += load<i64>(histogram + (<usize>bin << ENTRY), 8);
  }
  const last = histogram + (<usize>bins << ENTRY);
  const allG = gradientOf(gradientWord, steps);
  const allH = hessianOf(hessianWord, steps, countBits);
  const allN = rowsOf(hessianWord, countBits);
  const missingG = gradientOf(load<i64>(last), steps);
  const missingH = hessianOf(load<i64>(last, 8), steps, countBits);
  const missingN = rowsOf(load<i64>(last, 8), countBits);
  const parent = leafScore(allG, allH);
  const holes = missingN > 0;
  memory.fill(split, 0, SPLIT);
  store<f64>(sums, allG);
  store<f64>(sums, allH, 8);
  store<f64>(sums, allN, 16);
  store<f64>(sums, 0, 24);
  gradientWord = 0;
  hessianWord = 0;
  let best: f64 = 0;
  // With all that is known on the left, what is missing is alone on the right.
  const cuts = bins - 1 + (holes ? 1 : 0);
  for (let cut = 0; cut < cuts; cut++) {
    gradientWord += load<i64>(histogram + (<usize>cut << ENTRY));
    hessianWord += load<i64>(histogram + (<usize>cut << ENTRY), 8);
    const sides = holes && cut + 1 < bins ? 2 : 1;
    for (let side = 0; side < sides; side++) {
      const n = rowsOf(hessianWord, countBits) + (side == 1 ? missingN : 0);
      if (n < minRows || allN - n < minRows) continue;
      const h = hessianOf(hessianWord, steps, countBits) + (side == 1 ? missingH : 0);
      if (h < minHessian || allH - h < minHessian) continue;
      const g = gradientOf(gradientWord, steps) + (side == 1 ? missingG : 0);
      const gain = leafScore(g, h) + leafScore(allG - g, allH - h) - parent;
      if (!(gain - minGain > best)) continue;
      if (direction != 0 && direction * (leafValue(allG - g, allH - h) - leafValue(g, h)) < 0) continue;
      best = gain - minGain;
      store<f64>(split, gain);
      store<f64>(split, cut, 8);
      store<f64>(split, holes ? <f64>side : 2 * n >= allN ? 1.0 : 0.0, 16);
      store<f64>(split, g, 24);
      store<f64>(split, h, 32);
      store<f64>(split, n, 40);
    }
  }
}

export function tree_split(args: usize, thread: i32, threads: i32, _step: i32): void {
  const columns = pointer(args, 0);
  const histograms = pointer(args, 1);
  const starts = pointer(args, 2);
  const numbers = pointer(args, 3);
  const monotone = pointer(args, 4);
  const rules = pointer(args, 5);
  const steps = pointer(args, 6);
  const bounds = pointer(args, 7);
  const job = pointer(args, 8);
  const splits = pointer(args, 9);
  const sums = pointer(args, 10);
  const width = integer(args, 11);
  const total = <usize>integer(args, 12);
  const count = load<i32>(job, 4);
  const countBits = <i64>load<u32>(job, 8);
  const items = load<i32>(job) * count;
  l1 = load<f64>(rules);
  l2 = load<f64>(rules, 8);
  const end = shareStart(items, 1, thread + 1, threads);
  for (let item = shareStart(items, 1, thread, threads); item < end; item++) {
    const leaf = item / count;
    const column = load<i32>(at(columns, item % count));
    low = monotone == 0 ? -Infinity : load<f64>(at64(bounds, 2 * leaf));
    high = monotone == 0 ? Infinity : load<f64>(at64(bounds, 2 * leaf + 1));
    bound = low > -Infinity || high < Infinity;
    const start = load<u32>(at(starts, column));
    const bins = <i32>(load<u32>(at(starts, column), 4) - start) - 1;
    const histogram = histograms + ((<usize>load<u32>(at(job, 3 + leaf)) * total + start) << ENTRY);
    const direction: f64 = monotone == 0 ? 0 : <f64>load<i32>(at(monotone, column));
    const split = splits + <usize>(leaf * width + column) * SPLIT;
    // Sums are those of the first column; the others' go where nobody looks.
    const own = item % count == 0 ? at64(sums, 4 * leaf) : scratch;
    findCut(histogram, bins, rules, direction, steps, countBits, split, own);
    // Of categories there is no order to cut.
    if (load<u32>(at(numbers, column)) == 0) memory.fill(split, 0, SPLIT);
  }
}
