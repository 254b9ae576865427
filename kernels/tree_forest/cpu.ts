// AssemblyScript: trees of forests, whole; threads share the slots. The layouts are those of kernel.ts.

import { scratch } from '../shared/scratch';
import { at64 } from '../shared/tree_math';
import { at, integer, pointer } from '../shared/vectors';

/** Bytes of a state before its stack, and of a place in that; of a state; of a row in a list. */
const HEAD = 64;
const PLACE = 32;
const STATE = 2048;
const ENTRY = 12;
const NONE = 0xffffffff;

const TO_BEGIN = 1;
const GROWING = 2;
const DONE = 3;

// What the slot at work has; a module's globals belong to one thread.
let bins: usize = 0;
let targets: usize = 0;
let weights: usize = 0;
let kinds: usize = 0;
let width: i32 = 0;
let rows: i32 = 0;
let outputs: i32 = 0;
let minRows: u32 = 0;
let mostDepth: u32 = 0;
let columns: i32 = 0;
let randomCuts = false;
let bootstrap = false;
let state: usize = 0;
let list: usize = 0;
let spare: usize = 0;
let order: usize = 0;
let sums: usize = 0;
let whole: usize = 0;
let side: usize = 0;
let nodes: usize = 0;
let gains: usize = 0;
let masks: usize = 0;
let leaves: usize = 0;
let values: usize = 0;
let classes: usize = 0;
// Scratch: of the bins that a node has, and its classes.
let means: usize = 0;
let used: usize = 0;
let drawnBy: usize = 0;
let goesLeft: usize = 0;
let present: usize = 0;
// Of the node at work.
let weight: f64 = 0;
let drawn: u32 = 0;
let presents: i32 = 0;
let pure = false;
// The best split of it so far.
let found = false;
let bestScore: f64 = 0;
let bestColumn: u32 = 0;
let bestCut: u32 = 0;
let bestSet = false;
let bestMissing: u32 = 0;
/** Where its set of bins stands. */
let bestMask: usize = 0;

/** A whole number below another: sfc32, its words from `words` on. */
function draw(words: usize, below: u32): u32 {
  const a = load<u32>(words);
  const b = load<u32>(words, 4);
  const c = load<u32>(words, 8);
  const d = load<u32>(words, 12);
  const result = a + b + d;
  store<u32>(words, b ^ (b >> 9));
  store<u32>(words, c + (c << 3), 4);
  store<u32>(words, rotl<u32>(c, 21) + result, 8);
  store<u32>(words, d + 1, 12);
  return <u32>(<f64>result * 2.3283064365386963e-10 * <f64>below);
}

@inline
function entryAt(index: u32): usize {
  return list + <usize>index * ENTRY;
}

@inline
function weightOf(entry: usize): f64 {
  const own = <f64>load<u32>(entry, 4);
  return weights == 0 ? own : own * load<f64>(at64(weights, <i32>load<f32>(entry, 8)));
}

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

/** Sums of some rows into `whole`, and the classes there are, in order. */
function sumRows(from: u32, to: u32): void {
  weight = 0;
  drawn = 0;
  pure = true;
  if (outputs == 1) {
    const first = load<f32>(entryAt(from), 8);
    let sum: f64 = 0;
    let total: f64 = 0;
    for (let entry = entryAt(from); entry < entryAt(to); entry += ENTRY) {
      const own = weightOf(entry);
      const target = load<f32>(entry, 8);
      total += own;
      drawn += load<u32>(entry, 4);
      sum += own * <f64>target;
      pure = pure && target == first;
    }
    weight = total;
    store<f64>(whole, sum);
    store<u32>(present, 0);
    presents = 1;
    return;
  }
  presents = 0;
  for (let entry = entryAt(from); entry < entryAt(to); entry += ENTRY) {
    const own = weightOf(entry);
    const k = <u32>load<f32>(entry, 8);
    weight += own;
    drawn += load<u32>(entry, 4);
    const before = load<f64>(at64(whole, k));
    if (before == 0) {
      let place = presents++;
      for (; place > 0 && load<u32>(at(present, place - 1)) > k; place--) {
        store<u32>(at(present, place), load<u32>(at(present, place - 1)));
      }
      store<u32>(at(present, place), k);
    }
    store<f64>(at64(whole, k), before + own);
  }
  pure = presents == 1;
}

function clear(base: usize): void {
  for (let j = 0; j < presents; j++) store<f64>(at64(base, load<i32>(at(present, j))), 0);
}

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

function squares(): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < presents; j++) {
    const one = load<f64>(at64(whole, load<i32>(at(present, j))));
    sum += one * one;
  }
  return sum;
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
function find(from: u32, to: u32): bool {
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
  if (bestSet) {
    bestCut = load<u32>(state, 36);
    store<u32>(state, bestCut + 1, 36);
    memory.copy(masks + (<usize>bestCut << 5), bestMask, 32);
  }
  const own = nodes + (<usize>node << 4);
  store<u32>(own, bestColumn | (bestMissing << 31));
  store<u32>(own, bestCut, 4);
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
  const job = pointer(args, 4);
  bins = pointer(args, 0);
  targets = pointer(args, 1);
  weights = pointer(args, 2);
  kinds = pointer(args, 3);
  rows = integer(args, 15);
  width = integer(args, 16);
  outputs = integer(args, 18);
  const slots = integer(args, 17);
  const capacity = <usize>integer(args, 19);
  const sets = <usize>integer(args, 20);
  const room = <usize>integer(args, 21);
  const entries = <usize>max(2, outputs);
  minRows = load<u32>(job);
  mostDepth = load<u32>(job, 4);
  columns = load<i32>(job, 8);
  randomCuts = load<u32>(job, 12) != 0;
  bootstrap = load<u32>(job, 16) != 0;
  means = scratch;
  used = scratch + 2048;
  drawnBy = scratch + 4096;
  goesLeft = scratch + 5120;
  bestMask = scratch + 5376;
  present = scratch + 8192;
  memory.fill(drawnBy, 0, 1024);
  for (let i = thread; i < slots; i += threads) {
    const slot = <usize>i;
    state = pointer(args, 5) + slot * STATE;
    const status = load<u32>(state);
    if (status != TO_BEGIN && status != GROWING) continue;
    list = pointer(args, 6) + 2 * slot * <usize>rows * ENTRY;
    spare = list + <usize>rows * ENTRY;
    order = pointer(args, 7) + ((slot * <usize>width) << 2);
    sums = pointer(args, 8) + 2064 * slot * entries;
    whole = sums + 2048 * entries;
    side = sums + 2056 * entries;
    nodes = pointer(args, 9) + ((slot * capacity) << 4);
    gains = pointer(args, 10) + ((slot * capacity) << 3);
    masks = pointer(args, 11) + ((slot * sets) << 5);
    leaves = pointer(args, 12) + ((slot * capacity) << 4);
    values = pointer(args, 13) + ((slot * room) << 3);
    classes = pointer(args, 14) + ((slot * room) << 2);
    advance(load<u32>(job, 20));
  }
}
