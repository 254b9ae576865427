// The plan of a small model, kept as text: a change in fusion, order or memory shows here first.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { resolveModel } from '../../engine/model/resolve.ts';
import { compilePlan } from '../../engine/plan/compile.ts';
import { printPlan } from '../../engine/plan/print.ts';

const file = new URL('./plan-tabular-mlp.txt', import.meta.url);

function tabularPlan() {
  const model = resolveModel(mlp([64, 32]), { kind: 'table', width: 20, numeric: 20, embeddings: [] }, 1);
  return compilePlan({
    model,
    output: { kind: 'value', name: 'y', offset: 0, scale: 1 },
    training: defaultTraining(10_000, 'regression'),
    data: { rows: 10_000, width: 20, targets: 1 },
    stepCapacity: 312,
    predictSteps: 8,
    trainBatches: [32, 16],
    predictBatch: 256,
  });
}

test('the plan of tabular-mlp is the one on file (UPDATE_GOLDEN=1 writes it anew)', () => {
  const text = `${printPlan(tabularPlan())}\n`;
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'));
});

test('a step of tabular-mlp is 11 calls', () => {
  assert.equal(tabularPlan().programs['train@32'].calls.length, 11);
});

test('scratch memory is shared: far less than the sum of all values', () => {
  const plan = tabularPlan();
  const scratch = plan.slots.filter((slot) => slot.kind === 'scratch');
  const written = Object.values(plan.programs).flatMap((program) =>
    program.calls.flatMap((call) => call.outputs.map((output) => output && plan.slots[output.slot]?.kind)),
  );
  const values = written.filter((kind) => kind === 'scratch').length;
  assert.ok(scratch.length < values / 2, `${scratch.length} slots for ${values} values`);
});
