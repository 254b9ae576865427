// The hardware lab: how noise is met, what cancelling and a lost device leave, and that a short lab of this processor holds
// what it should. Times themselves are nobody's promise here: made-up devices have a clock of their own.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend, Executable } from '../../engine/backends/backend.ts';
import { measure } from '../../engine/bench/measure.ts';
import { LabControl, type LabSurroundings } from '../../engine/lab/control.ts';
import { measureDevice } from '../../engine/lab/device.ts';
import { labText, readLab, summaryOf } from '../../engine/lab/file.ts';
import { chooseTargets, measureMachine, type OpenLabHost } from '../../engine/lab/machine.ts';
import { threadCounts } from '../../engine/lab/parts.ts';
import { reportNotes } from '../../engine/lab/reports.ts';
import { mergedRounds, mergedSpread, roundsOf } from '../../engine/lab/rounds.ts';
import { LabSession } from '../../engine/lab/session.ts';
import { differenceSpread, isNoisy, spreadShare } from '../../engine/lab/spread.ts';
import { CancelledError, InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import type { LabDevice, LabHost, LabMeasurement, LabResult, LabTarget, Spread } from '../../engine/protocol/lab.ts';
import { createNodeLab, describeMachine } from '../../electron/hosts/lab.ts';
import { exampleLab } from './fixtures/lab.ts';

/** A clock that only moves when something is said to take time. */
function madeUpClock(): LabSurroundings & { spend(milliseconds: number): void } {
  let now = 0;
  return {
    clock: () => now,
    breathe: () => new Promise((resolve) => setImmediate(resolve)),
    spend: (milliseconds) => void (now += milliseconds),
  };
}

function sessionOn(surroundings: LabSurroundings, control = new LabControl()): LabSession {
  return new LabSession({ round: 1, surroundings, control, onTick: () => undefined });
}

const notesOf = ({ notes, reports }: LabSession): readonly string[] => [...notes, ...reportNotes(reports)];

test('a timing has its middle 90 % between its best and its worst', async () => {
  const { clock, spend } = madeUpClock();
  let call = 0;
  // Warming up takes three calls; then 1 … 21 milliseconds.
  const run = async (): Promise<void> => spend(call++ < 3 ? 5 : call - 3);
  const timing = await measure({ run }, clock, { milliseconds: 0, least: 21 });
  assert.deepEqual(timing, { best: 1, low: 2, median: 11, high: 20, repeats: 21 });
});

test('what is noisy is measured again, and kept in the quiet', async () => {
  const surroundings = madeUpClock();
  const session = sessionOn(surroundings);
  let calls = 0;
  // Disturbed for the first 40 calls: every third one takes twice as long.
  const run = async (): Promise<void> => surroundings.spend(++calls < 40 && calls % 3 === 0 ? 20 : 10);
  const spread = await session.time({ what: 'a product', share: 2000, workload: { run } });
  assert.ok(spread);
  assert.equal(spread.median, 10);
  assert.deepEqual([isNoisy(spread), spread.tries], [false, 2]);
  session.closePart('product');
  assert.deepEqual(notesOf(session), []);
});

test('one that is steady and slow is measured again only where it is noisy, and the faster try is kept', async () => {
  const surroundings = madeUpClock();
  const session = sessionOn(surroundings);
  let calls = 0;
  // Disturbed, then quicker by half and no less noisy.
  const run = async (): Promise<void> => surroundings.spend((++calls < 40 ? 20 : 10) * (calls % 3 === 0 ? 1.5 : 1));
  const spread = await session.time({ what: 'a product', share: 2500, workload: { run } });
  assert.equal(spread?.median, 10);
  assert.equal(spread?.tries, 3);
});

test('a difference is between what the quickest and the slowest leave', () => {
  const spread = (low: number, median: number, high: number): Spread => ({ low, median, high, calls: 15 });
  const { low, median, high } = differenceSpread(spread(3, 4, 6), spread(1, 2, 3));
  assert.deepEqual([low, median, high], [1, 2, 4]);
});

test('a first call that threads start with, or that was disturbed, is no long unit: rounds are as long as they should be', async () => {
  const { clock, spend } = madeUpClock();
  const seen: number[] = [];
  const run = async (units = 1): Promise<void> => {
    spend(seen.length === 0 ? 80 : 0.01 * units);
    seen.push(units);
  };
  await measure({ run }, clock, { milliseconds: 20, least: 5, round: 1 });
  assert.equal(seen.at(-1), 100, 'a hundred units last a round of a millisecond');
  // One that is long is warm when it has run once, and nothing of it is thrown away.
  const long: number[] = [];
  const timing = await measure({ run: async () => (long.push(1), spend(80)) }, clock, {
    ...{ milliseconds: 0, least: 5, round: 1 },
  });
  assert.deepEqual([timing.repeats, long.length], [5, 6]);
});

test('what gets faster while it warms up is warmed up until it has settled', async () => {
  const { clock, spend } = madeUpClock();
  let done = 0;
  // Code of a second compiler after five rounds.
  const run = async (units = 1): Promise<void> => spend((++done <= 5 ? 0.05 - 0.006 * done : 0.01) * units);
  const timing = await measure({ run }, clock, { milliseconds: 5, least: 5, round: 1 });
  assert.ok(timing.high < 1.01 * timing.low, `${timing.low} … ${timing.high}`);
});

test('what others did is known of a part though its figures were too short to tell', async () => {
  const clock = madeUpClock();
  let looks = 0;
  const session = sessionOn({ ...clock, watchOthers: () => ((whole) => () => (whole ? 0.1 : null))(looks++ === 0) });
  let calls = 0;
  const run = async (): Promise<void> => clock.spend(++calls % 3 === 0 ? 20 : 10);
  await session.time({ what: 'a product', share: 2000, workload: { run } });
  session.closePart('product');
  const words = (threads: number): string => reportNotes(session.reports, 1, threads).join();
  assert.match(
    words(2),
    /Other programs were quiet: threads that wait for each other, a changing clock rate or another/,
  );
  assert.match(words(1), /Other programs were quiet: a changing clock rate or another machine/);
});

test('noise that stays is measured three times, kept, and said with its likely reason', async () => {
  const clock = madeUpClock();
  const session = sessionOn({ ...clock, watchOthers: () => () => 2.5 });
  let calls = 0;
  const run = async (): Promise<void> => clock.spend(++calls % 2 === 0 ? 2 : 1);
  const spread = await session.time({ what: 'the product of N = 256', share: 1000, workload: { run } });
  assert.ok(spread);
  assert.equal(spread.tries, 3);
  assert.ok(spread.calls >= 15 && spreadShare(spread) > 0.1);
  session.closePart('product');
  assert.match(
    notesOf(session).join(),
    /^Products: 1 of 1 figures spread by more than 10 % after up to 3 tries \(the product of N = 256 by \d+ %\)\. Other programs used 2\.5 processors/,
  );
});

test('a steady figure is measured once; what would not fit is left out and said, once a part', async () => {
  const clock = madeUpClock();
  const session = sessionOn(clock);
  const run = async (units = 1): Promise<void> => clock.spend(2 * units);
  const spread = await session.time({ what: 'a copy', share: 200, workload: { run } });
  assert.deepEqual([spread?.median, spread?.low, spread?.high, spread?.tries], [2, 2, 2, undefined]);
  assert.equal(session.fits('the product of N = 2048', 100, 500), false);
  assert.equal(session.fits('the product of N = 4096', 800, 500), false);
  session.closePart('product');
  assert.deepEqual(notesOf(session), [
    'The product of N = 2048, the product of N = 4096 were left out: 15 calls of the first would take 1.6 s, their share is 0.5 s.',
  ]);
});

test('calls that take far longer than their share are given up', async () => {
  const clock = madeUpClock();
  const session = sessionOn(clock);
  const run = async (): Promise<void> => clock.spend(1000);
  assert.equal(await session.time({ what: 'a unit of mlp', share: 100, workload: { run } }), null);
  session.closePart('workloads');
  assert.match(notesOf(session).join(), /^A unit of mlp was left out: its calls took far longer than expected\./);
});

/** A device whose calls take made-up time; `fails` throws for a program. */
function madeUpDevice(
  surroundings: ReturnType<typeof madeUpClock>,
  { kind = 'gpu', fails = () => null, onRun = () => undefined }: MadeUp = {},
): () => Promise<Backend> {
  const executable = (flops: ReadonlyMap<string, number>): Executable => ({
    bytes: 0,
    write: () => surroundings.spend(0.5),
    read: async () => {
      surroundings.spend(0.1);
      return new Float32Array(1);
    },
    async run(program, steps) {
      const failure = fails(program);
      if (failure) throw failure;
      onRun(program);
      surroundings.spend(steps * (0.01 + (flops.get(program) ?? 0) / 1e8));
    },
    stepsAtOnce: () => 1,
    dispose: () => undefined,
  });
  return async () => ({
    device: { kind, name: 'made up', threads: 0 },
    compile: async ({ programs }) =>
      executable(new Map(Object.values(programs).map(({ name, flops, bytes }) => [name, flops + bytes]))),
    close: async () => undefined,
  });
}

interface MadeUp {
  readonly kind?: 'cpu' | 'gpu';
  readonly fails?: (program: string) => Error | null;
  readonly onRun?: (program: string) => void;
}

const gpu: LabTarget = { id: 'gpu-0', kind: 'gpu', adapter: 0 };

async function measureMadeUp(made: MadeUp, control = new LabControl(), seconds = 20) {
  const surroundings = madeUpClock();
  return measureDevice({
    target: gpu,
    open: madeUpDevice(surroundings, made),
    threads: 0,
    memory: 2 ** 28,
    seconds,
    surroundings,
    control,
    onProgress: () => undefined,
  });
}

test('a GPU: every part is there, in its share of the time', async () => {
  const { device, notes } = mergedRounds([await measureMadeUp({})]);
  assert.deepEqual(
    device.latencies.map(({ name }) => name),
    ['call', 'submit', 'readback'],
  );
  assert.equal(device.copy.at(0)?.at, 2 ** 14);
  assert.equal(device.products[0].at, 16);
  assert.ok(device.transfer);
  assert.equal(device.scaling, undefined, 'a GPU has no threads to count');
  assert.deepEqual(
    notes.filter((note) => /spread|failed|lost/.test(note)),
    [],
    'a made-up device is steady',
  );
});

test('a GPU that is lost leaves what was complete, and a sentence', async () => {
  const lost = new TrainyardError('device.lost', 'The GPU was lost.');
  const { device, notes } = await measureMadeUp({ fails: (program) => (/^copy@65536$/.test(program) ? lost : null) });
  assert.ok(device.products.length > 3);
  assert.deepEqual(
    device.copy.map(({ at }) => at),
    [2 ** 14, 2 ** 15],
  );
  assert.deepEqual([device.triad, device.workloads], [[], []], 'nothing is tried on a device that is gone');
  assert.ok(
    notes.some((note) => /^GPU lost while measuring the copy of 64 kB: the rest was kept\. Measure/.test(note)),
    notes.join('\n'),
  );
});

test('a part that fails for another reason leaves the parts behind it, too', async () => {
  const odd = new TrainyardError('device.validation', 'Refused.');
  const { device, notes } = await measureMadeUp({ fails: (program) => (program.startsWith('copy@') ? odd : null) });
  assert.ok(device.triad.length > 3);
  assert.ok(notes.some((note) => /^The GPU failed while measuring the copy of 16 kB: the rest was kept\./.test(note)));
});

test('cancelling ends it between two calls', async () => {
  const control = new LabControl();
  let after = 0;
  let cancelled = false;
  const onRun = (program: string): void => {
    if (cancelled) after++;
    if (program.startsWith('copy@') && !cancelled) {
      cancelled = true;
      control.cancel();
    }
  };
  await assert.rejects(measureMadeUp({ onRun }, control), CancelledError);
  assert.equal(cancelled, true);
  assert.equal(after, 0);
});

const infos = [
  {
    id: 'cpu',
    kind: 'cpu',
    name: 'C',
    facts: { kernels: 'WebAssembly and the native addon' },
    software: false,
    available: true,
  },
  { id: 'gpu:soft', kind: 'gpu', name: 'SwiftShader', facts: {}, software: true, available: true },
] as const;

test('an adapter in software is measured only where there is no other', () => {
  const ids = (list: Parameters<typeof chooseTargets>[0]): readonly string[] =>
    chooseTargets(list).shares.map(({ target }) => `${target.id}:${target.adapter ?? ''}`);
  assert.deepEqual(ids(infos), ['cpu:', 'cpu-1:', 'cpu-wasm:', 'gpu-0:0']);
  const hardware = { ...infos[1], name: 'G', software: false };
  assert.deepEqual(ids([...infos, hardware]), ['cpu:', 'cpu-1:', 'cpu-wasm:', 'gpu-0:1']);
  assert.match(
    chooseTargets([...infos, hardware]).notes.join(),
    /SwiftShader was left out: it is an adapter in software/,
  );
  assert.match(chooseTargets([infos[0]]).notes.join(), /No GPU was measured/);
  assert.deepEqual(threadCounts(12), [1, 2, 3, 4, 5, 6, 7, 8, 12]);
});

const device = (id: string): LabDevice => ({ ...exampleLab().devices[0], id });

function hostsOf(host: Partial<LabHost>, exited = new Promise<string>(() => {})): () => Promise<OpenLabHost> {
  const whole: LabHost = {
    measureLab: async ({ target }) => ({ device: device(target.id), notes: ['noted'], machine: describeMachine() }),
    cancelLab: async () => undefined,
    onLabProgress: () => () => undefined,
    ...host,
  };
  return async () => ({ host: whole, exited, kill: () => undefined });
}

function machineLab(openHost: (kind: 'cpu' | 'gpu') => Promise<OpenLabHost>, control = new LabControl()) {
  const clock = madeUpClock();
  const [now, devices] = [() => 1000, async () => infos];
  return measureMachine({
    seconds: 60,
    openHost,
    devices,
    control,
    clock: clock.clock,
    now,
    onProgress: () => undefined,
  });
}

test('a machine: the process of the GPU dies; the devices before it are kept, and the parts it had measured', async () => {
  let die: (reason: string) => void = () => undefined;
  const exited = new Promise<string>((resolve) => (die = resolve));
  const dying = hostsOf(
    {
      onLabProgress: (listener) => {
        const measured = { ...device('gpu-0'), kind: 'gpu' as const };
        setImmediate(() => {
          listener({ device: 'gpu-0', name: 'G', part: 'copy', done: 0.5, secondsLeft: 1, measured });
          die('its window ended (crashed)');
        });
        return () => undefined;
      },
      measureLab: () => new Promise(() => {}),
    },
    exited,
  );
  const all = hostsOf({});
  const result = await machineLab((kind) => (kind === 'gpu' ? dying() : all()));
  assert.deepEqual(
    result.devices.map(({ id }) => id),
    ['cpu', 'cpu-1', 'cpu-wasm', 'gpu-0'],
  );
  assert.ok(result.notes.includes('CPU, 1 thread: noted'));
  assert.match(
    result.notes.join('\n'),
    /GPU: GPU lost while measuring \(its window ended \(crashed\)\): the rest was kept/,
  );
});

test('a machine: a device that cannot be opened is said; cancelling keeps nothing', async () => {
  const all = hostsOf({});
  const refused = new TrainyardError('device.no_adapter', 'No GPU that WebGPU can use was found.');
  const result = await machineLab((kind) => (kind === 'gpu' ? Promise.reject(refused) : all()));
  assert.match(result.notes.join('\n'), /gpu-0: it could not be measured: No GPU that WebGPU can use was found/);
  const control = new LabControl();
  const hanging = hostsOf({ measureLab: () => new Promise(() => {}) });
  const measuring = machineLab(hanging, control);
  control.cancel();
  await assert.rejects(measuring, CancelledError);
});

test('rounds: each figure is that of its best round between what all of them saw; what all threads are worth is said', () => {
  const at = (median: number): Spread => ({ median, low: 0.9 * median, high: 1.1 * median, calls: 4 });
  assert.deepEqual(
    mergedSpread([at(100), at(60), at(104)], 'up'),
    { median: 104, low: 54, high: 1.1 * 104, calls: 12 },
    'a rate',
  );
  assert.equal(mergedSpread([at(100), at(60)], 'down').median, 60, 'a time');
  assert.equal(mergedSpread([at(0.001), at(90), at(60)], 'neither').median, 60, 'a difference, disturbed both ways');
  assert.deepEqual([roundsOf(1), roundsOf(7), roundsOf(60)], [1, 2, 3]);

  const round = (gain: number, sizes: readonly number[], alone?: number): LabMeasurement => ({
    device: {
      ...device('cpu'),
      threads: 2,
      products: sizes.map((size) => ({ at: size, value: at(size) })),
      scaling: {
        product: 512,
        samples: [
          { at: 1, value: at(100) },
          { at: 2, value: at(100 * gain) },
        ],
        ...(alone === undefined
          ? {}
          : {
              own: [
                { at: 1, value: at(100) },
                { at: 2, value: at(100 * alone) },
              ],
            }),
      },
    },
    notes: ['said once'],
    reports: [
      {
        part: 'product',
        measured: sizes.map((size) => `the product of N = ${size}`),
        leftOut: [64, 128]
          .filter((size) => !sizes.includes(size))
          .map((size) => ({ what: `the product of N = ${size}`, needed: 900, share: 200 })),
        noise: [],
        givenUp: [16, 64]
          .filter((size) => !sizes.includes(size))
          .map((size) => ({ what: `the product of N = ${size}`, others: 1.5 })),
      },
    ],
  });
  const { device: merged, notes } = mergedRounds([round(1.03, [32]), round(1.9, [64, 32])]);
  assert.deepEqual(
    merged.products.map((sample) => sample.at),
    [32, 64],
  );
  assert.deepEqual(notes.slice(0, 3), [
    'said once',
    'The product of N = 16 was left out: its calls took far longer than expected. ' +
      'Other programs used 1.5 processors meanwhile: they are the likely reason.',
    'The product of N = 128 was left out: 15 calls of it would take 1.8 s, its share is 0.4 s.',
  ]);
  assert.match(
    notes[3],
    /^Threads: all 2 together did hardly more than one in 1 of 2 rounds at one large product \(from \+3 % to \+90 %\): hyper-/,
  );
  assert.equal(mergedRounds([round(1.9, [16, 64, 128])]).notes.length, 1, 'nothing to say of threads that pay');
  const said = (own: number): string => mergedRounds([round(1.03, [16, 64, 128], own)]).notes.at(-1)!;
  assert.match(said(1.9), /\(\+3 %\), with a product of its own each \+90 %: the processors are there, and sharing/);
  assert.match(said(1.02), /\(\+3 %\), with a product of its own each \+2 %: hyper-threads/);
});

test('a machine is measured in rounds, its devices in turns, every process open once', async () => {
  const order: string[] = [];
  let opened = 0;
  const hosts = hostsOf({
    measureLab: async ({ target, calls }) => {
      order.push(`${target.id}/${calls}`);
      return { device: device(target.id), notes: [], machine: describeMachine() };
    },
  });
  const result = await machineLab(() => {
    opened++;
    return hosts();
  });
  const round = ['cpu/5', 'cpu-1/5', 'cpu-wasm/5', 'gpu-0/5'];
  assert.deepEqual(order, [...round, ...round, ...round]);
  assert.deepEqual([opened, result.devices.length], [2, 4]);
});

test('a short lab of this processor: every figure is in order, and its file is read as it was', async () => {
  const lab = createNodeLab();
  const {
    device: measured,
    notes,
    machine,
  } = await lab.measureLab({
    target: { id: 'cpu', kind: 'cpu', threads: 0 },
    seconds: 2,
  });
  assert.ok(machine && machine.cores > 0 && machine.memoryBytes > 0);
  assert.deepEqual([measured.id, measured.kind, measured.software], ['cpu', 'cpu', false]);
  const spreads: readonly Spread[] = [
    ...[measured.products, measured.copy, measured.triad].flat().map(({ value }) => value),
    ...measured.latencies.map(({ microseconds }) => microseconds),
    ...(measured.scaling?.samples ?? []).map(({ value }) => value),
    ...(measured.scaling?.own ?? []).map(({ value }) => value),
    ...measured.workloads.map(({ milliseconds }) => milliseconds),
  ];
  assert.ok(spreads.length > 0, notes.join('\n'));
  for (const { low, median, high, calls } of spreads) {
    assert.ok(low > 0 && low <= median && median <= high && Number.isFinite(high) && calls >= 15);
  }
  const result: LabResult = { version: 1, machine, startedAt: 1, seconds: 2, devices: [measured], notes };
  assert.deepEqual(readLab(labText(result), 'lab.json'), result);
});

test('files: what is no lab is refused with the place and the reason', () => {
  const refusal = (content: string): string => {
    try {
      readLab(content, 'other.json');
    } catch (error) {
      assert.ok(error instanceof InputError && error.code === 'input.lab');
      return error.message;
    }
    return 'accepted';
  };
  const example = exampleLab();
  assert.match(refusal(labText({ ...example, seconds: 1e20 })), /at seconds: /);
  assert.match(
    refusal(labText({ ...example, machine: { ...example.machine, memoryBytes: 1e30 } })),
    /at machine\.memoryBytes: /,
  );
  const changed = (change: (lab: Record<string, never>) => void): string => {
    const copy = JSON.parse(labText(example)) as Record<string, never>;
    change(copy);
    return refusal(JSON.stringify(copy));
  };
  assert.deepEqual(readLab(labText(example), 'x'), example);
  assert.match(refusal(labText(example).slice(0, 200)), /^other\.json is no lab of Trainyard: it is no JSON/);
  assert.match(refusal('{"format":"else"}'), /its “format” is not “trainyard-lab”/);
  assert.match(refusal('[1,2]'), /its “format” is not/);
  assert.match(
    changed((lab) => Object.assign(lab['devices'][0]['copy'][0]['value'], { median: 1e20, high: 1e21 })),
    /at devices\.0\.copy\.0\.value\.median: /,
  );
  assert.match(
    changed((lab) => Object.assign(lab, { version: 2 })),
    /a newer Trainyard \(version 2/,
  );
  assert.match(
    changed((lab) => Object.assign(lab['devices'][0]['copy'][0]['value'], { median: -1 })),
    /at devices\.0\.copy\.0\.value\.median: /,
  );
  assert.match(
    changed((lab) => Object.assign(lab['devices'][0]['copy'][0]['value'], { low: 1e9 })),
    /out of order/,
  );
  assert.match(
    changed((lab) => Object.assign(lab, { devices: [lab['devices'][0], lab['devices'][0]] })),
    /stands there twice/,
  );
  assert.match(
    changed((lab) => Object.assign(lab, { surprise: 1 })),
    /surprise/,
  );
  assert.deepEqual(summaryOf({ id: 3, imported: true, result: example }).devices, ['cpu']);
});
