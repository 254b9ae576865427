// How each op of our graphs leaves: a table typed by the list of all ops, so that a new one without an export does not compile.

import type { OpName } from '../../graph/attributes.ts';
import type { OpExports } from './op.ts';
import { elementwiseExports } from './ops/elementwise.ts';
import { imageExports } from './ops/images.ts';
import { sequenceExports } from './ops/sequences.ts';
import { shapeExports } from './ops/shapes.ts';

export const opExports: OpExports<OpName> = {
  ...elementwiseExports,
  ...imageExports,
  ...sequenceExports,
  ...shapeExports,

  batch: ({ features }) => [features],
  batch_images: ({ features }) => [features],
  parameter: ({ attributes: { name }, tensor }) => [tensor(name)],
  state: ({ attributes: { name }, tensor }) => [tensor(name)],
  store_outputs: 'result',

  dense_input_grad: 'training',
  dense_weight_grad: 'training',
  conv2d_weight_grad: 'training',
  channel_sum: 'training',
  max_pool_grad: 'training',
  average_pool_grad: 'training',
  upsample_grad: 'training',
  activation_grad: 'training',
  softmax_grad: 'training',
  dropout: 'training',
  dropout_channels: 'training',
  slice_grad: 'training',
  gather_grad: 'training',
  embedding_grad: 'training',
  token_embedding_grad: 'training',
  attention_grad: 'training',
  recurrence_grad: 'training',
  unfold_grad: 'training',
  pool_positions_grad: 'training',
  batch_norm: 'training',
  batch_norm_grad: 'training',
  layer_norm_grad: 'training',
  rms_norm_grad: 'training',
  group_norm_grad: 'training',
  softmax_cross_entropy: 'training',
  soft_cross_entropy: 'training',
  binary_cross_entropy: 'training',
  regression_loss: 'training',
};
