// What the pooling kernels share: their parameters, the size of the output and the windows. P planes (batch · channels) of
// H × W elements; a window that reaches beyond the border is as PyTorch has it.

export const poolingParams = {
  planes: 'i32',
  height: 'i32',
  width: 'i32',
  windowHeight: 'i32',
  windowWidth: 'i32',
  stride: 'i32',
  padding: 'i32',
} as const;

export type Pooling = Readonly<Record<keyof typeof poolingParams, number>>;

const pooledSize = (size: number, window: number, p: Pooling): number =>
  Math.floor((size + 2 * p.padding - window) / p.stride) + 1;

export const unpooledShape = (p: Pooling): readonly number[] => [p.planes, p.height, p.width];
export const pooledShape = (p: Pooling): readonly number[] => [
  p.planes,
  pooledSize(p.height, p.windowHeight, p),
  pooledSize(p.width, p.windowWidth, p),
];

const pooledCount = (p: Pooling): number => pooledShape(p).reduce((product, size) => product * size, 1);

export const poolingFlops = (p: Pooling): number => pooledCount(p) * p.windowHeight * p.windowWidth;
export const poolingBytes = (p: Pooling): number => 4 * (p.planes * p.height * p.width + pooledCount(p));

/** Calls `visit` for each window with its element of the output and those of the input inside it, in row-major order. */
export function forEachWindow(p: Pooling, visit: (output: number, inputs: readonly number[]) => void): void {
  const [planes, height, width] = pooledShape(p);
  for (let plane = 0; plane < planes; plane++) {
    for (let i = 0; i < height; i++) {
      for (let j = 0; j < width; j++) {
        const inputs: number[] = [];
        for (let a = 0; a < p.windowHeight; a++) {
          for (let b = 0; b < p.windowWidth; b++) {
            const row = i * p.stride - p.padding + a;
            const column = j * p.stride - p.padding + b;
            if (row < 0 || row >= p.height || column < 0 || column >= p.width) continue;
            inputs.push((plane * p.height + row) * p.width + column);
          }
        }
        visit((plane * height + i) * width + j, inputs);
      }
    }
  }
}

const square = { windowHeight: 2, windowWidth: 2, stride: 2, padding: 0 };

/** Shapes for the parity tests: overlapping and apart, padded, odd, the whole plane, rows left over, large. */
export const poolingCases: readonly Pooling[] = [
  { ...square, planes: 1, height: 1, width: 1, windowHeight: 1, windowWidth: 1, stride: 1 },
  { ...square, planes: 6, height: 8, width: 8 },
  { ...square, planes: 3, height: 7, width: 9 },
  { ...square, planes: 5, height: 24, width: 26 },
  { ...square, planes: 4, height: 11, width: 13, windowHeight: 3, windowWidth: 3, padding: 1 },
  { ...square, planes: 2, height: 9, width: 10, windowHeight: 3, windowWidth: 3, stride: 1, padding: 1 },
  { ...square, planes: 3, height: 10, width: 11, windowHeight: 2, windowWidth: 2, stride: 3 },
  { ...square, planes: 7, height: 5, width: 9, windowHeight: 5, windowWidth: 9, stride: 1 },
  { ...square, planes: 19, height: 8, width: 8, windowHeight: 8, windowWidth: 8, stride: 1 },
  { ...square, planes: 3, height: 17, width: 1, windowHeight: 3, windowWidth: 3, stride: 4, padding: 1 },
  { ...square, planes: 3, height: 7, width: 75 },
  // The first pooling of residual networks: rows of more than a vector, even and odd, with a border and without.
  { ...square, planes: 3, height: 18, width: 64, windowHeight: 3, windowWidth: 3, padding: 1 },
  { ...square, planes: 3, height: 17, width: 51, windowHeight: 3, windowWidth: 3, padding: 1 },
  { ...square, planes: 3, height: 12, width: 36, windowHeight: 3, windowWidth: 3 },
  { ...square, planes: 2, height: 3, width: 17, windowHeight: 3, windowWidth: 3 },
  { ...square, planes: 2, height: 1, width: 40, windowHeight: 3, windowWidth: 3, padding: 1 },
  // More windows than a native kernel holds at once, of several rows and columns; and windows too large for that.
  { ...square, planes: 2, height: 61, width: 53, windowHeight: 3, windowWidth: 3, stride: 1, padding: 1 },
  { ...square, planes: 2, height: 122, width: 103, windowHeight: 5, windowWidth: 3, padding: 1 },
  { ...square, planes: 2, height: 39, width: 41, windowHeight: 36, windowWidth: 35, stride: 3, padding: 3 },
];
