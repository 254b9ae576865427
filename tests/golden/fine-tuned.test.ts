// A BERT of transformers with random weights, fine-tuned from its folder as people do it: the losses of five steps are those of transformers
// (make_pretrained_texts.py), on the float64 reference and on the processor.

import assert from 'node:assert/strict';
import path from 'node:path';
import test, { after } from 'node:test';
import { temporaryHome, trainyard } from '../support/cli.ts';
import { temporaryFolder, writeTree } from '../support/pictures.ts';
import { folderOf, goldenTexts, nested } from './pretrained-texts.ts';

const { texts, models, fineTuned } = goldenTexts;
const home = temporaryHome({ after } as never);
const folder = temporaryFolder({ after } as never);
const config: Record<string, unknown> = {
  ...models.bert.config,
  hidden_dropout_prob: 0,
  attention_probs_dropout_prob: 0,
};
const rows = fineTuned.labels.map((label, row) => `"${texts[row]}",${['dull', 'fine', 'odd'][label]}`);
const bert = folderOf({ ...models.bert, config });
writeTree(folder, {
  ...nested('bert', bert),
  ...nested('ends', { ...bert, 'tokenizer_config.json': JSON.stringify({ truncation_side: 'left' }) }),
  'texts.csv': ['text,label', ...rows].join('\n'),
});

const step = ['--optimizer', 'adam', '--lr', '0.003', '--weight-decay', '0', '--schedule', 'constant', '--clip', '0'];
const whole = ['--split', '1,0,0', '--batch', String(texts.length), '--epochs', '5', '--length', '24'];

/**
 * Steps of Adam divide by square roots of small sums: float32 errs by some 3e-6, and by more with each step: the order of layer norm's sums alone
 * takes the last of the five from 8e-6 to 1.4e-5, and the four before it nearer.
 */
for (const [device, name, wanted, tolerances] of [
  ['reference', 'bert', fineTuned.losses, [1e-7, 1e-7, 1e-7, 1e-7, 1e-7]],
  ['cpu', 'bert', fineTuned.losses, [5e-7, 5e-6, 5e-6, 5e-6, 2e-5]],
  ['reference', 'ends', fineTuned.ends, [1e-7, 1e-7, 1e-7, 1e-7, 1e-7]],
] as const) {
  const kept = name === 'ends' ? ', the ends of long texts kept' : '';
  test(`five steps from a folder lose what transformers loses (${device}${kept})`, async () => {
    const from = ['--from', path.join(folder, name), '--target', 'label', '--text', 'text'];
    const args = [path.join(folder, 'texts.csv'), ...from, ...whole, ...step, '--device', device, '--threads', '1'];
    const { code, stderr, events } = await trainyard(home, 'train', ...args, '--json');
    assert.equal(code, 0, stderr);
    const losses = events.flatMap(({ event, metrics }) =>
      event === 'epoch' ? [(metrics as { train_loss: number }).train_loss] : [],
    );
    assert.equal(losses.length, wanted.length);
    losses.forEach((loss, i) => assert.ok(Math.abs(loss - wanted[i]) < tolerances[i], `step ${i}: ${loss}`));
    assert.equal(/their beginning is not read/.test(stderr), name === 'ends', stderr);
  });
}
