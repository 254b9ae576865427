// AssemblyScript: gradient of attention. Threads share the key heads of the rows, so that each gradient has one owner. A block of keys
// is held against the blocks of queries that see it: its own gradients are sums in scratch memory, those of the queries are added where
// they belong.

import { clearRows, copyRows, KEYS, multiply, packAsColumns, packAsRows, paddedRow } from '../shared/attention';
import { QUERIES, seen, STRIP_BYTES, STRIP_ROW } from '../shared/attention';
import { beginDropping, drawFactors, dropping } from '../shared/attention_drop';
import { exp } from '../shared/math';
import { scratch } from '../shared/scratch';
import { sumProduct } from '../shared/sums';
import { tokensOf } from '../shared/tokens';
import { at, firstLanes, integer, pointer, read, real, shareStart, write } from '../shared/vectors';

// The call: globals, since each thread has an instance of its own. Strides are in bytes.
let length: i32 = 0;
let heads: i32 = 0;
let size: i32 = 0;
let causal: bool = false;
let scale: f32 = 0;
let stride: usize = 0;
let yStride: usize = 0;
let padded: usize = 0;

/** Parts of the scratch memory behind the weights (one strip) and the gradients of the scores (another). */
let keysAsColumns: usize = 0;
let valuesAsColumns: usize = 0;
let keysAsRows: usize = 0;
let keyGradients: usize = 0;
let valueGradients: usize = 0;
let queriesAsRows: usize = 0;
let slopesAsRows: usize = 0;
let queryGradients: usize = 0;
/** Of dropout: factors of a query's weights, and the number of the block's first query among those of all rows and heads. */
let factors: usize = 0;
let firstQuery: i32 = 0;

function layOut(): void {
  const block = <usize>KEYS * padded;
  keysAsColumns = scratch + 2 * STRIP_BYTES;
  valuesAsColumns = keysAsColumns + block;
  keysAsRows = valuesAsColumns + block;
  keyGradients = keysAsRows + block;
  valueGradients = keyGradients + block;
  queriesAsRows = valueGradients + block;
  slopesAsRows = queriesAsRows + <usize>QUERIES * padded;
  // The queries themselves are no longer needed when their gradients are summed.
  queryGradients = slopesAsRows;
  factors = slopesAsRows + <usize>QUERIES * padded;
}

export function attention_grad(args: usize, thread: i32, threads: i32, step: i32): void {
  const dy = pointer(args, 0);
  const qkv = pointer(args, 1);
  const y = pointer(args, 2);
  const logsum = pointer(args, 3);
  const lengths = pointer(args, 4);
  const dqkv = pointer(args, 7);
  const batch = integer(args, 8);
  length = integer(args, 9);
  heads = integer(args, 10);
  const groups = integer(args, 11);
  size = integer(args, 12);
  causal = integer(args, 13) != 0;
  scale = real(args, 14);
  beginDropping(args, 5, 15, length, step);
  stride = (<usize>((heads + 2 * groups) * size)) << 2;
  yStride = (<usize>(heads * size)) << 2;
  padded = paddedRow(size);
  layOut();
  const shared = heads / groups;
  const end = shareStart(batch * groups, 1, thread + 1, threads);
  for (let task = shareStart(batch * groups, 1, thread, threads); task < end; task++) {
    const row = task / groups;
    const group = task % groups;
    const tokens = tokensOf(lengths, row, length);
    const from = qkv + <usize>(row * length) * stride;
    const to = dqkv + <usize>(row * length) * stride;
    const queryAt = (<usize>(group * shared * size)) << 2;
    const keyAt = (<usize>((heads + group) * size)) << 2;
    const valueAt = keyAt + ((<usize>(groups * size)) << 2);
    clearRows(to + queryAt, stride, length, shared * size);
    clearRows(to + keyAt + <usize>tokens * stride, stride, length - tokens, size);
    clearRows(to + valueAt + <usize>tokens * stride, stride, length - tokens, size);
    for (let key = 0; key < tokens; key += KEYS) {
      const keys = min(KEYS, tokens - key);
      const past = <usize>key * stride;
      openBlock(from + keyAt + past, from + valueAt + past, keys);
      for (let head = group * shared; head < (group + 1) * shared; head++) {
        const own = (<usize>(head * size)) << 2;
        const firstOfRow = <usize>(row * length) * yStride + own;
        const number = (row * heads + head) * length;
        const sums = at(logsum, number);
        for (let query = causal ? key - (key % QUERIES) : 0; query < tokens; query += QUERIES) {
          const skipped = <usize>query * stride + own;
          const other = firstOfRow + <usize>query * yStride;
          const rows = min(QUERIES, tokens - query);
          firstQuery = number + query;
          queryBlock(from + skipped, to + skipped, dy + other, y + other, at(sums, query), query, rows, key, keys);
        }
      }
      copyRows(to + keyAt + past, stride, keyGradients, padded, keys, size);
      copyRows(to + valueAt + past, stride, valueGradients, padded, keys, size);
    }
  }
}

function openBlock(k: usize, v: usize, keys: i32): void {
  packAsColumns(k, stride, keys, size, keysAsColumns);
  packAsColumns(v, stride, keys, size, valuesAsColumns);
  packAsRows(k, stride, keys, size, keysAsRows);
  memory.fill(keyGradients, 0, <usize>keys * padded);
  memory.fill(valueGradients, 0, <usize>keys * padded);
}

/** Adds what a block of queries and the open block of keys give each other. */
function queryBlock(
  q: usize,
  dq: usize,
  dy: usize,
  y: usize,
  sums: usize,
  query: i32,
  rows: i32,
  key: i32,
  keys: i32,
): void {
  const weights = scratch;
  const slopes = scratch + STRIP_BYTES;
  multiply(q, stride, 4, keysAsColumns, size, weights, STRIP_ROW, rows, keys, false);
  multiply(dy, yStride, 4, valuesAsColumns, size, slopes, STRIP_ROW, rows, keys, false);
  for (let row = 0; row < rows; row++) {
    const delta = sumProduct(dy + <usize>row * yStride, y + <usize>row * yStride, size, 0);
    const past = <usize>row * STRIP_ROW;
    const visible = seen(query + row, key, keys, causal);
    if (dropping) drawFactors(firstQuery + row, key, visible, factors);
    slopesOf(weights + past, slopes + past, keys, visible, load<f32>(at(sums, row)), delta);
  }
  packAsRows(q, stride, rows, size, queriesAsRows);
  packAsRows(dy, yStride, rows, size, slopesAsRows);
  multiply(weights, 4, STRIP_ROW, slopesAsRows, rows, valueGradients, padded, keys, size, true);
  multiply(slopes, 4, STRIP_ROW, queriesAsRows, rows, keyGradients, padded, keys, size, true);
  copyRows(queryGradients, padded, dq, stride, rows, size);
  multiply(slopes, STRIP_ROW, 4, keysAsRows, keys, queryGradients, padded, rows, size, true);
  copyRows(dq, stride, queryGradients, padded, rows, size);
}

/** A row: scores become weights, products of dy and values the gradients of scores; both 0 for keys that it does not see. */
function slopesOf(weights: usize, slopes: usize, keys: i32, visible: i32, logsum: f32, delta: f32): void {
  const factor = f32x4.splat(scale);
  const zero = f32x4.splat(0);
  for (let j = 0; j < keys; j += 4) {
    const score = f32x4.mul(read(weights, j, 4), factor);
    const weight = firstLanes(exp(f32x4.sub(score, f32x4.splat(logsum))), visible - j, zero);
    let product = read(slopes, j, 4);
    let kept = weight;
    if (dropping && j < visible) {
      const share = read(factors, j, 4);
      product = f32x4.mul(product, share);
      kept = f32x4.mul(weight, share);
    }
    const slope = f32x4.mul(f32x4.mul(weight, f32x4.sub(product, f32x4.splat(delta))), factor);
    write(weights, j, kept, 4);
    write(slopes, j, firstLanes(slope, visible - j, zero), 4);
  }
}
