// A linear model: one product in float64, for each category the row of the weights that is its own, and texts as counted words.

import type { InputSpec } from '../../model/spec.ts';
import { readTerms, type Terms } from '../../learners/linear/terms.ts';
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
    const texts = input.texts ?? [];
    let column = input.width - texts.reduce((sum, { length }) => sum + length, 0);
    const terms = readTerms(weights, texts.length) ?? [];
    texts.forEach(({ length }, i) => {
      const codes = onnx.one('Slice', [features, onnx.int64([column]), onnx.int64([column + length]), onnx.int64([1])]);
      column += length;
      const count = terms[i].weights.length;
      if (count > 0) add(scoresOfTerms(onnx, onnx.cast(codes, 'int64'), terms[i], rows(next, count)));
      next += count;
    });
  }
  return onnx.cast(scores, 'float');
}

/** Scores [N,K] of the terms of texts, by codes [N,length] and a row of `weight` [T,K] a term: TF-IDF as terms.ts has it. */
function scoresOfTerms(onnx: OnnxBuilder, codes: ValueName, { words, weights }: Terms, weight: ValueName): ValueName {
  const places = Array.from(weights.keys());
  const [single, paired] = [true, false].map((alone) => places.filter((term) => (words[2 * term + 1] === 0) === alone));
  const counted = onnx.one('TfIdfVectorizer', [codes], {
    mode: { text: 'TF' },
    min_gram_length: { int: 1 },
    max_gram_length: { int: paired.length > 0 ? 2 : 1 },
    max_skip_count: { int: 0 },
    ngram_counts: { ints: paired.length > 0 ? [0, single.length] : [0] },
    ngram_indexes: { ints: [...single, ...paired] },
    pool_int64s: {
      ints: [
        ...single.map((term) => words[2 * term]),
        ...paired.flatMap((term) => [...words.subarray(2 * term, 2 * term + 2)]),
      ],
    },
  });
  // 1 + ln of a count, and 0 of none.
  const counts = onnx.cast(counted, 'double');
  const logarithm = onnx.one('Log', [onnx.one('Max', [counts, onnx.double([1])])]);
  const worth = onnx.one('Add', [logarithm, onnx.one('Min', [counts, onnx.double([1])])]);
  const values = onnx.one('Mul', [worth, onnx.double(weights, [weights.length])]);
  const squares = onnx.one('ReduceSum', [onnx.one('Mul', [values, values]), onnx.int64([1])], { keepdims: { int: 1 } });
  const size = onnx.one('Sqrt', [onnx.one('Max', [squares, onnx.double([1e-300])])]);
  return onnx.one('Div', [onnx.one('MatMul', [values, weight]), size]);
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
