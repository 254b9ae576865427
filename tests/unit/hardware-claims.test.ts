// Claims against a made-up machine: all 72 get a verdict, and those with numbers the right one. Published results as data.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { claims } from '../../engine/hardware/claims/claims.ts';
import type { Evidence } from '../../engine/hardware/claims/evidence.ts';
import { verdict, type Verdict } from '../../engine/hardware/claims/verdict.ts';
import { knownAnswers } from '../../engine/hardware/known-answers.ts';
import type { LabDevice, LabResult, Sample, Spread } from '../../engine/protocol/lab.ts';

const spread = (median: number): Spread => ({ median, low: median * 0.97, high: median * 1.03, calls: 15 });
const samples = (...pairs: readonly (readonly [number, number])[]): Sample[] =>
  pairs.map(([at, value]) => ({ at, value: spread(value) }));
const base = { software: false, triad: [] };
const cpu: LabDevice = {
  ...base,
  id: 'cpu',
  kind: 'cpu',
  name: 'a CPU',
  threads: 8,
  products: samples([16, 5], [1024, 400], [4096, 420]),
  copy: samples([4e6, 80], [1e9, 40]),
  latencies: [
    { name: 'call', microseconds: spread(1) },
    { name: 'submit', microseconds: spread(12) },
  ],
  workloads: [{ name: 'mlp', unit: 'ms/epoch', milliseconds: spread(2) }],
};
const one: LabDevice = { ...cpu, id: 'cpu-1', threads: 1, products: samples([1024, 60], [4096, 60]) };
const gpu: LabDevice = {
  ...base,
  id: 'gpu-0',
  kind: 'gpu',
  name: 'a GPU',
  threads: 1,
  products: samples([16, 0.5], [1024, 5000], [4096, 10_500]),
  products16: samples([4096, 21_000]),
  copy: samples([4e6, 300], [1e9, 900]),
  latencies: [{ name: 'submit', microseconds: spread(150) }],
  workloads: [{ name: 'mlp', unit: 'ms/epoch', milliseconds: spread(9) }],
};
const lab = (...devices: readonly LabDevice[]): LabResult => ({
  version: 1,
  machine: { name: 'made up', cpu: 'a CPU', cores: 8, memoryBytes: 64e9, os: 'an OS' },
  startedAt: 0,
  seconds: 60,
  devices,
  notes: [],
});
const { catalogue } = readCatalogue();
const whole: Evidence = { lab: lab(cpu, one, gpu), catalogue, watts: { cpu: 100, gpu: 300 } };
const of = (id: string, evidence: Evidence = whole): Verdict =>
  verdict(
    claims.find((claim) => claim.id === id)!,
    evidence,
  );

test('72 claims with a name each: 79 rows of five articles, those that say the same as one', () => {
  assert.equal(claims.length, 72);
  assert.equal(new Set(claims.map(({ id }) => id)).size, 72);
});

test('every claim is decided on a whole machine, and says a number or a reason', () => {
  for (const claim of claims) {
    const { verdict: said, sentence, figures, factor } = verdict(claim, whole);
    assert.notEqual(said, 'not tested', claim.id);
    assert.ok(sentence.length > 5 && !/NaN|undefined|Infinity/.test(sentence), `${claim.id}: ${sentence}`);
    assert.ok([...Object.values(figures), factor ?? 1].every(Number.isFinite), claim.id);
  }
});

test('without a lab nothing is made up', () => {
  for (const id of [
    'ten-seconds',
    'ten-to-hundred',
    'matrix-vector',
    'bandwidths',
    'few-cores',
    'resnet-epoch',
    'power',
  ]) {
    assert.equal(of(id, { lab: null, catalogue }).verdict, 'not tested', id);
  }
  assert.equal(of('break-even', { lab: null, catalogue }).verdict, 'too simple', 'a sum needs no lab');
});

test('without a GPU, or with one in software, comparisons are not tested', () => {
  for (const devices of [
    [cpu, one],
    [cpu, one, { ...gpu, software: true }],
  ]) {
    for (const id of ['ten-to-hundred', 'matrix-vector', 'latency-throughput', 'small-work']) {
      assert.equal(of(id, { lab: lab(...devices), catalogue }).verdict, 'not tested', id);
    }
  }
});

test('the article’s 10 s are wrong here by 2,000', () => {
  const { verdict: said, factor, figures } = of('ten-seconds');
  assert.equal(said, 'wrong here');
  assert.equal(figures.seconds, 0.005);
  assert.equal(Math.round(factor!), 2000);
});

test('the ratio holds for large products and not for small ones; other machines, other verdicts', () => {
  const { verdict: said, figures } = of('ten-to-hundred');
  assert.deepEqual([said, figures.ratioLarge, figures.ratioSmall], ['too simple', 25, 0.1]);
  const slow = { ...gpu, products: samples([16, 60], [4096, 840]) };
  assert.equal(of('ten-to-hundred', { lab: lab(cpu, slow), catalogue }).verdict, 'wrong here');
});

test('a matrix times a vector: bytes by bandwidth, and a launch', () => {
  const { verdict: said, figures } = of('matrix-vector');
  assert.equal(said, 'wrong here');
  assert.equal(figures.cpuMicroseconds, 51);
  assert.ok(figures.ratio < 1, 'the CPU wins');
});

test('sums and the catalogue decide what needs no machine', () => {
  assert.equal(of('thousand-cube-macs').verdict, 'holds');
  assert.equal(of('article-product').verdict, 'holds');
  assert.equal(of('consumer-cards').verdict, 'holds');
  assert.equal(of('a100-rates').verdict, 'holds');
  const chip = of('h100-cores');
  assert.equal(chip.verdict, 'wrong here');
  assert.deepEqual(Object.keys(chip.figures), ['h100_cores', 'h100_memory'], 'what decides stands first');
  const pod = of('tpu-pod');
  assert.deepEqual([pod.verdict, Math.round(1 / pod.factor!)], ['wrong here', 1126]);
  const memory = of('resnet-600-mb');
  assert.equal(memory.verdict, 'wrong here');
  assert.equal((1 / memory.factor!).toFixed(1), '5.3');
  assert.equal(Math.round(of('break-even').figures.plain), 654);
  const spot = of('spot-saves');
  assert.deepEqual([spot.verdict, spot.figures.saving.toFixed(2)], ['wrong here', '0.67'], 'its own prices save 67 %');
  assert.equal(of('few-cores').verdict, 'holds');
  assert.equal(of('mixed-precision').figures.gain, 2);
  assert.equal(of('serial').figures.speedup, 7);
});

test('opposite claims never hold by the same number, and a disturbed lab decides neither', () => {
  /** A lab whose all threads do `gain` times the work of one, ± `half` of it, one thread at `rate` GFLOP/s. */
  const gaining = (gain: number, half: number, rate = 60): Evidence => {
    const around = (median: number): Spread => ({
      ...{ median, low: median * (1 - half), high: median * (1 + half), calls: 15 },
    });
    const alone = { ...one, products: [{ at: 1024, value: around(rate) }] };
    const steps = { ...cpu.workloads[0], milliseconds: around(2 / gain) };
    const all = { ...cpu, threads: 2, products: [{ at: 1024, value: around(gain * rate) }], workloads: [steps] };
    return { lab: lab(all, alone), catalogue };
  };
  const both = (evidence: Evidence) => [
    of('serial', evidence).verdict,
    of('embarrassingly-parallel', evidence).verdict,
  ];
  assert.deepEqual(both(gaining(1.95, 0.02)), ['too simple', 'holds']);
  assert.deepEqual(both(gaining(1.4, 0.02)), ['too simple', 'too simple']);
  // SIMD alone takes more than one value after the other.
  assert.deepEqual(both(gaining(0.566, 0.02)), ['too simple', 'wrong here']);
  assert.deepEqual(both(gaining(0.566, 0.02, 8)), ['holds', 'wrong here']);
  for (const gain of [0.9, 1.1, 1.3]) {
    const { verdict: said, sentence } = of('embarrassingly-parallel', gaining(gain, 0.44));
    assert.equal(said, 'cannot tell', String(gain));
    assert.match(sentence, /^Cannot tell from a disturbed lab: .* Measure again/);
  }
  for (const id of ['serial', 'embarrassingly-parallel', 'one-or-two-values']) {
    assert.equal(of(id, gaining(1.1, 0.44, 10)).verdict, 'cannot tell', id);
  }
});

test('a comparison that its own spread turns round is left open, whatever test makes it', () => {
  const wide = (entry: Spread): Spread => ({ ...entry, low: entry.median * 0.3, high: entry.median * 3 });
  const steps = [{ ...gpu.workloads[0], milliseconds: wide(spread(3)) }];
  const evidence: Evidence = { lab: lab(cpu, one, { ...gpu, workloads: steps }), catalogue };
  assert.equal(of('small-work', evidence).verdict, 'cannot tell');
  const copying = { ...cpu, copy: [{ at: 1e9, value: wide(spread(60)) }] };
  assert.equal(of('ten-seconds', { lab: lab(copying, one), catalogue }).verdict, 'wrong here', 'far from every bound');
});

test('long times and large numbers as people write them', () => {
  assert.match(of('gpt3').sentence, /^This CPU would take [\d,]+ to [\d,]+ years; the claim says 1,000 years\./);
  assert.match(of('resnet-epoch').sentence, /would take [\d.]+ to [\d.]+ h; the claim says 30 h\./);
});

test('published results: names once, positive, devices of the catalogue where a factor is asked of a forecast', () => {
  assert.equal(new Set(knownAnswers.map(({ id }) => id)).size, knownAnswers.length);
  assert.ok(knownAnswers.length >= 50, String(knownAnswers.length));
  const devices = new Set(catalogue.devices.map(({ id }) => id));
  for (const { id, published, source, factor, device } of knownAnswers) {
    assert.ok(published.value > 0 && source !== '', id);
    if (factor === 1.3 && !device.startsWith('a CPU')) assert.ok(devices.has(device), `${id}: ${device}`);
  }
  const rate = (id: string): number => knownAnswers.find((answer) => answer.id === id)!.published.value;
  assert.equal(rate('resnet50-v100-16gb-1-float32'), 367);
  assert.equal(rate('resnet50-a100-80gb-8-mixed16'), 16_621);
  assert.equal(rate('bert-squad-a100-80gb-1-mixed16'), 110.5);
});
