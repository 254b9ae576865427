// What the editor and the history show of a model: shapes, parameters, work and memory, layer by layer, with errors where
// they belong. Memory is an estimate from the model alone; the exact figure is the compiled plan's.

import { sizeOf } from '../graph/op.ts';
import type { Shape } from '../graph/graph.ts';
import type { ModelError } from './errors.ts';
import { outputWidth, tryResolve } from './resolve.ts';
import { valuesOf, type InputSpec, type ModelSpec, type OutputSpec, type TrainingSpec } from './spec.ts';

export interface LayerSummary {
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly inputShapes: readonly Shape[];
  readonly outputShape: Shape;
  readonly parameters: number;
  /** Forward floating-point operations for one example. */
  readonly flops: number;
  /** Bytes of its output for one example. */
  readonly activationBytes: number;
  readonly error: { readonly message: string; readonly hint: string } | null;
}

export interface ModelSummary {
  readonly inputShape: Shape;
  readonly layers: readonly LayerSummary[];
  /** Errors of the model as a whole. */
  readonly errors: readonly { readonly message: string; readonly hint: string }[];
  readonly valid: boolean;
  readonly parameters: number;
  /** Forward floating-point operations for one example; a training step costs about three times as many. */
  readonly flops: number;
  /** Bytes while training with the given settings. */
  readonly memory: {
    readonly parameters: number;
    readonly gradients: number;
    readonly optimizer: number;
    readonly activations: number;
    readonly data: number;
    readonly total: number;
  };
}

/** Optimizer states kept beside each parameter. */
export function optimizerStates({ name, momentum }: TrainingSpec['optimizer']): number {
  switch (name) {
    case 'adam':
    case 'adamw':
      return 2;
    case 'rmsprop':
      return momentum > 0 ? 2 : 1;
    case 'sgd':
      return momentum > 0 ? 1 : 0;
  }
}

/** Summarises a model for `rows` resident rows; never throws for a bad model. */
export function summarizeModel(
  spec: ModelSpec,
  input: InputSpec,
  output: OutputSpec,
  training: Pick<TrainingSpec, 'batch' | 'optimizer' | 'loss'>,
  rows = 0,
): ModelSummary {
  const { resolved, errors } = tryResolve(spec, input, outputWidth(output, training.loss));
  const errorOf = (index: number): ModelError | undefined => errors.find((error) => error.layer === index);
  const layers = resolved.layers.map((layer): LayerSummary => {
    const error = errorOf(layer.index);
    return {
      index: layer.index,
      id: layer.id,
      type: spec.layers[layer.index].type,
      title: layer.def.title,
      inputShapes: layer.inputShapes,
      outputShape: layer.outputShape,
      parameters: layer.parameters.reduce((sum, parameter) => sum + sizeOf(parameter.shape), 0),
      flops: error ? 0 : layer.def.flops(layer.inputShapes, layer.outputShape, layer.args),
      activationBytes: 4 * sizeOf(layer.outputShape),
      error: error ? { message: error.message, hint: error.hint } : null,
    };
  });
  const parameters = resolved.parameters.reduce((sum, parameter) => sum + sizeOf(parameter.shape), 0);
  const perExample = layers.reduce((sum, layer) => sum + layer.activationBytes, 4 * sizeOf(resolved.inputShape));
  const width = (input.kind === 'image' ? 1 : 4) * valuesOf(input);
  const memory = {
    parameters: 4 * parameters,
    gradients: 4 * parameters,
    optimizer: 4 * parameters * optimizerStates(training.optimizer),
    activations: 2 * perExample * training.batch,
    data: rows * (width + 4),
  };
  const total = memory.parameters + memory.gradients + memory.optimizer + memory.activations + memory.data;
  return {
    inputShape: resolved.inputShape,
    layers,
    errors: errors.filter((error) => error.layer < 0).map(({ message, hint }) => ({ message, hint })),
    valid: errors.length === 0,
    parameters,
    flops: layers.reduce((sum, layer) => sum + layer.flops, 0),
    memory: { ...memory, total },
  };
}
