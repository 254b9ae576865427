// A validation loss that cannot be: the run says so, while it trains and in its result, and stays silent on models that are
// merely poor.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { mlp } from '../../engine/model/presets.ts';
import { constantLoss, doubtOf } from '../../engine/train/doubt.ts';
import { makeTable } from '../support/table.ts';
import { trainHere } from '../support/train.ts';

test('losses that can be believed, and those that cannot', () => {
  assert.equal(doubtOf({ train: 0.3, validation: 0.5, constant: 0.7 }), null);
  assert.equal(doubtOf({ train: 1e-4, validation: 6, constant: 0.7 }), null, 'learnt by heart, no more');
  assert.match(doubtOf({ train: 50, validation: 60, constant: 1 }) ?? '', /the training loss is 50/);
  assert.match(
    doubtOf({ train: 0.3, validation: 1e17, constant: 0.7 }) ?? '',
    /1\.00e\+17, though .* would have 0\.700/,
  );
  assert.match(doubtOf({ train: 0.3, validation: NaN, constant: 0.7 }) ?? '', /not a number/);
  assert.match(doubtOf({ train: 0.3, validation: Infinity, constant: 0.7 }) ?? '', /not a number \(Infinity\)/);
});

test('the loss of a constant answer', () => {
  const training = { loss: 'auto', labelSmoothing: 0, huberDelta: 1 } as const;
  const classes = { output: { kind: 'classes', classes: ['a', 'b'] }, training, weights: null } as const;
  const half = Float32Array.from([0, 1, 0, 1]);
  for (const width of [1, 2]) assert.ok(Math.abs(constantLoss(half, classes, width) - Math.LN2) < 1e-6);
  const value = { output: { kind: 'value', name: 'y', offset: 0, scale: 1 }, training, weights: null } as const;
  assert.ok(Math.abs(constantLoss(Float32Array.from([1, 3]), value, 1) - 1) < 1e-6, 'the variance');
});

/** A device whose predictions come out as `wrong`, though its steps are right. */
function predictsWrong(wrong: number): Backend {
  const backend = createCpuBackend({ threads: 1 });
  return {
    ...backend,
    async compile(plan) {
      const executable = await backend.compile(plan);
      return {
        ...executable,
        read: async (tensor, ...range) => {
          const values = await executable.read(tensor, ...range);
          return tensor === 'ring.outputs' ? values.map((value, i) => (i % 2 === 0 ? wrong : value)) : values;
        },
      };
    },
  };
}

for (const classes of [0, 2, 3]) {
  test(`a run with absurd validation losses says so (${classes} classes)`, async () => {
    const table = makeTable({ rows: 120, numeric: 4, classes });
    for (const wrong of [1e17, NaN]) {
      const { result, log } = await trainHere(table, { backend: predictsWrong(wrong), training: { epochs: 3 } });
      assert.match(result.doubt ?? '', /^The validation loss is .*Do not trust this model/);
      const warnings = log.filter(({ level }) => level === 'warning').map(({ message }) => message);
      assert.equal(warnings.length, 2, warnings.join('\n'));
      assert.match(warnings[0], /^Epoch 1: The validation loss is/);
      assert.equal(warnings[1], result.doubt);
    }
    const { result } = await trainHere(table, { training: { epochs: 3 } });
    assert.equal(result.doubt, undefined);
  });
}

test('a model that has learnt its few rows by heart is poor, not doubtful', async () => {
  const table = makeTable({ rows: 40, numeric: 12, classes: 2, split: [0.5, 0.5, 0] });
  const training = { epochs: 150, earlyStopping: { enabled: false, patience: 1, minimumDelta: 0 } };
  const { result } = await trainHere(table, { model: mlp([64]), training });
  assert.equal(result.doubt, undefined);
});
