// Advice about several devices, from made-up facts: what they cost, a cluster, and a larger batch where nothing keeps the deadline.

import assert from 'node:assert/strict';
import test from 'node:test';
import { advise } from '../../engine/hardware/advice/advise.ts';
import type { Facts, Recommendation } from '../../engine/hardware/advice/facts.ts';
import { withThresholds } from '../../engine/hardware/advice/rules.ts';
import { hour, card, others, facts, together } from './fixtures/advice.ts';

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
  // Nothing cheaper is sold beside it.
  const alone = others.filter(({ price }) => price === undefined);
  const sold = alone.map((one) => (one.id === 'a100' ? { ...one, price: 15_000 } : one));
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
    const nobody = of(rule, { budget: 5 }, { ...facts, others: alone, ...together });
    assert.deepEqual(
      [nobody.money, nobody.reasons.at(-1)!.text],
      [undefined, `What ${count} of them cost is not known`],
    );
  }
});

test('of several that keep the deadline the cheapest within the budget, and none that one socket cannot feed', () => {
  const sold = others.map((one) => (one.id === 'a100' ? { ...one, price: 15_000 } : one));
  const of = (needs: Parameters<typeof advise>[0], among = sold): readonly Recommendation[] =>
    advise({ deadline: 0.4 * hour, ...needs }, { ...facts, others: among, ...together });
  const several = (all: readonly Recommendation[]): Recommendation => all.find(({ rule }) => rule === 'several')!;
  const cheap = several(of({}));
  assert.deepEqual([cheap.device, cheap.money], ['rtx-5090', 6800]);
  assert.match(cheap.changes[0].text, /^Time first: 2 × a100, about .* for 30,000 USD$/);
  const quick = several(of({ first: 'time' }));
  assert.deepEqual([quick.device, quick.money], ['a100', 30_000]);
  assert.equal(several(of({ first: 'time', budget: 9000 })).device, 'rtx-5090', 'within the budget first');
  const thirsty = (id: string) => sold.map((one) => (one.id === id ? { ...one, watts: 800 } : one));
  assert.equal(several(of({}, thirsty('rtx-5090'))).device, 'a100');
  // Where nothing else would do it stands under what is not advised, with its watts.
  const only = thirsty('rtx-5090').filter(({ id }) => id === 'rtx-5090');
  const refused = of({}, only).find(({ advised, device }) => !advised && device === 'rtx-5090')!;
  assert.match(refused.reasons[0].text, /^2 of them draw 1,600 W at one socket$/);
});

test('a TPU, unified memory and shared states have their money', () => {
  const chip = card('tpu', 32, 30, { kind: 'tpu', rent: { offer: 'cloud tpu', perHour: 2 } });
  const box = card('box', 512, 4000, { unified: true, price: 9000 });
  const slow = [card('slow', 24, 2000, { price: 500, rent: { offer: 'cloud slow', perHour: 1 } }), chip, box];
  const of = (rule: string, among: Partial<Facts>): Recommendation | undefined =>
    advise({}, { ...facts, ...together, others: slow, ...among }).find((given) => given.rule === rule);
  assert.equal(of('tpu', { memoryNeeded: 8e9 })?.money, 60);
  assert.equal(of('unified-memory', { memoryNeeded: 200e9 })?.money, 9000);
  const shard = of('shard', { memoryNeeded: 30e9, stateBytes: 28e9, others: [slow[0]] })!;
  assert.equal(shard.money, 2 * 500);
  assert.ok(shard.seconds!.middle > 1000 * hour && shard.seconds!.middle < 2000 * hour);
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
