// AssemblyScript: the parameters of a convolution kernel, read from its call record once.

import { integer } from './vectors';

export let batch: i32 = 0;
export let channels: i32 = 0;
export let height: i32 = 0;
export let width: i32 = 0;
export let filters: i32 = 0;
export let kernel: i32 = 0;
export let stride: i32 = 0;
export let padding: i32 = 0;
export let dilation: i32 = 0;
export let groups: i32 = 0;
export let outputHeight: i32 = 0;
export let outputWidth: i32 = 0;

/** `first` is the position of `batch` among the arguments. */
export function readShape(args: usize, first: usize): void {
  batch = integer(args, first);
  channels = integer(args, first + 1);
  height = integer(args, first + 2);
  width = integer(args, first + 3);
  filters = integer(args, first + 4);
  kernel = integer(args, first + 5);
  stride = integer(args, first + 6);
  padding = integer(args, first + 7);
  dilation = integer(args, first + 8);
  groups = integer(args, first + 9);
  outputHeight = (height + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  outputWidth = (width + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

/** Every channel has one filter of its own: no product, but a filter a plane. */
@inline
export function isDepthwise(): bool {
  return groups == channels && groups == filters && groups > 1;
}
