// A plan that looks inside: one program takes a batch forward and back as a training step does, leaves all gradients in their places and
// keeps what chosen layers gave, [batch, ...] each, in a tensor of its own. Nothing is updated.

import { buildTrainingGraph, type StepOptions } from './step.ts';
import { assemblePlan } from './assemble.ts';
import { nameTensors } from './compile.ts';
import { layOutParameters } from './layout.ts';
import { keepValues, lowerProgram, placeGradients } from './lower.ts';
import { programName, type Plan } from './plan.ts';

/** Where what a layer gave is kept; `position`: its place among the layers. */
export const keptName = (position: number): string => `kept:${position}`;

/** `watched`: positions of the layers whose values are kept. The program is `gradients@BATCH`. */
export function compileProbe(
  options: Omit<StepOptions, 'stepCapacity' | 'predictSteps'>,
  batch: number,
  watched: readonly number[],
): Plan {
  const one = { ...options, stepCapacity: 1, predictSteps: 1 };
  const { layers, parameters, states } = options.model;
  const slots = layOutParameters(parameters);
  const layout = nameTensors({ ...one, trainBatches: [batch], predictBatch: batch }, slots, true);
  const { graph, gradients, watched: values } = buildTrainingGraph(one, batch, watched);
  const kept = watched.map((position, i) => {
    const tensor = keptName(position);
    layout.addState(tensor, graph.values[values[i]].shape);
    return { value: values[i], tensor, layer: layers[position].id };
  });
  const program = placeGradients(lowerProgram(programName('gradients', batch), batch, graph), parameters, gradients);
  return assemblePlan(layout, [keepValues(program, kept)], {
    stepCapacity: 1,
    checkpoint: [...parameters, ...states].map(({ name }) => name),
  });
}
