// Transformers of the literature as cost specs: no model of this program, but the same calls a training step of one makes, layer
// by layer, from its published sizes. L layers, h hidden, a heads, s tokens a sequence, V vocabulary, B sequences.

import { sumOf, type CallCost, type CostPhase, type ModelCosts, type WorkKind } from './costs.ts';

export interface TransformerSpec {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly vocabulary: number;
  /** Positions that have an embedding. */
  readonly positions: number;
  /** Scores over the vocabulary for every token (GPT); else a few outputs a sequence, on top of a pooler (BERT). */
  readonly logits: boolean;
}

/** Sizes: arXiv 1810.04805 (BERT), 2005.14165 (GPT-3) and the published GPT-2; parameters as in their released weights. */
export const transformerSpecs = {
  'bert-base': { layers: 12, hidden: 768, heads: 12, vocabulary: 30_522, positions: 512, logits: false },
  'bert-large': { layers: 24, hidden: 1024, heads: 16, vocabulary: 30_522, positions: 512, logits: false },
  gpt2: { layers: 12, hidden: 768, heads: 12, vocabulary: 50_257, positions: 1024, logits: true },
  gpt3: { layers: 96, hidden: 12_288, heads: 96, vocabulary: 50_257, positions: 2048, logits: true },
} as const satisfies Readonly<Record<string, TransformerSpec>>;

/** Weights and biases: L layers of 12h² + 13h, the embeddings, the last norm; BERT's segments, norm and pooler. */
export function transformerParameters({ layers, hidden: h, vocabulary, positions, logits }: TransformerSpec): number {
  const body = layers * (12 * h * h + 13 * h) + (vocabulary + positions) * h + 2 * h;
  return logits ? body : body + 2 * h + h * h + h;
}

/** The costs of a training step of `batch` sequences of `sequence` tokens. */
export function costsOfTransformer(name: string, spec: TransformerSpec, sequence: number, batch: number): ModelCosts {
  const parameters = transformerParameters(spec);
  const { hidden: h, layers, vocabulary, logits } = spec;
  const tokens = batch * sequence;
  const perLayer = Array.from({ length: layers }, (_, l) => layerCalls(`layer ${l + 1}`, spec, sequence, batch)).flat();
  const calls = [
    ...both('embedding', 'gather', 'elementwise', 0, 8 * tokens * h),
    ...perLayer,
    ...(logits
      ? [
          ...product('logits', tokens, h, vocabulary),
          ...both('loss', 'softmax_cross_entropy', 'elementwise', 5 * tokens * vocabulary, 8 * tokens * vocabulary),
        ]
      : product('pooler', batch, h, h)),
    call('update', 'update', 'adam', 'update', 12 * parameters, 28 * parameters),
  ];
  return {
    name,
    batch,
    parameters,
    trained: parameters,
    trainedBytes: 4 * parameters,
    flopsPerExample: sumOf(calls).flops / batch,
    calls,
    activations: Array.from({ length: layers }, (_, l) => ({
      layer: `layer ${l + 1}`,
      values: keptValues(spec, sequence, batch),
      indexBytes: keptMasks(spec, sequence, batch),
    })),
    example: { values: sequence, bytes: 4 },
    transformer: { ...spec, sequence },
  };
}

/**
 * Of s·b·h·(34 + 5·a·s/h) bytes at 16 bits (arXiv 2205.05198) two masks of dropout in the layer and one of the scores are single
 * bytes; the rest are numbers of two.
 */
const keptValues = ({ hidden, heads }: TransformerSpec, s: number, batch: number): number =>
  s * batch * (16 * hidden + 2 * heads * s);
const keptMasks = ({ hidden, heads }: TransformerSpec, s: number, batch: number): number =>
  s * batch * (2 * hidden + heads * s);

/** The same step with attention fused into one kernel: its scores are never written, so softmax and dropout on them move nothing. */
export function withFusedAttention(costs: ModelCosts): ModelCosts {
  if (!costs.transformer) return costs;
  const { hidden, sequence } = costs.transformer;
  const calls = costs.calls
    .filter(({ kernel }) => !/^(softmax|dropout)(_grad)?$/.test(kernel))
    .map((each) => (each.kernel === 'batched_matmul' ? { ...each, bytes: 8 * costs.batch * sequence * hidden } : each));
  return { ...costs, calls };
}

function call(layer: string, phase: CostPhase, kernel: string, kind: WorkKind, flops: number, bytes: number): CallCost {
  return { layer, phase, kernel, kind, flops, bytes };
}

/** A kernel forward and its gradient, which moves twice as much. */
function both(layer: string, kernel: string, kind: WorkKind, flops: number, bytes: number): readonly CallCost[] {
  return [
    call(layer, 'forward', kernel, kind, flops, bytes),
    call(layer, 'backward', `${kernel}_grad`, kind, 2 * flops, 1.5 * bytes),
  ];
}

/** `count` products [rows, inner]·[inner, columns], and those of both gradients. */
function product(layer: string, rows: number, inner: number, columns: number, count = 1): readonly CallCost[] {
  const flops = 2 * rows * inner * columns * count;
  const bytes = 4 * count * (rows * inner + inner * columns + rows * columns);
  const kernel = count > 1 ? 'batched_matmul' : 'matmul';
  return [
    call(layer, 'forward', kernel, 'product', flops, bytes),
    call(layer, 'backward', kernel, 'product', flops, bytes),
    call(layer, 'backward', kernel, 'product', flops, bytes),
  ];
}

function layerCalls(layer: string, { hidden: h, heads }: TransformerSpec, s: number, batch: number) {
  const tokens = batch * s;
  const scores = batch * heads * s * s;
  const small = tokens * h;
  return [
    ...both(layer, 'layer_norm', 'normalisation', 8 * small, 8 * small),
    ...product(layer, tokens, h, 3 * h),
    ...product(layer, s, h / heads, s, batch * heads),
    ...both(layer, 'softmax', 'elementwise', 5 * scores, 8 * scores),
    ...both(layer, 'dropout', 'elementwise', scores, 9 * scores),
    ...product(layer, s, s, h / heads, batch * heads),
    ...product(layer, tokens, h, h),
    ...both(layer, 'dropout_add', 'elementwise', 2 * small, 13 * small),
    ...both(layer, 'layer_norm', 'normalisation', 8 * small, 8 * small),
    ...product(layer, tokens, h, 4 * h),
    ...both(layer, 'activation', 'elementwise', 40 * small, 32 * small),
    ...product(layer, tokens, 4 * h, h),
    ...both(layer, 'dropout_add', 'elementwise', 2 * small, 13 * small),
  ];
}
