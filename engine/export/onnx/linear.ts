// A linear model: one product in float64, and for each category the row of the weights that is its own.

import type { InputSpec } from '../../model/spec.ts';
import type { LinearModelFile } from '../../learners/linear/file.ts';
import type { Weights } from '../../train/weights.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';

/** Adds the model; returns its raw outputs [N, K]. `features`: [N,width] or [N,C,H,W]. */
export function exportLinear(
  onnx: OnnxBuilder,
  { input, grid }: LinearModelFile,
  weights: Weights,
  features: ValueName,
): ValueName {
  const { data: weight, shape } = weights['output.weight'];
  const K = shape[1];
  const rows = (from: number, count: number): ValueName =>
    onnx.double(weight.subarray(from * K, (from + count) * K), [count, K]);
  let scores = onnx.double(weights['output.bias'].data, [K]);
  const add = (part: ValueName): void => {
    scores = onnx.one('Add', [part, scores]);
  };
  if (input.kind === 'image') {
    const squares = squareMeans(onnx, input, grid, onnx.cast(features, 'double'));
    add(onnx.one('MatMul', [squares, rows(0, shape[0])]));
  } else if (input.kind === 'table') {
    if (input.numeric > 0) {
      const numbers = onnx.one('Slice', [features, onnx.int64([0]), onnx.int64([input.numeric]), onnx.int64([1])]);
      add(onnx.one('MatMul', [onnx.cast(numbers, 'double'), rows(0, input.numeric)]));
    }
    let next = input.numeric;
    input.embeddings.forEach(({ vocabulary }, i) => {
      const code = onnx.one('Gather', [features, onnx.int64([input.numeric + i], [])], { axis: { int: 1 } });
      add(onnx.one('Gather', [rows(next, vocabulary), onnx.cast(code, 'int64')], { axis: { int: 0 } }));
      next += vocabulary;
    });
  }
  return onnx.cast(scores, 'float');
}

/** [N, C·grid²]: means over squares, as R·X·Sᵀ with a row of R and of S an edge of the grid. */
function squareMeans(
  onnx: OnnxBuilder,
  { channels, height, width }: Extract<InputSpec, { kind: 'image' }>,
  grid: number,
  x: ValueName,
): ValueName {
  const above = onnx.one('MatMul', [onnx.double(means(height, grid), [grid, height]), x]);
  const across = onnx.double(turned(means(width, grid), grid, width), [width, grid]);
  const squares = onnx.one('MatMul', [above, across]);
  return onnx.one('Reshape', [squares, onnx.int64([-1, channels * grid * grid])]);
}

/** [grid, size]: the mean over each of `grid` stretches of a side. */
function means(size: number, grid: number): Float64Array {
  const matrix = new Float64Array(grid * size);
  for (let square = 0; square < grid; square++) {
    const [from, to] = [square, square + 1].map((edge) => Math.floor((edge * size) / grid));
    matrix.fill(1 / (to - from), square * size + from, square * size + to);
  }
  return matrix;
}

function turned(matrix: Float64Array, rows: number, columns: number): Float64Array {
  return Float64Array.from(matrix, (_, at) => matrix[(at % rows) * columns + Math.floor(at / rows)]);
}
