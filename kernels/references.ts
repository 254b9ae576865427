// The float64 oracle of every kernel: the `reference` backend runs on these, the parity tests compare with them.
// A kernel without one does not compile.

import type { Reference } from './contract.ts';
import type { KernelName } from './registry.ts';
import { reference as activation } from './activation/reference.ts';
import { reference as activationGrad } from './activation_grad/reference.ts';
import { reference as adam } from './adam/reference.ts';
import { reference as add } from './add/reference.ts';
import { reference as averagePool } from './average_pool/reference.ts';
import { reference as averagePoolGrad } from './average_pool_grad/reference.ts';
import { reference as batchNorm } from './batch_norm/reference.ts';
import { reference as batchNormGrad } from './batch_norm_grad/reference.ts';
import { reference as batchNormInference } from './batch_norm_inference/reference.ts';
import { reference as binaryCrossEntropy } from './binary_cross_entropy/reference.ts';
import { reference as channelSum } from './channel_sum/reference.ts';
import { reference as columnSum } from './column_sum/reference.ts';
import { reference as conv2d } from './conv2d/reference.ts';
import { reference as conv2dInputGrad } from './conv2d_input_grad/reference.ts';
import { reference as conv2dWeightGrad } from './conv2d_weight_grad/reference.ts';
import { reference as copyColumns } from './copy_columns/reference.ts';
import { reference as denseWeightGrad } from './dense_weight_grad/reference.ts';
import { reference as dropout } from './dropout/reference.ts';
import { reference as dropoutChannels } from './dropout_channels/reference.ts';
import { reference as embedding } from './embedding/reference.ts';
import { reference as embeddingGrad } from './embedding_grad/reference.ts';
import { reference as fill } from './fill/reference.ts';
import { reference as gatherImages } from './gather_images/reference.ts';
import { reference as gatherRows } from './gather_rows/reference.ts';
import { reference as groupNorm } from './group_norm/reference.ts';
import { reference as groupNormGrad } from './group_norm_grad/reference.ts';
import { reference as layerNorm } from './layer_norm/reference.ts';
import { reference as layerNormGrad } from './layer_norm_grad/reference.ts';
import { reference as matmul } from './matmul/reference.ts';
import { reference as maxPool } from './max_pool/reference.ts';
import { reference as maxPoolGrad } from './max_pool_grad/reference.ts';
import { reference as regressionLoss } from './regression_loss/reference.ts';
import { reference as rmsprop } from './rmsprop/reference.ts';
import { reference as sgd } from './sgd/reference.ts';
import { reference as softCrossEntropy } from './soft_cross_entropy/reference.ts';
import { reference as softmaxCrossEntropy } from './softmax_cross_entropy/reference.ts';
import { reference as storeRows } from './store_rows/reference.ts';
import { reference as sumSquares } from './sum_squares/reference.ts';
import { reference as upsample } from './upsample/reference.ts';
import { reference as upsampleGrad } from './upsample_grad/reference.ts';

export const references: Readonly<Record<KernelName, Reference>> = {
  gather_rows: gatherRows,
  matmul,
  dense_weight_grad: denseWeightGrad,
  activation,
  activation_grad: activationGrad,
  add,
  copy_columns: copyColumns,
  dropout,
  batch_norm: batchNorm,
  batch_norm_inference: batchNormInference,
  batch_norm_grad: batchNormGrad,
  layer_norm: layerNorm,
  layer_norm_grad: layerNormGrad,
  embedding,
  embedding_grad: embeddingGrad,
  column_sum: columnSum,
  softmax_cross_entropy: softmaxCrossEntropy,
  binary_cross_entropy: binaryCrossEntropy,
  regression_loss: regressionLoss,
  sum_squares: sumSquares,
  adam,
  sgd,
  rmsprop,
  store_rows: storeRows,
  fill,
  conv2d,
  conv2d_input_grad: conv2dInputGrad,
  conv2d_weight_grad: conv2dWeightGrad,
  channel_sum: channelSum,
  max_pool: maxPool,
  max_pool_grad: maxPoolGrad,
  average_pool: averagePool,
  average_pool_grad: averagePoolGrad,
  upsample,
  upsample_grad: upsampleGrad,
  group_norm: groupNorm,
  group_norm_grad: groupNormGrad,
  dropout_channels: dropoutChannels,
  gather_images: gatherImages,
  soft_cross_entropy: softCrossEntropy,
};
