// Advice from made-up facts: which rule fires first, with which number, what is not advised and why, and what a changed threshold does.

import assert from 'node:assert/strict';
import test from 'node:test';
import { advise, lateness } from '../../engine/hardware/advice/advise.ts';
import { elsewhereActions } from '../../engine/hardware/advice/elsewhere.ts';
import { usualFirst, type Recommendation } from '../../engine/hardware/advice/facts.ts';
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
import { hour, around, cpu, gpu, card, others, facts, together, advised, rules } from './fixtures/advice.ts';

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
