// Plans of one kernel, for measuring a device by itself: arrays that are copied and added, and small calls in a row.

import type { OpenWorkload } from '../bench/workload.ts';
import type { Executable } from '../backends/backend.ts';
import type { Call, Plan, Program, Slot } from '../plan/plan.ts';

/** Steps of one run of the backend. */
export const stepsAtOnce = 64;

/** A plan over float32 arrays of the same length, `a`, `b` and `c`. */
function arraysPlan(elements: number, programs: readonly Program[]): Plan {
  const names = ['a', 'b', 'c'];
  return {
    slots: names.map((label, id): Slot => ({ id, label, elements, type: 'f32', kind: 'persistent' })),
    tensors: Object.fromEntries(
      names.map((name, slot) => [name, { slot, offset: 0, shape: [elements], type: 'f32' as const }]),
    ),
    programs: Object.fromEntries(programs.map((program) => [program.name, program])),
    stepCapacity: stepsAtOnce,
    checkpoint: [],
  };
}

const place = (slot: number, shape: readonly number[]) => ({ slot, offset: 0, shape });

/** c = a + b of the first `count` elements. */
const addCall = (count: number): Call => ({
  kernel: 'add',
  inputs: [place(0, [count]), place(1, [count])],
  outputs: [place(2, [count])],
  params: { count },
});

/** A stretch of memory that a program goes through. */
export interface Stretch {
  readonly program: string;
  /** Of all arrays together. */
  readonly bytes: number;
}

/** Every thread copies one piece; pieces are of whole vectors. */
export function copyProgram(bytes: number, threads: number): Stretch & { readonly made: Program } {
  const columns = Math.max(4, Math.floor(bytes / 8 / threads / 4) * 4);
  const shape = [threads, columns];
  const name = `copy@${bytes}`;
  const call: Call = {
    kernel: 'copy_columns',
    inputs: [place(0, shape)],
    outputs: [place(1, shape)],
    params: { rows: threads, columns, sourceWidth: columns, sourceOffset: 0, targetWidth: columns, targetOffset: 0 },
  };
  const moved = 8 * threads * columns;
  return { program: name, bytes: moved, made: { name, batch: 1, calls: [call], flops: 0, bytes: moved } };
}

/** c = a + b over arrays of `bytes` together. */
export function triadProgram(bytes: number): Stretch & { readonly made: Program } {
  const count = Math.max(4, Math.floor(bytes / 12 / 4) * 4);
  const name = `triad@${bytes}`;
  return {
    program: name,
    bytes: 12 * count,
    made: { name, batch: 1, calls: [addCall(count)], flops: count, bytes: 12 * count },
  };
}

/** Arrays that are large enough for all of these programs. */
export function stretchesPlan(stretches: readonly { readonly made: Program }[]): Plan {
  const elements = Math.max(
    ...stretches.flatMap(({ made }) =>
      made.calls.flatMap(({ inputs, outputs }) =>
        [...inputs, ...outputs].map((operand) => (operand?.shape ?? []).reduce((product, size) => product * size, 1)),
      ),
    ),
  );
  return arraysPlan(
    elements,
    stretches.map(({ made }) => made),
  );
}

/** Small calls in one program: the last one starts no sooner than the first has ended. */
export const chainLength = 64;
const smallCount = 16;

/** `one`: a program of one small call; `chain`: one of `chainLength`. */
export function latencyPlan(): Plan {
  const program = (name: string, calls: number): Program => ({
    name,
    batch: 1,
    calls: Array.from({ length: calls }, () => addCall(smallCount)),
    flops: calls * smallCount,
    bytes: calls * 12 * smallCount,
  });
  return arraysPlan(smallCount, [program('one', 1), program('chain', chainLength)]);
}

/** An array to write and to read. */
export const transferPlan = (elements: number): Plan => arraysPlan(elements, [{ ...oneCall(), name: 'one' }]);

const oneCall = (): Program => ({ name: 'one', batch: 1, calls: [addCall(smallCount)], flops: smallCount, bytes: 0 });

/** Units are runs of a program, several to a run of the backend; complete when a value has been read after the last. */
export function runsOf(executable: Executable, program: string, atOnce = stepsAtOnce): Pick<OpenWorkload, 'run'> {
  return {
    run: async (units = 1) => {
      for (let done = 0; done < units; done += atOnce) await executable.run(program, Math.min(atOnce, units - done));
      await executable.read('c', 0, 1);
    },
  };
}
