// Floating point operations of models, counted on paper: a multiplication with its addition is 2 FLOP.

/** Multiply-adds of a product of [rows, inner] by [inner, columns]. */
export const productMultiplyAdds = (rows: number, inner: number, columns: number): number => rows * inner * columns;

/** FLOP of that product. */
export const productFlops = (rows: number, inner: number, columns: number): number =>
  2 * productMultiplyAdds(rows, inner, columns);

/** Parameters of a fully connected net of `sizes` (input first), biases counted. */
export const denseParameters = (sizes: readonly number[]): number =>
  denseWeights(sizes) + sizes.slice(1).reduce((sum, size) => sum + size, 0);

/** Weights of it without biases: what its products multiply by. */
export const denseWeights = (sizes: readonly number[]): number =>
  sizes.slice(1).reduce((sum, size, i) => sum + size * sizes[i], 0);

/**
 * FLOP of one training step of a fully connected net: 2 a weight and row forward, 4 backward. Nobody asks for the gradient of the
 * input, so that the first layer needs 4 in all, unless `inputGradient`.
 */
export function denseTrainingFlops(sizes: readonly number[], batch: number, inputGradient = false): number {
  const saved = inputGradient ? 0 : 2 * sizes[0] * sizes[1] * batch;
  return 6 * denseWeights(sizes) * batch - saved;
}

/** FLOP of training a network of convolutions from those of its forward pass: as much again twice, for inputs and weights. */
export const convolutionTrainingFlops = (forward: number): number => 3 * forward;

export interface TransformerCounts {
  readonly parameters: number;
  readonly layers: number;
  readonly hidden: number;
  readonly sequence: number;
}

/**
 * FLOP of training a transformer for one token: 6 a parameter (8 with full recomputation) and attention's 12·L·h·s.
 * Source: arXiv 2001.08361 and 2104.04473.
 */
export function transformerTrainingFlops(
  { parameters, layers, hidden, sequence }: TransformerCounts,
  recompute = false,
): number {
  return (recompute ? 4 / 3 : 1) * (6 * parameters + 12 * layers * hidden * sequence);
}
