// The costs of a model this program builds: its graph and plan are made as for training, and read. Nothing is allocated: a plan is
// numbers. What a kernel costs its contract declares; which layer it works for the graph has kept.

import { kernels, type KernelName } from '../../../kernels/registry.ts';
import type { Graph } from '../../graph/graph.ts';
import { sizeOf } from '../../graph/op.ts';
import { ops } from '../../graph/ops.ts';
import { frozenModel } from '../../model/freeze.ts';
import { parameterCount, resolveModel, outputWidth } from '../../model/resolve.ts';
import type { ResolvedModel } from '../../model/resolve.ts';
import {
  targetsOf,
  valuesOf,
  type InputSpec,
  type ModelSpec,
  type OutputSpec,
  type TrainingSpec,
} from '../../model/spec.ts';
import { compilePlan } from '../../plan/compile.ts';
import type { Call, Program } from '../../plan/plan.ts';
import { buildTrainingGraph } from '../../plan/step.ts';
import { InputError } from '../../protocol/errors.ts';
import { outputShape, type Convolution } from '../../../kernels/convolution.ts';
import { cpuWork } from './on-cpu.ts';
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
  attention: 'product',
  attention_grad: 'product',
  recurrence: 'product',
  recurrence_grad: 'product',
  conv2d: 'convolution',
  conv2d_input_grad: 'convolution',
  conv2d_weight_grad: 'convolution',
  batch_norm: 'normalisation',
  batch_norm_grad: 'normalisation',
  batch_norm_inference: 'normalisation',
  layer_norm: 'normalisation',
  layer_norm_grad: 'normalisation',
  rms_norm: 'normalisation',
  rms_norm_grad: 'normalisation',
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

/** Of products and convolutions: the harmonic mean of the sides. */
function edgeOf({ params }: Call, kind: WorkKind): number | undefined {
  if (kind === 'product') {
    if ('heads' in params) return harmonic(params.length, params.length, params.size);
    // The gradient of a dense layer's weights sums over the batch.
    const { m = params.inputs, n = params.units, k = params.batch } = params;
    return harmonic(m, n, k);
  }
  if (kind !== 'convolution' && kind !== 'depthwise') return undefined;
  const convolution = params as Convolution;
  const { groups, channels } = convolution;
  const [batch, filters, height, width] = outputShape(convolution);
  return harmonic(batch * height * width, filters / groups, (channels / groups) * convolution.kernel ** 2);
}

const harmonic = (m: number, n: number, k: number): number => 3 / (1 / m + 1 / n + 1 / k);

/** Every call of a program with its work. */
export function callCosts({ calls }: Pick<Program, 'calls'>): readonly CallCost[] {
  return calls.map((call) => {
    const { flops, bytes } = kernels[call.kernel as KernelName].cost(call.params as never);
    const { layer, phase } = call.origin ?? { layer: 'update', phase: 'update' };
    const kind = kindOf(call);
    const [edge, cpu] = [edgeOf(call, kind), cpuWork(call, kind, flops, bytes)];
    return {
      ...{ layer, phase, kernel: call.kernel, kind, flops, bytes },
      ...(edge === undefined ? {} : { edge }),
      ...(cpu === undefined ? {} : { cpu }),
      ...(call.saved === undefined ? {} : { stored: bytes - call.saved }),
    };
  });
}

/** Elements that one operand of a kernel may have: its sizes are 32-bit numbers. */
const mostElements = 2 ** 31 - 1;

/** Throws InputError `model.too_large` for a model that no plan can hold. */
export function refuseTooLarge(name: string, model: ResolvedModel, batch: number): void {
  const parameters = parameterCount(model);
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
  const whole = resolveModel(spec, input, outputWidth(output, training.loss));
  refuseTooLarge(name, whole, batch);
  const model = frozenModel(whole, training.frozenLayers ?? 0);
  const width = valuesOf(input);
  const options = {
    model,
    output,
    training,
    data: { rows: batch, width, targets: targetsOf(input) },
    stepCapacity: 1,
    predictSteps: 1,
    trainBatches: [batch],
    predictBatch: 1,
    halfStorage: training.precision === 'mixed16',
  };
  const calls = callCosts(compilePlan(options).programs[`train@${batch}`]);
  const trained = parameterCount(model);
  return {
    name,
    batch,
    parameters: parameterCount(whole),
    trained,
    trainedBytes: 4 * trained,
    flopsPerExample: sumOf(calls).flops / batch,
    calls,
    activations: keptBy(buildTrainingGraph(options, batch).graph),
    example: { values: width, bytes: input.kind === 'image' ? 1 : 4 },
  };
}

/** Bytes of a position that other software keeps for each window of max pooling. */
const positionBytes = 8;

/** What the forward pass makes and the backward pass reads, by the layer that makes it; a view counts as what it shows. `halves`: stored in 16 bits. */
export function keptBy(graph: Graph, halves: ReadonlySet<number> = new Set()): readonly KeptActivations[] {
  const storage = new Map<number, number>();
  const made = new Map<number, string>();
  const kept = new Map<string, { values: number; half: number; indexBytes: number }>();
  const add = (layer: string, values: number, half: number, indexBytes: number): void => {
    const sum = kept.get(layer) ?? { values: 0, half: 0, indexBytes: 0 };
    kept.set(layer, {
      values: sum.values + values,
      half: sum.half + half,
      indexBytes: sum.indexBytes + indexBytes,
    });
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
        add(node.origin.layer, 0, 0, positionBytes * sizeOf(graph.values[node.outputs[0]].shape));
      }
      continue;
    }
    for (const input of node.inputs) {
      if (input === null) continue;
      const id = storage.get(input) ?? input;
      const layer = made.get(id);
      if (layer === undefined || counted.has(id)) continue;
      counted.add(id);
      const values = sizeOf(graph.values[id].shape);
      add(layer, values, halves.has(id) ? values : 0, 0);
    }
  }
  return [...kept].map(([layer, sum]) => ({ layer, ...sum }));
}
