// AssemblyScript: trees asked, two rows side by side; threads share the rows.

import { at64 } from '../shared/tree_math';
import { at, integer, pointer, shareStart } from '../shared/vectors';

/** Rows that pass all trees before the next ones do: their bins stay in the cache. */
const PASS = 512;
const SET = 0x80000000;

/** Where a row goes on from a node. */
@inline
function next(nodes: usize, masks: usize, node: i32, bins: usize): i32 {
  const own = nodes + ((<usize>node) << 4);
  const test = load<u32>(own, 4);
  const bin = <u32>load<u8>(bins + load<u32>(own));
  const left: u32 =
    test >= SET
      ? (load<u32>(at(masks, <i32>((test & 0x7fffffff) + (bin >> 5)))) >> (bin & 31)) & 1
      : <u32>(bin <= (test & 0xffff)) | <u32>(bin == test >> 16);
  return load<i32>(own + ((3 - left) << 2));
}

@inline
function add(scores: usize, place: i32, values: usize, node: i32): void {
  const score = at64(scores, place);
  store<f64>(score, load<f64>(score) + load<f64>(at64(values, ~node)));
}

export function tree_predict(args: usize, thread: i32, threads: i32, _step: i32): void {
  const bins = pointer(args, 0);
  const list = pointer(args, 1);
  const nodes = pointer(args, 2);
  const masks = pointer(args, 3);
  const roots = pointer(args, 4);
  const values = pointer(args, 5);
  const job = pointer(args, 6);
  const scores = pointer(args, 7);
  const width = <usize>integer(args, 9);
  const outputs = integer(args, 10);
  const listed = load<i32>(job, 4) != 0;
  const first = load<i32>(job, 8);
  const trees = load<i32>(job, 12);
  const count = load<i32>(job);
  const end = shareStart(count, PASS, thread + 1, threads);
  for (let start = shareStart(count, PASS, thread, threads); start < end; start += PASS) {
    const stop = min(end, start + PASS);
    let output = load<i32>(job, 16) % outputs;
    for (let tree = 0; tree < trees; tree++) {
      const root = load<i32>(at(roots, tree));
      for (let i = start; i < stop; i += 2) {
        const two = i + 1 < stop;
        const row = listed ? load<i32>(at(list, i)) : first + i;
        const other = two ? (listed ? load<i32>(at(list, i + 1)) : first + i + 1) : row;
        const own = bins + <usize>row * width;
        const others = bins + <usize>other * width;
        let a = root;
        let b = root;
        // Each waits for its own nodes only.
        while (a >= 0 && b >= 0) {
          a = next(nodes, masks, a, own);
          b = next(nodes, masks, b, others);
        }
        while (a >= 0) a = next(nodes, masks, a, own);
        while (b >= 0) b = next(nodes, masks, b, others);
        add(scores, row * outputs + output, values, a);
        if (two) add(scores, other * outputs + output, values, b);
      }
      output = output + 1 < outputs ? output + 1 : 0;
    }
  }
}
