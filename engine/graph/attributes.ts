// The attributes of every op: this list is the vocabulary of graphs. `ops.ts` has to hold a definition for each name.

import type { ActivationName } from '../../kernels/activations.ts';
import type { ElementType } from '../../kernels/contract.ts';
import type { PositionPool } from '../../kernels/pool_positions/kernel.ts';
import type { Cell } from '../../kernels/recurrence-shape.ts';
import type { RegressionLossKind } from '../../kernels/regression_loss/kernel.ts';

/** The rows of a step. `rows` is the number of resident rows, `steps` the capacity of the step tables. */
export interface BatchAttributes {
  readonly batch: number;
  readonly rows: number;
  readonly width: number;
  readonly targets: number;
  readonly steps: number;
}

/** As `BatchAttributes` for images: `augmentation` holds the limits of the kernel gather_images, all 0 = none. */
export interface ImageBatchAttributes {
  readonly batch: number;
  readonly rows: number;
  readonly shape: readonly [channels: number, height: number, width: number];
  readonly targets: number;
  /** Classes to give the targets as shares of; 0 = targets as they are. */
  readonly classes: number;
  readonly steps: number;
  readonly seed: number;
  readonly augmentation: ImageAugmentation;
}

export interface ImageAugmentation {
  readonly flip: number;
  readonly crop: number;
  /** Radians. */
  readonly rotation: number;
  readonly zoom: number;
  readonly brightness: number;
  readonly contrast: number;
  readonly saturation: number;
  readonly cutout: number;
  readonly mixup: number;
}

/** A tensor known outside the graph. */
export interface NamedAttributes {
  readonly name: string;
  readonly shape: readonly number[];
  /** `f32` unless told otherwise. */
  readonly type?: ElementType;
}

export interface DenseAttributes {
  /** Set by fusion: applied to the result before it is stored. */
  readonly activation: ActivationName;
  readonly slope: number;
}

export interface DenseInputGradAttributes {
  /** Set by fusion: the result is multiplied by this activation's derivative, computed from its saved output. */
  readonly derivative: ActivationName;
  readonly slope: number;
}

/** How a convolution moves over its input. */
export interface ConvolutionAttributes {
  readonly stride: number;
  readonly padding: number;
  readonly dilation: number;
  readonly groups: number;
}

export interface ConvolutionInputGradAttributes extends ConvolutionAttributes, DenseAttributes {
  /** Size of the convolution's input: a stride leaves it open. */
  readonly height: number;
  readonly width: number;
  /** Set by fusion: the result is multiplied by this activation's derivative, computed from its saved output. */
  readonly derivative: ActivationName;
}

export interface PoolingAttributes {
  readonly windowHeight: number;
  readonly windowWidth: number;
  readonly stride: number;
  readonly padding: number;
}

export interface ActivationAttributes {
  readonly activation: ActivationName;
  /** Negative slope of leaky_relu. */
  readonly slope: number;
}

export interface DropoutAttributes {
  readonly rate: number;
  /** Seed of the run and number of the layer: together the key of the mask's random numbers. */
  readonly seed: number;
  readonly stream: number;
  readonly steps: number;
  /** The rate is that times the step's share; of single values alone. */
  readonly scheduled: boolean;
}

/** A band of a tensor along one axis. */
export interface BandAttributes {
  readonly axis: number;
  readonly offset: number;
  readonly size: number;
}

/** Axes to sum or to average over. */
export interface AxesAttributes {
  readonly axes: readonly number[];
  /** Leave the axes in the shape, with size 1. */
  readonly keep: boolean;
}

export interface MatmulAttributes {
  /** The last two axes of the operand are exchanged first. */
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  /** The result is multiplied by this. */
  readonly scale: number;
}

export interface EmbeddingAttributes {
  /** Column of the batch matrix that holds the codes. */
  readonly column: number;
}

/** A text among the columns of the batch matrix: `length` codes from `column` on. */
export interface TextAttributes {
  readonly column: number;
  readonly length: number;
}

/** `pairs`: rows of the table stand for a token and the one behind it (kernels/token-codes.ts). */
export interface TokenAttributes extends TextAttributes {
  readonly pairs: boolean;
}

export interface AttentionAttributes {
  readonly heads: number;
  /** Heads of keys and of values: a divisor of `heads`. */
  readonly groups: number;
  /** A position sees none behind itself. */
  readonly causal: boolean;
  /** Factor of the scores. */
  readonly scale: number;
  /** Of the weights. */
  readonly dropout: DropoutAttributes | null;
}

export interface RotaryAttributes {
  /** Heads that are turned, the first of each position, and values of each. */
  readonly heads: number;
  readonly size: number;
  /** Turn back. */
  readonly inverse: boolean;
}

export interface RecurrenceAttributes {
  readonly cell: Cell;
  /** From the last real position to the first. */
  readonly reverse: boolean;
}

/** Windows of sequences, one for each position: it begins `before` positions earlier, its taps lie `dilation` apart. */
export interface WindowAttributes {
  readonly taps: number;
  readonly before: number;
  readonly dilation: number;
}

export interface BatchNormAttributes extends DenseAttributes {
  readonly epsilon: number;
  readonly momentum: number;
  /** Names of the running statistics, updated in place. */
  readonly runningMean: string;
  readonly runningVariance: string;
}

export interface GroupNormAttributes {
  readonly groups: number;
  readonly epsilon: number;
}

export interface LossAttributes {
  /** Also compute the gradient. */
  readonly training: boolean;
  readonly steps: number;
}

export interface CrossEntropyAttributes extends LossAttributes {
  readonly smoothing: number;
}

export interface RegressionLossAttributes extends LossAttributes {
  readonly kind: RegressionLossKind;
  readonly delta: number;
}

type NoAttributes = Readonly<Record<string, never>>;

export interface OpAttributes {
  batch: BatchAttributes;
  batch_images: ImageBatchAttributes;
  parameter: NamedAttributes;
  state: NamedAttributes;
  store_outputs: { readonly steps: number };
  dense: DenseAttributes;
  dense_input_grad: DenseInputGradAttributes;
  dense_weight_grad: { readonly bias: boolean };
  conv2d: ConvolutionAttributes & DenseAttributes;
  conv2d_input_grad: ConvolutionInputGradAttributes;
  conv2d_weight_grad: ConvolutionAttributes & { readonly kernel: number; readonly bias: boolean };
  channel_sum: NoAttributes;
  max_pool: PoolingAttributes;
  max_pool_grad: PoolingAttributes;
  average_pool: PoolingAttributes;
  average_pool_grad: PoolingAttributes & { readonly height: number; readonly width: number };
  upsample: { readonly factor: number };
  upsample_grad: { readonly factor: number };
  activation: ActivationAttributes;
  activation_grad: ActivationAttributes & { readonly fromOutput: boolean };
  add: NoAttributes;
  mul: NoAttributes;
  expand: { readonly shape: readonly number[]; readonly scale: number };
  sum: AxesAttributes;
  mean: AxesAttributes;
  matmul: MatmulAttributes;
  softmax: NoAttributes;
  softmax_grad: NoAttributes;
  dropout: DropoutAttributes;
  dropout_channels: DropoutAttributes;
  reshape: { readonly shape: readonly number[] };
  transpose: { readonly permutation: readonly number[] };
  concat: { readonly axis: number };
  slice: BandAttributes;
  slice_grad: BandAttributes & { readonly shape: readonly number[] };
  gather: { readonly axis: number };
  gather_grad: { readonly axis: number; readonly shape: readonly number[] };
  embedding: EmbeddingAttributes;
  embedding_grad: EmbeddingAttributes & { readonly vocabulary: number };
  text_lengths: TextAttributes;
  token_embedding: TokenAttributes;
  token_embedding_grad: TokenAttributes & { readonly vocabulary: number };
  attention: AttentionAttributes;
  attention_grad: AttentionAttributes;
  recurrence: RecurrenceAttributes;
  recurrence_grad: RecurrenceAttributes;
  unfold: WindowAttributes;
  unfold_grad: WindowAttributes;
  rotary: RotaryAttributes;
  positions_mask: { readonly length: number; readonly inside: number; readonly outside: number };
  pool_positions: { readonly pool: PositionPool };
  pool_positions_grad: { readonly pool: PositionPool; readonly length: number };
  batch_norm: BatchNormAttributes;
  batch_norm_inference: { readonly epsilon: number };
  batch_norm_grad: NoAttributes;
  layer_norm: { readonly epsilon: number };
  layer_norm_grad: NoAttributes;
  rms_norm: { readonly epsilon: number };
  rms_norm_grad: NoAttributes;
  group_norm: GroupNormAttributes;
  group_norm_grad: { readonly groups: number };
  softmax_cross_entropy: CrossEntropyAttributes;
  soft_cross_entropy: CrossEntropyAttributes;
  binary_cross_entropy: CrossEntropyAttributes;
  regression_loss: RegressionLossAttributes;
}

export type OpName = keyof OpAttributes;
export type AttributesOf<K extends OpName> = OpAttributes[K];
