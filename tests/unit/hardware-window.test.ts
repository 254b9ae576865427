// What the Hardware section computes between the formulas and the screen: Rent or buy by sliders and history, and own prices kept.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createOwnCatalogue } from '../../electron/main/own-catalogue.ts';
import {
  largestTextbookBatch,
  planMemory,
  remedies,
  textbookMemory,
  withOverheads,
} from '../../engine/hardware/memory-forecast.ts';
import { forecast } from '../../engine/hardware/forecast.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { claims } from '../../engine/hardware/claims/claims.ts';
import { verdict } from '../../engine/hardware/claims/verdict.ts';
import { costRows, filtered, frontier, noFilter, sortedBy, spanText } from '../../renderer/views/hardware/cost/rows.ts';
import { answerOf, assumptions, weeksText, wordsOf, type RentInputs } from '../../renderer/views/hardware/rent/rent.ts';
import { addressLimit } from '../../engine/backends/cpu/arena.ts';
import { machineDevices } from '../../engine/hardware/machine.ts';
import { isSeldom, ownHours, useOf, weeksShown } from '../../engine/hardware/use.ts';
import {
  batchWays,
  offBy,
  ownMemory,
  partsOf,
  partsThatFit,
  stagesOf,
  textbookOptions,
  together,
  totalOf,
} from '../../renderer/views/hardware/memory/memory.ts';
import { memoryFigure, memoryOfRun, rowsFigure } from '../../renderer/components/hardware/run-memory.ts';
import { decidedBy, figureName, figureWords } from '../../renderer/views/hardware/claims/words.ts';
import { throughStep } from '../../renderer/views/hardware/memory/through.ts';
import { bytes, fixed } from '../../renderer/lib/format.ts';
import { usd } from '../../renderer/views/hardware/money.ts';
import { temporaryHome } from '../support/cli.ts';

const inputs: RentInputs = {
  onDemand: 3.06,
  spot: 0.92,
  spotLasts: 10,
  card: 2000,
  host: 0,
  resale: 0,
  smallCard: 450,
  ownShare: 0.7,
  watts: 350,
  tariff: 0.16,
  hoursPerWeek: 11.4,
};
const plainText = (text: string): string => text.replaceAll('\u00a0', ' ');

test('rent or buy: 666 h with electricity, 2,181 h against spot, and the four ways at a year of use', () => {
  const answer = answerOf(inputs);
  assert.equal(Math.round(answer.hours), 666);
  assert.equal(Math.round(answer.spot!.hours), 2181);
  assert.equal(Math.round(60 * answer.spot!.interval), 35);
  const { title, detail } = wordsOf(inputs, answer);
  assert.equal(plainText(title), 'Owning pays after 666 h of GPU time: 58 weeks at 11.4 h a week.');
  assert.match(
    plainText(detail),
    /^Against spot it is 2,181 h, 3\.7 years\. A checkpoint every 35 min .* 5\.8 %.*\$0\.97/,
  );
  const year = answer.at(52 * 11.4);
  assert.equal(Math.round(year.own!), 2033);
  assert.equal(Math.round(year.onDemand!), 1814);
  assert.equal(Math.round(year.spot!), 577);
  // A small card for 70 % of the hours, the rest rented.
  assert.equal(Math.round(year.hybrid!), Math.round(450 + 592.8 * (0.7 * 0.056 + 0.3 * 3.06)));
});

test('rent or buy: no spot, never, and years', () => {
  const alone = { ...inputs, spot: 0 };
  assert.equal(answerOf(alone).spot, null);
  assert.equal(answerOf(alone).at(100).spot, null);
  const never = { ...inputs, onDemand: 0.05 };
  assert.match(wordsOf(never, answerOf(never)).title, /^Owning never pays/);
  const seldom = { ...inputs, hoursPerWeek: 1 };
  assert.equal(wordsOf(seldom, answerOf(seldom)).title, 'Renting stays cheaper for three years of your use.');
  assert.equal(weeksText(666, 1), '13 years');
  const hardly = { ...inputs, hoursPerWeek: 0.1 };
  const { title, detail } = wordsOf(hardly, answerOf(hardly));
  assert.equal(plainText(title), 'Owning never pays at 0.1 h a week: it takes 666 h of GPU time.');
  assert.match(detail, /^Against spot it never pays\./);
});

test('each assumption moves the plain 654 h', () => {
  const lines = assumptions(inputs, [{ label: 'rented elsewhere', rent: 0.34 }]);
  assert.deepEqual(
    lines.map(({ hours }) => Math.round(hours)),
    [654, 666, 1165, 965, 10_211],
  );
  assert.deepEqual(
    lines.flatMap(({ id, now }) => (now ? [id] : [])),
    ['power'],
  );
});

test('the use is the mean of the weeks since the first run', () => {
  const now = Date.UTC(2026, 10, 22);
  const day = 86_400_000;
  const run = (daysAgo: number, hours: number) => ({
    startedAt: now - daysAgo * day,
    secondsElapsed: 3600 * hours,
  });
  assert.equal(useOf([], now).perWeek, null);
  const uses = [null, ...[[], [run(1, 0.01)], [run(1, 0.23)], [run(1, 7.34)]].map((runs) => useOf(runs, now))];
  assert.deepEqual(uses.map(ownHours), [5, 5, 0.1, 0.2, 7.3], 'the own use, however little');
  assert.deepEqual(uses.map(isSeldom), [false, false, true, true, false]);
  const young = useOf([run(1, 4), run(8, 6)], now);
  assert.deepEqual([young.perWeek, young.counted, young.weeks.at(-1), young.weeks.at(-2)], [5, 2, 4, 6]);
  const old = useOf([run(150, 24), run(80, 12), run(3, 12), run(400, 1)], now);
  assert.deepEqual([old.perWeek, old.counted, old.runs, old.weeks.length], [2, 12, 3, weeksShown]);
});

test('money has as many decimals as its size asks for', () => {
  assert.deepEqual([2000, 3.06, 0.056, 0, 0.0001, null].map(usd), [
    '$2,000',
    '$3.06',
    '$0.056',
    '$0',
    'under $0.001',
    '–',
  ]);
});

test('an own price is kept, dated and taken back; a damaged file is left alone', async (context) => {
  const home = temporaryHome(context);
  const file = path.join(home, 'hardware', 'catalogue.json');
  const own = createOwnCatalogue(home, () => new Date('2026-11-22T10:00:00Z'));
  assert.equal(await own.read(), null);
  const price = { list: 'devices', id: 'rtx-4090', field: 'streetPrice', value: 1800 } as const;
  await Promise.all([
    own.setPrice(price),
    own.setPrice({ list: 'offers', id: 'aws-p3-2xlarge', field: 'onDemand', value: 2.5 }),
  ]);
  const { catalogue, problems } = readCatalogue(await own.read());
  assert.deepEqual(problems, []);
  const card = catalogue.devices.find(({ id }) => id === 'rtx-4090')!;
  assert.equal(card.own, true);
  assert.deepEqual(
    [card.streetPrice!.value, card.streetPrice!.date, card.streetPrice!.confidence, card.launchPrice!.confidence],
    [1800, '2026-11-22', 'own', 'seen'],
  );
  assert.equal(catalogue.offers.find(({ id }) => id === 'aws-p3-2xlarge')!.onDemand.value, 2.5);
  const after = readCatalogue(await own.setPrice({ ...price, value: null })).catalogue;
  assert.equal(after.devices.find(({ id }) => id === 'rtx-4090')!.own, false);
  await assert.rejects(own.setPrice({ ...price, id: 'no-such-card' }), /missing, and not built in/);
  await assert.rejects(own.setPrice({ ...price, value: 1e9 }), { code: 'input.catalogue' });
  fs.writeFileSync(file, '{ "version": 1, "devices": 3 }');
  await assert.rejects(own.setPrice(price), /Line 1, field `devices`: a list expected/);
  assert.equal(fs.readFileSync(file, 'utf8'), '{ "version": 1, "devices": 3 }');
});

test('devices are compared alike: each alone, in its own numbers, an instance paid whole', () => {
  const { catalogue } = readCatalogue();
  const ask = (name: string, precision: 'float32' | 'mixed16') => {
    const common = { lab: null, cores: 8, memoryBytes: 16e9, gpu: null, catalogue };
    const here = machineDevices(common);
    const found = forecast(subjectNamed(name, { batch: 8 }), { precision, catalogue, here, tariff: 0.2, grid: 400 });
    return (id: string) => found.devices.find((one) => one.id === id)!;
  };
  const [of, of16] = [ask('gpt2', 'float32'), ask('gpt2', 'mixed16')];
  for (const { id, power } of catalogue.devices) {
    const { kwh, secondsPerEpoch: [low, high] = [0, 0] } = of(id) ?? { kwh: null };
    if (kwh !== null && power) assert.ok((1000 * kwh) / (Math.sqrt(low * high) / 3600) <= power.value, id);
  }
  assert.equal(of('here-cpu').fits, of16('here-cpu').fits, 'it computes in float32 either way');
  for (const { id, cost, costBasis, offer, rented, secondsPerEpoch } of catalogue.devices.flatMap(
    ({ id }) => of(id) ?? [],
  )) {
    if (costBasis !== 'rent') continue;
    const rent = catalogue.offers.find((one) => one.device === id && `${one.provider} ${one.instance}` === offer)!;
    const hours = Math.sqrt(secondsPerEpoch[0] * secondsPerEpoch[1]) / 3600;
    assert.ok(Math.abs(cost! / (hours * rent.onDemand.value) - 1) < 1e-9 && rented === rent.count, id);
  }
});

test('the memory of an ended run stands beside its forecast, on the CPU and on a GPU', () => {
  const { model } = subjectNamed('lenet', { batch: 16, rows: 640 });
  const data = { counts: { train: 640, validation: 0, test: 0 }, givenSplits: [], leftOut: [] };
  const onCpu = memoryOfRun(model!, { data, device: 'cpu', threads: 1, progress: null }, 8)!;
  const onGpu = memoryOfRun(model!, { data, device: 'gpu', threads: 0, progress: null }, 8)!;
  assert.notEqual(onGpu.total, onCpu.total);
  const bill = { phases: {}, cpuSeconds: 1, gpuSeconds: 0, deviceBytes: onGpu.total };
  assert.match(memoryFigure(bill, onGpu).note, /^forecast \d/);
  assert.match(
    memoryFigure({ ...bill, peakBytes: 140e6 }, onCpu).how,
    /held 140.MB at most; a whole run was to add \d+(\.\d+)?.MB/,
  );
  assert.equal(memoryOfRun(model!, { data: null, device: 'gpu', threads: 0, progress: null }, 8), null);

  // Of trees the bytes of the rows are not what training took.
  const trees = rowsFigure({ deviceBytes: 24e3, peakBytes: 192e6 });
  assert.deepEqual([trees.name, trees.value], ['Memory of its process', '192\u00a0MB']);
  assert.match(trees.how, /The rows .* took 24\.0.kB/);
  assert.equal(rowsFigure({ deviceBytes: 24e3 }).name, 'Memory, rows alone');
});

test('time and cost: rows to buy and to rent, the frontier, order and filters', () => {
  const { catalogue } = readCatalogue();
  const subject = subjectNamed('bert-base', {});
  const { devices } = forecast(subject, { precision: 'mixed16', catalogue, tariff: 0.2, grid: 400 });
  const settings = { epochs: 3, tariff: 0.2, years: 2, hoursPerWeek: 10 };
  const fit = { costs: subject.costs, options: { precision: 'mixed16', optimizer: 'adam' } } as const;
  const rows = costRows(devices, catalogue, settings, fit);
  const row = (id: string) => rows.find((one) => one.id === id)!;
  const card = devices.find(({ id }) => id === 'rtx-4090')!;
  const bought = row('rtx-4090/buy');
  // The middle where the factor either way is the same, as in advice.
  const hours = (3 * Math.sqrt(card.secondsPerEpoch[0] * card.secondsPerEpoch[1])) / 3600;
  assert.ok(Math.abs(bought.training / 3600 - hours) < 1e-9);
  // Its electricity, and its share of two years of ten hours a week.
  assert.ok(Math.abs(bought.money! - (3 * card.kwh! * 0.2 + (bought.price!.value * hours) / (2 * 52 * 10))) < 1e-9);
  // What does not fit is told a batch in the numbers that the device computes with.
  const large = subjectNamed('resnet50', { batch: 2048 });
  const largeFit = { costs: large.costs, options: { precision: 'float32', optimizer: 'adam' } } as const;
  const told = forecast(large, { precision: 'float32', catalogue, tariff: 0.2, grid: 400 }).devices;
  const halved = costRows(told, catalogue, settings, largeFit).filter(
    ({ fits, numbers }) => fits === false && numbers === '16 bits',
  );
  assert.ok(halved.length > 0);
  for (const { fitNote, memoryBytes } of halved) {
    const most = largestTextbookBatch(large.costs, { precision: 'mixed16', optimizer: 'adam' }, memoryBytes!);
    assert.equal(fitNote(), `fits batch ${fixed(most)}`);
  }
  // The processor here is held against the plan, as in Memory and the advice, not against the textbook.
  const { model, ...light } = large;
  const own = planMemory(model!, { train: large.rows, validation: 0, test: 0 }, { kind: 'cpu', cores: 2 }).memory;
  const here = machineDevices({ lab: null, cores: 2, memoryBytes: 8e9, gpu: null, catalogue });
  const planned = forecast(light, { precision: 'float32', catalogue, here, own, tariff: 0.2, grid: 400 }).devices;
  const [cpu] = costRows(planned, catalogue, settings, largeFit);
  assert.deepEqual([cpu.fits, cpu.fitNote()], [false, `needs ${bytes(own.total)}`]);
  const seldom = costRows(devices, catalogue, { ...settings, hoursPerWeek: 0.1, epochs: 1e4 }, fit);
  const dear = seldom.find(({ id }) => id === 'rtx-4090/buy')!;
  assert.ok(Math.abs(dear.money! - (1e4 * card.kwh! * 0.2 + bought.price!.value)) < 1e-6, 'the whole price, no more');
  const rented = rows.find(({ kind, name }) => kind === 'rent' && name.startsWith('GeForce RTX 4090'))!;
  assert.ok(Math.abs(rented.money! - rented.price!.value * hours) < 1e-9);

  const line = frontier(rows);
  assert.ok(line.length >= 2);
  for (const [index, one] of line.entries()) {
    assert.ok(
      rows.every(
        (other) =>
          !(
            other.fits &&
            other.money !== null &&
            other.price?.confidence === 'seen' &&
            other.training < one.training &&
            other.money < one.money!
          ),
      ),
    );
    assert.ok(index === 0 || (one.training >= line[index - 1].training && one.money! < line[index - 1].money!));
    assert.ok(one.price === null || !['memory', 'disputed'].includes(one.price.confidence));
  }
  // An adapter in software is shown and never the answer, however quick it were.
  const software = {
    ...rows[0],
    id: 'here-gpu-0',
    software: true,
    money: 0.0001,
    training: 0.1,
    fits: true,
    price: null,
  };
  assert.ok(!frontier([software, ...rows]).includes(software));

  const byMoney = sortedBy(rows, 'money', true).map(({ money }) => money);
  const known = byMoney.filter((money) => money !== null);
  assert.deepEqual(
    byMoney.slice(0, known.length),
    known.toSorted((a, b) => b - a),
  );
  assert.ok(byMoney.slice(known.length).every((money) => money === null));
  const now = Date.parse('2026-11-22');
  const some = filtered(rows, { ...noFilter, kind: 'buy', memory: 24e9, vendor: 'NVIDIA', money: 100 }, now);
  assert.ok(some.length > 0 && some.every((one) => one.kind === 'buy' && one.vendor === 'NVIDIA' && one.money! <= 100));
  assert.equal(filtered(rows, noFilter, now).length, rows.length);
});

test('spans of time read as people say them', () => {
  const texts = [0.0001, 0.041, 6.14, 540, 3600, 30_000, 200_000, 1_010_880, 1e8].map(spanText).map(plainText);
  assert.deepEqual(texts, ['under 1 ms', '41 ms', '6.1 s', '9.0 min', '1.0 h', '8.3 h', '2.3 d', '12 d', '3.2 years']);
});

test('memory: parts and stages add up, batches are those of the forecast, remedies combine', () => {
  const subject = subjectNamed('resnet50', { batch: 64 });
  const costs = subject.costs(64);
  const options = textbookOptions(subject, 'float32');
  const memory = textbookMemory(costs, options);
  assert.ok(Math.abs(totalOf(partsOf(memory)) - withOverheads(memory.total).low) < 1);
  const stages = stagesOf(subject, costs, 4, true);
  const names = stages.map(({ name }) => name);
  assert.ok(
    ['stem', 'stage 1', 'stage 2', 'stage 3', 'stage 4'].every((name) => names.includes(name)),
    names.join(),
  );
  const activations = stages.reduce((sum, stage) => sum + stage.activations, 0);
  assert.ok(Math.abs(activations / memory.activations - 1) < 1e-9);
  assert.equal(
    stages.reduce((sum, { parameters }) => sum + (parameters ?? 0), 0),
    costs.parameters,
  );

  for (const [name, own] of [
    ['resnet18', true],
    ['resnet50', false],
    ['gpt2', false],
  ] as const) {
    const about = subjectNamed(name, { batch: 8 });
    const parts = partsOf(own ? ownMemory(about, { kind: 'cpu', cores: 2 })! : textbookMemory(about.costs(8), options));
    const step = throughStep(about.costs(8), parts, stagesOf(about, about.costs(8), 4, !own));
    const sumAt = (at: number): number => step.areas.reduce((sum, { y }) => sum + y[at], 0);
    assert.ok(Math.abs(step.peak.bytes / totalOf(parts) - 1) < 1e-6, `${name}: ${step.peak.bytes} ${totalOf(parts)}`);
    assert.equal(step.peak.at, step.backward, 'all is kept when the backward pass begins');
    const kept = parts.find(({ id }) => id === 'activations')!.bytes;
    for (const at of [0, step.calls]) assert.ok(Math.abs(sumAt(at) - (totalOf(parts) - kept)) < 1, `${name} at ${at}`);
    assert.ok(sumAt(step.backward >> 1) < step.peak.bytes && sumAt(step.update - 1) < step.peak.bytes);
    assert.ok(step.areas.length > 5 && step.areas.every(({ base, y }) => base!.length === y.length));
  }

  const ways = batchWays(subject, [12e9, 80e9]);
  assert.equal(ways[0].batches[0], largestTextbookBatch(subject.costs, options, 12e9));
  assert.ok(ways[3].batches[1]! > ways[2].batches[1]! && ways[2].batches[1]! > ways[0].batches[1]!);
  // Here only this program trains: its own figure, as on the command line, and none of another program.
  const here = batchWays(subject, [12e9, 4.3e9], { bytes: 4.3e9, batch: 24 });
  assert.deepEqual(
    here.map(({ id, batches }) => [id, batches[1]]),
    [['trainyard', 24], ...ways.map(({ id }) => [id, null])],
  );
  assert.deepEqual([here[0].batches[0], here[1].batches[0]], [null, ways[0].batches[0]]);
  const all = remedies(subject.costs, options, 64);
  const alone = all.map((remedy) => together(subject, options, [remedy]).needed);
  const both = together(subject, options, all);
  assert.ok(alone.every((needed) => needed >= both.needed && needed < together(subject, options, []).needed));
  const most = largestTextbookBatch(subject.costs, options, 8e9);
  const wide = subjectNamed('resnet50', { batch: 4 * most });
  assert.equal(partsThatFit(wide, options, 8e9), 4);
  assert.equal(partsThatFit(subjectNamed('gpt3', {}), options, 80e9), null);
  const layers = stagesOf(subjectNamed('gpt2', {}), subjectNamed('gpt2', {}).costs(2), 2, true);
  assert.equal(layers.length, 12);
  const off = (share: number) => ({
    id: 1,
    name: '',
    device: 'cpu' as const,
    forecast: 1,
    measured: 1 + share,
    off: share,
  });
  assert.deepEqual(offBy([off(0.02), off(-0.05), off(0.01)]), { median: 0.02, worst: 0.05 });
  assert.equal(offBy([]), null);
});

test('this machine by its lab: the processor and each GPU; an adapter in software is labelled and never the answer', () => {
  const { catalogue } = readCatalogue();
  const spread = (median: number) => ({ median, low: median, high: median, calls: 15 });
  const samples = (value: number) => [64, 1024].map((at) => ({ at, value: spread(value) }));
  const device = (id: string, kind: 'cpu' | 'gpu', name: string, rate: number, software = false) => ({
    id,
    kind,
    name,
    software,
    threads: kind === 'cpu' ? 8 : 0,
    products: samples(rate),
    copy: samples(rate / 10),
    triad: samples(rate / 10),
    latencies: [],
    workloads: [],
  });
  const lab = {
    version: 1 as const,
    machine: { name: 'm', cpu: 'c', cores: 8, memoryBytes: 32e9, os: 'o' },
    startedAt: 0,
    seconds: 60,
    notes: [],
    devices: [
      device('cpu', 'cpu', 'A processor', 400),
      device('cpu-1', 'cpu', 'A processor', 50),
      device('gpu-0', 'gpu', 'NVIDIA GeForce RTX 4090 (Vulkan)', 40_000),
      device('gpu-1', 'gpu', 'SwiftShader', 1e9, true),
    ],
  };
  const common = { lab, cores: 8, memoryBytes: 32e9, gpu: null, catalogue };
  const here = machineDevices({ ...common, withSoftware: true });
  assert.deepEqual(
    here.map(({ id, memoryBytes, watts }) => [id, memoryBytes, watts]),
    [
      ['cpu', addressLimit, 32],
      ['gpu-0', 24e9, 450],
      ['gpu-1', 32e9, 32],
    ],
  );
  const { model: _model, ...subject } = subjectNamed('gpt2', { batch: 1 });
  const { devices } = forecast(subject, { precision: 'float32', catalogue, here, tariff: 0.2, grid: 400 });
  const settings = { epochs: 1, tariff: 0.2, years: 3, hoursPerWeek: 5 };
  const fit = { costs: subject.costs, options: { precision: 'float32', optimizer: 'adam' } } as const;
  const rows = costRows(devices, catalogue, settings, fit).filter(({ kind }) => kind === 'here');
  assert.deepEqual(
    rows.map(({ id, deviceKind, software }) => [id, deviceKind, software]),
    [
      ['here-cpu', 'cpu', false],
      ['here-gpu-0', 'gpu', false],
      ['here-gpu-1', 'gpu', true],
    ],
  );
  assert.match(rows[2].name, /\(software\)$/);
  assert.deepEqual(
    frontier(rows).map(({ id }) => id),
    ['here-gpu-0', 'here-cpu'].slice(0, frontier(rows).length),
  );
  assert.ok(frontier(rows).every(({ software }) => !software));
});

test('figures of claims read as words with a unit', () => {
  assert.deepEqual(figureWords('cpuMicroseconds', 11), ['11', 'µs on the CPU']);
  assert.deepEqual(figureWords('ratioLarge', 26.21), ['26.2', '× as fast, large']);
  assert.equal(figureWords('summingSeconds', 0.0206)[1], 'summing');
  assert.equal(figureWords('valuesPerCycle', 6.381)[1], 'values a cycle');
  assert.deepEqual(figureWords('gflopsPerExample', 3.15e14), ['315 ZFLOP', 'an example']);
  assert.deepEqual(figureWords('hours', 8_760_000), ['1,000 years', '']);
  assert.deepEqual(figureWords('lowHours', 111.8), ['4.66 days', 'at least']);
  assert.deepEqual(figureWords('h100_cores', 16_896), ['16,900', 'cores, H100']);
  assert.deepEqual(figureWords('most_fp32', 104.8), ['105', 'TFLOP/s at most']);
  assert.deepEqual(figureWords('tpu_memory', 32), ['32', 'GB, a TPU']);
  assert.deepEqual(figureWords('cpu', 23.4), ['23.4', 'GB/s on the CPU']);
  assert.equal(
    figureWords('saving', 2 / 3)
      .map(plainText)
      .join(' '),
    '67 % saved',
  );
  assert.deepEqual(figureWords('onDemand', 3), ['$3.00', 'an hour']);
});

test('every number of a claim says what it is a number of', () => {
  const { catalogue } = readCatalogue();
  // What reads as it stands, such as `256 rows`.
  const plain = ['rows', 'columns', 'examples', 'devices', 'threads', 'cores'];
  for (const claim of claims) {
    const found = decidedBy(claim) === 'sum' ? verdict(claim, { lab: null, catalogue }).figures : {};
    for (const name of [...Object.keys(claim.saysWhat), ...Object.keys(found)]) {
      const [, unit] = figureWords(name, 1);
      assert.ok(unit !== figureName(name) || plain.includes(name), `${claim.id}: 1 ${unit}`);
    }
  }
});
