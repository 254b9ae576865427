// The answer to one row by a network that is kept ready, as `serve` and the what-if form give it: latency, as a workload.

import { defaultTraining } from '../model/presets.ts';
import { resolveModel } from '../model/resolve.ts';
import { valuesOf, type InputSpec, type ModelSpec, type OutputSpec } from '../model/spec.ts';
import { sequentialWords } from '../optim/random.ts';
import { compilePlan } from '../plan/compile.ts';
import type { PreparedData } from '../protocol/data.ts';
import { Session } from '../train/session.ts';
import { planOptions } from '../train/session-sizes.ts';
import { initializeWeights } from '../train/weights.ts';
import type { Workload } from './workload.ts';

export interface PredictionWorkload {
  readonly name: string;
  readonly input: InputSpec;
  readonly output: Extract<OutputSpec, { kind: 'classes' }>;
  readonly model: ModelSpec;
}

/** A workload of predictions of one row each, first weights and random values. */
export function predictionWorkload({ name, input, output, model }: PredictionWorkload): Workload {
  const width = valuesOf(input);
  const training = defaultTraining(1, 'classification');
  const data: PreparedData = {
    handle: name,
    input,
    output,
    task: 'classification',
    counts: { train: 0, validation: 0, test: 1 },
    width,
    targets: 1,
    shardStarts: [0, 1],
    classCounts: [],
    preprocessing: null,
    warnings: [],
  };
  const makeProgram = () => {
    const resolved = resolveModel(model, input, output.classes.length);
    const { options } = planOptions({ model: resolved, training, data, capacity: 1, accumulate: 1, predictOnly: true });
    return Object.values(compilePlan(options).programs).at(-1)!;
  };
  let known: ReturnType<typeof makeProgram> | undefined;
  const program = () => (known ??= makeProgram());
  return {
    name,
    unit: 'ms/row',
    get flops() {
      return program().flops;
    },
    get bytes() {
      return program().bytes;
    },
    get programs() {
      return [{ program: program(), times: 1 }];
    },
    open: async (backend) => {
      const next = sequentialWords(1, 50, 0);
      const bytes = Uint8Array.from({ length: width }, () => next() >>> 24);
      const x = input.kind === 'image' ? bytes : Float32Array.from(bytes, (byte) => (byte - 127.5) / 64);
      const shard = { rows: 1, x, y: new Float32Array(1) };
      const session = await Session.open({
        backend,
        model,
        training,
        data,
        readShard: async () => shard,
        dataBudget: Infinity,
        predictOnly: true,
      });
      initializeWeights(session.executable, session.model, 1);
      await session.rows.show({ start: 0, end: 1 });
      return {
        threads: session.executable.threads ?? backend.device.threads,
        // Each row is written and its answer read before the next one comes.
        run: async (units = 1) => {
          for (let done = 0; done < units; done++) {
            session.executable.write('data.x', x);
            await session.predict({ start: 0, end: 1 });
          }
        },
        close: () => session.close(),
      };
    },
  };
}
