// Every fix the editor offers for a broken model takes that error away, and taking what is offered, whatever it is, ends with
// a model that trains: no advice leads round in a circle.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fixesFor } from '../../engine/model/fixes.ts';
import { layers as registry } from '../../engine/model/registry.ts';
import { tryResolve } from '../../engine/model/resolve.ts';
import type { InputSpec, LayerSpec, ModelSpec } from '../../engine/model/spec.ts';

const output: LayerSpec = { type: 'output' };
const table = (numeric: number): InputSpec => ({ kind: 'table', width: numeric, numeric, embeddings: [] });
const picture: InputSpec = { kind: 'image', channels: 3, height: 8, width: 8 };
const inputs: readonly InputSpec[] = [table(7), table(64), picture];

const broken: readonly (readonly LayerSpec[])[] = [
  [{ type: 'dense', units: 64 }, { type: 'conv2d' }, output],
  [{ type: 'dense', units: 7 }, { type: 'conv2d' }, output],
  [{ type: 'flatten' }, { type: 'conv2d' }, { type: 'conv2d' }, { type: 'max_pool' }, { type: 'flatten' }, output],
  [{ type: 'conv2d', kernel: 11, padding: 0 }, output],
  [{ type: 'conv2d', groups: 5 }, output],
  [{ type: 'conv2d', filters: -3 }, { type: 'group_norm', groups: 7 }, output],
  [
    { type: 'max_pool' },
    { type: 'max_pool' },
    { type: 'max_pool' },
    { type: 'max_pool' },
    { type: 'max_pool' },
    output,
  ],
  [{ type: 'max_pool', size: 2, padding: 8 }, { type: 'layer_norm' }, output],
  [{ type: 'dense', units: 0 }, { type: 'dense', unts: 4 }, { type: 'nonsense' }, output],
  [{ type: 'dense', id: 'a' }, { type: 'dense', id: 'a' }, output],
  [{ type: 'dense', from: 'nobody' }, { type: 'add', from: ['0'] }, { type: 'concat', from: ['input', '0'] }, output],
  [{ type: 'dense', units: 3 }, { type: 'dense', units: 5 }, { type: 'add', from: ['0', '1'] }, output],
  [{ type: 'output' }, { type: 'dense' }, output],
  [{ type: 'reshape', channels: 2, height: 3, width: 5 }, { type: 'conv2d' }, output],
  [{ type: 'conv_transpose2d', outputPadding: 7 }, { type: 'upsample', factor: 3 }, output],
];

/** Every sequence of two layers of any kind with their defaults. */
const pairs: readonly (readonly LayerSpec[])[] = [...registry.keys()].flatMap((first) =>
  [...registry.keys()].map((second) => [{ type: first }, { type: second }, output]),
);

const errorsOf = (model: ModelSpec, input: InputSpec): readonly { layer: number; message: string }[] =>
  tryResolve(model, input, 3).errors.map(({ layer, message }) => ({ layer, message }));

/** Takes the fix at `choice` (the last one if there are fewer) of the error at `at` until none is left. */
function mend(model: ModelSpec, input: InputSpec, choice: number, at: 'first' | 'last'): void {
  const start = JSON.stringify(model.layers);
  for (let step = 0; step < 40; step++) {
    const errors = errorsOf(model, input);
    if (errors.length === 0) return;
    const error = at === 'first' ? errors[0] : errors.at(-1)!;
    const fixes = fixesFor(model, input, 3, error.layer);
    const fix = fixes[Math.min(choice, fixes.length - 1)];
    assert.ok(fix, `something is offered for “${error.message}” of ${JSON.stringify(model.layers)}`);
    const mended = { ...model, layers: fix.layers };
    const moved = error.layer + (fix.change === 'insert' ? 1 : 0);
    const same = errorsOf(mended, input).filter(({ layer, message }) => layer === moved && message === error.message);
    if (fix.change !== 'remove') assert.deepEqual(same, [], `${fix.label} mends ${JSON.stringify(model.layers)}`);
    model = mended;
  }
  assert.fail(`no end from ${start}: ${JSON.stringify(errorsOf(model, input))}`);
}

for (const [name, sequences] of [
  ['broken models', broken],
  ['any two layers in a row', pairs],
] as const) {
  test(`${name}: every fix offered mends its error, and there is an end`, () => {
    let mended = 0;
    for (const layers of sequences) {
      for (const input of inputs) {
        const model: ModelSpec = { version: 1, layers };
        if (errorsOf(model, input).length > 0) mended++;
        for (const choice of [0, 1]) for (const at of ['first', 'last'] as const) mend(model, input, choice, at);
      }
    }
    assert.ok(mended > sequences.length, `${mended} of ${inputs.length * sequences.length} were broken`);
  });
}

test('Conv 2D after Dense: reshape where the features make a picture, else remove', () => {
  const labels = (units: number): readonly string[] => {
    const layers = [{ type: 'dense', units }, { type: 'conv2d' }, output];
    return fixesFor({ version: 1, layers }, table(4), 3, 1).map(({ label }) => label);
  };
  assert.deepEqual(labels(64), ['Add Reshape to 1 × 8 × 8', 'Remove this layer']);
  assert.deepEqual(labels(48), ['Add Reshape to 3 × 4 × 4', 'Remove this layer']);
  assert.deepEqual(labels(7), ['Remove this layer']);
});
