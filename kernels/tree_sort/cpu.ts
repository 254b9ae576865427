// AssemblyScript: columns sorted by their bits; threads share the columns.

import { scratch } from '../shared/scratch';
import { at64 } from '../shared/tree_math';
import { at, integer, pointer, shareStart } from '../shared/vectors';

const BITS = 11;
const DIGITS = 2048;
const PASSES = 6;

/** Words that stand in the order of the numbers: negative ones with all bits turned, others with the first. */
@inline
function keyOf(word: u64): u64 {
  return word ^ (<u64>((<i64>word) >> 63) | 0x8000000000000000);
}

@inline
function wordOf(key: u64): u64 {
  return key ^ (<u64>((<i64>~key) >> 63) | 0x8000000000000000);
}

function sort(values: usize, spare: usize, count: i32): void {
  memory.fill(scratch, 0, 4 * DIGITS * PASSES);
  for (let i = 0; i < count; i++) {
    const key = keyOf(load<u64>(at64(values, i)));
    store<u64>(at64(values, i), key);
    for (let pass = 0; pass < PASSES; pass++) {
      const place = at(scratch, pass * DIGITS + (<i32>(key >> (<u64>(pass * BITS))) & (DIGITS - 1)));
      store<u32>(place, load<u32>(place) + 1);
    }
  }
  let own = values;
  let other = spare;
  for (let pass = 0; pass < PASSES; pass++) {
    const shift = <u64>(pass * BITS);
    const counts = at(scratch, pass * DIGITS);
    // All alike, as the last bits of few digits are.
    if (load<i32>(at(counts, <i32>(load<u64>(own) >> shift) & (DIGITS - 1))) == count) continue;
    let sum = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const some = load<i32>(at(counts, digit));
      store<i32>(at(counts, digit), sum);
      sum += some;
    }
    for (let i = 0; i < count; i++) {
      const key = load<u64>(at64(own, i));
      const place = at(counts, <i32>(key >> shift) & (DIGITS - 1));
      const to = load<i32>(place);
      store<i32>(place, to + 1);
      store<u64>(at64(other, to), key);
    }
    const swapped = own;
    own = other;
    other = swapped;
  }
  for (let i = 0; i < count; i++) store<u64>(at64(values, i), wordOf(load<u64>(at64(own, i))));
  memory.fill(spare, 0, <usize>count << 3);
}

export function tree_sort(args: usize, thread: i32, threads: i32, _step: i32): void {
  const counts = pointer(args, 0);
  const columns = load<i32>(pointer(args, 1));
  const values = pointer(args, 2);
  const spare = pointer(args, 3);
  const rows = integer(args, 4);
  const end = shareStart(columns, 1, thread + 1, threads);
  for (let column = shareStart(columns, 1, thread, threads); column < end; column++) {
    const count = load<i32>(at(counts, column));
    const first = (<usize>column * <usize>rows) << 3;
    if (count > 1) sort(values + first, spare + first, count);
  }
}
