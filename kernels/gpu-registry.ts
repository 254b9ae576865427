// The WGSL of every kernel by name: what the WebGPU backend loads. A kernel without one does not compile.

import type { GpuKernel } from './gpu-contract.ts';
import type { KernelName } from './registry.ts';
import { gpu as activation } from './activation/gpu.ts';
import { gpu as activationGrad } from './activation_grad/gpu.ts';
import { gpu as adam } from './adam/gpu.ts';
import { gpu as add } from './add/gpu.ts';
import { gpu as averagePool } from './average_pool/gpu.ts';
import { gpu as averagePoolGrad } from './average_pool_grad/gpu.ts';
import { gpu as batchNorm } from './batch_norm/gpu.ts';
import { gpu as batchNormGrad } from './batch_norm_grad/gpu.ts';
import { gpu as batchNormInference } from './batch_norm_inference/gpu.ts';
import { gpu as binaryCrossEntropy } from './binary_cross_entropy/gpu.ts';
import { gpu as channelSum } from './channel_sum/gpu.ts';
import { gpu as columnSum } from './column_sum/gpu.ts';
import { gpu as conv2d } from './conv2d/gpu.ts';
import { gpu as conv2dInputGrad } from './conv2d_input_grad/gpu.ts';
import { gpu as conv2dWeightGrad } from './conv2d_weight_grad/gpu.ts';
import { gpu as copyColumns } from './copy_columns/gpu.ts';
import { gpu as denseWeightGrad } from './dense_weight_grad/gpu.ts';
import { gpu as dropout } from './dropout/gpu.ts';
import { gpu as dropoutChannels } from './dropout_channels/gpu.ts';
import { gpu as embedding } from './embedding/gpu.ts';
import { gpu as embeddingGrad } from './embedding_grad/gpu.ts';
import { gpu as fill } from './fill/gpu.ts';
import { gpu as gatherImages } from './gather_images/gpu.ts';
import { gpu as gatherRows } from './gather_rows/gpu.ts';
import { gpu as groupNorm } from './group_norm/gpu.ts';
import { gpu as groupNormGrad } from './group_norm_grad/gpu.ts';
import { gpu as layerNorm } from './layer_norm/gpu.ts';
import { gpu as layerNormGrad } from './layer_norm_grad/gpu.ts';
import { gpu as matmul } from './matmul/gpu.ts';
import { gpu as maxPool } from './max_pool/gpu.ts';
import { gpu as maxPoolGrad } from './max_pool_grad/gpu.ts';
import { gpu as regressionLoss } from './regression_loss/gpu.ts';
import { gpu as rmsprop } from './rmsprop/gpu.ts';
import { gpu as sgd } from './sgd/gpu.ts';
import { gpu as softCrossEntropy } from './soft_cross_entropy/gpu.ts';
import { gpu as softmaxCrossEntropy } from './softmax_cross_entropy/gpu.ts';
import { gpu as storeRows } from './store_rows/gpu.ts';
import { gpu as sumSquares } from './sum_squares/gpu.ts';
import { gpu as upsample } from './upsample/gpu.ts';
import { gpu as upsampleGrad } from './upsample_grad/gpu.ts';

export const gpuKernels: Readonly<Record<KernelName, GpuKernel>> = {
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
