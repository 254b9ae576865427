// AssemblyScript: trees of forests, whole; threads share the slots. The layouts are those of kernel.ts. What a slot has is in
// ../shared/forest_slot.ts, a node's sums in forest_rows.ts, its best split in forest_split.ts; here is how nodes grow.

import { clear, drawn, presents, pure, sumRows, weight } from '../shared/forest_rows';
import {
  bestMask, bins, bootstrap, classes, columns, draw, ENTRY, entryAt, gains, goesLeft, HEAD, kinds, leaves, list,
  masks, minRows, mostDepth, nodes, order, outputs, PLACE, present, rows, spare, state, targets, useJob, useSlot,
  values, whole, width,
} from '../shared/forest_slot';
import { bestColumn, bestCut, bestMissing, bestScore, bestSet, find } from '../shared/forest_split';
import { at64 } from '../shared/tree_math';
import { at, integer, pointer } from '../shared/vectors';

const NONE = 0xffffffff;

const TO_BEGIN = 1;
const GROWING = 2;
const DONE = 3;

function push(from: u32, to: u32, depth: u32, leaf: u32, parent: u32): void {
  const waiting = load<u32>(state, 24);
  const place = state + HEAD + <usize>waiting * PLACE;
  store<u32>(place, from);
  store<u32>(place, to, 4);
  store<u32>(place, depth, 8);
  store<u32>(place, leaf, 12);
  store<u32>(place, parent, 16);
  store<u32>(state, waiting + 1, 24);
}

function begin(): void {
  if (bootstrap) {
    memory.fill(spare, 0, <usize>rows << 2);
    for (let i = 0; i < rows; i++) {
      const place = at(spare, draw(state + 48, rows));
      store<u32>(place, load<u32>(place) + 1);
    }
  }
  let entry = list;
  for (let row = 0; row < rows; row++) {
    const own = bootstrap ? load<u32>(at(spare, row)) : 1;
    if (own == 0) continue;
    store<u32>(entry, row);
    store<u32>(entry, own, 4);
    store<u32>(entry, load<u32>(at(targets, row)), 8);
    entry += ENTRY;
  }
  for (let i = 0; i < width; i++) store<u32>(at(order, i), i);
  const count = <u32>((entry - list) / ENTRY);
  store<u32>(state, GROWING);
  store<u32>(state, 0, 24);
  store<u32>(state, 0, 28);
  store<u32>(state, 1, 32);
  store<u32>(state, 0, 36);
  store<u32>(state, count, 40);
  push(0, count, 0, 0, NONE);
}

/** Sorts the rows of a node by its split, stable; where the right ones begin. */
function divide(from: u32, to: u32): u32 {
  for (let bin: u32 = 0; bin < 256; bin++) {
    const goes = bestSet ? (load<u32>(at(bestMask, bin >> 5)) >> (bin & 31)) & 1 : <u32>(bin <= bestCut);
    store<u8>(goesLeft + bin, goes);
  }
  if (!bestSet) store<u8>(goesLeft + (load<u32>(at(kinds, bestColumn)) & 0xff), bestMissing);
  const own = bins + bestColumn;
  let left = entryAt(from);
  let right = spare;
  for (let entry = left; entry < entryAt(to); entry += ENTRY) {
    const row = load<u32>(entry);
    const times = load<u32>(entry, 4);
    const target = load<u32>(entry, 8);
    // Both are written, one of them counts: no branch to be guessed.
    const goes = <usize>load<u8>(goesLeft + load<u8>(own + <usize>row * <usize>width)) * ENTRY;
    store<u32>(left, row);
    store<u32>(left, times, 4);
    store<u32>(left, target, 8);
    store<u32>(right, row);
    store<u32>(right, times, 4);
    store<u32>(right, target, 8);
    left += goes;
    right += ENTRY - goes;
  }
  memory.copy(left, spare, right - spare);
  return <u32>((left - list) / ENTRY);
}

/** Splits a node, or makes it a leaf. */
function growNode(): void {
  const waiting = load<u32>(state, 24) - 1;
  store<u32>(state, waiting, 24);
  const place = state + HEAD + <usize>waiting * PLACE;
  const from = load<u32>(place);
  const to = load<u32>(place, 4);
  const depth = load<u32>(place, 8);
  const leaf = load<u32>(place, 12);
  const parent = load<u32>(place, 16);
  sumRows(from, to);
  const open = (mostDepth == 0 || depth < mostDepth) && to - from > 1 && drawn >= 2 * minRows && !pure;
  const splits = open && find(from, to);
  clear(whole);
  if (!splits) {
    store<u32>(leaves + (<usize>leaf << 4), from);
    store<u32>(leaves + (<usize>leaf << 4), to, 4);
    return;
  }
  const middle = divide(from, to);
  const node = load<u32>(state, 28);
  const added = load<u32>(state, 32);
  store<u32>(state, node + 1, 28);
  store<u32>(state, added + 1, 32);
  if (parent != NONE) store<u32>(nodes + (<usize>(parent >> 1) << 4) + (<usize>(2 + (parent & 1)) << 2), node);
  let cut = bestCut;
  if (bestSet) {
    cut = load<u32>(state, 36);
    store<u32>(state, cut + 1, 36);
    memory.copy(masks + (<usize>cut << 5), bestMask, 32);
  }
  const own = nodes + (<usize>node << 4);
  store<u32>(own, bestColumn | (bestMissing << 31));
  store<u32>(own, cut, 4);
  store<u32>(own, ~leaf, 8);
  store<u32>(own, ~added, 12);
  store<f64>(at64(gains, node), bestScore);
  // The smaller one first: few wait at any time.
  const largerLeft = middle - from > to - middle;
  if (largerLeft) push(from, middle, depth + 1, leaf, 2 * node);
  push(middle, to, depth + 1, added, 2 * node + 1);
  if (!largerLeft) push(from, middle, depth + 1, leaf, 2 * node);
}

/** What each leaf says. */
function finish(): void {
  let count = 0;
  const end = leaves + (<usize>load<u32>(state, 32) << 4);
  for (let leaf = leaves; leaf < end; leaf += 16) {
    sumRows(load<u32>(leaf), load<u32>(leaf, 4));
    store<u32>(leaf, count, 8);
    for (let j = 0; j < presents; j++, count++) {
      const k = load<i32>(at(present, j));
      store<f64>(at64(values, count), load<f64>(at64(whole, k)) / weight);
      if (outputs > 1) store<u32>(at(classes, count), k);
    }
    store<u32>(leaf, count, 12);
    clear(whole);
  }
  store<u32>(state, count, 44);
  store<u32>(state, DONE);
}

function advance(budget: u64): void {
  let visits: u64 = 0;
  if (load<u32>(state) == TO_BEGIN) {
    begin();
    visits = 2 * <u64>rows;
  }
  while (load<u32>(state, 24) > 0) {
    if (visits >= budget) return;
    const place = state + HEAD + <usize>(load<u32>(state, 24) - 1) * PLACE;
    visits += 16 + <u64>(load<u32>(place, 4) - load<u32>(place)) * <u64>(2 + columns);
    growNode();
  }
  finish();
}

export function tree_forest(args: usize, thread: i32, threads: i32, _step: i32): void {
  const slots = integer(args, 17);
  const budget = <u64>load<u32>(pointer(args, 4), 20);
  useJob(args);
  for (let i = thread; i < slots; i += threads) {
    useSlot(args, i);
    const status = load<u32>(state);
    if (status == TO_BEGIN || status == GROWING) advance(budget);
  }
}
