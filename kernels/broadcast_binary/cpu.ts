// AssemblyScript: c = a + scale·b, scale·a·b or scale·a over tensors that repeat along some dimensions. Threads share the elements
// of c; a row (the last dimension) is worked off in one piece, in which an operand is a vector or repeats one element.

import { multiplyAdd } from '../shared/math';
import { elementsOf, rowOffset } from '../shared/sizes';
import { at, integer, LINE, pointer, read, real, shareStart, write } from '../shared/vectors';

const SIZES = 4;
const ADD = 0;
const MULTIPLY = 1;
const SCALE = 2;

export function broadcast_binary(args: usize, thread: i32, threads: i32, step: i32): void {
  const a = pointer(args, 0);
  const b = pointer(args, 1);
  const c = pointer(args, 2);
  const operation = b != 0 ? integer(args, 3) : SCALE;
  const width = integer(args, SIZES + 5);
  const aMask = integer(args, SIZES + 6);
  const bMask = integer(args, SIZES + 7);
  const scale = f32x4.splat(real(args, SIZES + 8));
  const count = elementsOf(args, SIZES, 6);
  const aVector = (aMask & 32) != 0;
  const bVector = (bMask & 32) != 0;
  const end = shareStart(count, LINE, thread + 1, threads);
  let i = shareStart(count, LINE, thread, threads);
  while (i < end) {
    const row = i / width;
    const column = i - row * width;
    const length = min(width - column, end - i);
    const aRow = at(a, rowOffset(args, SIZES, aMask, row) + (aVector ? column : 0));
    const bRow = b != 0 ? at(b, rowOffset(args, SIZES, bMask, row) + (bVector ? column : 0)) : 0;
    const cRow = at(c, i);
    if (operation == ADD) combine(ADD, aRow, aVector, bRow, bVector, cRow, length, scale);
    else if (operation == MULTIPLY) combine(MULTIPLY, aRow, aVector, bRow, bVector, cRow, length, scale);
    else combine(SCALE, aRow, aVector, aRow, false, cRow, length, scale);
    i += length;
  }
}

@inline
function combine(
  operation: i32,
  a: usize,
  aVector: bool,
  b: usize,
  bVector: bool,
  c: usize,
  count: i32,
  scale: v128,
): void {
  const aOne = v128.load32_splat(a);
  const bOne = v128.load32_splat(b);
  let i = 0;
  for (; i + 4 <= count; i += 4) {
    const x = aVector ? read(a, i, 4) : aOne;
    const y = bVector ? read(b, i, 4) : bOne;
    write(c, i, apply(operation, x, y, scale), 4);
  }
  if (i == count) return;
  const lanes = count - i;
  const x = aVector ? read(a, i, lanes) : aOne;
  const y = bVector ? read(b, i, lanes) : bOne;
  write(c, i, apply(operation, x, y, scale), lanes);
}

@inline
function apply(operation: i32, a: v128, b: v128, scale: v128): v128 {
  if (operation == ADD) return multiplyAdd(scale, b, a);
  if (operation == MULTIPLY) return f32x4.mul(f32x4.mul(scale, a), b);
  return f32x4.mul(scale, a);
}
