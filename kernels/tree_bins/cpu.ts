// AssemblyScript: numbers to bins by halving, without a branch to be guessed; threads share the rows.

import { at64 } from '../shared/tree_math';
import { at, integer, pointer, shareStart } from '../shared/vectors';

/** Rows that pass all columns before the next ones do: their numbers stay in the cache. */
const PASS = 128;

@inline
function step(edges: usize, bin: i32, half: i32, value: f64): i32 {
  return bin + (<i32>(load<f64>(at64(edges, bin + half - 1)) < value) ? half : 0);
}

@inline
function binOf(edges: usize, value: f64): i32 {
  let bin = step(edges, 0, 128, value);
  bin = step(edges, bin, 64, value);
  bin = step(edges, bin, 32, value);
  bin = step(edges, bin, 16, value);
  bin = step(edges, bin, 8, value);
  bin = step(edges, bin, 4, value);
  bin = step(edges, bin, 2, value);
  return step(edges, bin, 1, value);
}

export function tree_bins(args: usize, thread: i32, threads: i32, _step: i32): void {
  const x = pointer(args, 0);
  const edges = pointer(args, 1);
  const missing = pointer(args, 2);
  const rows = load<i32>(pointer(args, 3));
  const bins = pointer(args, 4);
  const width = integer(args, 6);
  const end = shareStart(rows, PASS, thread + 1, threads);
  for (let first = shareStart(rows, PASS, thread, threads); first < end; first += PASS) {
    const last = min(end, first + PASS);
    for (let column = 0; column < width; column++) {
      const hole = load<i32>(at(missing, column));
      if (hole == -1) continue;
      const own = at64(edges, column << 8);
      let from = x + ((<usize>first * <usize>width + <usize>column) << 3);
      let to = bins + <usize>first * <usize>width + <usize>column;
      for (let row = first; row < last; row++) {
        const value = load<f64>(from);
        store<u8>(to, value == value ? binOf(own, value) : hole);
        from += <usize>width << 3;
        to += <usize>width;
      }
    }
  }
}
