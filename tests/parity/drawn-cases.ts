// Cases of kernels drawn at random, always the same ones for a seed: one of a contract's own cases is the mould (which operands are absent,
// which flags go together), its sizes are drawn anew, and what hangs on them is put right. Small enough for a reference in float64.

import { activationCodes } from '../../kernels/activations.ts';
import { elementCount, type KernelContract, type Operand, type ParityCase } from '../../kernels/contract.ts';
import { multiplyAdds, weightShape, type Convolution } from '../../kernels/convolution.ts';
import { permuted } from '../../kernels/permute/kernel.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { mostDimensions, sizesAsParams, wholeMask } from '../../kernels/sizes.ts';
import { totalBins } from '../../kernels/tree_histogram/kernel.ts';
import { seededRandom } from './parity.ts';

type Params = Record<string, number>;

/** What cases are drawn by. */
class Draw {
  readonly random: () => number;

  constructor(text: string) {
    this.random = seededRandom(text);
  }

  /** A whole number from `least` to `most`, each alike. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  /** A size from 1 to `most`: small ones as often as large ones, and now and then just about a multiple of a vector. */
  size(most: number): number {
    const drawn = Math.floor(Math.exp(this.random() * Math.log(most + 1)));
    const rounded = drawn > 6 && this.random() < 0.3 ? 8 * Math.round(drawn / 8) + this.whole(-1, 1) : drawn;
    return Math.max(1, Math.min(most, rounded));
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.whole(0, values.length - 1)];
  }
}

/** Largest sizes that are drawn, by the name of the parameter: sums stay as long as the tolerances say. */
const largest: Readonly<Record<string, number>> = {
  ...{ count: 5000, rows: 300, width: 257, batch: 131, classes: 67, targets: 5, planes: 40, outer: 300, inner: 130 },
  ...{ channels: 80, inputs: 140, units: 140, m: 140, n: 270, k: 600, height: 40, size: 100, chunks: 64 },
  ...{ vocabulary: 100, codesWidth: 7, leaves: 40, slots: 5 },
};

/** Seeds and streams are any words. */
const anyWord = (draw: Draw): number => draw.whole(-(2 ** 31), 2 ** 31 - 1);

function pooling(p: Params, draw: Draw): void {
  [p.height, p.width] = [draw.size(40), draw.size(40)];
  [p.windowHeight, p.windowWidth] = [draw.whole(1, 5), draw.whole(1, 5)];
  p.stride = draw.whole(1, 4);
  p.padding = draw.whole(0, Math.min(p.windowHeight, p.windowWidth) >> 1);
  if (draw.random() < 0.2) Object.assign(p, { windowHeight: p.height, windowWidth: p.width, padding: 0 });
}

function convolution(p: Params, draw: Draw): void {
  [p.batch, p.height, p.width] = [draw.size(20), draw.size(34), draw.size(34)];
  [p.channels, p.filters] = [draw.size(80), draw.size(80)];
  const plain = { kernel: 3, stride: 1, dilation: 1, groups: 1, padding: draw.whole(0, 2) };
  // Three of ten are as Winograd's transforms take them, with channels enough.
  const kind = draw.random();
  if (kind < 0.3) {
    Object.assign(p, plain, { channels: draw.whole(12, 80), filters: draw.whole(12, 80) });
    return;
  }
  p.kernel = draw.oneOf([1, 1, 2, 3, 3, 3, 4, 5, 7, 11]);
  [p.stride, p.dilation] = [draw.oneOf([1, 1, 2, 2, 3, 4]), draw.oneOf([1, 1, 1, 2, 3])];
  p.padding = draw.whole(0, p.kernel * p.dilation);
  p.groups = kind < 0.7 ? 1 : draw.size(12);
  [p.channels, p.filters] = [p.channels, p.filters].map((size) => p.groups * Math.ceil(size / p.groups));
  if (kind > 0.9) p.channels = p.groups = p.filters;
}

/** Groups of one element have a deviation of 0, those of few one near it: then rounding decides. */
const fewElements = 16;

/** Six sizes of tensors of any rank, few of them above 1. */
const anySizes = (draw: Draw): readonly number[] =>
  Array.from({ length: mostDimensions }, () => (draw.random() < 0.5 ? 1 : draw.size(draw.random() < 0.3 ? 70 : 7)));

const optimizer = (p: Params, draw: Draw): void => void (p.decayCount = p.decayCount > 0 ? draw.whole(0, p.count) : 0);
const trees = (p: Params, draw: Draw): void => {
  p.width = draw.size(19);
  if ('total' in p) p.total = totalBins(p.width);
  if ('slots' in p) p.slots = draw.whole(2, 3);
};
const rowsOfTrees = (p: Params, draw: Draw): void => {
  p.rows = draw.size(9000);
  if ('width' in p) p.width = draw.size(12);
};
const losses = (p: Params, draw: Draw): void => {
  p.rows = draw.size(5000);
  if (p.outputs > 1) p.outputs = p.classes = draw.whole(2, 9);
};
const normalised = (p: Params, draw: Draw): void => {
  p.outer = draw.size(40);
  p.inner = draw.size(Math.floor(600 / p.outer));
};

const { log, relu } = activationCodes;

/** What else is drawn, or hangs on what was. */
const redrawn: Partial<Record<KernelName, (p: Params, draw: Draw) => void>> = {
  adam: optimizer,
  rmsprop: optimizer,
  sgd: optimizer,
  average_pool: pooling,
  average_pool_grad: pooling,
  max_pool: pooling,
  max_pool_grad: pooling,
  conv2d: convolution,
  conv2d_input_grad: convolution,
  conv2d_weight_grad: convolution,
  batch_norm: normalised,
  batch_norm_grad: normalised,
  channel_sum: normalised,
  group_norm: grouped,
  group_norm_grad: grouped,
  broadcast_binary: (p, draw) =>
    Object.assign(p, sizesAsParams(anySizes(draw)), {
      a: draw.whole(0, wholeMask),
      b: draw.random() < 0.3 ? wholeMask : draw.whole(0, wholeMask),
    }),
  reduce: (p, draw) => Object.assign(p, sizesAsParams(anySizes(draw)), { kept: draw.whole(0, wholeMask) }),
  permute: (p, draw) => {
    const order = Array.from({ length: mostDimensions }, (_, k) => ({ k, by: draw.random() }));
    const drawn = order.sort((a, b) => a.by - b.by).map(({ k }) => k);
    Object.assign(p, permuted(anySizes(draw), drawn).params);
  },
  batched_matmul: (p, draw) => {
    for (const name of ['b0', 'b1', 'b2', 'b3']) p[name] = draw.whole(1, 4);
    [p.a, p.b] = [draw.whole(0, 15), draw.whole(0, 15)];
    [p.transposeA, p.transposeB] = [draw.whole(0, 1), draw.whole(0, 1)];
    if (draw.random() < 0.7) [p.m, p.n, p.k] = [draw.size(40), draw.size(40), draw.size(40)];
  },
  matmul: (p, draw) => {
    if (p.gradient === 0) [p.transposeA, p.transposeB] = [draw.whole(0, 1), draw.whole(0, 1)];
  },
  dense_weight_grad: (p, draw) => void (p.batch = draw.size(300)),
  copy_columns: (p, draw) => {
    p.columns = draw.size(70);
    [p.sourceOffset, p.targetOffset] = [draw.whole(0, 9), draw.whole(0, 9)];
    p.sourceWidth = p.sourceOffset + p.columns + draw.whole(0, 5);
    p.targetWidth = p.targetOffset + p.columns + draw.whole(0, 5);
  },
  embedding: coded,
  embedding_grad: coded,
  token_embedding: tokens,
  token_embedding_grad: tokens,
  text_lengths: tokens,
  gather: gathered,
  gather_grad: gathered,
  gather_images: (p, draw) => {
    p.rows = draw.size(30);
    p.batch = draw.size(20);
    // Images are larger than what is cut out of them and than what they are shifted by.
    [p.height, p.width] = [draw.whole(5, 20), draw.whole(5, 20)];
    p.channels = draw.oneOf([1, 3]);
    p.targets = p.targets > 0 ? draw.whole(1, 3) : 0;
    if (p.classes > 0) Object.assign(p, { classes: draw.whole(2, 9), targets: 1 });
  },
  gather_rows: (p, draw) => void (p.targets = p.targets > 0 ? draw.whole(1, 5) : 0),
  upsample: scaled,
  upsample_grad: scaled,
  tree_bins: rowsOfTrees,
  tree_grid: rowsOfTrees,
  tree_move: rowsOfTrees,
  tree_partition: rowsOfTrees,
  tree_gradients: losses,
  tree_loss: losses,
  tree_histogram: (p, draw) => (rowsOfTrees(p, draw), trees(p, draw)),
  tree_split: trees,
  tree_scores: (p, draw) => Object.assign(p, { rows: draw.size(5000), outputs: draw.whole(1, 4) }),
  tree_sort: (p, draw) => Object.assign(p, { rows: draw.size(5000), columns: draw.size(8) }),
  tree_forest: (p, draw) => {
    p.rows = draw.size(700);
    p.width = draw.size(10);
    if (p.outputs > 1) p.outputs = draw.whole(2, 6);
    p.capacity = p.sets = p.room = p.rows;
  },
  tree_predict: (p, draw) => {
    p.rows = draw.size(1500);
    p.outputs = draw.whole(1, 4);
    p.nodes = draw.size(40);
    const chains = Math.ceil(p.nodes / 3);
    [p.trees, p.leaves] = [chains + draw.whole(0, 1), 4 * chains];
  },
};

function grouped(p: Params, draw: Draw): void {
  p.groups = draw.whole(1, 6);
  p.channels = p.groups * draw.whole(1, 6);
  p.batch = draw.size(20);
  p.inner = draw.size(Math.floor((600 * p.groups) / p.channels));
}

function coded(p: Params, draw: Draw): void {
  p.batch = draw.size(67);
  p.width = draw.size(40);
  p.codesColumn = draw.whole(0, p.codesWidth - 1);
}

/** Tokens stand in columns of their own, as many as the longest text has. */
function tokens(p: Params, draw: Draw): void {
  [p.batch, p.length, p.codesColumn] = [draw.size(20), draw.size(150), draw.whole(0, 3)];
  p.codesWidth = p.codesColumn + p.length + draw.whole(0, 2);
}

function gathered(p: Params, draw: Draw): void {
  [p.outer, p.inner, p.count] = [draw.size(20), draw.size(20), draw.size(67)];
}

function scaled(p: Params, draw: Draw): void {
  [p.width, p.height, p.factor] = [draw.size(30), draw.size(30), draw.whole(1, 3)];
}

/** Elements of a normalised group, of kernels that divide by its deviation; null: it divides by none. */
function elementsOfGroup(name: KernelName, p: Params): number | null {
  if (name.startsWith('batch_norm') && name !== 'batch_norm_inference') return p.outer * p.inner;
  if (name.startsWith('layer_norm')) return p.width;
  return name.startsWith('group_norm') ? (p.channels / p.groups) * p.inner : null;
}

/** Numbers that a case may hold, and its operations, so that ten thousand references take minutes. */
const [mostElements, mostFlops] = [400_000, 4e6];
const mostReduced = 1500;
/** Products of one sum of a convolution: float32 rounds each addition. */
const mostProducts = 3000;

/** Products of a sum, of kernels that multiply matrices; null: of others. */
export function productsOfSum(name: KernelName, p: Params): number | null {
  if (name === 'matmul' || name === 'batched_matmul') return p.k;
  if (name === 'dense_weight_grad') return p.batch;
  if (name === 'conv2d') return (p.channels / p.groups) * p.kernel ** 2;
  if (name === 'conv2d_input_grad') return (p.filters / p.groups) * p.kernel ** 2;
  return name === 'conv2d_weight_grad'
    ? multiplyAdds(p as Convolution) / elementCount(weightShape(p as Convolution))
    : null;
}

function isFit(name: KernelName, contract: KernelContract, p: Params, absent: readonly string[]): boolean {
  const operands = [...contract.inputs, ...contract.outputs];
  const missing = (operand: Operand): boolean => absent.includes(operand.name);
  if (operands.some((operand) => !missing(operand) && operand.shape(p).some((size) => size < 1))) return false;
  if (contract.problem?.(p) || contract.cpuProblem?.(p)) return false;
  if (operands.reduce((sum, { shape }) => sum + elementCount(shape(p)), 0) > mostElements) return false;
  if (!name.startsWith('tree_') && contract.cost(p).flops > mostFlops) return false;
  if ((productsOfSum(name, p) ?? 0) > mostProducts) return false;
  const own = elementsOfGroup(name, p);
  if (own !== null && own > 1 && own < fewElements) return false;
  if (name === 'reduce')
    return elementCount(contract.inputs[0].shape(p)) <= mostReduced * elementCount(contract.outputs[0].shape(p));
  return true;
}

/** A case of a kernel. */
function drawCase(name: KernelName, draw: Draw): ParityCase {
  const contract: KernelContract = kernels[name];
  for (;;) {
    const mould = draw.oneOf(contract.cases);
    const params: Params = { ...mould.params };
    for (const parameter of Object.keys(params)) {
      if (parameter in largest) params[parameter] = draw.size(largest[parameter]);
      if (parameter === 'seed' || parameter === 'stream') params[parameter] = anyWord(draw);
    }
    // Step tables are longer than the step that is run, as they are in training.
    const steps = 'steps' in params ? { step: draw.whole(0, 2) } : {};
    if ('steps' in params) params.steps = steps.step! + draw.whole(1, 2);
    redrawn[name]?.(params, draw);
    // The logarithm has no steepest place: near 0 it enlarges the error of a sum without bound.
    const sum = productsOfSum(name, params) ?? 0;
    if (params.activation === log && !params.gradient && sum > 1) params.activation = relu;
    if (isFit(name, contract, params, mould.absent ?? [])) return { ...mould, params, ...steps };
  }
}

/** Kernels of many shapes and much of a step: they get so many times as many. */
const weights: Partial<Record<KernelName, number>> = {
  matmul: 5,
  dense_weight_grad: 4,
  batched_matmul: 3,
  conv2d: 5,
  conv2d_input_grad: 5,
  conv2d_weight_grad: 5,
  batch_norm: 2,
  batch_norm_grad: 2,
  tree_histogram: 2,
  tree_forest: 2,
};

/** At least `shapes` cases over all kernels, those with many ways through them more often; `seed` says which. */
export function drawCases(
  names: readonly KernelName[],
  shapes: number,
  seed: number,
): ReadonlyMap<KernelName, readonly ParityCase[]> {
  const weightOf = (name: KernelName): number => weights[name] ?? 1;
  const all = names.reduce((sum, name) => sum + weightOf(name), 0);
  return new Map(
    names.map((name) => {
      const draw = new Draw(`${seed} ${name}`);
      const count = Math.ceil((shapes * weightOf(name)) / all);
      return [name, Array.from({ length: count }, () => drawCase(name, draw))];
    }),
  );
}
