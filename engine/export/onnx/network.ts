// A network leaves as the graph its predictions are lowered from: op by op, with the weights as they were kept.

import type { NetworkModelFile } from '../../learners/network/file.ts';
import type { Graph, Node } from '../../graph/graph.ts';
import { outputWidth, resolveModel } from '../../model/resolve.ts';
import { valuesOf } from '../../model/spec.ts';
import { buildPredictionGraph } from '../../plan/step.ts';
import { InputError } from '../../protocol/errors.ts';
import type { Weights } from '../../train/weights.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';
import { exportedBatch, type ExportContext, type ExportRule } from './op.ts';
import { opExports } from './ops.ts';

/** The graph of a prediction of `batch` rows. */
export function inferenceGraph({ model, input, output, training }: NetworkModelFile, batch = exportedBatch): Graph {
  const resolved = resolveModel(model, input, outputWidth(output, training.loss));
  const data = { rows: batch, width: valuesOf(input), targets: 1 };
  return buildPredictionGraph({ model: resolved, output, training, data, stepCapacity: 1, predictSteps: 1 }, batch);
}

/** Adds the network; returns its raw outputs [N, outputs]. `features`: [N,width] or [N,C,H,W]. */
export function exportNetwork(
  onnx: OnnxBuilder,
  file: NetworkModelFile,
  weights: Weights,
  features: ValueName,
): ValueName {
  const graph = inferenceGraph(file);
  const values = new Map<number, ValueName>();
  const tensor = (name: string): ValueName => {
    const found = weights[name];
    if (!found) throw new InputError('model.weights', `The weights do not fit the model: ${name} is missing.`);
    return onnx.weight(name, { type: 'float', shape: found.shape, values: found.data });
  };
  let result: ValueName | null = null;
  for (const node of graph.nodes) {
    const rule = opExports[node.op];
    if (rule === 'training') throw new RangeError(`${node.op} in a graph of inference`);
    const inputs = node.inputs.map((id) => (id === null ? null : values.get(id)!));
    if (rule === 'result') {
      result = inputs[0];
      continue;
    }
    const context = { onnx, tensor, features, inputs, ...shapesOf(graph, node) };
    const outputs = (rule as ExportRule<unknown>)(context);
    outputs.forEach((name, i) => values.set(node.outputs[i], name));
  }
  if (result === null) throw new RangeError('the graph of inference keeps no outputs');
  return result;
}

function shapesOf(graph: Graph, node: Node): Pick<ExportContext<unknown>, 'attributes' | 'shapes' | 'outputShapes'> {
  return {
    attributes: node.attributes,
    shapes: node.inputs.map((id) => (id === null ? null : graph.values[id].shape)),
    outputShapes: node.outputs.map((id) => graph.values[id].shape),
  };
}
