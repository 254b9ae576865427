// A few kernel calls on named tensors of float32, run once on a backend.

import type { Backend } from '../../engine/backends/backend.ts';
import type { Call } from '../../engine/plan/plan.ts';
import { elementCount } from '../../kernels/contract.ts';

/** Where a tensor of these lies: each has a slot of its own. */
export function placesOf<Name extends string>(shapes: Readonly<Record<Name, readonly number[]>>) {
  const names = Object.keys(shapes);
  return (name: Name): { readonly slot: number; readonly offset: number } => ({ slot: names.indexOf(name), offset: 0 });
}

/** All tensors after the calls; `inputs` are written before. */
export async function runCalls<Name extends string>(
  backend: Backend,
  shapes: Readonly<Record<Name, readonly number[]>>,
  calls: readonly Call[],
  inputs: Readonly<Partial<Record<Name, Float32Array>>>,
): Promise<Readonly<Record<Name, Float32Array>>> {
  const names = Object.keys(shapes) as Name[];
  const at = placesOf(shapes);
  const executable = await backend.compile({
    slots: names.map((label, id) => ({
      id,
      elements: elementCount(shapes[label]),
      type: 'f32',
      kind: 'scratch',
      label,
    })),
    tensors: Object.fromEntries(names.map((name) => [name, { ...at(name), shape: shapes[name], type: 'f32' }])),
    programs: { run: { name: 'run', batch: 1, calls, flops: 0, bytes: 0 } },
    stepCapacity: 1,
    checkpoint: [],
  });
  for (const [name, values] of Object.entries(inputs)) executable.write(name, values as Float32Array);
  await executable.run('run', 1);
  const read = names.map(async (name) => [name, (await executable.read(name)) as Float32Array] as const);
  const results = Object.fromEntries(await Promise.all(read)) as Record<Name, Float32Array>;
  executable.dispose();
  return results;
}
