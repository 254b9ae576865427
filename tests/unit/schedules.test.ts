// Learning-rate schedules against the field's.

import assert from 'node:assert/strict';
import test from 'node:test';
import { defaultTraining } from '../../engine/model/presets.ts';
import { learningRateAt } from '../../engine/optim/schedules.ts';

test('one cycle starts, peaks and ends where OneCycleLR of PyTorch does with its defaults', () => {
  const base = defaultTraining(5000, 'classification');
  const training = {
    optimizer: { ...base.optimizer, learningRate: 0.1 },
    schedule: { ...base.schedule, name: 'one_cycle' as const },
  };
  const rate = (step: number): number => learningRateAt(training, step, 101, 10);
  // torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=101): pct_start 0.3, div_factor 25, final_div_factor 1e4.
  const golden = new Map([
    [0, 0.004],
    [30, 0.1],
    [100, 4e-7],
  ]);
  for (const [step, wanted] of golden)
    assert.ok(Math.abs(rate(step) - wanted) < 1e-9 + 1e-6 * wanted, `${step}: ${rate(step)}`);
});
