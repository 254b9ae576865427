// Every kernel by name. Contracts only, so that graphs and plans can be made without loading any implementation;
// the float64 oracles are in references.ts.

import type { KernelContract } from './contract.ts';
import { kernel as activation } from './activation/kernel.ts';
import { kernel as activationGrad } from './activation_grad/kernel.ts';
import { kernel as adam } from './adam/kernel.ts';
import { kernel as add } from './add/kernel.ts';
import { kernel as averagePool } from './average_pool/kernel.ts';
import { kernel as averagePoolGrad } from './average_pool_grad/kernel.ts';
import { kernel as batchNorm } from './batch_norm/kernel.ts';
import { kernel as batchNormGrad } from './batch_norm_grad/kernel.ts';
import { kernel as batchNormInference } from './batch_norm_inference/kernel.ts';
import { kernel as binaryCrossEntropy } from './binary_cross_entropy/kernel.ts';
import { kernel as channelSum } from './channel_sum/kernel.ts';
import { kernel as columnSum } from './column_sum/kernel.ts';
import { kernel as conv2d } from './conv2d/kernel.ts';
import { kernel as conv2dInputGrad } from './conv2d_input_grad/kernel.ts';
import { kernel as conv2dWeightGrad } from './conv2d_weight_grad/kernel.ts';
import { kernel as copyColumns } from './copy_columns/kernel.ts';
import { kernel as denseWeightGrad } from './dense_weight_grad/kernel.ts';
import { kernel as dropout } from './dropout/kernel.ts';
import { kernel as dropoutChannels } from './dropout_channels/kernel.ts';
import { kernel as embedding } from './embedding/kernel.ts';
import { kernel as embeddingGrad } from './embedding_grad/kernel.ts';
import { kernel as fill } from './fill/kernel.ts';
import { kernel as gatherImages } from './gather_images/kernel.ts';
import { kernel as gatherRows } from './gather_rows/kernel.ts';
import { kernel as groupNorm } from './group_norm/kernel.ts';
import { kernel as groupNormGrad } from './group_norm_grad/kernel.ts';
import { kernel as layerNorm } from './layer_norm/kernel.ts';
import { kernel as layerNormGrad } from './layer_norm_grad/kernel.ts';
import { kernel as matmul } from './matmul/kernel.ts';
import { kernel as maxPool } from './max_pool/kernel.ts';
import { kernel as maxPoolGrad } from './max_pool_grad/kernel.ts';
import { kernel as regressionLoss } from './regression_loss/kernel.ts';
import { kernel as rmsprop } from './rmsprop/kernel.ts';
import { kernel as sgd } from './sgd/kernel.ts';
import { kernel as softCrossEntropy } from './soft_cross_entropy/kernel.ts';
import { kernel as softmaxCrossEntropy } from './softmax_cross_entropy/kernel.ts';
import { kernel as storeRows } from './store_rows/kernel.ts';
import { kernel as sumSquares } from './sum_squares/kernel.ts';
import { kernel as upsample } from './upsample/kernel.ts';
import { kernel as upsampleGrad } from './upsample_grad/kernel.ts';

const contracts = {
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

export type KernelName = keyof typeof contracts;

export const kernels: Readonly<Record<KernelName, KernelContract>> = contracts;
