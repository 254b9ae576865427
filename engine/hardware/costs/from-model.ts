// The costs of a model this program builds: its graph and plan are made as for training, and read. Nothing is allocated: a plan is
// numbers. What a kernel costs its contract declares; which layer it works for the graph has kept.

import { kernels, type KernelName } from '../../../kernels/registry.ts';
import type { Graph } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ops } from '../../graph/ops.ts';
import { resolveModel, outputWidth } from '../../model/resolve.ts';
import type { ResolvedModel } from '../../model/resolve.ts';
import { valuesOf, type InputSpec, type ModelSpec, type OutputSpec, type TrainingSpec } from '../../model/spec.ts';
import { compilePlan } from '../../plan/compile.ts';
import type { Call, Program } from '../../plan/plan.ts';
import { buildTrainingGraph } from '../../plan/step.ts';
import { InputError } from '../../protocol/errors.ts';
import { outputShape, type Convolution } from '../../../kernels/convolution.ts';
import { sumOf, type CallCost, type KeptActivations, type ModelCosts, type WorkKind } from './costs.ts';

/** A model with what it is trained on and how. */
export interface ModelAtHand {
  readonly name: string;
  readonly spec: ModelSpec;
  readonly input: InputSpec;
  readonly output: OutputSpec;
  readonly training: TrainingSpec;
}

const kinds: Readonly<Partial<Record<KernelName, WorkKind>>> = {
  matmul: 'product',
  batched_matmul: 'product',
  dense_weight_grad: 'product',
  conv2d: 'convolution',
  conv2d_input_grad: 'convolution',
  conv2d_weight_grad: 'convolution',
  batch_norm: 'normalisation',
  batch_norm_grad: 'normalisation',
  batch_norm_inference: 'normalisation',
  layer_norm: 'normalisation',
  layer_norm_grad: 'normalisation',
  group_norm: 'normalisation',
  group_norm_grad: 'normalisation',
  max_pool: 'pooling',
  max_pool_grad: 'pooling',
  average_pool: 'pooling',
  average_pool_grad: 'pooling',
};

/** A convolution with so few channels a group multiplies next to nothing: memory holds it back. */
const depthwiseChannels = 4;

function kindOf({ kernel, params, origin }: Call): WorkKind {
  const kind = kinds[kernel as KernelName];
  if (kind === 'convolution' && params.groups > 1 && params.channels / params.groups < depthwiseChannels) {
    return 'depthwise';
  }
  return kind ?? (origin ? 'elementwise' : 'update');
}

/** Sides of the product that a call is, or comes down to, and how the CPU goes about it. */
function sidesOf({ kernel, params }: Call, kind: WorkKind, flops: number): Pick<CallCost, 'edge' | 'imageWise'> {
  if (kind === 'product') {
    // The gradient of a dense layer's weights sums over the batch.
    const { m = params.inputs, n = params.units, k = params.batch } = params;
    return { edge: harmonic(m, n, k) };
  }
  if (kind !== 'convolution' && kind !== 'depthwise') return {};
  const convolution = params as Convolution;
  const { groups, channels } = convolution;
  const [batch, filters, height, width] = outputShape(convolution);
  const [rows, depth] = [filters / groups, (channels / groups) * convolution.kernel ** 2];
  const empty = kind === 'depthwise' ? (Math.ceil(width / vectorElements) * vectorElements) / width : 1;
  return {
    edge: harmonic(batch * height * width, rows, depth),
    imageWise: {
      edge: harmonic(height * width, rows, depth),
      flops: flops * empty,
      streamed: batch * streamedWeights(kernel, convolution),
      weights: 4 * groups * rows * depth,
    },
  };
}

/** Elements of a vector of the CPU's kernels, at most. */
const vectorElements = 16;
/** Rows of a tile of a convolution, weights that are packed once a call, bytes of a line of the cache. */
const [tileRows, mostPacked, line] = [6, 2 ** 17, 64];

/**
 * Bytes of weights that one image goes through. The gradient of the input needs them in another order: where there are too many to be
 * packed once, every image gathers them in pieces, one for each filter and tile of channels, each in lines of its own.
 */
function streamedWeights(kernel: string, { channels, filters, groups, kernel: side }: Convolution): number {
  const weights = (filters * channels * side ** 2) / groups;
  if (kernel === 'conv2d_weight_grad') return 0;
  if (kernel === 'conv2d' || weights / groups <= mostPacked) return 4 * weights;
  const pieces = (filters * channels) / groups / tileRows;
  return pieces * line * (1 + (4 * tileRows * side ** 2) / line);
}

const harmonic = (m: number, n: number, k: number): number => 3 / (1 / m + 1 / n + 1 / k);

/** Every call of a program with its work. */
export function callCosts({ calls }: Program): readonly CallCost[] {
  return calls.map((call) => {
    const { flops, bytes } = kernels[call.kernel as KernelName].cost(call.params as never);
    const { layer, phase } = call.origin ?? { layer: 'update', phase: 'update' };
    const kind = kindOf(call);
    return { layer, phase, kernel: call.kernel, kind, flops, bytes, ...sidesOf(call, kind, flops) };
  });
}

/** Elements that one operand of a kernel may have: its sizes are 32-bit numbers. */
const mostElements = 2 ** 31 - 1;

/** Throws InputError `model.too_large` for a model that no plan can hold. */
export function refuseTooLarge(name: string, model: ResolvedModel, batch: number): void {
  const parameters = model.parameters.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  const widest = Math.max(...model.layers.map(({ outputShape }) => sizeOf(outputShape))) * batch;
  const problem =
    parameters > mostElements
      ? `${parameters.toLocaleString('en')} parameters`
      : widest > mostElements
        ? `a layer that puts out ${widest.toLocaleString('en')} numbers at batch ${batch}`
        : null;
  if (problem === null) return;
  throw new InputError(
    'model.too_large',
    `${name} has ${problem}: too many to plan, a plan holds ${mostElements.toLocaleString('en')} in one place.`,
    parameters > mostElements
      ? 'Make its layers narrower; for models of that size, gpt3 goes by the formulas of a layer.'
      : 'Choose a smaller batch or a smaller model.',
  );
}

/** The costs of a training step. Throws InputError or ModelError for a model that cannot be planned. */
export function costsOfModel({ name, spec, input, output, training }: ModelAtHand): ModelCosts {
  const { batch } = training;
  const model = resolveModel(spec, input, outputWidth(output, training.loss));
  refuseTooLarge(name, model, batch);
  const width = valuesOf(input);
  const options = {
    model,
    output,
    training,
    data: { rows: batch, width, targets: 1 },
    stepCapacity: 1,
    predictSteps: 1,
    trainBatches: [batch],
    predictBatch: 1,
  };
  const calls = callCosts(compilePlan(options).programs[`train@${batch}`]);
  const parameters = model.parameters.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  return {
    name,
    batch,
    parameters,
    parameterBytes: 4 * parameters,
    flopsPerExample: sumOf(calls).flops / batch,
    calls,
    activations: keptBy(buildTrainingGraph(options, batch).graph),
    example: { values: width, bytes: input.kind === 'image' ? 1 : 4 },
  };
}

/** Bytes of a position that other software keeps for each window of max pooling. */
const positionBytes = 8;

/** What the forward pass makes and the backward pass reads, by the layer that makes it; a view counts as what it shows. */
export function keptBy(graph: Graph): readonly KeptActivations[] {
  const storage = new Map<number, number>();
  const made = new Map<number, string>();
  const kept = new Map<string, { values: number; indexBytes: number }>();
  const add = (layer: string, values: number, indexBytes: number): void => {
    const sum = kept.get(layer) ?? { values: 0, indexBytes: 0 };
    kept.set(layer, { values: sum.values + values, indexBytes: sum.indexBytes + indexBytes });
  };
  const counted = new Set<number>();
  for (const node of graph.nodes) {
    const [first] = node.inputs;
    if (ops[node.op].alias && typeof first === 'number') storage.set(node.outputs[0], storage.get(first) ?? first);
    else if (node.origin.phase === 'forward' && node.op !== 'parameter' && node.op !== 'state') {
      for (const id of node.outputs) made.set(id, node.origin.layer);
    }
    if (node.origin.phase === 'forward') {
      if (node.op === 'max_pool') {
        add(node.origin.layer, 0, positionBytes * sizeOf(graph.values[node.outputs[0]].shape));
      }
      continue;
    }
    for (const input of node.inputs) {
      if (input === null) continue;
      const id = storage.get(input) ?? input;
      const layer = made.get(id);
      if (layer === undefined || counted.has(id)) continue;
      counted.add(id);
      add(layer, sizeOf(graph.values[id].shape), 0);
    }
  }
  return [...kept].map(([layer, sum]) => ({ layer, ...sum }));
}
