// The log of a training as a person reads it: which epochs are written, and numbers and words that fit each other.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Diary } from '../../engine/train/diary.ts';

function diary(): { readonly diary: Diary; readonly lines: string[] } {
  const lines: string[] = [];
  const surroundings = { clock: () => 0, now: () => 0, breathe: () => Promise.resolve() };
  return { diary: new Diary(surroundings, ({ message }) => void lines.push(message)), lines };
}

const counts = { train: 2400, validation: 1300, test: 300 };

test('what is trained on, in rows or pictures, and how many epochs are written', () => {
  const first = (kind: 'table' | 'image', epochs: number, steps: number): readonly string[] => {
    const { diary: one, lines } = diary();
    one.begins({ counts, warnings: [], input: { kind } }, steps, epochs);
    return lines;
  };
  assert.equal(first('table', 1, 1)[0], 'Trains on 2,400 rows, validates on 1,300, 1 step an epoch.');
  assert.equal(first('image', 1, 1200)[0], 'Trains on 2,400 pictures, validates on 1,300, 1,200 steps an epoch.');
  assert.match(first('table', 80, 9)[1], / Every 2nd of the 80 epochs is written here, and the best\.$/);
  assert.match(first('table', 300, 9)[1], / Every 5th of the 300 epochs /);
  assert.doesNotMatch(first('table', 60, 9)[1], /Every/);
});

test('the epoch that is kept is written, however many are left out', () => {
  const epochs = (bests: readonly number[]): readonly string[] => {
    const { diary: one, lines } = diary();
    one.begins({ counts, warnings: [], input: { kind: 'table' } }, 9, 80);
    for (let epoch = 1; epoch <= 80; epoch++) {
      const best = bests.includes(epoch);
      one.epoch({ epoch, trainLoss: 1, validation: { loss: 0.5 }, best, last: epoch === 80 }, 80);
    }
    one.keeps(bests.at(-1)!);
    return lines.slice(2);
  };
  const odd = epochs([1, 3, 37]);
  assert.equal(odd.length, 42);
  assert.equal(odd.at(-1), 'Epoch 37 of 80: loss 1.000, validation loss 0.5000 (the best).');
  const even = epochs([1, 3, 38]);
  assert.equal(even.length, 41, 'what was written is not written again');
  assert.ok(even.includes('Epoch 38 of 80: loss 1.000, validation loss 0.5000 (best so far).'));
});

test('one epoch is one epoch', () => {
  const { diary: one, lines } = diary();
  one.checkpoint(50, 1, 2e5);
  one.checkpoint(90, 2, 2e5);
  assert.deepEqual(lines, [
    'Checkpoint at step 50, after 1 epoch: 0.2 MB.',
    'Checkpoint at step 90, after 2 epochs: 0.2 MB.',
  ]);
});
