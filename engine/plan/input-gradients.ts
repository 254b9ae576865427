// A plan for how a model's outputs change with its input: one program takes values of the input, not resident rows, forward as in a
// prediction and back from the outputs, each weighed by its seed. Parameters have no gradients here. B rows.

import { differentiate } from '../graph/autodiff.ts';
import { newGraph, prune } from '../graph/builder.ts';
import { GraphError } from '../graph/errors.ts';
import { fuse } from '../graph/fusion.ts';
import { verify } from '../graph/verify.ts';
import { buildForward } from '../model/build.ts';
import { assemblePlan } from './assemble.ts';
import { nameTensors } from './compile.ts';
import { layOutParameters } from './layout.ts';
import { keepValues, lowerProgram } from './lower.ts';
import { programName, type Plan } from './plan.ts';
import type { StepOptions } from './step.ts';

/** `x` [B, channels, height, width], as the first layer sees it, and `seeds` [B, outputs] are written; `gradient`, of x's shape, and `outputs` [B, outputs] are read. */
export const inputTensors = {
  x: 'input:x',
  seeds: 'input:seeds',
  gradient: 'input:gradient',
  outputs: 'input:outputs',
} as const;

/** Of models on images. The program is `gradients@BATCH`: the gradient of Σ seeds · outputs of each row with respect to its x. Throws GraphError for other inputs. */
export function compileInputGradients(
  options: Omit<StepOptions, 'stepCapacity' | 'predictSteps'>,
  batch: number,
): Plan {
  const { model, training } = options;
  const { input, layers, parameters, states } = model;
  if (input.kind !== 'image') throw new GraphError('gradients of the input are those of images');
  const one = { ...options, stepCapacity: 1, predictSteps: 1 };
  const layout = nameTensors({ ...one, trainBatches: [], predictBatch: batch }, layOutParameters(parameters), false);
  const xShape = [batch, input.channels, input.height, input.width];
  const outputShape = [batch, model.outputs];

  const graph = newGraph();
  const x = graph.one('state', [], { name: inputTensors.x, shape: xShape });
  const seeds = graph.one('state', [], { name: inputTensors.seeds, shape: outputShape });
  const { output } = buildForward(graph, model, x, { mode: 'inference', seed: training.seed, steps: 1 });
  const [gradient] = differentiate(graph, output, [x], { seed: seeds });
  if (gradient === null) throw new GraphError('the outputs do not depend on the input');
  verify(graph, 'autodiff');
  const pruned = prune(graph, [gradient, output]);
  const fused = fuse(pruned.graph, pruned.roots);
  verify(fused.graph, 'fusion');

  layout.addState(inputTensors.x, xShape);
  layout.addState(inputTensors.seeds, outputShape);
  layout.addState(inputTensors.gradient, xShape);
  layout.addState(inputTensors.outputs, outputShape);
  const kept = [
    { value: fused.roots[0], tensor: inputTensors.gradient, layer: layers[0].id },
    { value: fused.roots[1], tensor: inputTensors.outputs, layer: layers[layers.length - 1].id },
  ];
  const program = keepValues(lowerProgram(programName('gradients', batch), batch, fused.graph), kept);
  return assemblePlan(layout, [program], {
    stepCapacity: 1,
    checkpoint: [...parameters, ...states].map(({ name }) => name),
  });
}
