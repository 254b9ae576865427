// Advice from made-up facts: which rule fires first, with which number, what is not advised and why, and what a changed threshold does.

import assert from 'node:assert/strict';
import test from 'node:test';
import { advise, lateness } from '../../engine/hardware/advice/advise.ts';
import { elsewhereActions } from '../../engine/hardware/advice/elsewhere.ts';
import {
  usualFirst,
  type DeviceFact,
  type Facts,
  type Range,
  type Recommendation,
} from '../../engine/hardware/advice/facts.ts';
import { moneyText } from '../../engine/hardware/bill.ts';
import { hereActions } from '../../engine/hardware/advice/here.ts';
import { togetherActions } from '../../engine/hardware/advice/together.ts';
import { temporaryHome, trainyard } from '../support/cli.ts';
import {
  gigabytes,
  hereSuffices,
  reason,
  standardRules,
  usdText,
  withThresholds,
} from '../../engine/hardware/advice/rules.ts';

const hour = 3600;
const around = (seconds: number): Range => ({ low: seconds / 1.2, middle: seconds, high: seconds * 1.2 });
const cpu: DeviceFact = {
  id: 'cpu',
  name: 'this CPU',
  kind: 'cpu',
  use: 'training',
  seconds: around(20 * hour),
  memory: 64e9,
};
const gpu: DeviceFact = {
  id: 'gpu-0',
  name: 'this GPU',
  kind: 'gpu',
  use: 'training',
  seconds: around(2 * hour),
  memory: 12e9,
  watts: 300,
};
const card = (id: string, gigabytes: number, hours: number, more: Partial<DeviceFact>): DeviceFact => ({
  id,
  name: id,
  kind: 'gpu',
  use: 'training',
  seconds: around(hours * hour),
  memory: gigabytes * 1e9,
  ...more,
});
const others = [
  card('rtx-3090', 24, 1.5, { price: 1500, watts: 350, bandwidth: 936e9 }),
  card('rtx-5090', 32, 0.6, { price: 3400, watts: 575, bandwidth: 1792e9 }),
  card('a100', 80, 0.5, { rent: { offer: 'cloud a100', perHour: 3, spotPerHour: 1 } }),
  card('t4', 16, 5, { rent: { offer: 'notebook', perHour: 0, free: true } }),
  card('b200', 180, 0.1, { doubtful: true }),
  card('coral', 0.008, 1, { kind: 'edge', use: 'inference' }),
  card('loihi', 0, 1, { kind: 'neuromorphic', use: 'research' }),
];
const facts: Facts = {
  model: 'network',
  rows: 1e6,
  cpu,
  gpu,
  others,
  memoryNeeded: 8e9,
  stepFlops: 1e9,
  crossoverFlops: 25e6,
  tariff: 0.18,
};
/** Efficiencies of a device with the batch at hand, of 100; a larger batch divides better. */
const together: Pick<Facts, 'batch' | 'together'> = {
  batch: 100,
  together: (_, batch) => ({
    link: 'a wire',
    points: [1, 0.95, 0.9, 0.85].map((share, i) => {
      const efficiency = batch > 100 ? (1 + share) / 2 : share;
      return { speedup: efficiency * (i + 1), efficiency, needed: 8e9 + (8e6 * batch) / (i + 1) };
    }),
  }),
};
const advised = (all: readonly Recommendation[]): Recommendation[] => all.filter((given) => given.advised);
const rules = (...args: Parameters<typeof advise>): string[] => advised(advise(...args)).map(({ rule }) => rule);

test('every rule has its action, and every action its rule', () => {
  const ids = standardRules.rules.map(({ id }) => id);
  assert.deepEqual([...ids].sort(), Object.keys({ ...hereActions, ...elsewhereActions, ...togetherActions }).sort());
});

test('a job that is soon done, or no network, stays on the CPU, with the number', () => {
  const [soon, ...rest] = advised(advise({}, { ...facts, cpu: { ...cpu, seconds: around(60) } }));
  assert.deepEqual([soon.rule, soon.device, rest.length], ['finishes-soon', 'cpu', 0]);
  assert.equal(soon.reasons[0].value, 1.2);
  assert.equal(soon.reasons[0].threshold, 10);
  assert.equal(rules({}, { ...facts, model: 'trees', rows: 5000 })[0], 'no-network');
  assert.notEqual(rules({}, { ...facts, model: 'trees', rows: 5e6 })[0], 'no-network');
});

test('below the crossover the CPU, above it this GPU; each says what would change that', () => {
  const [below] = advise({}, { ...facts, stepFlops: 5e6 });
  assert.deepEqual([below.rule, below.device, below.changes[0].value], ['below-crossover', 'cpu', 5]);
  const [above] = advise({}, facts);
  assert.deepEqual([above.rule, above.rank, above.device], ['this-gpu', 1, 'gpu-0']);
  assert.equal(above.reasons[0].value, 10);
  assert.equal(above.reasons[0].link, 'crossover');
  assert.match(above.changes[0].text, /9\.6 GB/);
});

test('a GPU in software is never advised', () => {
  const all = advise({}, { ...facts, gpu: { ...gpu, software: true }, others: [] });
  assert.ok(advised(all).every(({ device }) => device !== 'gpu-0'));
  assert.match(all.find(({ device }) => device === 'gpu-0')!.reasons[0].text, /software/);
});

test('uncertain forecasts are measured first, waiting data is mended first', () => {
  const wide = { low: hour, middle: 3 * hour, high: 9 * hour };
  assert.equal(rules({}, { ...facts, gpu: { ...gpu, seconds: wide } })[0], 'measure-first');
  assert.equal(rules({}, { ...facts, dataWait: 0.4 })[0], 'data-waits');
  assert.equal(rules({}, { ...facts, batch: 32, saturationBatch: 512 })[0], 'larger-batch');
  assert.ok(!rules({}, { ...facts, batch: 32, saturationBatch: 512, criticalBatch: 16 }).includes('larger-batch'));
});

test('what does not fit takes savings in order, as few as do', () => {
  const savings = [
    { name: 'half precision', bytes: 5e9, timeFactor: 0.8 },
    { name: 'recomputation', bytes: 4e9, timeFactor: 1.33 },
  ];
  const [first] = advise({}, { ...facts, memoryNeeded: 14e9, savings });
  assert.deepEqual([first.rule, first.seconds!.middle], ['gpu-with-savings', 2 * hour * 0.8]);
  assert.match(first.reasons[0].text, /^With half precision it takes 9\.0 GB/);
});

test('seldom: rent, and interrupted where that is cheap; steady or private: buy the smallest that fits', () => {
  const large = { ...facts, memoryNeeded: 18e9 };
  const seldom = advise({ hoursPerWeek: 1 }, large);
  assert.equal(seldom[0].rule, 'rent-one');
  assert.equal(seldom[0].device, 'a100');
  assert.equal(seldom[0].money, 1.5);
  const steady = advise({ hoursPerWeek: 40 }, large);
  assert.deepEqual([steady[0].rule, steady[0].device], ['buy-one', 'rtx-3090']);
  const secret = advise({ hoursPerWeek: 1, private: true }, large);
  assert.deepEqual([secret[0].rule, secret[0].device], ['buy-one', 'rtx-3090']);
  assert.match(secret.find(({ device }) => device === 'a100')!.reasons[0].text, /Data leaves this machine/);
  const spot = { ...large, checkpointMinutes: 1, hoursBetweenInterruptions: 10 };
  const interrupted = advise({ interruptible: true }, spot).find(({ rule }) => rule === 'spot')!;
  assert.equal(interrupted.reasons[0].value!.toFixed(3), '0.353');
  assert.ok(
    !rules({ interruptible: true }, { ...spot, hoursBetweenInterruptions: 0.1 }).includes('spot'),
    'cut off too often',
  );
  assert.equal(rules({ interruptible: true }, facts).includes('free-notebook'), true);
});

test('of what can be rented, the cheapest that keeps the deadline, else the quickest', () => {
  const cheap = card('slow', 80, 4, { rent: { offer: 'cheap', perHour: 0.1 } });
  const both = { ...facts, others: [...others, cheap] };
  const rented = (deadline?: number): string | null =>
    advise({ deadline }, both).find(({ rule }) => rule === 'rent-one')!.device;
  assert.deepEqual([rented(), rented(hour), rented(60)], ['slow', 'a100', 'a100']);
});

test('what comes first decides, what is beyond the budget says so, and the other end is named', () => {
  const cheap = card('slow', 80, 4, { watts: 70, rent: { offer: 'cheap', perHour: 0.1 } });
  const both = { ...facts, others: [...others, cheap] };
  const rent = (needs: Parameters<typeof advise>[0]): Recommendation =>
    advise(needs, both).find(({ rule }) => rule === 'rent-one')!;
  assert.deepEqual([rent({ first: 'time' }).device, rent({ first: 'money' }).device], ['a100', 'slow']);
  assert.deepEqual(rent({}), rent({ first: usualFirst }));
  assert.equal(rent({ first: 'energy' }).device, 'slow');
  assert.match(rent({ first: 'time' }).changes.at(-1)!.text, /^Money first: slow, about 4.h for 0\.40 USD$/);
  assert.match(rent({}).changes.at(-1)!.text, /^Time first: a100, about 30.min for 1\.50 USD$/);
  assert.equal(rent({ first: 'time', budget: 1 }).device, 'slow', 'the quickest within the budget');
  const beyond = rent({ budget: 0.01 });
  assert.deepEqual([beyond.device, beyond.meetsBudget, rent({ budget: 5 }).meetsBudget], ['slow', false, true]);
  const bought = (needs: Parameters<typeof advise>[0]) =>
    advise({ private: true, ...needs }, both).find(({ rule }) => rule === 'buy-one')!.device;
  assert.deepEqual(
    [bought({}), bought({ first: 'time' }), bought({ deadline: 60 })],
    ['rtx-3090', 'rtx-5090', 'rtx-5090'],
  );
});

test('what a card pays from is that of the card and the rent that are advised', () => {
  const small = card('small', 12, 4, { price: 300, rent: { offer: 'cheap', perHour: 0.1 } });
  const both = { ...facts, others: [...others, small] };
  const pays = (needs: Parameters<typeof advise>[0], rule: string): readonly [string | null, number] => {
    const { device, reasons } = advise(needs, both).find((given) => given.rule === rule)!;
    return [device, reasons.find(({ link }) => link === 'rent')!.threshold!];
  };
  // An hour of the card does the work of 50 rented minutes.
  const quick = 3400 / (3 * (0.5 / 0.6) - 0.575 * 0.18) / 3;
  assert.deepEqual(pays({ first: 'time', hoursPerWeek: 1 }, 'rent-one'), ['a100', quick]);
  assert.deepEqual(pays({ first: 'time', hoursPerWeek: 40 }, 'buy-one'), ['rtx-5090', quick]);
  assert.deepEqual(pays({ hoursPerWeek: 1 }, 'rent-one'), ['small', 300 / 0.1 / 3]);
});

test('break-even is by work done, in hours of the card that is named; what is late is not bought for its price', () => {
  const slow = card('slow card', 24, 50, { price: 300 });
  const both = { ...facts, others: [slow, others[2]] };
  const of = (needs: Parameters<typeof advise>[0], rule: string): Recommendation | undefined =>
    advise(needs, both).find((given) => given.rule === rule);
  // A rented hour does the work of a hundred of the card: each of these saves three cents.
  const rent = of({ hoursPerWeek: 10 }, 'rent-one')!.reasons.find(({ link }) => link === 'rent')!;
  assert.ok(Math.abs(rent.threshold! - 300 / 0.03 / 3) < 1e-6);
  assert.equal(
    rent.text,
    '521 h of slow card a year; bought, it pays from 3,333 of its hours a year, against renting a100 for the same work',
  );
  assert.equal(of({ hoursPerWeek: 10 }, 'buy-one'), undefined);
  assert.ok(of({ hoursPerWeek: 100 }, 'buy-one')!.reasons.some(({ text }) => text.startsWith('5,214 h of slow card')));
  const inTime = { hoursPerWeek: 100, deadline: hour };
  assert.deepEqual([of(inTime, 'rent-one')?.meetsDeadline, of(inTime, 'buy-one')], [true, undefined]);
});

test('nobody waits for what cannot be had, several are paid as the box they come in', () => {
  const wafer = card('wafer', 1000, 0.001, {});
  const boxes = [{ count: 8, perHour: 20, offer: 'cloud 8x a100' }];
  const boxed = others.map((one) => (one.id === 'a100' ? { ...one, boxes } : one));
  const short = { ...facts, others: [wafer, ...boxed], ...together };
  const several = advise({ deadline: 0.4 * hour }, short).find(({ rule }) => rule === 'several')!;
  assert.equal(several.device, 'a100');
  assert.ok(Math.abs(several.money! - (20 * several.seconds!.middle) / hour) < 1e-9);
});

test('several devices have money and meet the budget or not: let together, else bought; private ones bought', () => {
  const sold = others.map((one) => (one.id === 'a100' ? { ...one, price: 15_000 } : one));
  const short = { ...facts, others: sold, ...together };
  const of = (rule: string, needs: Parameters<typeof advise>[0], among: Facts = short): Recommendation =>
    advise({ deadline: rule === 'several' ? 0.4 * hour : 0.17 * hour, ...needs }, among).find(
      (given) => given.rule === rule,
    )!;
  for (const [rule, count] of [
    ['several', 2],
    ['several-larger-batch', 4],
  ] as const) {
    const { money, meetsBudget, reasons } = of(rule, { budget: 3000 });
    assert.deepEqual([money, meetsBudget], [count * 15_000, false], rule);
    assert.match(reasons.at(-1)!.text, /^Nobody lets so many together here: .*,000 USD to buy \d of them$/);
    const secret = of(rule, { budget: 90_000, private: true });
    assert.deepEqual([secret.money, secret.meetsBudget], [count * 15_000, true], rule);
    assert.match(secret.reasons.at(-1)!.text, /^The data stays with you: /);
    const nobody = of(rule, { budget: 5 }, { ...facts, ...together });
    assert.deepEqual(
      [nobody.money, nobody.reasons.at(-1)!.text],
      [undefined, `What ${count} of them cost is not known`],
    );
  }
});

test('what does not fit this CPU is not advised there, other numbers than those asked for are said', () => {
  const tight = { ...facts, gpu: undefined, cpu: { ...cpu, seconds: around(60), memory: 4.3e9 }, cpuFits: false };
  const all = advise({ deadline: hour }, tight);
  assert.ok(advised(all).every(({ device }) => device !== 'cpu') && advised(all).length > 0);
  assert.match(
    all.find(({ device }) => device === 'cpu')!.reasons[0].text,
    /does not fit: a run here can have 4\.3 GB/,
  );
  const chip = card('tpu', 80, 0.1, { kind: 'tpu', otherNumbers: '16 bits', rent: { offer: 'cloud', perHour: 1 } });
  const [first] = advise({ first: 'time' }, { ...tight, others: [chip] });
  assert.ok(first.reasons.some(({ text }) => text === 'It computes in 16 bits: it has nothing else'));
});

test('the upper end of the range is held against the deadline, and said where the middle keeps it', () => {
  const range = { low: 50, middle: 60, high: 72 };
  assert.deepEqual(
    [undefined, 72, 71, 60, 59].map((deadline) => lateness(range, deadline)),
    ['', '', 'may end after the deadline', 'may end after the deadline', 'after the deadline'],
  );
  const here = (deadline: number): Recommendation =>
    advise({ deadline }, facts).find(({ rule }) => rule === 'this-gpu')!;
  const close = here(2.1 * hour);
  assert.equal(close.meetsDeadline, false);
  assert.equal(
    close.reasons.at(-1)!.text.replaceAll('\u00a0', ' '),
    'It may take up to 2.4 h: the upper end of the forecast is held against the deadline of 2.1 h',
  );
  for (const deadline of [1.5, 3]) {
    assert.ok(
      here(deadline * hour).reasons.every(({ text }) => !text.includes('upper end')),
      String(deadline),
    );
  }
});

test('a deadline that this machine keeps needs nothing else; one it misses ranks what keeps it first', () => {
  assert.deepEqual(rules({ deadline: 3 * hour }, facts), ['this-gpu']);
  const [first, ...later] = advised(advise({ deadline: hour }, facts));
  assert.deepEqual([first.rule, first.meetsDeadline], ['rent-one', true]);
  assert.equal(later.find(({ rule }) => rule === 'this-gpu')!.meetsDeadline, false);
  const several = advise({ deadline: 0.4 * hour }, { ...facts, ...together });
  assert.equal(several[0].rule, 'several');
  assert.equal(several[0].reasons[0].value, 0.95);
  assert.ok(rules({ deadline: 0.05 * hour }, facts).includes('cluster'));
});

test('a cluster is held against its own table: late it comes after what keeps the deadline, and says so', () => {
  const table = (reached: (devices: number) => number): Partial<Facts> => ({
    batch: 100,
    together: () => ({
      link: 'a wire',
      points: Array.from({ length: 64 }, (_, i) => {
        const speedup = reached(i + 1);
        return { speedup, efficiency: speedup / (i + 1), needed: 8e9 };
      }),
    }),
  });
  const of = (reached: (devices: number) => number): Recommendation | undefined =>
    advise({ deadline: 0.04 * hour, budget: 1 }, { ...facts, ...table(reached) }).find(
      ({ rule }) => rule === 'cluster',
    );
  const keeps = of((devices) => 0.9 * devices)!;
  assert.deepEqual([keeps.reasons[0].value, keeps.meetsDeadline, keeps.meetsBudget], [17, true, false]);
  assert.ok(Math.abs(keeps.seconds!.high - (0.6 * hour) / (0.9 * 17)) < 1e-9);
  assert.equal(keeps.money!.toFixed(3), ((17 * 3 * 0.5) / (0.9 * 17)).toFixed(3));
  assert.match(keeps.reasons[1].text, /^1\.67 USD for this training, the network not counted$/);
  const late = of((devices) => 7 * (1 - 0.8 ** devices) - devices / 100)!;
  assert.equal(late.meetsDeadline, false);
  assert.match(late.reasons[0].text, /^No number of them keeps the deadline with this batch: /);
  assert.equal(
    of((devices) => 1 / devices),
    undefined,
    'more of them are slower than one',
  );
});

test('where nothing keeps the deadline a larger batch is weighed, up to what still learns from each example', () => {
  const short = 0.17 * hour;
  const of = (more: Partial<Facts>, deadline = short, changes = {}): Recommendation | undefined =>
    advise({ deadline }, { ...facts, ...together, ...more }, withThresholds(changes)).find(
      ({ rule }) => rule === 'several-larger-batch',
    );
  const large = of({})!;
  assert.deepEqual([large.device, large.meetsDeadline], ['a100', true]);
  assert.equal(large.reasons[0].value, 200, 'the smallest that does');
  assert.match(large.reasons[0].text, /^A batch of 200 instead of 100 over 4 of them on a wire .* and the deadline$/);
  assert.match(large.reasons[1].text, /not known here: raise the learning rate/);
  const cheap = {
    ...others[2],
    rent: { offer: 'cloud', perHour: 0.001 },
    boxes: [{ count: 8, perHour: 0.01, offer: 'box' }],
  };
  assert.equal(of({ others: [cheap] })!.reasons.at(-1)!.text, 'Under 0.01 USD for this training, box');
  assert.equal(of({}, 0.4 * hour), undefined, 'the batch at hand keeps that');
  assert.equal(of({}, 0.7 * hour), undefined, 'one keeps that');
  const late = of({}, 60)!;
  assert.equal(late.meetsDeadline, false);
  assert.match(late.reasons[0].text, /nearest to the deadline/);
  const known = of({ criticalBatch: 4000 })!;
  assert.match(known.reasons[1].text, /critical batch is about 4,000/);
  assert.equal(known.seconds!.high / large.seconds!.high, (1 + 200 / 4000) / (1 + 100 / 4000), 'more examples');
  assert.equal(of({ criticalBatch: 200 }), undefined, 'twice as fast, and half again as many examples');
  assert.equal(of({ criticalBatch: 150 }), undefined, 'no batch of 200 where 150 is critical');
  assert.equal(of({ criticalBatch: 4000 }, short, { 'several-larger-batch.critical': 0.04 }), undefined);
  assert.equal(of({ rows: 9000 }), undefined, 'an epoch of few steps');
  assert.ok(
    advise({ deadline: 60 }, { ...facts, ...together }).findIndex(({ rule }) => rule === 'several-larger-batch') <
      advise({ deadline: 60 }, { ...facts, ...together }).findIndex(({ rule }) => rule === 'rent-one'),
    'what is nearer to the deadline comes first',
  );
});

test('a card is bought within the budget, where one is; beyond it the cheapest, and said', () => {
  const buy = (needs: Parameters<typeof advise>[0]): readonly unknown[] => {
    const { device, meetsBudget } = advise({ private: true, ...needs }, facts).find(({ rule }) => rule === 'buy-one')!;
    return [device, meetsBudget];
  };
  assert.deepEqual(buy({ first: 'time' }), ['rtx-5090', undefined]);
  assert.deepEqual(buy({ first: 'time', budget: 2000 }), ['rtx-3090', true]);
  assert.deepEqual(buy({ first: 'time', budget: 100 }), ['rtx-3090', false]);
  assert.deepEqual(buy({ deadline: hour, budget: 2000 }), ['rtx-5090', false], 'the one that keeps the deadline');
});

test('every device is held against the bytes of the numbers that it computes with', () => {
  const old = card('old', 24, 1, { needed: 22e9, price: 100, otherNumbers: 'float32' });
  const both = { ...facts, others: [...others, old] };
  assert.match(advise({}, both).find(({ device }) => device === 'old')!.reasons[0].text, /2 of them would hold it/);
  assert.equal(advise({ private: true }, both).find(({ rule }) => rule === 'buy-one')!.device, 'rtx-3090');
  const here = advise({}, { ...facts, gpu: { ...gpu, needed: 11e9 } });
  assert.ok(
    here.every(({ rule }) => rule !== 'this-gpu'),
    'float32 here does not fit, 16 bits would',
  );
  const needs = { deadline: gpu.seconds.high };
  assert.ok(hereSuffices({ needs, facts }));
  assert.ok(!hereSuffices({ needs, facts: { ...facts, gpu: { ...gpu, memory: 0 } } }), 'nobody knows that it fits');
});

test('what fits no card is shared out, energy first caps the power', () => {
  const huge = { ...facts, memoryNeeded: 120e9, stateBytes: 100e9 };
  const shard = advise({}, huge).find(({ rule }) => rule === 'shard')!;
  assert.match(shard.reasons[0].text, /shared out over 3$/);
  const split = advise({}, { ...facts, memoryNeeded: 18_661.9e9, stateBytes: 100e9 });
  const [why] = split.find(({ rule }) => rule === 'shard')!.reasons;
  assert.equal(why.text, '18,561.9 GB beside the states: the model itself has to be split');
  const capped = advise({ first: 'energy' }, facts).find(({ rule }) => rule === 'energy-first')!;
  assert.equal(capped.reasons[0].value, 240);
});

test('figures read as people write them, and a reason begins with a capital letter', () => {
  assert.deepEqual([0, 0.94, 1.5, 407_998.8].map(usdText), ['under 0.01 USD', '0.94 USD', '1.50 USD', '407,999 USD']);
  assert.deepEqual([1e8, 18_661.9e9].map(gigabytes), ['0.1 GB', '18,661.9 GB']);
  assert.equal(reason('cost', `${usdText(0)} for this training`).text, 'Under 0.01 USD for this training');
  assert.deepEqual([407_998.8, 0.94].map(moneyText), ['$407,998.80', '$0.94']);
});

test('what is not advised says why', () => {
  const why = new Map(
    advise({}, facts)
      .filter(({ advised: yes }) => !yes)
      .map(({ device, reasons }) => [device, reasons[0].text]),
  );
  assert.match(why.get('coral')!, /inference/);
  assert.match(why.get('loihi')!, /research/);
  assert.match(why.get('b200')!, /memory or in dispute/);
  const large = advise({}, { ...facts, memoryNeeded: 40e9 });
  assert.match(large.find(({ device }) => device === 'rtx-3090')!.reasons[0].text, /3 of them would hold it/);
});

test('thresholds can be changed, and only to what there is', () => {
  assert.equal(rules({}, facts, withThresholds({ 'below-crossover.speedup': 11 }))[0], 'below-crossover');
  assert.throws(() => withThresholds({ 'below-crossover.luck': 1 }), /no threshold below-crossover\.luck/);
  assert.throws(() => withThresholds({ 'this-gpu.memory': -1 }), /at least 0/);
});

test('the command advises on familiar models, and refuses absurd needs', async (context) => {
  const home = temporaryHome(context);
  const [large, absurd] = await Promise.all([
    trainyard(home, 'advise', '--model', 'resnet50', '--epochs', '90', '--deadline', '48', '--json'),
    trainyard(home, 'advise', '--model', 'resnet50', '--budget', '-1'),
  ]);
  assert.equal(large.code, 0, large.stderr);
  const [{ event, recommendations, not_advised: not }] = large.events as unknown as [
    { event: string; recommendations: Recommendation[]; not_advised: { device: string }[] },
  ];
  assert.equal(event, 'advice');
  assert.ok(recommendations.length > 0 && recommendations.every(({ reasons }) => reasons.length > 0));
  assert.equal(recommendations[0].rank, 1);
  const no = new Set(not.map(({ device }) => device));
  assert.ok(no.has('coral-edge-tpu') && no.has('b200-sxm') && no.has('loihi-2'));
  assert.ok(recommendations.every(({ device }) => device === null || !no.has(device)));
  assert.equal(absurd.code, 2);
  assert.match(absurd.stderr, /--budget/);
});
