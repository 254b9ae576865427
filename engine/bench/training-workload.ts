// Training steps of any model on random rows, as a workload: whole, or call by call.

import type { Backend, Executable } from '../backends/backend.ts';
import { defaultTraining } from '../model/presets.ts';
import { resolveModel } from '../model/resolve.ts';
import { valuesOf, type InputSpec, type ModelSpec, type OutputSpec, type TrainingSpec } from '../model/spec.ts';
import { fillNormal, sequentialWords, shuffle } from '../optim/random.ts';
import { compilePlan } from '../plan/compile.ts';
import { programName, type Plan, type Program } from '../plan/plan.ts';
import { initializeWeights } from '../train/weights.ts';
import type { OpenCalls, StepsWorkload, Workload } from './workload.ts';

/** Training steps of a model on random rows. */
export interface TrainingWorkload {
  readonly name: string;
  readonly unit: StepsWorkload['unit'];
  readonly rows: number;
  readonly batch: number;
  /** Units whose steps go into one call of the backend, one by default; their tables have to fit memory. */
  readonly unitsAtOnce?: number;
  readonly input: InputSpec;
  readonly output: OutputSpec;
  readonly model: ModelSpec;
  /** Adam with 0.001 by default. */
  readonly optimizer?: Partial<TrainingSpec['optimizer']>;
}

const nothing = 'nothing';
const callName = (position: number): string => `call ${position}`;

/** Steps of a profile that go to the device at once. */
export const profiledAtOnce = 16;

/** The plan with a program more for each call of one, and one without any. */
export function inCalls(plan: Plan, { batch, calls }: Pick<Program, 'batch' | 'calls'>): Plan {
  const program = (name: string, one: Program['calls']): Program => ({ name, batch, calls: one, flops: 0, bytes: 0 });
  const programs = [program(nothing, []), ...calls.map((call, i) => program(callName(i), [call]))];
  return { ...plan, programs: { ...plan.programs, ...Object.fromEntries(programs.map((each) => [each.name, each])) } };
}

/** These calls on a device, each run to its end or timed; and `settled`, which steps are when nothing of them is at work any more. */
export function callsOn(
  executable: Executable,
  { kind }: Backend['device'],
  count: number,
): Pick<OpenCalls, 'call' | 'times'> & { readonly settled: () => Promise<void> } {
  // A GPU may still be at its last submit: the next one waits for the end of that.
  const settled = async (): Promise<void> => (kind === 'gpu' ? executable.run(nothing, 1) : undefined);
  const names = [nothing, ...Array.from({ length: count }, (_, position) => callName(position))];
  return {
    settled,
    call: async (position) => {
      await executable.run(position === null ? nothing : callName(position), 1);
      await settled();
    },
    ...(executable.timeEach && { times: () => executable.timeEach!(names) }),
  };
}

const inOrder = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => i);

/** A workload of training steps of any model. */
export function trainingWorkload(workload: TrainingWorkload): StepsWorkload {
  const { name, unit, rows, batch, unitsAtOnce = 1, input, output, model: spec } = workload;
  const width = valuesOf(input);
  const classes = output.kind === 'classes' ? output.classes.length : 0;
  const base = defaultTraining(rows, classes > 0 ? 'classification' : 'regression');
  const training: TrainingSpec = {
    ...base,
    batch,
    optimizer: { ...base.optimizer, name: 'adam', learningRate: 0.001, weightDecay: 0, ...workload.optimizer },
  };
  const model = resolveModel(spec, input, Math.max(1, classes));
  const [full, remainder] = [Math.floor(rows / batch), rows % batch];
  const makePlan = (): Plan =>
    compilePlan({
      model,
      output,
      training,
      data: { rows, width, targets: 1 },
      stepCapacity: full * unitsAtOnce,
      predictSteps: 1,
      trainBatches: remainder > 0 ? [batch, remainder] : [batch],
      predictBatch: batch,
    });
  let known: Workload['programs'] | undefined;
  // Planned when it is asked for: the window knows all of them and looks at those of a lab.
  const programsOf = (): Workload['programs'] => {
    if (known) return known;
    const { programs } = makePlan();
    const rest = remainder > 0 ? [{ program: programs[programName('train', remainder)], times: 1 }] : [];
    return (known = [{ program: programs[programName('train', batch)], times: full }, ...rest]);
  };
  const total = (what: 'flops' | 'bytes'): number =>
    programsOf().reduce((sum, { program, times }) => sum + times * program[what], 0);

  /** A plan on a device, with rows and first weights in it; `steps` runs steps of these rows, `size` each. */
  async function openSteps(backend: Backend, plan: Plan) {
    const executable = await backend.compile(plan);
    initializeWeights(executable, model, 1);
    if (input.kind !== 'image') {
      const x = new Float32Array(rows * width);
      fillNormal(x, 1, 50, 1);
      executable.write('data.x', x);
    } else {
      const next = sequentialWords(1, 50, 0);
      executable.write(
        'data.x',
        Uint8Array.from({ length: rows * width }, () => next() >>> 24),
      );
      const normalization = Array.from({ length: input.channels }, () => [0.5, 0.29]);
      executable.write('data.normalization', Float32Array.from(normalization.flat()));
    }
    const y = new Float32Array(rows);
    if (classes > 0) y.forEach((_, i) => (y[i] = (i * 7) % classes));
    else fillNormal(y, 1, 51, 1);
    executable.write('data.y', y);
    const scalars = new Float32Array(unitsAtOnce * full * 4);
    let done = 0;
    const steps = async (rowsOfSteps: Uint32Array, size: number): Promise<void> => {
      const count = rowsOfSteps.length / size;
      for (let i = 0; i < count; i++) {
        const t = ++done;
        scalars.set([training.optimizer.learningRate, 1 - 0.9 ** t, 1 - 0.999 ** t, 0], 4 * i);
      }
      executable.write('step.indices', rowsOfSteps);
      executable.write('step.scalars', scalars.subarray(0, 4 * count));
      await executable.run(programName('train', size), count);
    };
    return { executable, steps };
  }

  return {
    name,
    unit,
    get flops() {
      return total('flops');
    },
    get bytes() {
      return total('bytes');
    },
    get programs() {
      return programsOf();
    },
    open: async (backend) => {
      const { executable, steps } = await openSteps(backend, makePlan());
      const order = inOrder(rows);
      const indices = new Uint32Array(unitsAtOnce * full * batch);
      let epoch = 0;
      return {
        threads: executable.threads ?? backend.device.threads,
        run: async (units = 1) => {
          for (let done = 0; done < units; done += unitsAtOnce) {
            const count = Math.min(unitsAtOnce, units - done);
            for (let i = 0; i < count; i++) {
              shuffle(order, 1, 2, epoch++);
              indices.set(order.subarray(0, full * batch), i * full * batch);
            }
            await steps(indices.subarray(0, count * full * batch), batch);
            if (remainder > 0) await steps(order.subarray(full * batch), remainder);
          }
          await executable.read('ring.loss', 0, 1);
        },
        close: () => executable.dispose(),
      };
    },
    openCalls: async (backend) => {
      const plan = makePlan();
      const program = plan.programs[programName('train', batch)];
      const { executable, steps } = await openSteps(backend, inCalls(plan, program));
      const { settled, ...calls } = callsOn(executable, backend.device, program.calls.length);
      return {
        ...calls,
        threads: executable.threads ?? backend.device.threads,
        program,
        steps: async () => {
          const most = executable.stepsAtOnce(programName('train', batch));
          const count = Math.min(profiledAtOnce, unitsAtOnce * full, Math.max(1, most));
          // The rows of the first step stay in the tables for the calls.
          await steps(
            Uint32Array.from({ length: count * batch }, (_, i) => i % batch),
            batch,
          );
          await settled();
          return count;
        },
        close: () => executable.dispose(),
      };
    },
  };
}
