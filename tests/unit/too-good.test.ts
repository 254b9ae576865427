// What the pages of new runs and of runs say of their data.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { DataWarning } from '../../engine/protocol/data.ts';
import { tooGoodText } from '../../renderer/lib/too-good.ts';

test('what makes results look better than they are is told, unless the settings of the run see to it', () => {
  const target = 'left';
  const leak: DataWarning = { code: 'leak', message: 'refund gives left away.', columns: ['refund'] };
  const time: DataWarning = { code: 'time_split', message: 'day is a time.', columns: ['day'] };
  const other: DataWarning = { code: 'duplicates', message: '3 rows repeat earlier ones.' };
  assert.equal(tooGoodText({ warnings: [other], target }, { target }), null);
  assert.equal(tooGoodText({ warnings: [other, leak], target }, { target }), 'refund gives left away.');
  assert.equal(
    tooGoodText({ warnings: [leak, time], target }, { target }),
    'refund gives left away. And 1 more thing of that kind.',
  );
  assert.equal(tooGoodText({ warnings: [leak, time], target }, { target, ignored: ['refund'] }), 'day is a time.');
  const splitBy = { kind: 'time', column: 'day' } as const;
  assert.equal(tooGoodText({ warnings: [leak, time], target }, { target, ignored: ['refund'], splitBy }), null);
  // Of a run on another target, or on one that was found then and may have been another, nothing is known.
  for (const others of [{ target: 'age' }, {}]) assert.equal(tooGoodText({ warnings: [leak], target }, others), null);
});
