// Which columns a table shows where room is short, and how wide: light ones go, names narrow, numbers never; where names break.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breakableParts } from '../../renderer/components/breakable.ts';
import { fitColumns, lightWeight, type FittedColumn } from '../../renderer/components/table.ts';

const columns: readonly FittedColumn[] = [
  { id: 'select', label: '', width: 30 },
  { id: 'name', label: 'Name', width: 100, least: 120, most: 300, grow: true },
  { id: 'score', label: 'Score', width: 50, numeric: true, weight: lightWeight + 2 },
  { id: 'loss', label: 'Loss', width: 60, numeric: true, weight: 1 },
  { id: 'time', label: 'Time', width: 40, numeric: true, weight: lightWeight + 1 },
];
/** What the columns hold, in pixels. */
const natural = new Map([
  ['name', 280],
  ['score', 80],
  ['loss', 70],
]);

const fitted = (available: number, widths = natural): string =>
  fitColumns(columns, widths, available)
    .map(({ id, width }) => `${id} ${width}`)
    .join(', ');

test('every column is as wide as what it holds where there is room', () => {
  assert.equal(fitted(500), 'select 30, name 280, score 80, loss 70, time 40');
});

test('light columns go first, then names narrow, then other columns go; what stays is never narrower than its numbers', () => {
  assert.equal(fitted(499), 'select 30, name 280, score 80, time 40');
  assert.equal(fitted(400), 'select 30, name 250, score 80, time 40');
  assert.equal(fitted(270), 'select 30, name 120, score 80, time 40');
  assert.equal(fitted(269), 'select 30, name 159, score 80');
  assert.equal(fitted(160), 'select 30, name 130');
});

test('a name longer than reasonable stops at its widest', () => {
  assert.equal(fitted(1000, new Map([['name', 2000]])), 'select 30, name 300, score 50, loss 60, time 40');
});

test('names break behind their dividers, numbers nowhere', () => {
  assert.deepEqual(breakableParts('quality_class--of/it.csv'), ['quality_', 'class--', 'of/', 'it.', 'csv']);
  assert.deepEqual(breakableParts('0.00001'), ['0.00001']);
});
