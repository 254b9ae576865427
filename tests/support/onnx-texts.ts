// Models on texts as ONNX, fed the codes as rows have them: how tokens are made of a text ONNX has no words for.

import { InferenceSession, Tensor } from 'onnxruntime-web/wasm';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { OnnxBuilder } from '../../engine/export/onnx/builder.ts';
import { exportNetwork } from '../../engine/export/onnx/network.ts';
import { encodeModel } from '../../engine/export/onnx/proto.ts';
import type { NetworkModelFile } from '../../engine/learners/network/file.ts';
import { learner as network } from '../../engine/learners/network/learner.ts';
import type { LayerSpec } from '../../engine/model/spec.ts';
import { preNormBlock } from '../../engine/model/text-presets.ts';
import type { Weights } from '../../engine/train/weights.ts';
import { makeTable, type MadeTable } from './table.ts';

const texts = [
  { vocabulary: 9, length: 7 },
  { vocabulary: 5, length: 4 },
];

/** A table of numbers and two texts. */
export const textTable = makeTable({ rows: 12, numeric: 2, classes: 3, texts, split: [1, 0, 0] });

const block = { blocks: 1, width: 8, heads: 4, inner: 6, positions: 0, epsilon: 1e-5, activation: 'gelu' } as const;
const tokens = { type: 'token_embedding', dimensions: 8 };

/** Layers on sequences in every form there is, joined with the numbers. */
export const textLayers: readonly LayerSpec[] = [
  tokens,
  { type: 'position_embedding', id: 'places', most: 9, segments: 2 },
  ...preNormBlock('b', 'places', { ...block, causal: true }),
  { type: 'rms_norm' },
  { type: 'attention', heads: 2, groups: 1, rotary: true, causal: true, dropout: 0.2 },
  { type: 'gated_dense', units: 6 },
  { type: 'conv1d', filters: 6, kernel: 4, dilation: 2 },
  { type: 'conv1d', filters: 5, causal: true },
  { type: 'lstm', units: 5, direction: 'both' },
  { type: 'gru', units: 4, direction: 'both' },
  { type: 'pool_positions', pool: 'last', id: 'last' },
  { ...tokens, id: 'second', text: 2 },
  { type: 'attention', id: 'seen', heads: 4, groups: 2, bias: false },
  { type: 'position_embedding', vectors: 'sinusoidal' },
  { type: 'pool_positions', id: 'mean' },
  { type: 'pool_positions', id: 'first', from: 'seen', pool: 'first' },
  { type: 'pool_positions', id: 'attended', from: 'seen', pool: 'attention' },
  { type: 'sequence', from: 'input', length: 2 },
  { type: 'attention', id: 'steps', heads: 1, causal: true },
  ...['mean', 'last'].map((pool) => ({ type: 'pool_positions', id: `${pool} step`, from: 'steps', pool })),
  { ...tokens, id: 'neighbours', pairs: 7 },
  { type: 'pool_positions', id: 'pairs' },
  { type: 'concat', from: ['last', 'attended', 'mean', 'first', 'pairs', 'mean step', 'last step', 'input'] },
  { type: 'output' },
];

/** Logits by onnxruntime and by the reference. */
export async function compareTexts(
  file: NetworkModelFile,
  weights: Weights,
  { x, data, readShard }: MadeTable = textTable,
): Promise<{ readonly found: ArrayLike<number>; readonly wanted: ArrayLike<number> }> {
  const onnx = new OnnxBuilder();
  const features = onnx.input({ name: 'rows', type: 'float', shape: ['N', data.width], about: '' });
  const raw = exportNetwork(onnx, file, weights, features);
  onnx.output(raw, { name: 'logits', type: 'float', shape: ['N', 3], about: '' });
  const bytes = encodeModel({ name: 'texts', about: '', ...onnx, metadata: {} });
  const session = await InferenceSession.create(bytes);
  const result = await session.run({ rows: new Tensor('float32', x, [x.length / data.width, data.width]) });
  await session.release();
  const rows = { data, readShard, dataBudget: 1e9, backend: async () => createReferenceBackend() };
  const { outputs } = await network.read(file, weights).outputs(rows);
  return { found: result['logits'].data as Float32Array, wanted: outputs };
}
