// The tensors that graphs, plans and whoever trains know by name. Besides these a plan has the model's own, by their layer path
// (`0.weight`, `1.running_mean`).

import type { ElementType } from '../../kernels/contract.ts';

/**
 * `data.x` [rows,width] (u8 for images), `data.y` [rows,targets]: the resident rows; `data.normalization` [channels,2]: mean
 * and deviation of images in 0 … 1, which the host writes once;
 * `step.indices` u32 [stepCapacity·largest batch]: row numbers (`step.indices@7`: of programs that take 7 rows, where a plan
 * needs a table for them); `step.shares` [stepCapacity,2]: how a part of a batch adds to the gradient; `step.join` [1,2]: how the sum of another device does, which lies in `gradients.of@1` and so on; `step.scalars` [stepCapacity,4]; `step.counters` u32 [stepCapacity];
 * `ring.loss` [stepCapacity]; `ring.outputs` [outputRows,outputs]: the model's outputs of a predict submit, step after step;
 * `parameters`, `gradients`, `gradients.sum` (of the parts of a batch) and the states of the optimizer: all parameters in one slot each, of the same layout;
 * `parameters.half`: the parameters once more in 16 bits, of the same layout, which the update writes beside them and products read;
 * `loss.weights`: weights of the classes in the loss; `loss.scale` [1]: what the loss's gradient is multiplied by where gradients are stored in 16 bits, `optimizer.scaling` [5]: what is
 * known of it (kernels/loss_scale). Where parameters have learning rates of their own, `parameters@1` is the band of
 * those with the second factor, and so are gradients and states; `step.scalars@1` the table of their steps.
 */
export const reservedTensors = [
  'data.x',
  'data.y',
  'data.normalization',
  'step.indices',
  'step.shares',
  'step.join',
  'step.scalars',
  'step.counters',
  'ring.loss',
  'ring.outputs',
  'parameters',
  'parameters.half',
  'gradients',
  'gradients.sum',
  'optimizer.mean',
  'optimizer.variance',
  'optimizer.square',
  'optimizer.velocity',
  'optimizer.partials',
  'optimizer.scaling',
  'loss.weights',
  'loss.scale',
] as const;

/** Tensors with bands for groups of parameters. */
type BandedTensor =
  | 'parameters'
  | 'parameters.half'
  | 'gradients'
  | 'gradients.sum'
  | `optimizer.${'mean' | 'variance' | 'square' | 'velocity'}`;

/** Where the sum of another device's gradients lies until it is added. */
export const gradientsOf = (device: number): `gradients.of@${number}` => `gradients.of@${device}`;

/** The band of a tensor that group number `group` of the parameters has. */
export const bandName = (of: ReservedTensor, group: number): ReservedTensor => `${of}@${group}` as ReservedTensor;

/** The table of the learning rates of a group. */
export const scalarsName = (group: number): ReservedTensor => (group === 0 ? 'step.scalars' : `step.scalars@${group}`);

/** A reserved name; `parameters:f16` are those of another type than f32, `gradient:0.weight` is that of one parameter. */
export type ReservedTensor =
  | (typeof reservedTensors)[number]
  | `step.indices@${number}`
  | `gradients.of@${number}`
  | `step.scalars@${number}`
  | `${BandedTensor}@${number}`
  | `${'parameters' | 'gradients'}:${ElementType}`
  | `gradient:${string}`;

/** Where all parameters of an element type lie, or their gradients. */
export function slotName(kind: 'parameters' | 'gradients', type: ElementType): ReservedTensor {
  return type === 'f32' ? kind : `${kind}:${type}`;
}

export const gradientName = (parameter: string): `gradient:${string}` => `gradient:${parameter}`;
