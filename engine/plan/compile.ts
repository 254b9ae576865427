// Makes the Plan of a model: builds the graph of each program and names the tensors it works on. lower.ts turns graphs into
// kernel calls, assemble.ts gives every operand a place in memory.

import { GraphError } from '../graph/errors.ts';
import { gradientsOf, scalarsName } from '../graph/tensors.ts';
import { Layout, layOutParameters, type ParameterSlots } from './layout.ts';
import { assemblePlan } from './assemble.ts';
import { lowerProgram, placeGradients, type LoweredProgram } from './lower.ts';
import { accumulateCall, indicesOf, joinCall, partSizes, sequenceOf, stillCalls, withIndices } from './parts.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import { shortenedModel } from '../model/shortened.ts';
import { lossScaleTensors, optimizerCalls, optimizerStateNames, partialsTensor, scalingTensor } from './optimizer.ts';
import { joinProgram, programName, stillProgram, updateProgram, type Plan } from './plan.ts';
import { copiedParameters, copiesWeights, halfValues } from './storage.ts';
import {
  buildEvaluationGraph,
  buildPredictionGraph,
  buildTrainingGraph,
  classWeightsTensor,
  lossScaleTensor,
  type StepOptions,
} from './step.ts';

export interface PlanOptions extends StepOptions {
  /** Batch sizes of the training programs: the batch and the remainder of an epoch. Empty for prediction alone. */
  readonly trainBatches: readonly number[];
  /** Tokens of shorter texts that have training programs of their own, of the first batch size. Absent: none. */
  readonly trainLengths?: readonly number[];
  /** Cuts each of them into parts whose gradients are added up before the update; absent: a step is one program. */
  readonly parts?: (batch: number) => readonly number[];
  /** Whose part each of them is, where several devices share a batch. */
  readonly devices?: (batch: number) => readonly number[];
  readonly predictBatch: number;
  /** Tokens of the texts of each program of predictions, ascending: none is for longer ones. Absent: one for all. */
  readonly predictLengths?: readonly number[];
  /** Of a language model: rows of the programs that tell the loss at every position. Absent: none. */
  readonly evaluateBatches?: readonly number[];
}

/** Compiles a model and its training settings into a plan for any backend. */
export function compilePlan(options: PlanOptions): Plan {
  const { model, stepCapacity, trainBatches } = options;
  const slots = layOutParameters(model.parameters);
  const training = trainBatches.length > 0;
  const shorter = training ? (options.trainLengths ?? []) : [];
  const { parts } = options;
  const programs = [
    ...(parts
      ? lowerParts(options, slots, parts)
      : trainBatches.map((batch) => lowerTraining(options, slots, programName('train', batch), batch))),
    ...shorter.flatMap((length) => lowerShorter(options, slots, length)),
    ...(options.evaluateBatches ?? []).map((batch) =>
      lowerProgram(programName('evaluate', batch), batch, buildEvaluationGraph(options, batch)),
    ),
    ...predictPrograms(options),
  ];
  const names = new Set(programs.map(({ name }) => name));
  const sequences = parts
    ? [
        ...trainBatches.map((batch) => sequenceOf(batch, parts(batch), names, { devices: options.devices?.(batch) })),
        ...shorter.map((length) =>
          sequenceOf(trainBatches[0], parts(trainBatches[0]), names, {
            length,
            devices: options.devices?.(trainBatches[0]),
          }),
        ),
      ]
    : [];
  return assemblePlan(nameTensors(options, slots, training), programs, {
    ...(sequences.length > 0
      ? { sequences: Object.fromEntries(sequences.map((sequence) => [sequence.name, sequence])) }
      : {}),
    stepCapacity,
    checkpoint: [
      ...model.parameters.map(({ name }) => name),
      ...model.states.map(({ name }) => name),
      ...(training ? optimizerStateNames(options.training.optimizer) : []),
      ...(training && options.halfStorage ? lossScaleTensors : []),
    ],
  });
}

/** The tensors that the programs of a plan share; those of training too. */
export function nameTensors(options: PlanOptions, slots: ParameterSlots, training: boolean): Layout {
  const { model, data, stepCapacity, trainBatches, predictBatch } = options;
  const layout = new Layout();
  const { input } = model;
  layout.add('data.x', [data.rows, data.width], 'data', input.kind === 'image' ? 'u8' : 'f32');
  layout.add('data.y', [data.rows, data.targets], 'data');
  if (input.kind === 'image') layout.add('data.normalization', [input.channels, 2], 'persistent');
  const sizes = options.parts ? partSizes(options.parts, trainBatches) : [];
  const largest = Math.max(predictBatch, ...(options.evaluateBatches ?? []), ...(options.parts ? sizes : trainBatches));
  layout.add('step.indices', [stepCapacity * largest], 'step', 'u32');
  layout.add('step.scalars', [stepCapacity, 4], 'step');
  layout.add('step.counters', [stepCapacity], 'step', 'u32');
  layout.add('ring.loss', [stepCapacity], 'ring');
  layout.add('ring.outputs', [options.predictSteps * predictBatch, model.outputs], 'ring');
  layout.addParameters(model.parameters, slots);
  for (const { name, shape, type } of model.states) layout.addState(name, shape, type);
  if (!training) return layout;
  layout.addGradients(model.parameters, slots);
  if (options.parts) {
    layout.add('gradients.sum', [slots.get('f32')!.count], 'persistent');
    layout.add('step.shares', [stepCapacity, 2], 'step');
    const others = otherDevices(options);
    if (others.length > 0) layout.add('step.join', [1, 2], 'step');
    for (const device of others) layout.add(gradientsOf(device), [slots.get('f32')!.count], 'persistent');
    for (const size of sizes.slice(1)) layout.add(indicesOf(size, sizes[0]), [stepCapacity * size], 'step', 'u32');
  }
  for (const name of optimizerStateNames(options.training.optimizer)) {
    layout.add(name, [slots.get('f32')!.count], 'persistent');
  }
  const parameters = slots.get('f32')!;
  if (copiesWeights(options)) layout.add('parameters.half', [parameters.count], 'persistent', 'f16');
  if (parameters.groups.length > 1) {
    const moved = [
      'parameters',
      ...(copiesWeights(options) ? (['parameters.half'] as const) : []),
      options.parts ? 'gradients.sum' : 'gradients',
    ] as const;
    for (const name of [...moved, ...optimizerStateNames(options.training.optimizer)])
      layout.addBands(name, parameters);
    parameters.groups.slice(1).forEach((_, i) => layout.add(scalarsName(i + 1), [stepCapacity, 4], 'step'));
  }
  if (options.training.clipNorm > 0 || options.halfStorage) {
    layout.add(partialsTensor.name, partialsTensor.shape, 'persistent');
  }
  if (options.halfStorage) {
    for (const { name, shape } of [lossScaleTensor, scalingTensor]) layout.add(name, shape, 'persistent');
  }
  if (options.training.classWeights !== 'none') {
    layout.add(classWeightsTensor, [Math.max(2, model.outputs)], 'persistent');
  }
  return layout;
}

/** The programs of predictions, the one for the longest texts last; each length of texts has one of its own. */
function predictPrograms(options: PlanOptions): readonly LoweredProgram[] {
  const { model, predictBatch, predictLengths } = options;
  const lower = (read: ResolvedModel, length?: number): LoweredProgram =>
    lowerProgram(
      programName('predict', predictBatch, length),
      predictBatch,
      buildPredictionGraph({ ...options, model: read }, predictBatch),
    );
  return predictLengths?.map((length) => lower(shortenedModel(model, length), length)) ?? [lower(model)];
}

/** The training programs of a batch of texts of up to `length` tokens. */
function lowerShorter(options: PlanOptions, slots: ParameterSlots, length: number): readonly LoweredProgram[] {
  const { model, parts, trainBatches } = options;
  const [batch] = trainBatches;
  const short = { ...options, model: shortenedModel(model, length) };
  if (!parts) return [lowerTraining(short, slots, programName('train', batch, length), batch)];
  const largest = partSizes(parts, trainBatches)[0];
  return partSizes(parts, [batch]).map((size) => lowerPart(short, slots, { size, largest, length }));
}

/** The programs of steps in parts: gradients by the size of a part, and the update. */
function lowerParts(
  options: PlanOptions,
  slots: ParameterSlots,
  parts: NonNullable<PlanOptions['parts']>,
): readonly LoweredProgram[] {
  const { trainBatches } = options;
  const layout = slots.get('f32')!;
  const sizes = partSizes(parts, trainBatches);
  const gradients = sizes.map((size) => lowerPart(options, slots, { size, largest: sizes[0] }));
  const nothing = { ...gradients[0], named: new Map(), storage: new Map() };
  const calls = optimizerCalls({ ...options, gradients: 'gradients.sum', copies: copiesWeights(options) }, layout);
  const joins = otherDevices(options).map((device) => {
    return { ...nothing, name: joinProgram(device), batch: 0, calls: [joinCall(layout, device)] };
  });
  return [
    ...gradients,
    ...stillPrograms(options, gradients),
    ...joins,
    { ...nothing, name: updateProgram, batch: 0, calls },
  ];
}

/** Numbers of the devices that share a batch with the first one. */
function otherDevices({ devices, trainBatches }: PlanOptions): readonly number[] {
  return [...new Set(trainBatches.flatMap((batch) => devices?.(batch) ?? []))].filter((device) => device > 0);
}

/** The same gradients without a change of running statistics, where there are any and other devices than the first make parts. */
function stillPrograms(options: PlanOptions, gradients: readonly LoweredProgram[]): readonly LoweredProgram[] {
  if (otherDevices(options).length === 0) return [];
  return gradients.flatMap((program) => {
    const calls = stillCalls(program.calls);
    return calls === null ? [] : [{ ...program, name: stillProgram(program.name), calls }];
  });
}

/** The gradients of a part of a step. */
function lowerPart(
  options: PlanOptions,
  slots: ParameterSlots,
  { size, largest, length }: { readonly size: number; readonly largest: number; readonly length?: number },
): LoweredProgram {
  const lowered = lowerGradients(options, programName('gradients', size, length), size);
  const calls = [...lowered.calls, accumulateCall(slots.get('f32')!, options.stepCapacity)];
  return { ...lowered, calls: withIndices(calls, indicesOf(size, largest)) };
}

function lowerTraining(options: PlanOptions, slots: ParameterSlots, name: string, batch: number): LoweredProgram {
  const lowered = lowerGradients(options, name, batch);
  const update = optimizerCalls(options, slots.get('f32')!);
  return { ...lowered, calls: [...lowered.calls, ...update] };
}

/** Forward and backward pass: the gradients of all parameters are in their places after it. */
function lowerGradients(options: PlanOptions, name: string, batch: number): LoweredProgram {
  const { model } = options;
  const other = model.parameters.find(({ type = 'f32' }) => type !== 'f32');
  if (other) throw new GraphError(`no optimizer trains parameters of type ${other.type}: ${other.name}`);
  const { graph, gradients } = buildTrainingGraph(options, batch);
  const lowered = placeGradients(lowerProgram(name, batch, graph), model.parameters, gradients);
  if (!options.halfStorage) return lowered;
  const halves = halfValues(graph, batch, [...gradients.values()]);
  return { ...lowered, halves, ...(copiesWeights(options) ? { copied: copiedParameters(graph) } : {}) };
}
