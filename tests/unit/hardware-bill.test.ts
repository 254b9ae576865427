// What a bill comes to: measured or estimated energy, carbon and money, and the sum of many.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { costOf, costWords, deviceNamed, electricityOf, totalCost } from '../../engine/hardware/bill.ts';
import type { RunBill } from '../../engine/protocol/bill.ts';

const { catalogue } = readCatalogue();
const electricity = { tariff: 0.18, grid: 369 };
const bill = (changes: Partial<RunBill>): RunBill => ({ phases: {}, cpuSeconds: 0, gpuSeconds: 0, ...changes });
const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual / expected - 1) < 1e-12, `${actual}, not ${expected}`);

test('the meter of the processor decides, else its time at 4 W a thread', () => {
  const measured = costOf(bill({ cpuSeconds: 100, joules: 3.6e6 * 5.2 }), electricity, catalogue)!;
  near(measured.kilowattHours, 5.2);
  near(measured.money, 0.936);
  near(measured.carbon, 1.9188);
  assert.equal(measured.source, 'measured');
  assert.equal(costWords(measured), '5.2 kWh, 1.9 kg CO₂, $0.94');

  const estimated = costOf(bill({ cpuSeconds: 900 }), electricity, catalogue)!;
  near(estimated.kilowattHours, (900 * 4) / 3.6e6);
  assert.equal(estimated.source, 'estimated');
  assert.equal(estimated.how, 'Estimated: 15 min of processor time at 4 W a thread.');
  assert.equal(costWords(estimated), '1 Wh, 0.37 g CO₂, 0.018 ¢');

  const words = (cpuSeconds: number): string => costWords(costOf(bill({ cpuSeconds }), electricity, catalogue)!);
  assert.equal(words(0.15), '0.17 mWh, under 0.001 g CO₂, under 0.001 ¢');
  assert.equal(words(0.0001), 'under 0.001 mWh, under 0.001 g CO₂, under 0.001 ¢');
  assert.equal(words(0), '0 mWh, 0 g CO₂, $0.00');
});

test('a GPU counts by its rated power; of one that nobody knows nothing is made up', () => {
  const card = { gpuSeconds: 3600, deviceName: 'NVIDIA GeForce RTX 4090 (Vulkan)' };
  near(costOf(bill(card), electricity, catalogue)!.kilowattHours, 0.45 * 0.8);
  const both = costOf(bill({ ...card, joules: 3.6e6 }), electricity, catalogue)!;
  near(both.kilowattHours, 1.36);
  assert.equal(both.source, 'estimated');
  assert.equal(costOf(bill({ gpuSeconds: 1, deviceName: 'A card of tomorrow' }), electricity, catalogue), null);
  assert.equal(costOf(bill({ gpuSeconds: 1, joules: 5 }), electricity, catalogue), null);
});

test('a device is found by the longest of its names that the driver says', () => {
  const named = (name: string): string | undefined => deviceNamed(catalogue, name)?.name;
  assert.match(named('NVIDIA H100 PCIe (Vulkan)')!, /H100 PCIe/);
  assert.match(named('nvidia geforce rtx 3090')!, /3090/);
  for (const none of ['', 'llvmpipe (LLVM 15)', 'Google SwiftShader', 'RTX'])
    assert.equal(named(none), undefined, none);
});

test('a sum says how much of it was measured and how many runs it lacks', () => {
  const bills = [bill({ joules: 3.6e6 }), bill({ cpuSeconds: 900_000 }), undefined, bill({ gpuSeconds: 9 })];
  const { total, unknown } = totalCost(bills, electricity, catalogue);
  near(total!.kilowattHours, 2);
  assert.deepEqual([total!.source, total!.how, unknown], ['mixed', 'Measured for 1 of 2 runs.', 2]);
  assert.deepEqual(totalCost([], electricity, catalogue), { total: null, unknown: 0 });
});

test('electricity that was kept badly is the usual one', () => {
  assert.deepEqual(electricityOf({ tariff: 0.3, grid: 56 }), { tariff: 0.3, grid: 56 });
  for (const bad of [null, 7, 'x', [], { tariff: -1, grid: NaN }, { tariff: '0.3', grid: 1e9 }])
    assert.deepEqual(electricityOf(bad), { tariff: 0.18, grid: 475 });
});
