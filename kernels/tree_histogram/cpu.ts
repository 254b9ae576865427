// AssemblyScript: histograms of a leaf; threads share the columns. A row's two words are added at once, to up to eight columns at a
// time: as many as the first-level cache holds.

import { scratch } from '../shared/scratch';
import { BLOCK } from '../shared/tree_math';
import { at, integer, pointer, shareStart } from '../shared/vectors';

const TILE = 8;
/** Bytes of a bin: a row's two words. */
const ENTRY = 4;

@inline
function addTo(place: usize, row: usize, column: usize, pair: v128): void {
  const bin = place + ((<usize>load<u8>(row + column)) << ENTRY);
  v128.store(bin, i64x2.add(v128.load(bin), pair));
}

/** Adds rows to the columns numbered from `columns` on; all of a tile, or `count` one by one. */
function addTile(
  bins: usize,
  width: usize,
  list: usize,
  rows: i32,
  histogram: usize,
  starts: usize,
  columns: usize,
  count: i32,
): void {
  if (count < TILE) {
    for (let j = 0; j < count; j++) {
      const column = load<u32>(at(columns, j));
      addColumn(bins + column, width, list, rows, histogram + (load<u32>(at(starts, column)) << ENTRY));
    }
    return;
  }
  const c0 = load<u32>(columns, 0);
  const c1 = load<u32>(columns, 4);
  const c2 = load<u32>(columns, 8);
  const c3 = load<u32>(columns, 12);
  const c4 = load<u32>(columns, 16);
  const c5 = load<u32>(columns, 20);
  const c6 = load<u32>(columns, 24);
  const c7 = load<u32>(columns, 28);
  const p0 = histogram + (load<u32>(at(starts, c0)) << ENTRY);
  const p1 = histogram + (load<u32>(at(starts, c1)) << ENTRY);
  const p2 = histogram + (load<u32>(at(starts, c2)) << ENTRY);
  const p3 = histogram + (load<u32>(at(starts, c3)) << ENTRY);
  const p4 = histogram + (load<u32>(at(starts, c4)) << ENTRY);
  const p5 = histogram + (load<u32>(at(starts, c5)) << ENTRY);
  const p6 = histogram + (load<u32>(at(starts, c6)) << ENTRY);
  const p7 = histogram + (load<u32>(at(starts, c7)) << ENTRY);
  for (let i = 0; i < rows; i++) {
    const row = bins + <usize>load<u32>(at(list, i)) * width;
    const pair = v128.load(scratch + ((<usize>i) << ENTRY));
    addTo(p0, row, c0, pair);
    addTo(p1, row, c1, pair);
    addTo(p2, row, c2, pair);
    addTo(p3, row, c3, pair);
    addTo(p4, row, c4, pair);
    addTo(p5, row, c5, pair);
    addTo(p6, row, c6, pair);
    addTo(p7, row, c7, pair);
  }
}

function addColumn(bins: usize, width: usize, list: usize, rows: i32, place: usize): void {
  for (let i = 0; i < rows; i++) {
    addTo(place, bins + <usize>load<u32>(at(list, i)) * width, 0, v128.load(scratch + ((<usize>i) << ENTRY)));
  }
}

export function tree_histogram(args: usize, thread: i32, threads: i32, _step: i32): void {
  const bins = pointer(args, 0);
  const packed = pointer(args, 1);
  const list = pointer(args, 2);
  const starts = pointer(args, 4);
  const job = pointer(args, 5);
  const histograms = pointer(args, 6);
  const width = <usize>integer(args, 8);
  const total = <usize>integer(args, 9);
  const from = load<i32>(job);
  const to = load<i32>(job, 4);
  const chosen = load<i32>(job, 8);
  const histogram = histograms + ((<usize>load<u32>(job, 12) * total) << ENTRY);
  const parent = load<u32>(job, 16);
  const first = shareStart(chosen, 1, thread, threads);
  const count = shareStart(chosen, 1, thread + 1, threads) - first;
  const columns = at(pointer(args, 3), first);
  for (let j = 0; j < count; j++) {
    const column = load<u32>(at(columns, j));
    const start = load<u32>(at(starts, column));
    memory.fill(histogram + (start << ENTRY), 0, (load<u32>(at(starts, column), 4) - start) << ENTRY);
  }
  for (let start = from; start < to && count > 0; start += BLOCK) {
    const rows = min(BLOCK, to - start);
    const own = at(list, start);
    for (let i = 0; i < rows; i++) {
      v128.store(scratch + ((<usize>i) << ENTRY), v128.load(packed + ((<usize>load<u32>(at(own, i))) << ENTRY)));
    }
    for (let j = 0; j < count; j += TILE) {
      addTile(bins, width, own, rows, histogram, starts, at(columns, j), min(TILE, count - j));
    }
  }
  if (parent == 0xffffffff) return;
  const above = histograms + ((<usize>parent * total) << ENTRY);
  for (let j = 0; j < count; j++) {
    const column = load<u32>(at(columns, j));
    const end = load<u32>(at(starts, column), 4) << ENTRY;
    for (let bin = load<u32>(at(starts, column)) << ENTRY; bin < end; bin += 1 << ENTRY) {
      v128.store(above + bin, i64x2.sub(v128.load(above + bin), v128.load(histogram + bin)));
    }
  }
}
