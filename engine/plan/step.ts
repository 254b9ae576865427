// The graphs of the programs: forward, loss, backward for training; forward and keeping the outputs for prediction.

import type { ImageAugmentation } from '../graph/attributes.ts';
import { differentiate } from '../graph/autodiff.ts';
import { fuse } from '../graph/fusion.ts';
import { newGraph, prune } from '../graph/builder.ts';
import { recompute } from '../graph/recompute.ts';
import type { GraphBuilder, Graph, ValueId } from '../graph/graph.ts';
import type { ReservedTensor } from '../graph/tensors.ts';
import { verify } from '../graph/verify.ts';
import { imageAugmentation } from '../model/augmentation.ts';
import { buildForward } from '../model/build.ts';
import { ModelError } from '../model/errors.ts';
import { lossRules, resolveLoss } from '../model/losses.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import { predictsTokens, type OutputSpec, type TrainingSpec } from '../model/spec.ts';

/** What the programs of one plan have in common. */
export interface StepOptions {
  readonly model: ResolvedModel;
  readonly output: OutputSpec;
  readonly training: TrainingSpec;
  readonly data: { readonly rows: number; readonly width: number; readonly targets: number };
  readonly stepCapacity: number;
  /** What training moves of a batch is stored in 16 bits, and the loss scaled: for devices that can (`Backend.halfStorage`). */
  readonly halfStorage?: boolean;
  /** Prediction steps whose outputs the ring holds. */
  readonly predictSteps: number;
}

export const classWeightsTensor = 'loss.weights' satisfies ReservedTensor;

/** What the gradient of the loss is multiplied by. */
export const lossScaleTensor = { name: 'loss.scale', shape: [1] } as const;

/** A training step's graph, and which of its values is the gradient of which parameter. */
export interface TrainingGraph {
  readonly graph: Graph;
  readonly gradients: ReadonlyMap<string, ValueId>;
  /** What the layers that are watched give. */
  readonly watched: readonly ValueId[];
}

/** `watched`: positions of layers whose values stay readable after fusion. */
export function buildTrainingGraph(
  options: StepOptions,
  batch: number,
  watched: readonly number[] = [],
): TrainingGraph {
  const { model, training, stepCapacity: steps } = options;
  const graph = newGraph();
  const augmentation = imageAugmentation(training.augmentation);
  const scheduled = training.schedule.regularisation === 'flat_cosine';
  // Both stand in the fourth column of `step.scalars`.
  if (scheduled && augmentation.mixup > 0) {
    throw new ModelError(
      'Dropout and weight decay cannot fall while pictures are mixed.',
      'Keep them constant (--regularisation constant), or set mixup to 0.',
    );
  }
  const [x, y] = gatherBatch(graph, options, batch, augmentation);
  const { output, parameters, layers } = buildForward(graph, model, x, {
    mode: 'train',
    seed: training.seed,
    steps,
    scheduled,
    everyPosition: predictsTokens(model.input),
  });
  graph.origin = { layer: 'loss', phase: 'forward' };
  const loss = applyLoss(graph, options, ...rowsOfLoss(graph, output, y));
  graph.origin = { layer: 'loss', phase: 'backward' };
  const scale = options.halfStorage
    ? graph.one('state', [], { name: lossScaleTensor.name, shape: lossScaleTensor.shape })
    : undefined;
  const wanted = differentiate(graph, loss, parameters, { scale });
  verify(graph, 'autodiff');

  const found = wanted.flatMap((gradient) => (gradient === null ? [] : [gradient]));
  const roots = [...found, ...watched.map((position) => layers[position])];
  const pruned = prune(graph, roots);
  verify(pruned.graph, 'pruning');
  const fused = fuse(pruned.graph, pruned.roots);
  verify(fused.graph, 'fusion');
  const kept = training.checkpointing ? recompute(fused.graph, fused.roots) : fused;
  verify(kept.graph, 'checkpointing');
  const gradients = new Map<string, ValueId>();
  let next = 0;
  wanted.forEach((gradient, i) => {
    if (gradient !== null) gradients.set(model.parameters[i].name, kept.roots[next++]);
  });
  return { graph: kept.graph, gradients, watched: kept.roots.slice(found.length) };
}

export function buildPredictionGraph(options: StepOptions, batch: number): Graph {
  const { model, training, stepCapacity: steps } = options;
  const graph = newGraph();
  const [x] = gatherBatch(graph, options, batch, imageAugmentation());
  const { output } = buildForward(graph, model, x, { mode: 'inference', seed: training.seed, steps });
  graph.origin = { layer: 'data', phase: 'forward' };
  graph.apply('store_outputs', [output], { steps: options.predictSteps });
  const pruned = prune(graph, []);
  const fused = fuse(pruned.graph, []);
  verify(fused.graph, 'fusion');
  return fused.graph;
}

/** The mean loss at every position of a language model, without smoothing: one value a step in `ring.loss`. */
export function buildEvaluationGraph(options: StepOptions, batch: number): Graph {
  const { model, training, stepCapacity: steps } = options;
  const graph = newGraph();
  const [x, y] = gatherBatch(graph, options, batch, imageAugmentation());
  const { output } = buildForward(graph, model, x, {
    mode: 'inference',
    seed: training.seed,
    steps,
    everyPosition: true,
  });
  graph.origin = { layer: 'loss', phase: 'forward' };
  const [prediction, target] = rowsOfLoss(graph, output, y);
  graph.apply('softmax_cross_entropy', [prediction, target, null], { training: false, smoothing: 0, steps });
  const pruned = prune(graph, []);
  const fused = fuse(pruned.graph, []);
  verify(fused.graph, 'fusion');
  return fused.graph;
}

/** The rows of a step: x [batch,width] or, of images, [batch,channels,height,width]; y their targets. */
function gatherBatch(
  graph: GraphBuilder,
  { model, output, training, data, stepCapacity: steps }: StepOptions,
  batch: number,
  augmentation: ImageAugmentation,
): readonly ValueId[] {
  const { input } = model;
  if (input.kind !== 'image') return graph.apply('batch', [], { batch, ...data, steps });
  // Mixed images have a share of two classes; numbers, and 0 or 1 of binary cross-entropy, are mixed themselves.
  const soft = augmentation.mixup > 0 && resolveLoss(training.loss, output) === 'cross_entropy';
  return graph.apply('batch_images', [], {
    batch,
    rows: data.rows,
    shape: [input.channels, input.height, input.width],
    targets: data.targets,
    classes: soft ? model.outputs : 0,
    steps,
    seed: training.seed,
    augmentation,
  });
}

/**
 * Outputs of members [batch, members, outputs] as rows of their own, each with the target of its row, and of a language model a row for each
 * position with a target of its own: the loss is their mean.
 */
function rowsOfLoss(graph: GraphBuilder, output: ValueId, target: ValueId): readonly [ValueId, ValueId] {
  const shape = graph.shape(output);
  const [rows, targets] = graph.shape(target);
  if (shape.length === 2) {
    if (shape[0] === rows) return [output, target];
    return [output, graph.one('reshape', [target], { shape: [rows * targets, 1] })];
  }
  const [batch, members, outputs] = shape;
  const column = graph.one('reshape', [target], { shape: [batch, 1, targets] });
  const repeated = graph.one('expand', [column], { shape: [batch, members, targets], scale: 1 });
  return [
    graph.one('reshape', [output], { shape: [batch * members, outputs] }),
    graph.one('reshape', [repeated], { shape: [batch * members, targets] }),
  ];
}

function applyLoss(graph: GraphBuilder, options: StepOptions, prediction: ValueId, target: ValueId): ValueId {
  const { training, output, stepCapacity: steps } = options;
  const weights = (shape: readonly number[]): ValueId | null =>
    training.classWeights === 'none' ? null : graph.one('state', [], { name: classWeightsTensor, shape });
  const rule = lossRules[resolveLoss(training.loss, output)];
  return rule.build(graph, { prediction, target, weights, settings: training, steps });
}
