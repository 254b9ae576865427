// What the Lab tab says of a lab: figures, crossover, caches, threads, and how two labs differ.

import assert from 'node:assert/strict';
import test from 'node:test';
import { amdahl } from '../../engine/hardware/formulas/parallel.ts';
import {
  cacheSteps,
  comparison,
  crossoverOfLab,
  curvesOf,
  figuresOf,
  flopTick,
  perSecond,
  scalingOf,
  sizeText,
  staleSince,
} from '../../renderer/views/hardware/lab/reading.ts';
import { readAt, stopsOf } from '../../renderer/components/chart/reading.ts';
import { workstation } from './fixtures/workstation.ts';

const plain = (text: string): string => text.replaceAll('\u00a0', ' ');
const day = 86_400_000;

test('figures say best products, memory at the largest size, transfers and latencies, each with its spread', () => {
  assert.deepEqual(
    figuresOf(workstation).map(({ label, value, unit, spread }) => plain(`${label}: ${value} ${unit} ${spread}`)),
    [
      'CPU products: 412 GFLOP/s ±2.0 %',
      'CPU, 1 thread: 51.0 GFLOP/s ±2.0 %',
      'GPU, products: 10.8 TFLOP/s ±2.0 %',
      'Memory: 58.0 GB/s ±2.0 %',
      'GPU, memory: 447 GB/s ±2.0 %',
      'To GPU: 12.6 GB/s ±2.0 %',
      'Back from GPU: 11.8 GB/s ±2.0 %',
      'CPU call: 0.120 µs ±2.0 %',
      'GPU, submit: 38.0 µs ±2.0 %',
    ],
  );
});

test('the crossover lies between the sizes where the lead changes; without a GPU threads race; software is no GPU', () => {
  const { found, words } = crossoverOfLab(workstation);
  assert.ok(found && found.n > 256 && found.n < 512, words);
  assert.match(words, /^crossover N = \d+: CPU, 16 threads ahead to the left$/);
  const alone = { ...workstation, devices: workstation.devices.filter(({ kind }) => kind === 'cpu') };
  assert.match(crossoverOfLab(alone).words, /^crossover N = \d+: CPU, 1 thread ahead to the left$/);
  const software = {
    ...workstation,
    devices: workstation.devices.map((device) => (device.kind === 'gpu' ? { ...device, software: true } : device)),
  };
  assert.ok(figuresOf(software).some(({ label }) => label === 'GPU in software, products'));
  const curve = curvesOf(software, 'products').find(({ id }) => id === 'gpu-0')!;
  assert.deepEqual([curve.label, curve.token], ['GPU in software', 'bar2']);
});

test('curves are in FLOP/s and B/s with their spread; those of another lab are grey and few', () => {
  const [cpu] = curvesOf(workstation, 'copy');
  assert.equal(cpu.y.at(-1), 58e9);
  assert.equal(cpu.spread!.low.at(-1), 58e9 * 0.98);
  assert.deepEqual(
    curvesOf(workstation, 'products', 'M1').map(({ label, token }) => [label, token]),
    [
      ['M1 CPU', 'bar2'],
      ['M1 GPU', 'bar2'],
    ],
  );
});

test('falls of the bandwidth in a row are one step', () => {
  const value = (median: number) => ({ median, low: median, high: median, calls: 15 });
  const samples = [100, 100, 60, 58, 55, 30, 20, 20].map((median, i) => ({ at: 2 ** (14 + i), value: value(median) }));
  assert.deepEqual(cacheSteps(samples), [2 ** 15, 2 ** 18]);
  assert.deepEqual(
    [2 ** 15, 2 ** 18, 3 * 2 ** 20].map((bytes) => plain(sizeText(bytes))),
    ['32 kB', '256 kB', '3 MB'],
  );
});

test('the serial share is the one that the speed-ups were made with', () => {
  const samples = [1, 2, 4, 8].map((at) => {
    const median = 50 * amdahl(0.05, at);
    return { at, value: { median, low: median, high: median, calls: 15 } };
  });
  assert.equal(scalingOf({ scaling: { product: 512, samples } })!.serial, 0.05);
  assert.equal(scalingOf({ scaling: { product: 512, samples: samples.slice(0, 1) } }), null);
});

test('two labs are within some per cent of each other, or what moved is said with the likely reason', () => {
  const before = { ...workstation, startedAt: Date.UTC(2026, 10, 14, 12) };
  const times = (factor: number, id: string) => ({
    ...workstation,
    devices: workstation.devices.map((device) =>
      device.id === id
        ? {
            ...device,
            products: device.products.map(({ at, value }) => ({
              at,
              value: { ...value, median: factor * value.median, low: factor * value.low, high: factor * value.high },
            })),
          }
        : device,
    ),
  });
  assert.equal(plain(comparison(times(1.04, 'cpu'), before)), 'within 4 % of 14 Nov');
  assert.equal(
    plain(comparison(times(0.7, 'cpu'), before)),
    'since 14 Nov: CPU products down 30 %; likely: heat, power plan or driver',
  );
  const battery = { ...times(0.4, 'gpu-0'), machine: { ...workstation.machine, powerSource: 'battery' as const } };
  assert.equal(
    plain(comparison(battery, before)),
    'since 14 Nov: GPU, products down ×2.50; likely: it runs on battery now',
  );
  const busy = { ...times(0.7, 'cpu'), notes: ['cpu: Products spread. Other programs used 3.0 processors meanwhile.'] };
  assert.match(comparison(busy, before), /likely: other programs were busy this time$/);
});

test('a lab is stale after 90 days; rates have prefixes, other ticks than decades none', () => {
  assert.equal(staleSince(workstation, workstation.startedAt + 90 * day), null);
  assert.equal(staleSince(workstation, workstation.startedAt + 91 * day), 91);
  assert.deepEqual(
    [4.12e11, 1.08e13, 0].map((value) => plain(perSecond(value, 'FLOP/s'))),
    ['412 GFLOP/s', '10.8 TFLOP/s', '–'],
  );
  assert.deepEqual(
    [1e11, 1e9, 2e9].map((value) => flopTick(value)),
    ['100\u00a0G', '1\u00a0G', null],
  );
});

test('the hairline stops at every measured size, or at points with names and says them', () => {
  const curve = (id: string, x: readonly number[]) => ({
    id,
    label: id,
    token: 'cpu',
    dash: [],
    x,
    y: x.map((at) => 10 * at),
  });
  const [few, many] = [curve('few', [4, 6]), curve('many', [4, 5, 6, 7])];
  assert.deepEqual(stopsOf([few, many]), [4, 6]);
  assert.deepEqual(stopsOf([few, many], true), [4, 5, 6, 7]);
  const layers = { ...curve('forward', [1, 3]), line: false as const, names: ['stem', 'output'] };
  assert.deepEqual(stopsOf([many, layers], true), [1, 3]);
  const read = readAt([many, layers], [many, layers], 3, 8)!;
  assert.deepEqual(
    read.values.map(({ line, name, value }) => [line.id, name, value]),
    [
      ['many', undefined, 40],
      ['forward', 'output', 30],
    ],
  );
});
