// AssemblyScript: losses of consecutive rows; threads share blocks, a block has eight sums.

import { lossOf, weightOf } from '../shared/tree_losses';
import { at64, BLOCK } from '../shared/tree_math';
import { scratch } from '../shared/scratch';
import { at, integer, pointer, shareStart } from '../shared/vectors';

/** Sums of a block: row i is added to sum i modulo as many. */
const SUMS = 8;

export function tree_loss(args: usize, thread: i32, threads: i32, _step: i32): void {
  const scores = pointer(args, 0);
  const targets = pointer(args, 1);
  const weights = pointer(args, 2);
  const constants = pointer(args, 3);
  const job = pointer(args, 4);
  const totals = pointer(args, 5);
  const outputs = integer(args, 7);
  const kind = integer(args, 8);
  const from = load<i32>(job);
  const count = load<i32>(job, 4) - from;
  const end = shareStart(count, BLOCK, thread + 1, threads);
  for (let start = shareStart(count, BLOCK, thread, threads); start < end; start += BLOCK) {
    const rows = min(BLOCK, end - start);
    memory.fill(scratch, 0, 16 * SUMS);
    for (let i = 0; i < rows; i++) {
      const row = from + start + i;
      const weight = weightOf(weights, targets, row);
      const target = <f64>load<f32>(at(targets, row));
      const loss = lossOf(kind, at64(scores, row * outputs), outputs, target, constants);
      const into = at64(scratch, 2 * (i & (SUMS - 1)));
      store<f64>(into, load<f64>(into) + weight * loss);
      store<f64>(into, load<f64>(into, 8) + weight, 8);
    }
    let total: f64 = 0;
    let whole: f64 = 0;
    for (let j = 0; j < SUMS; j++) {
      total += load<f64>(at64(scratch, 2 * j));
      whole += load<f64>(at64(scratch, 2 * j + 1));
    }
    const into = at64(totals, 2 * (start / BLOCK));
    store<f64>(into, total);
    store<f64>(into, whole, 8);
  }
}
