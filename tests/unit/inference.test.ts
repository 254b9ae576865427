// Requests of the open inference protocol, without a server: what is a tensor of one value a row, and what is none.

import assert from 'node:assert/strict';
import test from 'node:test';
import { parseInfer } from '../../engine/serving/inference.ts';

const rowsOf = (...inputs: readonly object[]) => parseInfer({ inputs }).rows;

test('values may stand flat or nested, one a row', () => {
  const flat = { name: 'age', shape: [2], datatype: 'FP64', data: [1, 2] };
  const nested = { name: 'sex', shape: [2, 1], datatype: 'BYTES', data: [['male'], [null]] };
  assert.deepEqual(rowsOf(flat, nested), [
    { age: 1, sex: 'male' },
    { age: 2, sex: null },
  ]);
  const refused = { code: 'input.request' };
  assert.throws(() => rowsOf({ ...nested, data: [['male', 'female'], []] }), refused);
  assert.throws(() => rowsOf({ ...nested, data: [[['male']], ['female']] }), refused);
  assert.throws(() => rowsOf({ ...nested, data: [['male']] }), { ...refused, message: /shape \[2, 1\] and 1 values/ });
  assert.throws(() => rowsOf({ ...nested, datatype: 'FP64' }), { ...refused, message: /value 1 is "male"/ });
});
