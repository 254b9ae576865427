// Makes the Plan of a model: builds the graph of each program and names the tensors it works on. lower.ts turns graphs into
// kernel calls, assemble.ts gives every operand a place in memory.

import { GraphError } from '../graph/errors.ts';
import { Layout, layOutParameters, type ParameterSlots } from './layout.ts';
import { assemblePlan } from './assemble.ts';
import { lowerProgram, placeGradients, type LoweredProgram } from './lower.ts';
import { clippingTensor, optimizerCalls, optimizerStateNames } from './optimizer.ts';
import { programName, type Plan } from './plan.ts';
import { buildPredictionGraph, buildTrainingGraph, classWeightsTensor, type StepOptions } from './step.ts';

export interface PlanOptions extends StepOptions {
  /** Batch sizes of the training programs: the batch and the remainder of an epoch. Empty for prediction alone. */
  readonly trainBatches: readonly number[];
  readonly predictBatch: number;
}

/** Compiles a model and its training settings into a plan for any backend. */
export function compilePlan(options: PlanOptions): Plan {
  const { model, stepCapacity, trainBatches, predictBatch } = options;
  const slots = layOutParameters(model.parameters);
  const training = trainBatches.length > 0;
  const programs = [
    ...trainBatches.map((batch) => lowerTraining(options, slots, batch)),
    lowerProgram(programName('predict', predictBatch), predictBatch, buildPredictionGraph(options, predictBatch)),
  ];
  return assemblePlan(nameTensors(options, slots, training), programs, {
    stepCapacity,
    checkpoint: [
      ...model.parameters.map(({ name }) => name),
      ...model.states.map(({ name }) => name),
      ...(training ? optimizerStateNames(options.training.optimizer) : []),
    ],
  });
}

function nameTensors(options: PlanOptions, slots: ParameterSlots, training: boolean): Layout {
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
  layout.addParameters(model.parameters, slots);
  for (const { name, shape, type } of model.states) layout.addState(name, shape, type);
  if (!training) return layout;
  layout.addGradients(model.parameters, slots);
  for (const name of optimizerStateNames(options.training.optimizer)) {
    layout.add(name, [slots.get('f32')!.count], 'persistent');
  }
  if (options.training.clipNorm > 0) layout.add(clippingTensor.name, clippingTensor.shape, 'persistent');
  if (options.training.classWeights !== 'none') {
    layout.add(classWeightsTensor, [Math.max(2, model.outputs)], 'persistent');
  }
  return layout;
}

function lowerTraining(options: PlanOptions, slots: ParameterSlots, batch: number): LoweredProgram {
  const { model, training, stepCapacity } = options;
  const other = model.parameters.find(({ type = 'f32' }) => type !== 'f32');
  if (other) throw new GraphError(`no optimizer trains parameters of type ${other.type}: ${other.name}`);
  const { graph, gradients } = buildTrainingGraph(options, batch);
  const lowered = placeGradients(lowerProgram(programName('train', batch), batch, graph), model.parameters, gradients);
  const update = optimizerCalls(training, slots.get('f32')!, stepCapacity);
  return { ...lowered, calls: [...lowered.calls, ...update] };
}
