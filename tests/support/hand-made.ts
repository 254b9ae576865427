// A model of one hand-made layer, for what no layer of the registry does yet: its parameters and its part of the graph are
// given by the test; rows of a table go in, one number comes out.

import type { Shape, ValueId } from '../../engine/graph/graph.ts';
import type { LayerBuildContext, LayerDef } from '../../engine/model/layer.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { resolveModel, type ResolvedModel } from '../../engine/model/resolve.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import type { Plan } from '../../engine/plan/plan.ts';

export interface HandMade {
  readonly inputs: number;
  readonly batch: number;
  readonly parameters: Readonly<Record<string, Shape>>;
  /** [batch, inputs] → [batch, 1] */
  readonly build: (context: LayerBuildContext, x: ValueId) => ValueId;
}

/** The model; its parameters are called `made.NAME`. */
export function handMadeModel({ inputs, parameters, build }: HandMade): ResolvedModel {
  const input = { kind: 'table', width: inputs, numeric: inputs, embeddings: [] } as const;
  const model = resolveModel({ version: 1, layers: [{ type: 'output', id: 'made' }] }, input, 1);
  const own = Object.entries(parameters).map(([name, shape]) => ({
    name: `made.${name}`,
    shape,
    initializer: { kind: 'uniform_fan_in', fanIn: 2 } as const,
    decay: true,
  }));
  const [layer] = model.layers;
  const def: LayerDef = { ...layer.def, build: (context, [x]) => build(context, x) };
  return { ...model, parameters: own, layers: [{ ...layer, def, parameters: own }] };
}

/** Its plan: mean square error, steps of `batch` of 12 rows. */
export function handMadePlan(made: HandMade): { readonly model: ResolvedModel; readonly plan: Plan } {
  const model = handMadeModel(made);
  const base = defaultTraining(12, 'regression');
  const plan = compilePlan({
    model,
    output: { kind: 'value', name: 'y', offset: 0, scale: 1 },
    training: { ...base, clipNorm: 0, optimizer: { ...base.optimizer, weightDecay: 0 } },
    data: { rows: 12, width: made.inputs, targets: 1 },
    stepCapacity: 8,
    predictSteps: 1,
    trainBatches: [made.batch],
    predictBatch: made.batch,
  });
  return { model, plan };
}
