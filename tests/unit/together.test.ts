// One run over several devices: the same bits as its parts one after the other on one device, whoever makes which; with the GPU
// and the reference within rounding; a device that is lost, a resume and fewer devices change nothing of the curve.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { startCpu } from '../../electron/hosts/together.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { createTogetherBackend } from '../../engine/backends/together/backend.ts';
import { connectPartner, partnerHere, servePartner, type Partner } from '../../engine/backends/together/partner.ts';
import { createWebgpuBackend } from '../../engine/backends/webgpu/backend.ts';
import { mlp } from '../../engine/model/presets.ts';
import { rowsByShares } from '../../engine/plan/parts.ts';
import { namedDevices } from '../../engine/protocol/several-devices.ts';
import type { Sharing } from '../../engine/protocol/runs.ts';
import { createPortPair } from '../../engine/protocol/port.ts';
import { sharesWithFirst } from '../../engine/train/session-sizes.ts';
import { sharesBySpeed } from '../../engine/train/together.ts';
import { makeImages } from '../support/images.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere, type TrainTestOptions } from '../support/train.ts';
import { missingGpu, testGpu } from '../support/webgpu.ts';

const skip = await missingGpu();
const onCpu = (): Backend => createCpuBackend({ threads: 1 });
/** 184 rows to train on: two batches of 64 and a remainder of 56. */
const table = makeTable({ rows: 230, numeric: 4, classes: 3 });
const never = { enabled: false, patience: 1, minimumDelta: 0 };
const training = { epochs: 3, batch: 64, seed: 5, clipNorm: 0.5, earlyStopping: never };
const model = mlp([8], { dropout: 0.3 });

const pictures = makeImages({ rows: 80, height: 8, width: 8, channels: 1, classes: 2 });
/** A network of them with batch norm. */
const normed = {
  model: {
    version: 1 as const,
    layers: [
      { type: 'conv2d', filters: 4, activation: 'relu' },
      { type: 'batch_norm' },
      { type: 'flatten' },
      { type: 'output' },
    ],
  },
  training: { ...training, batch: 15, epochs: 2 },
};

type Weights = readonly number[] | null;
const together = (partners: readonly Partner[], weights: Weights = null, own = onCpu()): Backend =>
  createTogetherBackend({ own, partners, weights });
const twoCpus = (weights: Weights = null): Backend => together([partnerHere(onCpu())], weights);

/** Losses of steps and the weights kept. */
async function curve(options: TrainTestOptions, made: Parameters<typeof trainHere>[0] = table) {
  const { points, files, log } = await trainHere(made, { model, training, ...options });
  const said = log.map(({ message }) => message).join('\n');
  return { losses: series(points, 'step_loss'), best: files.get('best.safetensors')!, said, files, points };
}

test('rows go by the shares, all of them, and none has too few', () => {
  assert.deepEqual(rowsByShares(64, [1, 1]), [32, 32]);
  assert.deepEqual(rowsByShares(7, [3, 1]), [5, 2]);
  assert.deepEqual(rowsByShares(1, [1, 1]), [1, 0]);
  assert.deepEqual(rowsByShares(3, [1, 1], 2), [3, 0]);
  for (let rows = 1; rows < 70; rows++) {
    const sizes = rowsByShares(rows, [5, 0, 2, 9], 2);
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      rows,
    );
    assert.ok(rows < 2 || sizes.every((size) => size === 0 || size >= 2), sizes.join());
  }
  const devices = [30, 10].map((working) => ({ working, waiting: 0, lost: false }));
  assert.deepEqual(sharesBySpeed(64, [32, 32], { devices }), [16, 48]);
});

test('two CPUs give the bits of the same parts on one, with dropout and clipping', async () => {
  const [one, two] = [
    await curve({ training: { ...training, accumulate: 2 }, backend: onCpu() }),
    await curve({ backend: twoCpus() }),
  ];
  assert.equal(one.losses.length, 9);
  assert.deepEqual(two.losses, one.losses);
  assert.deepEqual(two.best, one.best);
  assert.match(two.said, /Every batch of 64 is shared: CPU 1 32 rows, CPU 2 32 rows\./);
  assert.match(two.said, /Of a step, CPU 1 \(32 rows\) worked .* and waited .*; handing over took .*, the update /);
});

test('several CPUs held to more threads than their calls are large enough for are warned of, as one is', async () => {
  const held = (): Backend => createCpuBackend({ threads: 2 });
  const { said } = await curve({ backend: together([partnerHere(held())], null, held()) });
  assert.match(said, /Each CPU of the run is held to 2 threads, .* one is likely faster.* of each CPU: set it to 1\./);
  assert.doesNotMatch((await curve({ backend: twoCpus() })).said, /is held to/);
});

test('a device at the other end of a port gives the same bits, pictures with batch norm too', async () => {
  for (const sharesMemory of [false, true]) {
    const [here, there] = createPortPair();
    let opened: Backend | undefined;
    servePartner(there, async () => (opened = onCpu()));
    const remote = await connectPartner(here, { peer: 'the other CPU', sharesMemory, end: () => void opened?.close() });
    const [far, near] = [
      await curve({ ...normed, backend: together([remote], [2, 1]) }, pictures),
      await curve({ ...normed, backend: twoCpus([2, 1]) }, pictures),
    ];
    assert.deepEqual(far.losses, near.losses);
    assert.deepEqual(far.best, near.best);
    assert.match(far.said, /shared: CPU 1 10 rows, CPU 2 5 rows/);
  }
});

test('a CPU that is a thread of its own gives the same bits, also when it ends in the middle', async (context) => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-together-'));
  context.after(() => fs.rmSync(home, { recursive: true, force: true }));
  // Long against the moment that a thread takes to end.
  const long = { training: { ...training, epochs: 300 } };
  const near = await curve({ ...long, backend: twoCpus() });
  const partner = await startCpu({ home, threads: 1 });
  const backend = together([partner]);
  context.after(() => partner.close());
  let submits = 0;
  const onSubmit = (): void => {
    if (++submits === 60) void partner.close();
  };
  const ended = await curve({ ...long, backend, onSubmit });
  assert.deepEqual(ended.losses, near.losses);
  assert.deepEqual(ended.best, near.best);
  assert.match(ended.said, /CPU 2 is lost: The connection to a CPU of this run was closed/);
});

/** A partner that fails after so many works. */
function failing(works: number, backend = onCpu()): Partner {
  const partner = partnerHere(backend);
  return {
    ...partner,
    async compile(plan) {
      const executable = await partner.compile(plan);
      let left = works;
      const work: typeof executable.work = (asked) =>
        left-- > 0 ? executable.work(asked) : Promise.reject(new Error('it was unplugged.'));
      return { ...executable, work };
    },
  };
}

test('a device that is lost in the middle changes no bit: the first one makes its share, and the log says so', async () => {
  const whole = await curve({ backend: together([partnerHere(onCpu()), partnerHere(onCpu())]) });
  // Rehearsals take some: it fails among them, or in the middle of the run, or never.
  const reports: { readonly sharing?: Sharing }[] = [];
  const steps = 9;
  let lost: Awaited<ReturnType<typeof curve>> | undefined;
  for (const works of [0, 1 + 50 + 4]) {
    lost = await curve({
      backend: together([failing(works), partnerHere(onCpu())]),
      haste: 0,
      reports: reports as never,
    });
    assert.equal(lost.losses.length, steps);
    assert.deepEqual(lost.losses, whole.losses, `after ${works} works`);
    assert.deepEqual(lost.best, whole.best);
    assert.match(lost.said, /CPU 2 is lost: it was unplugged\. The run goes on without it: CPU 1 makes its share/);
    assert.match(lost.said, /CPU 2 was lost; CPU 3 \(/);
  }
  // It took next to no time: that makes it no faster device.
  const { said } = await curve({ backend: together([failing(0, createReferenceBackend())], [3, 1]) });
  assert.doesNotMatch(said, /on the reference alone/);
  assert.deepEqual(
    reports.at(-1)!.sharing!.devices.map((device) => device.lost === true),
    [false, true, false],
  );
  // Means are of the steps without it.
  const { steps: since, devices } = reports.at(-1)!.sharing!;
  assert.ok(since > 0 && since < steps, `${since} steps`);
  assert.equal(devices[1].working, 0);
});

test('a run that goes on keeps its shares: on the same devices, on fewer, on one', async () => {
  const backend = (): Backend => twoCpus([3, 1]);
  const whole = await curve({ backend: backend() });
  const half = await curve({
    backend: backend(),
    onSubmit: (_, control) => control.stop(),
  });
  const checkpoint = half.files.get('checkpoint.bin')!;
  assert.ok(half.losses.length < whole.losses.length);
  for (const rest of [backend(), together([]), together([partnerHere(onCpu())], [1, 1]), onCpu()]) {
    const { losses, best, said } = await curve({ backend: rest, checkpoint });
    assert.deepEqual([...half.losses, ...losses], whole.losses);
    assert.deepEqual(best, whole.best);
    assert.match(said, /Every batch of 64 is shared as before: (CPU|parts of 48, 16 rows, all on this device)/);
  }
});

test("running statistics of batch norm are those of the first device, whoever makes its neighbours' shares", async () => {
  const whole = await curve({ ...normed, backend: twoCpus([2, 1]) }, pictures);
  const lost = await curve({ ...normed, backend: together([failing(0)], [2, 1]) }, pictures);
  assert.deepEqual(lost.losses, whole.losses);
  assert.deepEqual(lost.best, whole.best);
  const half = await curve({ ...normed, backend: twoCpus([2, 1]), onSubmit: (_, control) => control.stop() }, pictures);
  assert.ok(half.losses.length < whole.losses.length);
  const checkpoint = half.files.get('checkpoint.bin')!;
  const rest = await curve({ ...normed, backend: onCpu(), checkpoint }, pictures);
  assert.deepEqual([...half.losses, ...rest.losses], whole.losses);
  assert.deepEqual(rest.best, whole.best);
  // Without a share of its own they would never move.
  assert.deepEqual(sharesWithFirst([0, 10, 54], true), [2, 10, 52]);
  assert.deepEqual(sharesWithFirst([0, 64], false), [0, 64]);
  const little = await curve({ ...normed, backend: twoCpus([1, 1000]) }, pictures);
  assert.match(little.said, /shared: CPU 1 2 rows, CPU 2 13 rows/);
});

/** Largest difference between the losses of two runs. */
const difference = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i])));

test('with the reference beside it the CPU follows the whole batch on one device', async () => {
  const still = { model: mlp([8]), training: { ...training, clipNorm: 0 } };
  const alone = await curve({ ...still, backend: createReferenceBackend() });
  const mixed = await curve({ ...still, backend: together([partnerHere(createReferenceBackend())]) });
  assert.ok(difference(mixed.losses, alone.losses) < 1e-4, `${difference(mixed.losses, alone.losses)}`);
  const both = await curve({
    ...still,
    backend: together([partnerHere(createReferenceBackend())], null, createReferenceBackend()),
  });
  assert.ok(difference(both.losses, alone.losses) < 1e-6, `${difference(both.losses, alone.losses)}`);
});

test('with a GPU beside it the CPU follows the whole batch on one device', { skip }, async () => {
  const still = { model: mlp([8]), training: { ...training, clipNorm: 0 } };
  const alone = await curve({ ...still, backend: onCpu() });
  const gpu = async (): Promise<Backend> => createWebgpuBackend(await testGpu());
  // Shares are given: measuring them would compile the kernels twice.
  const mixed = await curve({ ...still, backend: together([partnerHere(await gpu())], [3, 1]) });
  assert.ok(difference(mixed.losses, alone.losses) < 1e-4, `${difference(mixed.losses, alone.losses)}`);
  assert.match(mixed.said, /is shared: CPU 48 rows, GPU 16 rows/);
});

test('whether one device alone is faster is said, by the device as it trains alone', async () => {
  const backend = createTogetherBackend({
    own: onCpu(),
    partners: [partnerHere(onCpu())],
    weights: null,
    alone: async () => onCpu(),
  });
  const { said } = await curve({ backend });
  // Two devices in one thread take turns: they cannot be faster than one.
  assert.match(said, /One device alone is faster here: a step takes about .* on the CPU alone and .* on both together/);
});

test('devices are named by kind, number and weight; others are refused', () => {
  const kinds = (text: string): string =>
    namedDevices(text)
      .map(({ kind, weight }) => kind + (weight ?? ''))
      .join(' ');
  assert.equal(kinds('cpu:2'), 'cpu cpu');
  assert.equal(kinds('GPU, cpu'), 'cpu gpu');
  assert.equal(kinds('cpu@3,gpu@1.5'), 'cpu3 gpu1.5');
  for (const odd of ['', 'cpu', 'tpu,cpu', 'cpu:0', 'gpu,gpu', 'cpu:99', 'cpu@0,gpu@1', 'cpu@1,gpu', 'cpu:2:2']) {
    assert.throws(() => namedDevices(odd), { code: 'input.devices' }, odd);
  }
});
