// AssemblyScript: the parameters of a pooling kernel, read from its call record once, and the part of a window that lies
// inside the plane.

import { integer } from './vectors';

export let planes: i32 = 0;
export let height: i32 = 0;
export let width: i32 = 0;
export let windowHeight: i32 = 0;
export let windowWidth: i32 = 0;
export let stride: i32 = 0;
let padding: i32 = 0;
export let pooledHeight: i32 = 0;
export let pooledWidth: i32 = 0;

/** `first` is the position of `planes` among the arguments. */
export function readPooling(args: usize, first: usize): void {
  planes = integer(args, first);
  height = integer(args, first + 1);
  width = integer(args, first + 2);
  windowHeight = integer(args, first + 3);
  windowWidth = integer(args, first + 4);
  stride = integer(args, first + 5);
  padding = integer(args, first + 6);
  pooledHeight = (height + 2 * padding - windowHeight) / stride + 1;
  pooledWidth = (width + 2 * padding - windowWidth) / stride + 1;
}

/** First row (or column) inside the plane of window `index`. */
@inline
export function windowStart(index: i32): i32 {
  return max(0, index * stride - padding);
}

/** One past the last one, for a window of `window` and a side of `size`. */
@inline
export function windowEnd(index: i32, window: i32, size: i32): i32 {
  return min(size, index * stride - padding + window);
}

/** Windows of 2 × 2 that neither overlap nor reach beyond the border: worth a loop of its own. */
@inline
export function isHalving(): bool {
  return windowHeight == 2 && windowWidth == 2 && stride == 2 && padding == 0;
}

/** One window, the whole plane. */
@inline
export function isGlobal(): bool {
  return windowHeight == height && windowWidth == width && padding == 0;
}
