// AssemblyScript: how a node of tree_forest is split best, by sums of its rows by the bins of a column.

import { clear, drawn, presents, squares, weight, weightOf } from './forest_rows';
import {
  bestMask, bins, columns, draw, drawnBy, ENTRY, entryAt, kinds, means, minRows, order, outputs, present,
  randomCuts, side, state, sums, used, whole, width,
} from './forest_slot';
import { at64 } from './tree_math';
import { at } from './vectors';

// The best split of the node at work so far; its set of bins stands at `bestMask`.
let found = false;
export let bestScore: f64 = 0;
export let bestColumn: u32 = 0;
export let bestCut: u32 = 0;
export let bestSet = false;
export let bestMissing: u32 = 0;

/** Sums of the node's rows by their bins of a column; how many bins there are, whose numbers are in `used`. */
function fill(column: u32, from: u32, to: u32): i32 {
  const own = bins + column;
  let w0: u64 = 0;
  let w1: u64 = 0;
  let w2: u64 = 0;
  let w3: u64 = 0;
  for (let entry = entryAt(from); entry < entryAt(to); entry += ENTRY) {
    const bin = <u32>load<u8>(own + <usize>load<u32>(entry) * <usize>width);
    const bit = <u64>1 << <u64>(bin & 63);
    const word = bin >> 6;
    w0 |= word == 0 ? bit : 0;
    w1 |= word == 1 ? bit : 0;
    w2 |= word == 2 ? bit : 0;
    w3 |= word == 3 ? bit : 0;
    const times = at(drawnBy, bin);
    store<u32>(times, load<u32>(times) + load<u32>(entry, 4));
    const much = weightOf(entry);
    if (outputs == 1) {
      const place = sums + (<usize>bin << 4);
      const pair = f64x2.replace_lane(f64x2.splat(much), 1, much * <f64>load<f32>(entry, 8));
      v128.store(place, f64x2.add(v128.load(place), pair));
    } else {
      const place = at64(sums, bin * outputs + <i32>load<f32>(entry, 8));
      store<f64>(place, load<f64>(place) + much);
    }
  }
  return list64(w3, 192, list64(w2, 128, list64(w1, 64, list64(w0, 0, 0))));
}

/** Appends the numbers of the bits that are set; how many there are then. */
function list64(word: u64, first: u32, count: i32): i32 {
  for (; word != 0; word &= word - 1) store<u32>(at(used, count++), first + <u32>ctz(word));
  return count;
}

function empty(count: i32): void {
  for (let i = 0; i < count; i++) {
    const bin = load<i32>(at(used, i));
    store<u32>(at(drawnBy, bin), 0);
    if (outputs == 1) v128.store(sums + (<usize>bin << 4), i64x2.splat(0));
    else clear(at64(sums, bin * outputs));
  }
}

/** Tries the cuts behind each of `count` bins but the last, or behind place `only` alone. */
function scan(column: u32, count: i32, only: i32, set: bool, missingLeft: u32): void {
  let left: f64 = 0;
  let sum: f64 = 0;
  let own: f64 = 0;
  let others = squares();
  let drawnLeft: u32 = 0;
  for (let place = 0; place + 1 < count; place++) {
    const bin = load<u32>(at(used, place));
    drawnLeft += load<u32>(at(drawnBy, bin));
    if (outputs == 1) {
      const pair = sums + (<usize>bin << 4);
      left += load<f64>(pair);
      sum += load<f64>(pair, 8);
      const rest = load<f64>(whole) - sum;
      own = sum * sum;
      others = rest * rest;
    } else {
      for (let j = 0; j < presents; j++) {
        const k = load<i32>(at(present, j));
        const more = load<f64>(at64(sums, bin * outputs + k));
        if (more == 0) continue;
        const before = load<f64>(at64(side, k));
        left += more;
        own += more * (2 * before + more);
        others -= more * (2 * (load<f64>(at64(whole, k)) - before) - more);
        store<f64>(at64(side, k), before + more);
      }
    }
    if (only >= 0 && place != only) continue;
    // With what is missing alone on the left there is no bin to cut behind.
    if (drawnLeft < minRows || drawn - drawnLeft < minRows || (missingLeft == 1 && place == 0)) continue;
    const score = own / left + others / (weight - left);
    if (found && score <= bestScore) continue;
    found = true;
    bestScore = score;
    bestColumn = column;
    bestSet = set;
    bestCut = bin;
    bestMissing = missingLeft == 2 ? <u32>(2 * <u64>drawnLeft >= <u64>drawn) : missingLeft;
    if (set) keepSet(place);
  }
  if (outputs > 1) clear(side);
}

/** The first bins of `used` as bits. */
function keepSet(last: i32): void {
  memory.fill(bestMask, 0, 32);
  for (let i = 0; i <= last; i++) {
    const bin = load<u32>(at(used, i));
    const word = at(bestMask, bin >> 5);
    store<u32>(word, load<u32>(word) | (1 << (bin & 31)));
  }
}

/** Bins of a category by the mean target of their rows, or the share of the class most rows have. */
function byTarget(count: i32): void {
  let most = load<i32>(present);
  for (let j = 1; j < presents; j++) {
    const k = load<i32>(at(present, j));
    if (load<f64>(at64(whole, k)) > load<f64>(at64(whole, most))) most = k;
  }
  for (let i = 0; i < count; i++) {
    const bin = load<i32>(at(used, i));
    let much: f64 = 0;
    let sum: f64 = 0;
    if (outputs == 1) {
      much = load<f64>(sums + (<usize>bin << 4));
      sum = load<f64>(sums + (<usize>bin << 4), 8);
    } else {
      const own = at64(sums, bin * outputs);
      for (let j = 0; j < presents; j++) much += load<f64>(at64(own, load<i32>(at(present, j))));
      sum = load<f64>(at64(own, most));
    }
    const mean = sum / much;
    let place = i;
    for (; place > 0 && load<f64>(at64(means, place - 1)) > mean; place--) {
      store<f64>(at64(means, place), load<f64>(at64(means, place - 1)));
      store<u32>(at(used, place), load<u32>(at(used, place - 1)));
    }
    store<f64>(at64(means, place), mean);
    store<u32>(at(used, place), bin);
  }
}

/** Looks at one column; 0: it is the same in all rows. */
function look(column: u32, from: u32, to: u32): i32 {
  const count = fill(column, from, to);
  const kind = load<u32>(at(kinds, column));
  if (count >= 2 && kind >> 31 != 0) {
    byTarget(count);
    scan(column, count, randomCuts ? <i32>draw(state + 8, count - 1) : -1, true, 0);
  } else if (count >= 2) {
    const missing = load<u32>(at(used, count - 1)) == kind;
    const known = missing ? count - 1 : count;
    let only = -1;
    if (randomCuts) {
      const first = load<u32>(used);
      const cut = first + draw(state + 8, max<u32>(1, load<u32>(at(used, known - 1)) - first));
      for (only = 0; only + 1 < known && load<u32>(at(used, only + 1)) <= cut; ) only++;
    }
    // What is missing comes last, then first; where nothing is, a later one goes the way of most rows.
    scan(column, count, only, false, missing ? 0 : 2);
    if (missing) {
      memory.copy(used + 4, used, <usize>known << 2);
      store<u32>(used, kind);
      scan(column, count, only < 0 ? only : only + 1, false, 1);
    }
  }
  empty(count);
  return count >= 2 ? 1 : 0;
}

/** Finds how a node is split best; false: not at all. */
export function find(from: u32, to: u32): bool {
  const parent = squares() / weight;
  found = false;
  bestScore = 0;
  for (let i = 0, looked = 0; i < width && looked < columns; i++) {
    const j = i + <i32>draw(state + 8, width - i);
    const column = load<u32>(at(order, j));
    store<u32>(at(order, j), load<u32>(at(order, i)));
    store<u32>(at(order, i), column);
    looked += look(column, from, to);
  }
  bestScore -= parent;
  return found && bestScore > 1e-9 * max<f64>(1, abs<f64>(parent));
}
