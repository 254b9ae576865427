// AssemblyScript: gradients and hessians; threads share blocks of the list.

import { curve, derive, deriveShare, shareOut, slope, SOFTMAX, weightOf } from '../shared/tree_losses';
import { at64, BLOCK, larger } from '../shared/tree_math';
import { at, integer, pointer, shareStart } from '../shared/vectors';

export function tree_gradients(args: usize, thread: i32, threads: i32, _step: i32): void {
  const scores = pointer(args, 0);
  const targets = pointer(args, 1);
  const weights = pointer(args, 2);
  const constants = pointer(args, 3);
  const list = pointer(args, 4);
  const job = pointer(args, 5);
  const pairs = pointer(args, 6);
  const shares = pointer(args, 7);
  const maxima = pointer(args, 8);
  const outputs = integer(args, 10);
  const kind = integer(args, 11);
  const count = load<i32>(job);
  const output = load<i32>(job, 4);
  const end = shareStart(count, BLOCK, thread + 1, threads);
  for (let start = shareStart(count, BLOCK, thread, threads); start < end; start += BLOCK) {
    const stop = min(end, start + BLOCK);
    let largest: f64 = 0;
    let largestHessian: f64 = 0;
    for (let i = start; i < stop; i++) {
      const row = load<i32>(at(list, i));
      const target = <f64>load<f32>(at(targets, row));
      if (kind == SOFTMAX) {
        const own = at64(shares, row * outputs);
        if (output == 0) shareOut(at64(scores, row * outputs), own, outputs);
        deriveShare(load<f64>(at64(own, output)), target == <f64>output, outputs);
      } else derive(kind, load<f64>(at64(scores, row)), target, constants);
      const weight = weightOf(weights, targets, row);
      const g = weight * slope;
      const h = weight * curve;
      store<f64>(at64(pairs, 2 * row), g);
      store<f64>(at64(pairs, 2 * row + 1), h);
      largest = larger(largest, abs(g));
      largestHessian = larger(largestHessian, abs(h));
    }
    const into = at64(maxima, 2 * (start / BLOCK));
    store<f64>(into, largest);
    store<f64>(into, largestHessian, 8);
  }
}
