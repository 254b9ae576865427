// The median of many numbers without sorting them (Hoare's selection, 1961).

/**
 * The mean of the two middle ones where their count is even; 0 of none. No value is NaN. Of many numbers those around the middle
 * are enough: then `all` is how many there are, and `below` how many of them lie below all that are given.
 */
export function medianOf(values: Float64Array, { all, below } = { all: values.length, below: 0 }): number {
  const left = values.slice();
  const middle = Math.floor(all / 2) - below;
  if (left.length === 0) return 0;
  const upper = select(left, middle);
  if (all % 2 === 1) return upper;
  // What stands before the place is not above it.
  let lower = -Infinity;
  for (let i = 0; i < middle; i++) lower = Math.max(lower, left[i]);
  return (lower + upper) / 2;
}

/** The value at a place of the sorted numbers; they are moved so that none before it is above it, and none behind it below. */
function select(values: Float64Array, place: number): number {
  let first = 0;
  let last = values.length - 1;
  while (first < last) {
    const pivot = middleOf(values[first], values[(first + last) >>> 1], values[last]);
    let i = first;
    let j = last;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      const value = values[i];
      values[i++] = values[j];
      values[j--] = value;
    }
    if (place <= j) last = j;
    else if (place >= i) first = i;
    else break;
  }
  return values[place];
}

const middleOf = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
