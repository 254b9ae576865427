// The step of a run taken apart: its own model, settings and batch, whatever they are; and the words it is told in.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { profileStep, type Peaks } from '../../engine/bench/profile.ts';
import { profileWorkloads } from '../../engine/bench/profiling.ts';
import { runWorkload } from '../../engine/bench/run-workload.ts';
import type { OpenCalls } from '../../engine/bench/workload.ts';
import type { NetworkModelFile } from '../../engine/learners/network/file.ts';
import { smallCnn } from '../../engine/model/image-presets.ts';
import { defaultTraining, presetNamed, specOf } from '../../engine/model/presets.ts';
import { outputWidth, resolveModel } from '../../engine/model/resolve.ts';
import {
  predictsTokens,
  valuesOf,
  type NetworkInput,
  type ModelSpec,
  type OutputSpec,
  type TrainingSpec,
} from '../../engine/model/spec.ts';
import { gpt, recurrentClassifier, type TextInput } from '../../engine/model/text-presets.ts';
import { frozenModel } from '../../engine/model/freeze.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { programName, stepOf } from '../../engine/plan/plan.ts';
import { callColumns, disturbanceText, heldBackBy, profileText } from '../../engine/protocol/step-profile.ts';
import { planOptions } from '../../engine/train/session-sizes.ts';
import { createProfiles, type ProfileParts } from '../../electron/main/profiles.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { penguins, temporaryHome, trainyard } from '../support/cli.ts';

const peaks: Peaks = { gflops: 100, copy: [{ bytes: 1e5, gbPerSecond: 10 }] };
const table: NetworkInput = {
  kind: 'table',
  width: 5,
  numeric: 3,
  embeddings: [
    { name: 'city', vocabulary: 40, dimensions: 4 },
    { name: 'street', vocabulary: 90, dimensions: 6 },
  ],
};
const image: NetworkInput = { kind: 'image', channels: 3, height: 12, width: 12 };
const classes: OutputSpec = { kind: 'classes', classes: ['a', 'b', 'c'] };
const texts: TextInput = {
  kind: 'table',
  width: 21,
  numeric: 1,
  embeddings: [],
  texts: [
    { name: 'title', vocabulary: 50, length: 8 },
    { name: 'body', vocabulary: 300, length: 12 },
  ],
};
const letters: TextInput = {
  kind: 'table',
  width: 16,
  numeric: 0,
  embeddings: [],
  texts: [{ name: 'text', vocabulary: 30, length: 16, predicted: true }],
};
const value: OutputSpec = { kind: 'value', name: 'y', offset: 3, scale: 2 };

function modelOf(input: NetworkInput): ModelSpec {
  if (input === texts) return recurrentClassifier('lstm', 'lstm', 8)(texts);
  if (input === letters) return gpt('gpt', { blocks: 1, width: 16, heads: 2, positions: 0 })(letters);
  return input.kind === 'image' ? smallCnn() : specOf(presetNamed('realmlp')!, input);
}

function fileOf(input: NetworkInput, output: OutputSpec, changes: Partial<TrainingSpec>): NetworkModelFile {
  const task = output.kind === 'classes' ? 'classification' : 'regression';
  const model = modelOf(input);
  const training = { ...defaultTraining(1000, task, input, model), batch: 24, ...changes };
  return { learner: 'network', input, output, task, model, training };
}

const files: Readonly<Record<string, NetworkModelFile>> = {
  'a table with embeddings and balanced classes': fileOf(table, classes, { classWeights: 'balanced', clipNorm: 1 }),
  'numbers of a table': fileOf(table, value, {}),
  'pictures, a batch in three parts': fileOf(image, classes, { accumulate: 3 }),
  'texts beside a number': fileOf(texts, classes, {}),
  'a language model, whose every token is a target': fileOf(
    letters,
    { kind: 'classes', classes: Array.from({ length: 29 }, (_, i) => `${i}`) },
    {},
  ),
  'pictures, layers frozen': fileOf(image, classes, { frozenLayers: 2 }),
};

for (const [name, file] of Object.entries(files)) {
  test(`${name}: every call of the step that training compiles, in its order`, async () => {
    const { training, output } = file;
    const model = frozenModel(
      resolveModel(file.model, file.input, outputWidth(output, training.loss)),
      training.frozenLayers ?? 0,
    );
    const rows = 240;
    const counts = { train: rows, validation: 0, test: 0 };
    const width = valuesOf(file.input);
    const data = { counts, output, width, targets: predictsTokens(file.input) ? width : 1 };
    const { accumulate } = training;
    const plan = compilePlan(planOptions({ model, training, data, capacity: rows, accumulate }).options);
    const expected = stepOf(plan, programName('train', 24))!.parts.flatMap(
      ({ program }) => plan.programs[program].calls,
    );
    const backend = createCpuBackend({ threads: 1 });
    let [now, done] = [0, 0];
    const between = async (): Promise<void> => void (now += 1000);
    const clock = (): number => (now += 0.001);
    const onProgress = (share: number): void => {
      assert.ok(share >= done && share <= 1);
      done = share;
    };
    const profile = (await profileStep(backend, runWorkload('run 1', file, rows), peaks, clock, {
      between,
      onProgress,
    }))!;
    await backend.close();
    assert.deepEqual(
      profile.calls.map(({ kernel }) => kernel),
      expected.map(({ kernel }) => kernel),
    );
    assert.ok(done > 0.85, `it ended at ${done}`);
    assert.ok(profile.step > 0);
  });
}

test('a step of half a minute is not said to be done after the first of three', async () => {
  const backend = createCpuBackend({ threads: 1 });
  let now = 0;
  const told: number[] = [];
  const workload = runWorkload('run 1', files['numbers of a table'], 7);
  const openCalls = async (): Promise<OpenCalls> => ({
    ...(await workload.openCalls(backend)),
    steps: async () => {
      now += 100;
      return 1;
    },
    call: async (position) => void (now += position === 0 ? 30_000 : 1),
  });
  await profileStep(backend, { name: 'slow', openCalls }, peaks, () => now, {
    onProgress: (share) => told.push(share),
  });
  await backend.close();
  assert.deepEqual(
    told.map((share) => share.toFixed(2)),
    ['0.33', '0.67', '1.00'],
  );
});

test('a batch is no larger than the rows there were', async () => {
  const backend = createCpuBackend({ threads: 1 });
  const open = await runWorkload('run 1', files['numbers of a table'], 7).openCalls(backend);
  assert.equal(open.program.batch, 7);
  assert.ok((await open.steps()) >= 1);
  open.close();
  await backend.close();
});

test('texts are made of tokens there are, as many as a row holds', async () => {
  const backend = createCpuBackend({ threads: 1 });
  let written = new Float32Array(0);
  const watched: Backend = {
    ...backend,
    compile: async (plan) => {
      const executable = await backend.compile(plan);
      const write: typeof executable.write = (tensor, values, ...more) => {
        if (tensor === 'data.x') written = Float32Array.from(values);
        executable.write(tensor, values, ...more);
      };
      return { ...executable, write };
    },
  };
  const open = await runWorkload('run 1', files['texts beside a number'], 100).openCalls(watched);
  open.close();
  await backend.close();
  const rows = Array.from({ length: written.length / 21 }, (_, row) => written.subarray(21 * row, 21 * row + 21));
  for (const [first, last, vocabulary] of [
    [1, 9, 50],
    [9, 21, 300],
  ] as const) {
    const codes = rows.flatMap((row) => [...row.subarray(first, last)]);
    assert.ok(codes.every((code) => Number.isInteger(code) && code >= 1 && code < vocabulary));
    assert.ok(new Set(codes).size > vocabulary / 2, 'all over the table, as tokens of texts are');
  }
});

test('the profile of all threads or of one, whichever is faster, with what others did meanwhile', async () => {
  const shares: number[] = [];
  const found: { threads: number; step: number; others: unknown }[] = [];
  const opened: number[] = [];
  await profileWorkloads(
    [{ name: 'a product' }, runWorkload('run 1', files['numbers of a table'], 100)],
    {
      open: async (threads) => {
        opened.push(threads);
        return createCpuBackend({ threads: threads || 2 });
      },
      threads: 0,
      clock: () => performance.now(),
      watchOthers: () => () => 1.5,
      processors: 2,
      onProgress: (share) => shares.push(share),
    },
    async (profile) => void found.push(profile),
  );
  assert.deepEqual(opened, [0, 1, 2]);
  assert.equal(found.length, 1);
  assert.deepEqual(found[0].others, { busy: 1.5, processors: 2 });
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
});

test('the window takes a run of the GPU apart there; where no GPU is, on the CPU; what else fails is told', async () => {
  const started: string[] = [];
  const host = (device: string, error?: Error) => async () => {
    started.push(device);
    const profile = async () => (error ? Promise.reject(error) : { gpu: device });
    const profiler = { profile, onProfiled: () => () => undefined };
    return { profiler, exited: new Promise<string>(() => {}), kill: () => started.push(`${device} ended`) };
  };
  const profiled = async (device: string, error?: Error): Promise<unknown> => {
    started.length = 0;
    const run = async () => ({ config: { threads: 1 }, data: null, device, state: 'completed' });
    const store = { run, readFile: async () => new Uint8Array() };
    const processes = { startGpuHost: host('gpu', error), startCpuHost: host('cpu') };
    const alone = {
      while: async (_: string, work: (control: object) => unknown) =>
        work({ cancellation: new Promise<never>(() => {}) }),
    };
    return createProfiles({ store, processes, alone } as unknown as ProfileParts).profileRun({ job: 'a', run: 1 });
  };
  const missing = new TrainyardError('device.no_adapter', 'There is no GPU.', '');
  assert.deepEqual(await profiled('cpu:0', missing), { gpu: 'cpu' });
  assert.deepEqual(started, ['cpu', 'cpu ended']);
  assert.deepEqual(await profiled('gpu (SwiftShader)'), { gpu: 'gpu' });
  assert.deepEqual(started, ['gpu', 'gpu ended']);
  assert.deepEqual(await profiled('gpu (SwiftShader)', missing), { gpu: 'cpu' });
  assert.deepEqual(started, ['gpu', 'gpu ended', 'cpu', 'cpu ended']);
  await assert.rejects(profiled('gpu (SwiftShader)', new TrainyardError('device.lost', 'It is gone.', '')), /gone/);
});

test('what holds a call back, in words', () => {
  const call = { layer: '2', phase: 'forward', kernel: 'matmul', flops: 4e6, bytes: 1e6, share: 0.5 } as const;
  const computing = { ...call, limit: 'computing', least: 1, milliseconds: 4 } as const;
  assert.equal(heldBackBy(computing), 'computing');
  assert.equal(heldBackBy({ ...computing, milliseconds: 4.01 }), 'overhead');
  assert.equal(heldBackBy({ ...computing, limit: 'memory' }), 'memory');
  assert.deepEqual(
    callColumns.map(({ value: of }) => of(computing)),
    ['2 forward: matmul', '4 ms', '50.0 %', '1', '0.25', '25 %', 'computing'],
  );
  const whole = {
    workload: 'w',
    threads: 2,
    step: 0.05,
    calls: [computing],
    peakGflops: 1234.5,
    timed: 'one by one',
    gpu: null,
  } as const;
  assert.equal(
    profileText({ ...whole, others: null }),
    '50 µs a step on 2 threads; 1 call, one by one 4 ms, 1 ms at this CPU’s best (1,235 GFLOP/s).',
  );
  assert.equal(disturbanceText({ others: null }), null);
  assert.equal(disturbanceText({ others: { busy: 0.5, processors: 2 } }), null);
  assert.match(disturbanceText({ others: { busy: 9, processors: 2 } })!, /^Other programs used 2\.0 of 2 processors/);
});

test('bench --profile --run: a network of the history; others are refused with what to do', async (t) => {
  const home = temporaryHome(t);
  await trainyard(home, 'train', penguins, '--epochs', '1', '--threads', '1');
  await trainyard(home, 'train', penguins, '--model', 'linear');
  const { code, events } = await trainyard(home, 'bench', '--profile', '--run', '1', '--json');
  assert.equal(code, 0);
  const [whole, ...calls] = events;
  assert.deepEqual([whole.workload, whole.threads, whole.calls], ['run 1', 1, calls.length]);
  assert.ok(calls.every(({ heldBackBy: held }) => ['memory', 'computing', 'overhead'].includes(String(held))));
  const refused = async (...args: string[]): Promise<string> => {
    const ended = await trainyard(home, 'bench', ...args);
    assert.equal(ended.code, 2);
    return ended.stderr;
  };
  assert.match(await refused('--profile', '--run', '2'), /Run 2 is a linear model: .*Choose the run of a network/);
  assert.match(await refused('--run', '1'), /Add --profile/);
  for (const option of ['--peer=true', '--rows=100', '--rounds=2', '--out=table.json'])
    assert.match(await refused('--profile', option), new RegExp(`no use for ${option.split('=')[0]}\\.`));
  assert.match(await refused('--profile', '--run', '1', '--only', 'mlp'), /exclude each other/);
});
