// AssemblyScript: sums over any dimensions. Threads share the elements of y. Where the last dimension is summed, an element of y is
// the sum of whole rows of x; where it is kept, rows of x are added up, so that x is read from front to back.

import { addRow } from '../shared/columns';
import { elementsOf } from '../shared/sizes';
import { sum } from '../shared/sums';
import { at, integer, LINE, pointer, real, scaleRow, shareStart } from '../shared/vectors';

const SIZES = 2;

export function reduce(args: usize, thread: i32, threads: i32, step: i32): void {
  const x = pointer(args, 0);
  const y = pointer(args, 1);
  const width = integer(args, SIZES + 5);
  const kept = integer(args, SIZES + 6);
  const scale = real(args, SIZES + 7);
  const keepsRows = (kept & 32) != 0;
  const keptRows = product(args, kept);
  const summedRows = product(args, ~kept);
  const count = keepsRows ? keptRows * width : keptRows;
  const grain = keepsRows ? LINE : 1;
  const end = shareStart(count, grain, thread + 1, threads);
  let i = shareStart(count, grain, thread, threads);
  while (i < end) {
    if (!keepsRows) {
      const first = rowStart(args, kept, i);
      let total: f32 = 0;
      for (let j = 0; j < summedRows; j++) total += sum(at(x, (first + rowStart(args, ~kept, j)) * width), width);
      store<f32>(at(y, i), total * scale);
      i++;
      continue;
    }
    const row = i / width;
    const column = i - row * width;
    const length = min(width - column, end - i);
    const first = rowStart(args, kept, row);
    const target = at(y, i);
    memory.fill(target, 0, (<usize>length) << 2);
    for (let j = 0; j < summedRows; j++) {
      addRow(target, at(x, (first + rowStart(args, ~kept, j)) * width + column), length);
    }
    if (scale != 1) scaleRow(target, length, scale);
    i += length;
  }
}

/** Elements of the first five dimensions that `mask` has. */
function product(args: usize, mask: i32): i32 {
  let count = 1;
  for (let k = 0; k < 5; k++) if ((mask & (1 << k)) != 0) count *= integer(args, SIZES + <usize>k);
  return count;
}

/** Row of x at position `index` of the first five dimensions that `mask` has, the others at 0. */
function rowStart(args: usize, mask: i32, index: i32): i32 {
  let row = 0;
  let step = 1;
  for (let k = 4; k >= 0; k--) {
    const size = integer(args, SIZES + <usize>k);
    if (size == 1) continue;
    if ((mask & (1 << k)) != 0) {
      row += (index % size) * step;
      index /= size;
    }
    step *= size;
  }
  return row;
}
