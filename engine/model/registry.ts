// All layers a ModelSpec may name. A new layer: one file in layers/, one line here.

import type { LayerDef } from './layer.ts';
import { activation } from './layers/activation.ts';
import { attention } from './layers/attention.ts';
import { conv1d } from './layers/conv1d.ts';
import { conv2d, convTranspose2d } from './layers/convolution.ts';
import { dense, output } from './layers/dense.ts';
import { dropout, dropout2d } from './layers/dropout.ts';
import { gatedDense } from './layers/gated-dense.ts';
import { add, concat, flatten, reshape } from './layers/joins.ts';
import { memberDense, members } from './layers/members.ts';
import { batchNorm, groupNorm, layerNorm, rmsNorm } from './layers/normalization.ts';
import { numberEmbedding } from './layers/number-embedding.ts';
import { patchEmbedding } from './layers/patches.ts';
import { poolPositions } from './layers/pool-positions.ts';
import { averagePool, globalAveragePool, maxPool, upsample } from './layers/pooling.ts';
import { gru, lstm } from './layers/recurrent.ts';
import { robustScale, scaleColumns } from './layers/scaling.ts';
import { sequence } from './layers/sequence.ts';
import { positionEmbedding, tokenEmbedding } from './layers/tokens.ts';

const definitions: readonly LayerDef[] = [
  dense,
  gatedDense,
  robustScale,
  scaleColumns,
  numberEmbedding,
  members,
  memberDense,
  tokenEmbedding,
  positionEmbedding,
  attention,
  lstm,
  gru,
  conv1d,
  poolPositions,
  sequence,
  patchEmbedding,
  conv2d,
  convTranspose2d,
  maxPool,
  averagePool,
  globalAveragePool,
  upsample,
  activation,
  dropout,
  dropout2d,
  batchNorm,
  layerNorm,
  rmsNorm,
  groupNorm,
  add,
  concat,
  flatten,
  reshape,
  output,
];

export const layers: ReadonlyMap<string, LayerDef> = new Map(definitions.map((def) => [def.type, def]));
