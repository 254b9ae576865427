// A backend that notes which rows each training step takes, by the first value of a row, which has to be different in each.

import type { Backend, Executable, HostArray } from '../../engine/backends/backend.ts';

export interface Visits {
  readonly backend: Backend;
  /** First values of the rows of each training step, in their order. */
  readonly steps: number[][];
}

/** `width`: values of a row. Only the rows of programs named `train@…` and `gradients@…` are noted. */
export function notingVisits(backend: Backend, width: number): Visits {
  const steps: number[][] = [];
  const wrap = (executable: Executable, rows: number): Executable => {
    const first = new Float32Array(rows);
    let indices: HostArray = new Uint32Array(0);
    return {
      threads: executable.threads,
      bytes: executable.bytes,
      write(tensor, data, offset = 0) {
        if (tensor === 'data.x') {
          for (let i = 0; i < data.length; i += width) first[(offset + i) / width] = data[i];
        }
        if (tensor === 'step.indices') indices = data.slice();
        executable.write(tensor, data, offset);
      },
      read: (...request) => executable.read(...request),
      async run(program, count) {
        if (program.startsWith('train@')) {
          const batch = indices.length / count;
          for (let step = 0; step < count; step++) {
            steps.push(Array.from(indices.subarray(step * batch, (step + 1) * batch), (row) => first[row]));
          }
        }
        await executable.run(program, count);
      },
      // Short submits: a run can be stopped nearly anywhere.
      stepsAtOnce: (program) => Math.min(3, executable.stepsAtOnce(program)),
      dispose: () => executable.dispose(),
    };
  };
  return {
    steps,
    backend: {
      ...backend,
      compile: async (plan) => wrap(await backend.compile(plan), plan.tensors['data.x'].shape[0]),
    },
  };
}
