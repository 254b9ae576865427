// A flag that has no effect is refused by name: what was asked for is never left undone in silence.

import assert from 'node:assert/strict';
import test from 'node:test';
import { declaration as auto } from '../../engine/learners/auto/declaration.ts';
import { declaration as boosted } from '../../engine/learners/boosted/declaration.ts';
import type { Declaration } from '../../engine/learners/declared/declare.ts';
import { settingsByFlags } from '../../electron/cli/training-options.ts';

const input = { kind: 'table', width: 3, numeric: 3, embeddings: [] } as const;
const numbers = { rows: 1000, task: 'regression', classes: 0, input } as const;
const classes = { ...numbers, task: 'classification', classes: 2 } as const;
const asked = (
  learner: unknown,
  options: Readonly<Record<string, string>>,
  about: typeof numbers | typeof classes = numbers,
): Readonly<Record<string, unknown>> => ({ ...settingsByFlags(learner as Declaration, options, about) });

test('a loss of numbers is refused for classes, a quantile without its loss; what counts is taken', () => {
  assert.throws(() => asked(boosted, { objective: 'poisson' }, classes), /--objective means nothing for this target/);
  assert.throws(() => asked(boosted, { quantile: '0.9' }), /--quantile means nothing without --objective quantile/);
  assert.equal(asked(boosted, { objective: 'quantile', quantile: '0.9' })['quantile'], 0.9);
  assert.equal(asked(boosted, { objective: 'auto' }, classes)['objective'], 'auto');
});

test('folds of the best of all have its own limits', () => {
  assert.throws(() => asked(auto, { folds: '21' }), { message: '--folds is “21”.', hint: /from 0 to 20/ });
  assert.equal(asked(auto, { folds: '20' })['parts'], 20);
});
