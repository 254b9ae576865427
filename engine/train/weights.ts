// Named tensors between the device and the host: first values, snapshots, restoring.

import type { Executable } from '../backends/backend.ts';
import { toHost } from '../backends/host-arrays.ts';
import { sizeOf } from '../graph/op.ts';
import type { StateDef } from '../model/layer.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import { initialize } from '../optim/initializers.ts';
import type { Plan } from '../plan/plan.ts';
import { InputError } from '../protocol/errors.ts';
import type { SafeTensor } from './safetensors.ts';

export type Weights = Readonly<Record<string, SafeTensor>>;

/** Writes first values of all parameters and states. `written`: names of those that have theirs already. */
export function initializeWeights(
  executable: Executable,
  model: ResolvedModel,
  seed: number,
  written: readonly string[] = [],
): void {
  const has = new Set(written);
  // One array for all of them: what is made for each would lie about until it is collected, the whole model once more.
  const largest = new Float32Array(Math.max(0, ...model.parameters.map(({ shape }) => sizeOf(shape))));
  model.parameters.forEach(({ name, shape, initializer, type = 'f32' }, index) => {
    if (has.has(name)) return;
    const values = largest.subarray(0, sizeOf(shape));
    initialize(initializer, values, seed, index);
    executable.write(name, type === 'f32' ? values : toHost(type, values));
  });
  // Given back now, not when garbage is collected next.
  largest.buffer.transfer(0);
  for (const state of model.states.filter(({ name }) => !has.has(name)))
    executable.write(state.name, toHost(state.type ?? 'f32', firstState(state)));
}

/** What a state is before any training: a table of its layer, or one number throughout. */
export const firstState = ({ shape, initial, values }: StateDef): Float32Array =>
  values ?? new Float32Array(sizeOf(shape)).fill(initial);

/** Names of what prediction needs: parameters and running statistics. */
export function weightNames(model: ResolvedModel): readonly string[] {
  return [...model.parameters, ...model.states].map(({ name }) => name);
}

/** The tensors of these names. `into`: earlier ones that are not needed any more; they are written over. */
export async function readWeights(
  executable: Executable,
  plan: Plan,
  names: readonly string[],
  into: Weights = {},
): Promise<Weights> {
  const tensors = names.map((name) => {
    const { shape } = plan.tensors[name];
    return [name, into[name] ?? { shape, data: new Float32Array(sizeOf(shape)) }] as const;
  });
  await readInto(executable, plan, Object.fromEntries(tensors.map(([name, { data }]) => [name, data])));
  return Object.fromEntries(tensors);
}

/** Puts tensors into these places, all at once: nobody finds some of them new and others old. */
export async function readInto(
  executable: Executable,
  plan: Plan,
  places: Readonly<Record<string, Float32Array>>,
): Promise<void> {
  if (executable.copy) {
    for (const [name, place] of Object.entries(places)) executable.copy(name, place);
    return;
  }
  const slots = new Map<number, string[]>();
  for (const name of Object.keys(places)) {
    const { slot } = plan.tensors[name];
    slots.set(slot, [...(slots.get(slot) ?? []), name]);
  }
  const read = await Promise.all([...slots].map(([slot, members]) => readTogether(executable, plan, slot, members)));
  for (const [name, values] of read.flat()) places[name].set(values);
}

/** The tensors of one slot: all that lie in a tensor as long as the slot come with one read. */
async function readTogether(
  executable: Executable,
  plan: Plan,
  slot: number,
  names: readonly string[],
): Promise<readonly (readonly [string, Float32Array])[]> {
  const whole = Object.entries(plan.tensors).find(
    ([, place]) => place.slot === slot && sizeOf(place.shape) === plan.slots[slot].elements,
  );
  if (names.length === 1 || !whole) {
    const each = async (name: string): Promise<readonly [string, Float32Array]> => [
      name,
      (await executable.read(name)) as Float32Array,
    ];
    return Promise.all(names.map(each));
  }
  const values = (await executable.read(whole[0])) as Float32Array;
  return names.map((name) => {
    const { offset, shape } = plan.tensors[name];
    return [name, values.subarray(offset, offset + sizeOf(shape))];
  });
}

const withoutLayer =
  ' Those of others that bring no output layer predict nothing alone: begin a run with them, train DATA --from RUN.';

/** The tensor of this name. Throws InputError `model.weights` naming it and both shapes when it does not fit the model. */
export function fittingWeight(name: string, wanted: readonly number[], weights: Weights): SafeTensor {
  const tensor = weights[name];
  if (tensor?.shape.join() === wanted.join()) return tensor;
  const found = tensor ? `[${tensor.shape.join(', ')}]` : 'missing';
  throw new InputError(
    'model.weights',
    `The weights do not fit the model: ${name} is ${found}, the model needs [${wanted.join(', ')}].`,
    `Use the weights with the model and the data they were trained with.${tensor ? '' : withoutLayer}`,
  );
}

/** Writes them to the device. Throws InputError `model.weights` when they do not fit the model. */
export function writeWeights(executable: Executable, plan: Plan, names: readonly string[], weights: Weights): void {
  for (const name of names) executable.write(name, fittingWeight(name, plan.tensors[name].shape, weights).data);
}
