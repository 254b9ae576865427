// The WebGPU backend around its kernels: what a step costs, what is refused before the first step, what a lost device does to
// a run, reads and writes. The kernels' numbers are checked in tests/parity.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test, { type TestContext } from 'node:test';
import type { OpenedGpu } from '../../engine/backends/webgpu/adapter.ts';
import { createWebgpuBackend, type WebgpuOptions } from '../../engine/backends/webgpu/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import type { RunFile } from '../../engine/protocol/runs.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import type { Call, Plan, Slot, TensorPlace } from '../../engine/plan/plan.ts';
import { tiles } from '../../kernels/gpu-tiles.ts';
import { kernels } from '../../kernels/registry.ts';
import { StepStream } from '../../engine/train/step-stream.ts';
import { openSteps, tabularMlp } from '../support/steps.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere } from '../support/train.ts';
import { countUse, missingGpu, testGpu } from '../support/webgpu.ts';

/** Compiles a plan of 20 GiB and prints the error. */
const hungry = fileURLToPath(new URL('./fixtures/webgpu-hungry.ts', import.meta.url));
const skip = await missingGpu();

/** A backend over a fresh device, closed with the test. */
async function open(t: TestContext, options?: WebgpuOptions, prepared?: OpenedGpu) {
  const gpu = prepared ?? (await testGpu());
  const backend = createWebgpuBackend(gpu, options);
  t.after(() => backend.close());
  return { gpu, backend };
}

/** A plan over float32 tensors of the given sizes, each in a slot of its own, with one program `run`. */
function planOf(
  sizes: Readonly<Record<string, number>>,
  calls: readonly Call[],
  kind: Slot['kind'] = 'persistent',
): Plan {
  const names = Object.keys(sizes);
  const slots = names.map((label, id): Slot => ({ id, elements: sizes[label], type: 'f32', kind, label }));
  const tensors: Record<string, TensorPlace> = Object.fromEntries(
    names.map((name, slot) => [name, { slot, offset: 0, shape: [sizes[name]], type: 'f32' }]),
  );
  const flops = calls.reduce((sum, call) => sum + kernels[call.kernel as 'add'].cost(call.params as never).flops, 0);
  const run = { name: 'run', batch: 1, calls, flops, bytes: 0 };
  return { slots, tensors, programs: { run }, stepCapacity: 64, checkpoint: [] };
}

const at = (slot: number, offset = 0) => ({ slot, offset });
/** c = a + b over slots 0, 1 and 2. */
const addCall = (count: number): Call => ({
  kernel: 'add',
  inputs: [at(0), at(1)],
  outputs: [at(2)],
  params: { count },
});

test('a step of tabular-mlp is at most 12 dispatches, and steps share submits', { skip }, async (t) => {
  // How long a step takes depends on what else the machine does; how it is submitted should not, here.
  const { gpu, backend } = await open(t, { submitMilliseconds: 60_000 });
  const steps = 64;
  const { executable, program } = await openSteps(tabularMlp, backend, steps);
  const dispatches = executable.dispatches(program);
  assert.ok(dispatches.length <= 12, dispatches.map(({ label }) => label).join(', '));

  await executable.run(program, 8);
  await executable.read('ring.loss', 0, 8);
  const counts = countUse(gpu);
  await executable.run(program, steps);
  await executable.read('ring.loss', 0, steps);
  const { submits, ...made } = counts;
  assert.deepEqual(made, { buffers: 0, bindGroups: 0, pipelines: 0, shaders: 0 });
  assert.ok(submits >= 2 && submits <= steps / 8, `${submits} submits for ${steps} steps and a read`);
});

test('the next submit is in the queue before the last one is done: two in flight, no more', { skip }, async (t) => {
  const { gpu, backend } = await open(t, { submitMilliseconds: 60_000 });
  const { executable, program } = await openSteps(tabularMlp, backend, 64);
  await executable.run(program, 1);
  await executable.read('ring.loss', 0, 1);
  const { queue } = gpu.device;
  const { submit, onSubmittedWorkDone } = queue;
  let flying = 0;
  const most: number[] = [];
  queue.submit = (buffers) => {
    submit.call(queue, buffers);
    flying++;
    most.push(flying);
    void onSubmittedWorkDone.call(queue).then(() => flying--);
    return undefined;
  };
  const stream = new StepStream(
    {
      submit: async (_step, _from, steps) => {
        await executable.run(program, steps);
        return { losses: executable.read('ring.loss', 0, steps) as Promise<Float32Array> };
      },
    },
    () => performance.now(),
    (losses) => assert.equal(losses.length, 16),
  );
  for (let step = 0; step < 8 * 16; step += 16) await stream.submit({ step, from: 0, steps: 16, rows: 32 });
  await stream.settle();
  // Each submit of steps is followed by the copy of its losses.
  assert.ok(Math.max(...most) > 2, `the queue held ${most.join(', ')}`);
  assert.ok(Math.max(...most) <= 4, `the queue held ${most.join(', ')}`);
});

test('same seed, same device, same bits', { skip }, async (t) => {
  const outcome = async (): Promise<readonly unknown[]> => {
    const { backend } = await open(t);
    const { executable, program } = await openSteps(tabularMlp, backend, 40);
    await executable.run(program, 40);
    return Promise.all(['ring.loss', 'parameters'].map((tensor) => executable.read(tensor)));
  };
  const [first, second] = [await outcome(), await outcome()];
  assert.deepEqual(second, first);
});

test('every tile gives the same bits', { skip }, async (t) => {
  const gpu = await testGpu();
  const [m, n, k] = [70, 68, 37];
  const params = { m, n, k, transposeA: 0, transposeB: 0, activation: 1, slope: 0, gradient: 0 };
  const call: Call = { kernel: 'matmul', inputs: [at(0), at(1), at(2), null], outputs: [at(3)], params };
  const results: (readonly [string, unknown])[] = [];
  t.after(() => gpu.device.destroy());
  for (const tile of tiles) {
    const tuning = { get: () => tile.name, set: () => assert.fail('a known choice is not measured') };
    const executable = await createWebgpuBackend(gpu, { tuning, tuneFromFlops: 0 }).compile(
      planOf({ a: m * k, b: k * n, bias: n, c: m * n }, [call]),
    );
    assert.match(executable.dispatches('run')[0].label, new RegExp(tile.name));
    for (const [tensor, size] of [
      ['a', m * k],
      ['b', k * n],
      ['bias', n],
    ] as const) {
      executable.write(
        tensor,
        Float32Array.from({ length: size }, (_, i) => Math.sin(i * i)),
      );
    }
    await executable.run('run', 1);
    results.push([tile.name, await executable.read('c')]);
    executable.dispose();
  }
  for (const [name, result] of results) assert.deepEqual(result, results[0][1], name);
});

test('variants are measured once for each shape', { skip }, async (t) => {
  const tuning = new Map<string, string>();
  const { backend } = await open(t, { tuning, tuneFromFlops: 0 });
  const params = { m: 24, n: 40, k: 8, transposeA: 0, transposeB: 0, activation: 0, slope: 0, gradient: 0 };
  const call: Call = { kernel: 'matmul', inputs: [at(0), at(1), null, null], outputs: [at(2)], params };
  const plan = planOf({ a: 192, b: 320, c: 960 }, [call, call]);
  await backend.compile(plan);
  assert.equal(tuning.size, 1);
  const [[key, choice]] = tuning;
  assert.match(key, /matmul.*"m":24/);
  assert.ok(tiles.some(({ name }) => name === choice));
});

test('a read sees the submits before it and none after', { skip }, async (t) => {
  const { backend } = await open(t);
  const count = 40_000;
  const executable = await backend.compile(planOf({ a: count, b: count, c: count }, [addCall(count)]));
  const reads: Promise<unknown>[] = [];
  // More reads at once than there are staging buffers, and none awaited before the next run.
  for (let round = 0; round < 12; round++) {
    executable.write('a', new Float32Array(count).fill(round));
    await executable.run('run', 1);
    reads.push(executable.read('c'));
  }
  for (const [round, result] of (await Promise.all(reads)).entries()) {
    assert.deepEqual(result, new Float32Array(count).fill(round));
  }
});

test('parts of tensors are written and read; what does not fit is refused', { skip }, async (t) => {
  const { backend } = await open(t);
  const executable = await backend.compile(planOf({ a: 100, b: 100, c: 100 }, [addCall(100)]));
  executable.write('a', Float32Array.of(1, 2, 3), 50);
  assert.deepEqual(await executable.read('a', 49, 5), Float32Array.of(0, 1, 2, 3, 0));
  assert.deepEqual(await executable.read('a', 100, 0), new Float32Array(0));
  assert.throws(() => executable.write('a', new Float32Array(3), 98), /a has 100 elements, not 3 from 98 on/);
  assert.throws(() => executable.write('nothing', new Float32Array(1)), /no tensor nothing/);
  assert.throws(() => executable.write('a', new Uint8Array(4)), /elements of 4 bytes/);
  await assert.rejects(executable.run('run', 65), /65 steps, the plan has room for 64/);
  await assert.rejects(executable.run('other', 1), /no program other; it has run/);
});

test('bytes are written and read at any place, also within words', { skip }, async (t) => {
  const { backend } = await open(t);
  const count = 23;
  const slots: Slot[] = [{ id: 0, elements: count, type: 'u8', kind: 'data', label: 'images' }];
  const tensors: Record<string, TensorPlace> = { images: { slot: 0, offset: 0, shape: [count], type: 'u8' } };
  const executable = await backend.compile({ slots, tensors, programs: {}, stepCapacity: 1, checkpoint: [] });
  const wanted = Uint8Array.from({ length: count }, (_, i) => 100 + i);
  executable.write('images', wanted);
  for (const [start, length] of [
    [1, 2],
    [3, 9],
    [6, 1],
    [13, 10],
    [7, 4],
    [22, 1],
  ] as const) {
    const part = Uint8Array.from({ length }, (_, i) => 7 * start + i);
    executable.write('images', part, start);
    wanted.set(part, start);
    assert.deepEqual(await executable.read('images'), wanted, `after writing ${length} bytes from ${start} on`);
  }
  assert.deepEqual(await executable.read('images', 5, 6), wanted.slice(5, 11));
});

test('operands of one slot are bound together; overlapping ones are refused', { skip }, async (t) => {
  const { backend } = await open(t);
  const shared: Call = { kernel: 'add', inputs: [at(0), at(0, 64)], outputs: [at(0, 128)], params: { count: 50 } };
  const executable = await backend.compile(planOf({ all: 192 }, [shared]));
  executable.write(
    'all',
    Float32Array.from({ length: 192 }, (_, i) => i),
  );
  await executable.run('run', 1);
  assert.deepEqual(await executable.read('all', 128, 2), Float32Array.of(64, 66));
  const overlapping = { ...shared, outputs: [at(0, 64)] };
  await assert.rejects(backend.compile(planOf({ all: 192 }, [overlapping])), {
    code: 'device.validation',
    message: /run call 0 \(add\): b and c overlap in buffer “all”/,
  });
});

test('a tensor larger than a buffer may be is refused by name before the first step', { skip }, async (t) => {
  const { gpu, backend } = await open(t);
  const most = gpu.device.limits.maxBufferSize / 4;
  await assert.rejects(backend.compile(planOf({ 'data.x': most + 1, b: 4, c: 4 }, [addCall(4)], 'data')), {
    code: 'device.limit',
    message: /“data.x” takes [\d.]+ .iB, but one buffer of the GPU \(.*\) holds [\d.]+ .iB at most/,
    hint: /CPU/,
  });
});

const noLimit = process.platform === 'linux' ? false : 'only Linux can limit the memory of a process';
test('memory that the device does not have is refused before the first step', { skip: skip || noLimit }, () => {
  const child = spawnSync('bash', ['-c', 'ulimit -v 8000000 && exec "$0" "$1"', process.execPath, hungry], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const { code, message, hint } = JSON.parse(child.stdout) as Record<string, string>;
  assert.equal(code, 'device.out_of_memory');
  assert.match(message, /not enough memory for the model and its data \(20 GiB\)/);
  assert.match(hint, /smaller batch or model/);
});

test('a grid that cannot be folded is refused before the first step', { skip }, async (t) => {
  const { backend } = await open(t, { limits: { maxComputeWorkgroupsPerDimension: 2 } });
  const count = 4 * 128 * 9;
  await assert.rejects(backend.compile(planOf({ a: count, b: count, c: count }, [addCall(count)])), {
    code: 'device.limit',
    message: /add needs 2×2×3 workgroups; this GPU allows 2 a dimension/,
  });
});

test('a deep, small weight gradient is cut into splits and added up in order', { skip }, async (t) => {
  const { backend } = await open(t);
  const [batch, inputs, units] = [1030, 5, 6];
  const call: Call = {
    kernel: 'dense_weight_grad',
    inputs: [at(0), at(1)],
    outputs: [at(2), at(3)],
    params: { batch, inputs, units },
  };
  const executable = await backend.compile(planOf({ x: batch * inputs, dy: batch * units, dw: 30, db: 6 }, [call]));
  assert.match(
    executable
      .dispatches('run')
      .map(({ label }) => label)
      .join(),
    /in 8.*sum of dw.*sum of db/,
  );
  executable.write('x', new Float32Array(batch * inputs).fill(1));
  executable.write(
    'dy',
    Float32Array.from({ length: batch * units }, (_, i) => i % units),
  );
  await executable.run('run', 1);
  const sums = Float32Array.from({ length: units }, (_, i) => i * batch);
  assert.deepEqual(await executable.read('db'), sums);
  assert.deepEqual(await executable.read('dw', 4 * units, units), sums);
});

test('a deep, small product is cut into splits; bias and activation come after the sum', { skip }, async (t) => {
  const { backend } = await open(t);
  for (const n of [8, 6]) {
    const [m, k] = [5, 2100];
    const params = { m, n, k, transposeA: 0, transposeB: 0, activation: 1, slope: 0, gradient: 0 };
    const call: Call = { kernel: 'matmul', inputs: [at(0), at(1), at(2), null], outputs: [at(3)], params };
    const executable = await backend.compile(planOf({ a: m * k, b: k * n, bias: n, c: m * n }, [call]));
    assert.match(
      executable
        .dispatches('run')
        .map(({ label }) => label)
        .join(),
      /in 15,sum of c/,
    );
    executable.write('a', new Float32Array(m * k).fill(1));
    executable.write(
      'b',
      Float32Array.from({ length: k * n }, (_, i) => (i % n) - 2),
    );
    executable.write('bias', new Float32Array(n).fill(10));
    await executable.run('run', 1);
    const wanted = Float32Array.from({ length: m * n }, (_, i) => Math.max(0, ((i % n) - 2) * k + 10));
    assert.deepEqual(await executable.read('c'), wanted);
  }
});

test('a large batch of losses is added up over several workgroups', { skip }, async (t) => {
  const { backend } = await open(t);
  const [batch, classes] = [3000, 12];
  const sizes = { logits: batch * classes, target: batch, weights: classes, loss: 1, gradient: batch * classes };
  const call: Call = {
    kernel: 'softmax_cross_entropy',
    inputs: [at(0), at(1), at(2)],
    outputs: [at(3), at(4)],
    params: { batch, classes, smoothing: 0, steps: 1 },
  };
  const executable = await backend.compile(planOf(sizes, [call]));
  assert.equal(executable.dispatches('run').length, 2);
  executable.write(
    'target',
    Float32Array.from({ length: batch }, (_, i) => i % classes),
  );
  executable.write('weights', new Float32Array(classes).fill(2));
  await executable.run('run', 1);
  const [loss] = (await executable.read('loss')) as Float32Array;
  assert.ok(Math.abs(loss - Math.log(classes)) < 1e-5, `${loss}`);
});

test('a device lost in mid-run fails the run; its checkpoint goes on on the CPU', { skip }, async (t) => {
  const { gpu, backend } = await open(t);
  const table = makeTable({ rows: 400, numeric: 4, classes: 3 });
  // However fast the GPU is, it is lost before the end.
  const earlyStopping = { enabled: false, patience: 1, minimumDelta: 0 };
  const training = { epochs: 400, batch: 16, seed: 3, earlyStopping };
  const files = new Map<RunFile, Uint8Array>();
  const losing = trainHere(table, {
    training,
    backend,
    files,
    haste: 1000,
    onSubmit: () => {
      const kept = files.get('checkpoint.bin');
      if (kept && decodeCheckpoint(kept).state.epoch >= 2) gpu.device.destroy();
    },
  });
  await assert.rejects(losing, { code: 'device.lost', hint: /resume the run with the CPU/ });
  await assert.rejects(openSteps(tabularMlp, backend, 1), { code: 'device.lost' });

  const checkpoint = files.get('checkpoint.bin')!;
  const { state } = decodeCheckpoint(checkpoint);
  const resumed = await trainHere(table, {
    training: { ...training, epochs: state.epoch + 3 },
    backend: createCpuBackend({ threads: 1 }),
    checkpoint,
  });
  const losses = series(resumed.points, 'val_loss');
  assert.equal(resumed.result.device, 'cpu');
  assert.equal(losses.length, 3);
  assert.ok(
    losses.every((loss) => loss < 1.5 * state.bestLoss!),
    `${losses} after ${state.bestLoss}`,
  );
});

test('a mistake the device finds is thrown by the next operation', { skip }, async (t) => {
  const { gpu, backend } = await open(t);
  const executable = await backend.compile(planOf({ a: 4, b: 4, c: 4 }, [addCall(4)]));
  gpu.device.createBuffer({ size: 4, usage: 0 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await assert.rejects(executable.run('run', 1), { code: 'device.validation', message: /refused a command/ });
});
