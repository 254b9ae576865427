// What the editor and the history show of a model: shapes, parameters, work and activations, layer by layer, with errors where
// they belong. What training it takes in memory the compiled plan says (engine/hardware/memory-forecast.ts).

import { sizeOf } from '../graph/op.ts';
import type { Shape } from '../graph/graph.ts';
import type { ModelError } from './errors.ts';
import { outputWidth, parameterCount, tryResolve } from './resolve.ts';
import type { InputSpec, ModelSpec, OutputSpec, TrainingSpec } from './spec.ts';
import { unreadWarning } from './unread.ts';

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
  /** What of the data its layers do not read, with what to do; null: all is read, or it is not valid. */
  readonly unread: string | null;
  readonly parameters: number;
  /** Of them those in layers that are not frozen. */
  readonly trained: number;
  /** Forward floating-point operations for one example; a training step costs about three times as many. */
  readonly flops: number;
  /** Bytes of all outputs of a batch, and of their gradients. */
  readonly activationBytes: number;
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

/** Summarises a model; never throws for a bad one. */
export function summarizeModel(
  spec: ModelSpec,
  input: InputSpec,
  output: OutputSpec,
  training: Pick<TrainingSpec, 'batch' | 'loss' | 'frozenLayers'>,
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
  const parameters = parameterCount(resolved);
  // The tables of the input are frozen with the first layer.
  const inLayers = layers.slice(training.frozenLayers).reduce((sum, layer) => sum + layer.parameters, 0);
  const perExample = layers.reduce((sum, layer) => sum + layer.activationBytes, 4 * sizeOf(resolved.inputShape));
  return {
    inputShape: resolved.inputShape,
    layers,
    errors: errors.filter((error) => error.layer < 0).map(({ message, hint }) => ({ message, hint })),
    valid: errors.length === 0,
    unread: errors.length === 0 ? unreadWarning(resolved) : null,
    parameters,
    trained: training.frozenLayers > 0 ? inLayers : parameters,
    flops: layers.reduce((sum, layer) => sum + layer.flops, 0),
    activationBytes: 2 * perExample * training.batch,
  };
}
