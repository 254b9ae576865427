// AssemblyScript: attention. Threads share the heads of the rows; a head goes through blocks of queries and within one through blocks
// of keys, with the largest score and the sum of each query so far: a strip of scores is all that ever exists.

import { clearRows, KEYS, multiply, packAsColumns, packAsRows, paddedRow } from '../shared/attention';
import { QUERIES, seen, STRIP_BYTES, STRIP_ROW } from '../shared/attention';
import { beginDropping, drawFactors, dropping } from '../shared/attention_drop';
import { exp, log } from '../shared/math';
import { scratch } from '../shared/scratch';
import { tokensOf } from '../shared/tokens';
import { at, firstLanes, integer, pointer, read, real, scaleRow, shareStart, sumLanes, write } from '../shared/vectors';

export function attention(args: usize, thread: i32, threads: i32, step: i32): void {
  const qkv = pointer(args, 0);
  const lengths = pointer(args, 1);
  const y = pointer(args, 4);
  const logsum = pointer(args, 5);
  const batch = integer(args, 6);
  const length = integer(args, 7);
  const heads = integer(args, 8);
  const groups = integer(args, 9);
  const size = integer(args, 10);
  const causal = integer(args, 11) != 0;
  const scale = real(args, 12);
  beginDropping(args, 2, 13, length, step);
  const width = (heads + 2 * groups) * size;
  const end = shareStart(batch * heads, 1, thread + 1, threads);
  for (let task = shareStart(batch * heads, 1, thread, threads); task < end; task++) {
    const row = task / heads;
    const head = task % heads;
    const tokens = tokensOf(lengths, row, length);
    const first = at(qkv, row * length * width);
    const key = at(first, (heads + (head * groups) / heads) * size);
    const target = at(y, row * length * heads * size + head * size);
    const sums = at(logsum, task * length);
    for (let query = 0; query < tokens; query += QUERIES) {
      const rows = min(QUERIES, tokens - query);
      const keys = causal ? query + rows : tokens;
      const q = at(first, query * width + head * size);
      attend(q, key, at(key, groups * size), width, size, query, rows, keys, causal, scale, task * length);
      finish(at(target, query * heads * size), heads * size, size, rows, at(sums, query));
    }
    clearRows(at(target, tokens * heads * size), (<usize>(heads * size)) << 2, length - tokens, size);
    memory.fill(at(sums, tokens), 0, (<usize>(length - tokens)) << 2);
  }
}

/** Parts of the scratch memory: a strip of scores, the mixed values so far, the largest scores, the sums, factors of dropout, packed keys and values. */
@inline
function mixed(): usize {
  return scratch + STRIP_BYTES;
}
@inline
function largestOf(size: i32): usize {
  return mixed() + <usize>QUERIES * paddedRow(size);
}

/** A block of queries over all keys it sees; `firstQuery`: the number of its head's first among those of all rows and heads. */
function attend(
  q: usize,
  k: usize,
  v: usize,
  width: i32,
  size: i32,
  query: i32,
  rows: i32,
  allKeys: i32,
  causal: bool,
  scale: f32,
  firstQuery: i32,
): void {
  const stride = (<usize>width) << 2;
  const mixedRow = paddedRow(size);
  const largest = largestOf(size);
  const totals = largest + QUERIES * 4;
  const factors = totals + QUERIES * 4;
  const packed = factors + STRIP_ROW;
  memory.fill(mixed(), 0, <usize>rows * mixedRow);
  for (let row = 0; row < rows; row++) {
    store<f32>(at(largest, row), -f32.MAX_VALUE);
    store<f32>(at(totals, row), 0);
  }
  for (let key = 0; key < allKeys; key += KEYS) {
    const keys = min(KEYS, allKeys - key);
    packAsColumns(at(k, key * width), stride, keys, size, packed);
    multiply(q, stride, 4, packed, size, scratch, STRIP_ROW, rows, keys, false);
    for (let row = 0; row < rows; row++) {
      const scores = scratch + <usize>row * STRIP_ROW;
      const visible = seen(query + row, key, keys, causal);
      weigh(scores, keys, visible, scale, row, size);
      if (!dropping) continue;
      drawFactors(firstQuery + query + row, key, visible, factors);
      for (let j = 0; j < visible; j += 4) write(scores, j, f32x4.mul(read(scores, j, 4), read(factors, j, 4)), 4);
    }
    packAsRows(at(v, key * width), stride, keys, size, packed);
    multiply(scratch, STRIP_ROW, 4, packed, keys, mixed(), mixedRow, rows, size, true);
  }
}

/** A row of scores becomes exponentials over the largest so far; what is mixed and summed already follows it. */
function weigh(scores: usize, keys: i32, visible: i32, scale: f32, row: i32, size: i32): void {
  const largest = at(largestOf(size), row);
  const total = at(largestOf(size) + QUERIES * 4, row);
  const before = load<f32>(largest);
  const lowest = f32x4.splat(before);
  const factor = f32x4.splat(scale);
  let most = lowest;
  for (let j = 0; j < visible; j += 4) {
    const score = firstLanes(f32x4.mul(read(scores, j, 4), factor), visible - j, lowest);
    most = f32x4.max(most, score);
  }
  const top = max(
    max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
    max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)),
  );
  const above = f32x4.splat(top);
  let sum = f32x4.splat(0);
  for (let j = 0; j < keys; j += 4) {
    const weight = exp(f32x4.sub(f32x4.mul(read(scores, j, 4), factor), above));
    const kept = firstLanes(weight, visible - j, f32x4.splat(0));
    sum = f32x4.add(sum, kept);
    write(scores, j, kept, 4);
  }
  const follow = f32x4.extract_lane(exp(f32x4.splat(before - top)), 0);
  store<f32>(total, load<f32>(total) * follow + sumLanes(sum));
  store<f32>(largest, top);
  if (top > before) scaleRow(mixed() + <usize>row * paddedRow(size), size, follow);
}

/** Writes a block's values and the logarithms of its sums. */
function finish(y: usize, width: i32, size: i32, rows: i32, sums: usize): void {
  const largest = largestOf(size);
  const totals = largest + QUERIES * 4;
  for (let row = 0; row < rows; row++) {
    const total = load<f32>(at(totals, row));
    const share = f32x4.splat(1 / total);
    const from = mixed() + <usize>row * paddedRow(size);
    for (let s = 0; s < size; s += 4) write(y, row * width + s, f32x4.mul(read(from, s, 4), share), size - s);
    const logarithm = f32x4.extract_lane(log(f32x4.splat(total)), 0);
    store<f32>(at(sums, row), load<f32>(at(largest, row)) + logarithm);
  }
}
