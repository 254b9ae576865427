// A model of one hand-made layer, for what no layer of the registry does yet: its parameters and its part of the graph are
// given by the test; rows of a table go in, one number comes out.

import type { ElementType } from '../../kernels/contract.ts';
import type { Shape, ValueId } from '../../engine/graph/graph.ts';
import type { LayerBuildContext, LayerDef } from '../../engine/model/layer.ts';
import { defaultTraining } from '../../engine/model/presets.ts';
import { resolveModel, type ResolvedModel } from '../../engine/model/resolve.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import type { Plan } from '../../engine/plan/plan.ts';

export interface HandMade {
  readonly inputs: number;
  readonly batch: number;
  /** Resident rows; 12 by default. */
  readonly rows?: number;
  readonly parameters: Readonly<Record<string, Shape>>;
  /** Tensors that are not trained, such as numbers to gather by. */
  readonly states?: Readonly<Record<string, { readonly shape: Shape; readonly type: ElementType }>>;
  /** [batch, inputs] → [batch, 1] */
  readonly build: (context: LayerBuildContext, x: ValueId) => ValueId;
}

/** The model; its parameters and states are called `made.NAME`. */
export function handMadeModel({ inputs, parameters, states = {}, build }: HandMade): ResolvedModel {
  const input = { kind: 'table', width: inputs, numeric: inputs, embeddings: [] } as const;
  const model = resolveModel({ version: 1, layers: [{ type: 'output', id: 'made' }] }, input, 1);
  const own = Object.entries(parameters).map(([name, shape]) => ({
    name: `made.${name}`,
    shape,
    initializer: { kind: 'uniform_fan_in', fanIn: 2 } as const,
    decay: true,
  }));
  const kept = Object.entries(states).map(([name, state]) => ({ name: `made.${name}`, initial: 0, ...state }));
  const [layer] = model.layers;
  const def: LayerDef = { ...layer.def, build: (context, [x]) => build(context, x) };
  return { ...model, parameters: own, states: kept, layers: [{ ...layer, def, parameters: own, states: kept }] };
}

/** Its plan: mean square error, steps of `batch` rows with Adam. */
export function handMadePlan(made: HandMade): { readonly model: ResolvedModel; readonly plan: Plan } {
  const model = handMadeModel(made);
  const { rows = 12 } = made;
  const base = defaultTraining(rows, 'regression');
  const plan = compilePlan({
    model,
    output: { kind: 'value', name: 'y', offset: 0, scale: 1 },
    training: { ...base, clipNorm: 0, optimizer: { ...base.optimizer, name: 'adam', weightDecay: 0 } },
    data: { rows, width: made.inputs, targets: 1 },
    stepCapacity: 8,
    predictSteps: 1,
    trainBatches: [made.batch],
    predictBatch: made.batch,
  });
  return { model, plan };
}
