// What the three convolution kernels share: their parameters, the size of the output and the shapes of the parity tests.
// N batch, C channels, H × W image, O filters, k × k kernel, G groups; tensors as PyTorch's conv2d has them.

/** Parameters in ABI order; `height` and `width` are those of the input. */
export const convolutionParams = {
  batch: 'i32',
  channels: 'i32',
  height: 'i32',
  width: 'i32',
  filters: 'i32',
  kernel: 'i32',
  stride: 'i32',
  padding: 'i32',
  dilation: 'i32',
  groups: 'i32',
} as const;

export type ConvolutionParameter = keyof typeof convolutionParams;
export type Convolution = Readonly<Record<ConvolutionParameter, number>>;

/** Elements of the output along one side: ⌊(size + 2·padding − dilation·(kernel − 1) − 1)/stride⌋ + 1. */
export function convolvedSize(
  size: number,
  p: Pick<Convolution, 'kernel' | 'stride' | 'padding' | 'dilation'>,
): number {
  return Math.floor((size + 2 * p.padding - p.dilation * (p.kernel - 1) - 1) / p.stride) + 1;
}

export const inputShape = (p: Convolution): readonly number[] => [p.batch, p.channels, p.height, p.width];
export const weightShape = (p: Convolution): readonly number[] => [
  p.filters,
  p.channels / p.groups,
  p.kernel,
  p.kernel,
];
export const outputShape = (p: Convolution): readonly number[] => [
  p.batch,
  p.filters,
  convolvedSize(p.height, p),
  convolvedSize(p.width, p),
];

/** Most elements of a filter's window that the tables of the CPU's kernels hold (11 × 11). */
const mostTaps = 121;

/** What the CPU's kernels cannot do: their buffers have fixed sizes. */
export function cpuProblem(p: Convolution): string | null {
  if (p.kernel ** 2 > mostTaps) return `a kernel of ${p.kernel} × ${p.kernel} has more than ${mostTaps} elements`;
  if (fitsScratch(p)) return null;
  return `a kernel of ${p.kernel} with dilation ${p.dilation} is too wide for images of ${p.width} × ${p.height}`;
}

/**
 * The kernels on the CPU copy the rows that 128 positions read into a buffer of 40,960 elements, channel by channel. False for
 * convolutions of which one channel does not fit: very wide kernels over very wide images.
 */
function fitsScratch(p: Convolution): boolean {
  const [positions, elements] = [128, 40_960];
  const reach = p.dilation * (p.kernel - 1);
  const gridWidth = Math.min(convolvedSize(p.width, p), Math.ceil(p.width / p.stride));
  const rows = (Math.ceil(positions / gridWidth) + 1) * p.stride + reach;
  const columns = p.width + 2 * Math.max(p.padding, reach);
  return Math.min(rows, p.height + 2 * Math.max(p.padding, reach)) * columns <= elements;
}

/** Multiply-adds of one pass (forward, or either gradient) over the batch. */
export function multiplyAdds(p: Convolution): number {
  const [, , outputHeight, outputWidth] = outputShape(p);
  return p.batch * p.filters * outputHeight * outputWidth * (p.channels / p.groups) * p.kernel ** 2;
}

/** Bytes of input, weight and output, each once. */
export function bytesMoved(p: Convolution): number {
  const size = (shape: readonly number[]): number => shape.reduce((product, side) => product * side, 1);
  return 4 * (size(inputShape(p)) + size(weightShape(p)) + size(outputShape(p)));
}

/**
 * Calls `visit` for every product of the convolution, in a fixed order: element `x` of the input times element `w` of the
 * weight goes to element `y` of the output.
 */
export function forEachProduct(p: Convolution, visit: (x: number, w: number, y: number) => void): void {
  const [, , outputHeight, outputWidth] = outputShape(p);
  const groupChannels = p.channels / p.groups;
  const groupFilters = p.filters / p.groups;
  for (let n = 0; n < p.batch; n++) {
    for (let o = 0; o < p.filters; o++) {
      const firstChannel = Math.floor(o / groupFilters) * groupChannels;
      for (let oy = 0; oy < outputHeight; oy++) {
        for (let ox = 0; ox < outputWidth; ox++) {
          const y = ((n * p.filters + o) * outputHeight + oy) * outputWidth + ox;
          for (let c = 0; c < groupChannels; c++) {
            for (let ky = 0; ky < p.kernel; ky++) {
              const row = oy * p.stride + ky * p.dilation - p.padding;
              if (row < 0 || row >= p.height) continue;
              for (let kx = 0; kx < p.kernel; kx++) {
                const column = ox * p.stride + kx * p.dilation - p.padding;
                if (column < 0 || column >= p.width) continue;
                const x = ((n * p.channels + firstChannel + c) * p.height + row) * p.width + column;
                visit(x, ((o * groupChannels + c) * p.kernel + ky) * p.kernel + kx, y);
              }
            }
          }
        }
      }
    }
  }
}

const plain = { kernel: 3, stride: 1, padding: 1, dilation: 1, groups: 1 };

/** Shapes for the parity tests: strides, paddings, dilations, groups, depthwise, odd sizes, more than one block. */
export const convolutionCases: readonly Convolution[] = [
  { ...plain, batch: 1, channels: 1, height: 1, width: 1, filters: 1, kernel: 1, padding: 0 },
  { ...plain, batch: 3, channels: 1, height: 7, width: 5, filters: 1 },
  { ...plain, batch: 2, channels: 3, height: 8, width: 8, filters: 16 },
  { ...plain, batch: 3, channels: 5, height: 9, width: 11, filters: 7, padding: 0 },
  { ...plain, batch: 2, channels: 4, height: 9, width: 10, filters: 6, stride: 2 },
  { ...plain, batch: 2, channels: 4, height: 8, width: 16, filters: 9, kernel: 1, stride: 2, padding: 0 },
  { ...plain, batch: 1, channels: 2, height: 13, width: 12, filters: 3, dilation: 2, padding: 2 },
  { ...plain, batch: 2, channels: 3, height: 11, width: 13, filters: 4, kernel: 5, stride: 3, padding: 4, dilation: 2 },
  { ...plain, batch: 2, channels: 6, height: 7, width: 9, filters: 9, groups: 3 },
  { ...plain, batch: 2, channels: 5, height: 10, width: 17, filters: 5, groups: 5 },
  { ...plain, batch: 3, channels: 7, height: 9, width: 8, filters: 7, groups: 7, stride: 2 },
  { ...plain, batch: 1, channels: 3, height: 6, width: 6, filters: 6, groups: 3, kernel: 5, padding: 2 },
  { ...plain, batch: 1, channels: 3, height: 17, width: 19, filters: 5, kernel: 4, stride: 2, padding: 1 },
  { ...plain, batch: 2, channels: 19, height: 12, width: 24, filters: 33, kernel: 1, padding: 0 },
  { ...plain, batch: 5, channels: 45, height: 8, width: 8, filters: 37 },
  { ...plain, batch: 1, channels: 3, height: 40, width: 37, filters: 8, kernel: 7, stride: 2, padding: 3 },
  { ...plain, batch: 2, channels: 2, height: 3, width: 3, filters: 3, kernel: 3, padding: 2, stride: 4 },
  // Small images side by side in one band: whole rows, rows between borders, a stride, and more images than one band takes.
  { ...plain, batch: 5, channels: 40, height: 3, width: 3, filters: 27, kernel: 1, padding: 0 },
  { ...plain, batch: 7, channels: 6, height: 4, width: 5, filters: 14 },
  { ...plain, batch: 40, channels: 3, height: 3, width: 3, filters: 5, kernel: 1, padding: 0 },
  { ...plain, batch: 9, channels: 5, height: 6, width: 7, filters: 11, stride: 2 },
  { ...plain, batch: 6, channels: 4, height: 5, width: 4, filters: 6, groups: 2, kernel: 2, padding: 1, stride: 2 },
  // Too many weights to be packed at once, and more channels than a band of shared images holds.
  { ...plain, batch: 3, channels: 600, height: 4, width: 4, filters: 230, kernel: 1, padding: 0 },
  // Sums of few products that still take more channels, taps and weights than the native kernels pack at once.
  { ...plain, batch: 1, channels: 68, height: 2, width: 2, filters: 81, kernel: 11, padding: 5 },
  // Channels, filters and results enough for Winograd's transforms, beyond a vector and beyond a block of weights.
  { ...plain, batch: 2, channels: 70, height: 6, width: 9, filters: 68, padding: 0 },
  { ...plain, batch: 2, channels: 1, height: 4, width: 3, filters: 5, kernel: 1, padding: 0 },
  { ...plain, batch: 6, channels: 23, height: 10, width: 13, filters: 21, padding: 2 },
  // More channels than a band of whole images holds: where bands end must not be a matter of a thread's share of them.
  { ...plain, batch: 1, channels: 64, height: 40, width: 40, filters: 3, kernel: 1, padding: 0 },
  // One picture by transforms: threads share its rows of tiles, where there are too few filters to share.
  { ...plain, batch: 1, channels: 20, height: 26, width: 26, filters: 18 },
  // One channel each: planes narrower and wider than vectors, even and odd, single rows, no border and a wide one.
  { ...plain, batch: 2, channels: 3, height: 5, width: 37, filters: 3, groups: 3 },
  { ...plain, batch: 5, channels: 9, height: 3, width: 3, filters: 9, groups: 9 },
  { ...plain, batch: 1, channels: 2, height: 1, width: 20, filters: 2, groups: 2 },
  { ...plain, batch: 2, channels: 5, height: 6, width: 9, filters: 5, groups: 5, padding: 0 },
  { ...plain, batch: 2, channels: 3, height: 4, width: 19, filters: 3, groups: 3, padding: 2 },
  { ...plain, batch: 3, channels: 4, height: 7, width: 36, filters: 4, groups: 4, stride: 2 },
  { ...plain, batch: 4, channels: 6, height: 6, width: 3, filters: 6, groups: 6, stride: 2 },
  { ...plain, batch: 2, channels: 3, height: 9, width: 18, filters: 3, groups: 3, stride: 2, padding: 0 },
  { ...plain, batch: 2, channels: 3, height: 8, width: 34, filters: 3, groups: 3, stride: 2, padding: 2 },
  // Strides in rows longer than vectors, of odd and even length, with and without a border.
  { ...plain, batch: 2, channels: 3, height: 9, width: 71, filters: 4, stride: 2 },
  { ...plain, batch: 1, channels: 2, height: 5, width: 66, filters: 3, stride: 2, padding: 0 },
  // Phases of a stride that share a band: the last band has rows of one phase alone; and not all channels fit into one.
  { ...plain, batch: 1, channels: 2, height: 47, width: 37, filters: 200, stride: 2 },
  { ...plain, batch: 13, channels: 3, height: 5, width: 5, filters: 500, stride: 2 },
  // Fewer images in a band than have room, since all of their channels fit.
  { ...plain, batch: 9, channels: 200, height: 5, width: 5, filters: 145, stride: 2 },
];
