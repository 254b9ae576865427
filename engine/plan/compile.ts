// Makes a Plan: builds the graph of each program, lowers it to kernel calls and gives every operand a place in memory.

import { kernels, type KernelName } from '../../kernels/registry.ts';
import type { Graph, ValueId } from '../graph/graph.ts';
import { sizeOf, type LoweredCall, type LoweredOperand, type LowerContext } from '../graph/op.ts';
import { ops } from '../graph/ops.ts';
import { Layout, layOutParameters, type ParameterLayout } from './layout.ts';
import { isValue, planScratch, type ScratchPool } from './memory.ts';
import { clippingTensor, optimizerCalls, optimizerStateNames } from './optimizer.ts';
import { programName, type Call, type Plan, type Program, type SlotRef } from './plan.ts';
import { buildPredictionGraph, buildTrainingGraph, classWeightsTensor, type StepOptions } from './step.ts';
import { verifyPlan } from './verify.ts';

export interface PlanOptions extends StepOptions {
  /** Batch sizes of the training programs: the batch and the remainder of an epoch. Empty for prediction alone. */
  readonly trainBatches: readonly number[];
  readonly predictBatch: number;
}

/** A program's calls before slots are known. */
interface LoweredProgram {
  readonly name: string;
  readonly batch: number;
  readonly graph: Graph;
  readonly calls: readonly LoweredCall[];
  /** Values that live in a named tensor instead of scratch memory. */
  readonly named: ReadonlyMap<ValueId, { readonly tensor: string }>;
}

/** Compiles a model and its training settings into a plan for any backend. */
export function compilePlan(options: PlanOptions): Plan {
  const { model, stepCapacity } = options;
  const parameters = layOutParameters(model);
  const training = options.trainBatches.length > 0;
  const layout = nameTensors(options, parameters, training);
  const programs = [
    ...options.trainBatches.map((batch) => lowerTraining(options, parameters, batch)),
    lowerPrediction(options, options.predictBatch),
  ];

  const pool: ScratchPool = { elements: [] };
  const scratch = programs.map(({ calls, graph, named }) =>
    planScratch(
      calls,
      pool,
      (value) => !named.has(value),
      (value) => sizeOf(graph.values[value].shape),
    ),
  );
  const firstScratch = layout.slots.length;
  pool.elements.forEach((elements, i) => layout.slot(`scratch ${i}`, elements, 'scratch'));

  const plan: Plan = {
    slots: layout.slots,
    tensors: layout.tensors,
    programs: Object.fromEntries(
      programs.map((program, i) => {
        const place = (operand: LoweredOperand): SlotRef | null => {
          if (operand === null) return null;
          if (!isValue(operand)) return placeOf(layout, operand.tensor);
          const tensor = program.named.get(operand);
          if (tensor) return placeOf(layout, tensor.tensor);
          return { slot: firstScratch + scratch[i].get(operand)!, offset: 0 };
        };
        return [program.name, finishProgram(program, place)];
      }),
    ),
    stepCapacity,
    checkpoint: [
      ...model.parameters.map(({ name }) => name),
      ...model.states.map(({ name }) => name),
      ...(training ? optimizerStateNames(options.training.optimizer) : []),
    ],
  };
  verifyPlan(plan);
  return plan;
}

function placeOf(layout: Layout, tensor: string): SlotRef {
  const { slot, offset } = layout.tensors[tensor];
  return { slot, offset };
}

function nameTensors(options: PlanOptions, parameters: ParameterLayout, training: boolean): Layout {
  const { model, data, stepCapacity, trainBatches, predictBatch } = options;
  const layout = new Layout();
  const { input } = model;
  layout.add('data.x', [data.rows, data.width], 'data', input.kind === 'image' ? 'u8' : 'f32');
  layout.add('data.y', [data.rows, data.targets], 'data');
  if (input.kind === 'image') layout.add('data.normalization', [input.channels, 2], 'persistent');
  const largest = Math.max(predictBatch, ...trainBatches);
  layout.add('step.indices', [stepCapacity * largest], 'step', 'u32');
  layout.add('step.scalars', [stepCapacity, 4], 'step');
  layout.add('step.counters', [stepCapacity], 'step', 'u32');
  layout.add('ring.loss', [stepCapacity], 'ring');
  layout.add('ring.outputs', [options.predictSteps * predictBatch, model.outputs], 'ring');
  const pieces = (slotName: string, prefix: string): void => {
    layout.add(slotName, [parameters.count], 'persistent');
    const { slot } = layout.tensors[slotName];
    for (const { name, shape } of model.parameters) {
      layout.tensors[prefix + name] = { slot, offset: parameters.offsets.get(name)!, shape, type: 'f32' };
    }
  };
  pieces('parameters', '');
  for (const { name, shape } of model.states) layout.add(name, shape, 'persistent');
  if (!training) return layout;
  pieces('gradients', 'gradient:');
  for (const name of optimizerStateNames(options.training.optimizer)) {
    layout.add(name, [parameters.count], 'persistent');
  }
  if (options.training.clipNorm > 0) layout.add(clippingTensor.name, clippingTensor.shape, 'persistent');
  if (options.training.classWeights !== 'none') {
    layout.add(classWeightsTensor, [Math.max(2, model.outputs)], 'persistent');
  }
  return layout;
}

function lowerTraining(options: PlanOptions, parameters: ParameterLayout, batch: number): LoweredProgram {
  const { graph, gradients } = buildTrainingGraph(options, batch);
  const named = namedValues(graph);
  const calls = [...lower(graph)];
  for (const { name, shape } of options.model.parameters) {
    const tensor = `gradient:${name}`;
    const value = gradients.get(name);
    if (value === undefined) {
      calls.push({ kernel: 'fill', inputs: [], outputs: [{ tensor }], params: { count: sizeOf(shape), value: 0 } });
    } else if (named.has(value)) {
      calls.push(copyWhole(value, tensor, sizeOf(shape)));
    } else {
      named.set(value, { tensor });
    }
  }
  calls.push(...optimizerCalls(options.training, parameters, options.stepCapacity));
  return { name: programName('train', batch), batch, graph, calls, named };
}

function lowerPrediction(options: PlanOptions, batch: number): LoweredProgram {
  const graph = buildPredictionGraph(options, batch);
  return { name: programName('predict', batch), batch, graph, calls: lower(graph), named: namedValues(graph) };
}

/** Values of parameter and state nodes: they are tensors with a name. */
function namedValues(graph: Graph): Map<ValueId, { tensor: string }> {
  const named = new Map<ValueId, { tensor: string }>();
  for (const node of graph.nodes) {
    if (node.op === 'parameter' || node.op === 'state') named.set(node.outputs[0], { tensor: node.attributes.name });
  }
  return named;
}

/** Kernel calls of a graph; aliases are replaced by the value they rename. */
function lower(graph: Graph): LoweredCall[] {
  const original = new Map<ValueId, ValueId>();
  const resolve = (operand: LoweredOperand): LoweredOperand =>
    isValue(operand) ? (original.get(operand) ?? operand) : operand;
  return graph.nodes.flatMap((node) => {
    const definition = ops[node.op];
    if (definition.alias) {
      const source = node.inputs[0]!;
      original.set(node.outputs[0], original.get(source) ?? source);
      return [];
    }
    const context: LowerContext<never> = {
      attributes: node.attributes as never,
      inputs: node.inputs,
      outputs: node.outputs,
      shapes: node.inputs.map((id) => (id === null ? null : graph.values[id].shape)),
      outputShapes: node.outputs.map((id) => graph.values[id].shape),
    };
    return definition.lower(context).map((call) => ({
      ...call,
      inputs: call.inputs.map(resolve),
      outputs: call.outputs.map(resolve),
    }));
  });
}

function copyWhole(value: ValueId, tensor: string, count: number): LoweredCall {
  const params = { rows: 1, columns: count, sourceWidth: count, sourceOffset: 0, targetWidth: count, targetOffset: 0 };
  return { kernel: 'copy_columns', inputs: [value], outputs: [{ tensor }], params };
}

function finishProgram(
  { name, batch, calls }: LoweredProgram,
  place: (operand: LoweredOperand) => SlotRef | null,
): Program {
  let flops = 0;
  let bytes = 0;
  const finished = calls.map((call): Call => {
    const cost = kernels[call.kernel as KernelName].cost(call.params as never);
    flops += cost.flops;
    bytes += cost.bytes;
    return { ...call, inputs: call.inputs.map(place), outputs: call.outputs.map(place) };
  });
  return { name, batch, calls: finished, flops, bytes };
}
