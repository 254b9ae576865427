// The training step of a run, to be taken apart: its model, settings and batch size in a session as training opens it, on random rows of
// the same form. What stands in rows and weights decides nothing of a step's time, but how long texts are: these are as long as a row holds. A
// run's data may be large, or gone.

import type { Backend } from '../backends/backend.ts';
import type { NetworkModelFile } from '../learners/network/file.ts';
import { predictsTokens, valuesOf, type InputSpec } from '../model/spec.ts';
import { fillNormal, sequentialWords } from '../optim/random.ts';
import { programName, stepOf, type Plan, type Program } from '../plan/plan.ts';
import type { PreparedData, Shard } from '../protocol/data.ts';
import { completeTraining } from '../settings/network.ts';
import { Session } from '../train/session.ts';
import { initializeWeights } from '../train/weights.ts';
import { callsOn, inCalls, profiledAtOnce } from './training-workload.ts';
import type { Workload } from './workload.ts';

/** Values of all rows: more steps at once than hold them are not worth their memory. */
const mostValues = 2 ** 23;

/** Random rows of a model's form, as if they were prepared. Codes of categories and tokens are such as there are. */
function madeUpRows({ input, output, task }: NetworkModelFile, rows: number): { data: PreparedData; shard: Shard } {
  const width = valuesOf(input);
  const classes = output.kind === 'classes' ? output.classes.length : 0;
  const targets = predictsTokens(input) ? width : 1;
  const y = new Float32Array(rows * targets);
  if (classes > 0) y.forEach((_, i) => (y[i] = (i * 7) % classes));
  else fillNormal(y, 1, 51, 1);
  const channels = input.kind === 'image' ? input.channels : 0;
  const data: PreparedData = {
    handle: 'made up',
    input,
    output,
    task,
    counts: { train: rows, validation: 0, test: 0 },
    width,
    targets,
    shardStarts: [0, rows],
    normalization: { mean: Array(channels).fill(0.5), deviation: Array(channels).fill(0.29) },
    classCounts: Array.from({ length: classes }, () => rows / classes),
    preprocessing: null,
    warnings: [],
  };
  return { data, shard: { rows, x: randomValues(input, rows), y } };
}

function randomValues(input: InputSpec, rows: number): Float32Array | Uint8Array {
  const width = valuesOf(input);
  const next = sequentialWords(1, 50, 0);
  if (input.kind === 'image') return Uint8Array.from({ length: rows * width }, () => next() >>> 24);
  const x = new Float32Array(rows * width);
  fillNormal(x, 1, 50, 1);
  if (input.kind !== 'table') return x;
  input.embeddings.forEach(({ vocabulary }, i) => {
    for (let row = 0; row < rows; row++) x[row * width + input.numeric + i] = next() % vocabulary;
  });
  let column = input.numeric + input.embeddings.length;
  for (const { vocabulary, length } of input.texts ?? []) {
    for (let row = 0; row < rows; row++)
      for (let i = 0; i < length; i++) x[row * width + column + i] = 1 + (next() % (vocabulary - 1));
    column += length;
  }
  return x;
}

/** The calls of a step, of one in parts those of all its parts in their order. */
function callsOfStep(plan: Plan, batch: number): Program {
  const name = programName('train', batch);
  const programs = (stepOf(plan, name)?.parts ?? []).map(({ program }) => plan.programs[program]);
  const sum = (of: (program: Program) => number): number => programs.reduce((all, program) => all + of(program), 0);
  const calls = programs.flatMap((program) => program.calls);
  return { name, batch, calls, flops: sum(({ flops }) => flops), bytes: sum(({ bytes }) => bytes) };
}

/** Steps of the network that a model file describes, in batches of no more than `rows`, call by call. */
export function runWorkload(
  name: string,
  file: NetworkModelFile,
  rows: number,
): Required<Pick<Workload, 'name' | 'openCalls'>> {
  const whole = completeTraining(file.training);
  const batch = Math.max(1, Math.min(whole.batch, rows));
  const training = { ...whole, batch };
  const steps = Math.max(1, Math.min(profiledAtOnce, Math.floor(mostValues / (batch * valuesOf(file.input)))));
  return {
    name,
    openCalls: async (backend) => {
      const { data, shard } = madeUpRows(file, batch * steps);
      let program: Program | undefined;
      const session = await Session.open({
        backend: {
          device: backend.device,
          halfStorage: backend.halfStorage,
          compile: (plan) => backend.compile(inCalls(plan, (program = callsOfStep(plan, batch)))),
          close: async () => undefined,
        } satisfies Backend,
        model: file.model,
        training,
        data,
        readShard: async () => shard,
        dataBudget: backend.dataBudget ?? Infinity,
      });
      const { executable } = session;
      initializeWeights(executable, session.whole, training.seed);
      await session.enter(0, 0);
      const { settled, ...calls } = callsOn(executable, backend.device, program!.calls.length);
      return {
        ...calls,
        threads: executable.threads ?? backend.device.threads,
        program: program!,
        steps: async () => {
          const count = Math.min(steps, session.stepsAtOnce);
          await session.train(0, 0, count, batch);
          await settled();
          return count;
        },
        close: () => session.close(),
      };
    },
  };
}
