// How the kernels of the CPU go about a call, as far as it decides how long they take: registers filled with rows and columns that
// are dropped again, tiles that have to be started, weights gathered anew for every image. Shapes and sizes are those of the
// kernels (engine/backends/cpu/native); the few numbers of cost are round ones, from timing single calls of the benchmark
// workloads and the presets on one thread of a processor with AVX-512 (docs/hardware.md).

import { activationCodes } from '../../../kernels/activations.ts';
import { outputShape, type Convolution } from '../../../kernels/convolution.ts';
import type { KernelName } from '../../../kernels/registry.ts';
import type { Call } from '../../plan/plan.ts';
import type { CpuWork, WorkKind } from './costs.ts';

/** Elements of a vector of the kernels, at most; rows of a tile of a product. */
const [lanes, tileRows] = [16, 6];
const wholeVectors = (count: number): number => lanes * Math.ceil(count / lanes);

/** Starting a tile takes as long as so many more steps of the sum along its depth; less where there is one tap. */
const [tileStart, pointStart] = [32, 16];
/** A product of this edge stands in the caches and fills the registers: what a convolution does between its starts. */
const fullEdge = 256;

/** Undefined: its operands and operations say enough. */
export function cpuWork({ kernel, params }: Call, kind: WorkKind, flops: number, bytes: number): CpuWork | undefined {
  if (kind === 'product') return product(kernel, params, flops);
  if (kind === 'depthwise') return depthwise(kernel, params as Convolution, bytes);
  if (kind === 'convolution') {
    const of = params as Convolution;
    if (goesByTransforms(of)) return transformed(kernel, of);
    return (kernel === 'conv2d_weight_grad' ? weightGradient : imageByImage)(kernel, of, flops);
  }
  const streamed =
    kind === 'pooling'
      ? poolBytes(kernel, params)
      : kind === 'normalisation'
        ? normBytes(params)
        : (timesCopied(kernel, params) - 1) * bytes + (kernel in rowBytes ? rowsBytes(kernel, params) : 0);
  return streamed > 0 ? { flops: 0, edge: 1, streamed, from: bytes } : undefined;
}

/** Beginning a plane of a norm; one whose mean is taken, one that is halved. All of these as bytes that a copy within a cache moves meanwhile. */
const [normPlane, meanPlane, halvedPlane] = [300, 300, 5600];
/** Of other windows: beginning a plane and a row of results, and an element under a window; how many times as long gradients take. */
const [windowPlane, windowRow, windowElement] = [7200, 880, 6];
const windowGradient = { max: 2.5, average: 1.35 } as const;

/** What pooling takes beyond going through its operands. */
function poolBytes(kernel: string, params: Call['params']): number {
  const { planes, height, width, windowHeight, windowWidth, stride, padding = 0 } = params;
  const kind = kernel.startsWith('max') ? 'max' : 'average';
  const [rows, columns] = [height - windowHeight, width - windowWidth].map((size) =>
    Math.floor((size + 2 * padding) / stride + 1),
  );
  if (kind === 'average' && rows * columns === 1 && padding === 0) return planes * meanPlane;
  if (kind === 'max' && windowHeight === 2 && windowWidth === 2 && stride === 2 && padding === 0)
    return planes * halvedPlane;
  const elements = rows * columns * stride ** 2 * windowHeight * windowWidth;
  const times = kernel.endsWith('grad') ? windowGradient[kind] : 1;
  return times * planes * (windowPlane + windowRow * rows + windowElement * elements);
}

const normBytes = ({ outer, channels, inner }: Call['params']): number =>
  inner === undefined || channels === undefined ? 0 : outer * channels * normPlane;

/** Kernels that compute far more than they move: as many times longer than copying as much within a cache. */
const busy: Readonly<Partial<Record<KernelName, number>>> = {
  dropout: 6,
  dropout_channels: 6,
  gather_rows: 3,
  gather_images: 40,
  softmax_cross_entropy: 60,
  soft_cross_entropy: 60,
  binary_cross_entropy: 60,
  column_sum: 8,
};
/** Beginning a row of a kernel that goes row by row: as bytes that a copy within a cache moves meanwhile. */
const rowBytes: Readonly<Partial<Record<KernelName, number>>> = {
  broadcast_binary: 2000,
  reduce: 950,
  permute: 1300,
  copy_columns: 450,
};
/** Products of a batch run as WebAssembly alone. */
const batchedTimes = 2.3;
/** Activations that are more than a comparison and a product. */
const busyActivation = 5;

function timesCopied(kernel: string, { activation = 0 }: Call['params']): number {
  if (kernel === 'activation' || kernel === 'activation_grad')
    return activation > activationCodes.leaky_relu && activation !== activationCodes.relu6 ? busyActivation : 1;
  return busy[kernel as KernelName] ?? 1;
}

/** What going through rows takes beyond their elements. */
function rowsBytes(kernel: string, { rows, d0, d1, d2, d3, d4 }: Call['params']): number {
  return (rowBytes[kernel as KernelName] ?? 0) * (d0 === undefined ? rows : d0 * d1 * d2 * d3 * d4);
}

/** Of an attention's products: length × length × size, and length × size × length. */
const harmonic = (length: number, size: number): number => 3 / (2 / length + 1 / wholeVectors(size));

/** Columns come in whole vectors; few rows cost nothing but where the right-hand matrix has to be transposed for them. */
function product(kernel: string, params: Call['params'], flops: number): CpuWork {
  if ('heads' in params) return { flops, edge: harmonic(params.length, params.size), streamed: 0, from: 0 };
  const { m = params.inputs, n = params.units, k = params.batch } = params;
  const columns = wholeVectors(n);
  const rows = kernel === 'dense_weight_grad' || params.transposeB === 1 || m >= tileRows ? m : Infinity;
  const slower = kernel === 'batched_matmul' ? batchedTimes : 1;
  return { flops: flops * slower * (columns / n), edge: 3 / (1 / rows + 1 / columns + 1 / k), streamed: 0, from: 0 };
}

/** Small images share a band of so many positions (conv.h: images_together). */
const sharedPositions = 256;

/** How a grid is computed: images that share a band, and positions of an image, rows between borders of `reach` in whole vectors. */
function bandOf(batch: number, rows: number, columns: number, reach: number): { together: number; positions: number } {
  const [row, image] = [columns + reach, (rows + reach) * (columns + reach)];
  const together = Math.min(batch, Math.max(1, Math.floor(sharedPositions / image)));
  return { together, positions: wholeVectors((together - 1) * image + (rows - 1) * row + columns) / together };
}

/** The time to start a piece of gathered weights, and to gather one weight: as bytes that a copy within a cache moves meanwhile. */
const [pieceBytes, gatherBytes] = [1100, 48];
/** A result that is put between those of the other phases of a stride, likewise; results of a gradient, that are finished one by one. */
const [scatterBytes, gradientTimes] = [500, 1.2];
/** Weights that are packed once a call, at most: of one tap, which are copied fast anyway, and of several (conv.h: prepare_filters). */
const [mostOfOneTap, mostPacked] = [2 ** 17, 640 * 1024];

/**
 * Forwards and for the gradient of the input: a product a band, filters · channels and taps · positions. The gradient takes the
 * weights in another order: those that are too many to be packed once are copied for every band anew where there is one tap, else gathered, a
 * piece for each filter and tile of channels; a stride divides its positions and taps into phases.
 */
function imageByImage(kernel: string, of: Convolution, flops: number): CpuWork {
  const [batch, filters, height, width] = outputShape(of);
  const { groups, channels, kernel: side, stride, dilation } = of;
  const weights = (filters * channels * side ** 2) / groups;
  const forward = kernel === 'conv2d';
  const phases = forward ? 1 : Math.min(stride, side) ** 2;
  const [rows, columns] = forward ? [height, width] : [of.height, of.width].map((size) => Math.ceil(size / stride));
  const reach = (dilation * (side - 1)) / stride;
  const depth = ((forward ? channels : filters) * side ** 2) / groups / phases;
  const inOrder = forward || weights / groups <= (side === 1 ? mostOfOneTap : mostPacked);
  const pieces = (filters * channels) / groups / tileRows;
  const { together, positions } = bandOf(batch, rows, columns, Math.ceil(reach));
  const gathered = side === 1 ? 8 * weights : phases * pieces * pieceBytes + gatherBytes * weights;
  return {
    flops:
      (flops * (forward ? 1 : gradientTimes) * positions * (1 + (side === 1 ? pointStart : tileStart) / depth)) /
      (height * width),
    edge: fullEdge,
    streamed:
      Math.ceil(batch / together) * (inOrder ? 4 * weights : gathered) +
      (phases > 1 ? scatterBytes * batch * channels * of.height * of.width : 0),
    from: 4 * weights,
    pieces: batch,
  };
}

/** Winograd's tiles: results along a side, and elements; fewest channels, results and products that they pay for; a block of weights. */
const [tileResults, tileElements, leastChannels, leastProducts, weightBlock] = [4, 36, 12, 2 ** 21, 64];
/** The transforms of an element of an image and of its results, and of a weight, as so many operations of a product. */
const [elementOperations, weightOperations] = [85, 400];

const tilesOf = ([, , height, width]: readonly number[]): number =>
  Math.ceil(height / tileResults) * Math.ceil(width / tileResults);

/** Whether the native kernels take Winograd's transforms (conv_winograd.h: winograd_pays). */
function goesByTransforms(of: Convolution): boolean {
  const { kernel, stride, dilation, groups, padding, channels, filters } = of;
  const results = outputShape(of);
  const size = results[2] * results[3];
  return (
    kernel === 3 &&
    stride === 1 &&
    dilation === 1 &&
    groups === 1 &&
    padding <= 2 &&
    of.width <= 256 &&
    Math.min(size, of.height * of.width) >= lanes &&
    Math.min(channels, filters) >= leastChannels &&
    2 * size >= tilesOf(results) * tileResults ** 2 &&
    9 * of.batch * channels * filters * size >= leastProducts
  );
}

/** Whether it does so by blocks of weights, which takes all of the memory for tiles. */
export const blocksOfWeights = ({ kernel, params }: Call): boolean =>
  kernel.startsWith('conv2d') &&
  goesByTransforms(params as Convolution) &&
  params.channels * wholeVectors(params.filters) > weightBlock ** 2;

/** Products at each element of a tile, and the transforms on the way there and back. */
function transformed(kernel: string, of: Convolution): CpuWork {
  const { batch, channels, filters } = of;
  const tiles = batch * tilesOf(outputShape(of));
  const transforms = elementOperations * tiles * tileResults ** 2 * (channels + filters);
  const flops = 2 * tileElements * tiles * channels * filters + transforms + weightOperations * channels * filters;
  return { flops, edge: fullEdge, streamed: 0, from: 0, ...(kernel === 'conv2d_weight_grad' ? {} : { pieces: batch }) };
}

/** Spreading the rows of the gradient, for every block of weights anew, takes as long as so many more of their rows; with one tap they are packed. */
const [spreadRows, packedRows] = [60, 16];
/** Positions that 1 × 1 sums at once, from image to image (conv_points.h). */
const pointDepth = 256;

/** A product of channels and taps · filters that sums over the positions of each band, and starts its tiles for each. */
function weightGradient(_: string, of: Convolution, flops: number): CpuWork {
  const [, filters, height, width] = outputShape(of);
  const [columns, rows] = [filters / of.groups, (of.channels / of.groups) * of.kernel ** 2];
  const { together } = bandOf(of.batch, height, width, Math.ceil((of.dilation * (of.kernel - 1)) / of.stride));
  const isPoint = of.kernel === 1 && of.stride === 1 && of.padding === 0 && of.groups === 1;
  const depth = isPoint ? Math.min(pointDepth, of.batch * height * width) : together * height * width;
  const tiles = isPoint ? (tileRows * Math.ceil(rows / tileRows)) / rows : 1;
  const spread = tiles * (1 + (isPoint ? packedRows : spreadRows) / rows);
  const starts = (1 + tileStart / depth) * spread;
  return { flops: flops * (wholeVectors(columns) / columns) * starts, edge: fullEdge, streamed: 0, from: 0 };
}

/** Of 3 × 3, as operations of a product: a row of a strip of a plane, for the gradient of the weights too, and beginning a plane. */
const [stripRow, stripSums, stripPlane] = [420, 650, 900];
/** Of other kernels: beginning a row of a plane, and a plane, takes as long as so many of its elements. */
const [rowStart, planeStart] = [18, 114];
/** An element under a tap of those, as operations of a product; where a stride gathers what a row of results reads. */
const [tapOperations, stridedTap] = [6, 8];

/** The gradient of the weights reads planes of many images in turns: of more bytes than this, so many times as long as a copy. */
const [nearBytes, farTimes] = [2 ** 20, 4];

/** A depthwise convolution goes plane by plane, each so small that its rows and its beginning count as much as its elements. */
function depthwise(kernel: string, of: Convolution, bytes: number): CpuWork {
  const { stride } = of;
  const [batch, filters, outRows, outColumns] = outputShape(of);
  const taking = (operations: number): CpuWork => {
    return { flops: batch * filters * operations, edge: fullEdge, streamed: 0, from: bytes };
  };
  const toInput = kernel === 'conv2d_input_grad';
  const toWeights = kernel === 'conv2d_weight_grad';
  if (goesByPlanes(of)) {
    const strips = toInput ? of.height * wholeVectors(of.width) : stride * outRows * wholeVectors(outColumns);
    const planes = taking(((toWeights ? stripSums : stripRow) * strips) / lanes + stripPlane);
    return toWeights && bytes > nearBytes ? { ...planes, streamed: farTimes * bytes } : planes;
  }
  const phases = toInput ? stride ** 2 : 1;
  const [rows, columns] = toInput
    ? [of.height, of.width].map((size) => Math.ceil(size / stride))
    : [outRows, outColumns];
  const tap = stride > 1 && !toInput ? stridedTap : tapOperations;
  const planes = taking(tap * of.kernel ** 2 * phases * (rows * columns + rowStart * rows + planeStart));
  return toWeights ? planes : { ...planes, pieces: batch };
}

/** As `goes_by_planes` of the kernels chooses: one filter of 3 × 3 a channel. */
const goesByPlanes = ({ kernel, stride, dilation, padding, channels, filters, groups }: Convolution): boolean =>
  kernel === 3 && stride <= 2 && dilation === 1 && padding <= 2 && groups === channels && groups === filters;
