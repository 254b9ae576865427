// Marks in numbers that may stand between thousands or before the decimals: the column tells, then the file, then, for a
// model, its training. What nobody can tell is said.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { DatasetInfo } from '../../../engine/protocol/data.ts';
import { useOfMark } from '../../../engine/data/schema/marks.ts';
import { allRows, columnOf, makeService, writeTable } from './helpers.ts';

const rows = 40;
const table = (header: string, line: (row: number) => string): string =>
  `${header}\n${Array.from({ length: rows }, (_, row) => `${line(row)}\n`).join('')}`;
const thousandths = (row: number, from: number): string => String(from + row * 37).padStart(3, '0');
const yes = (row: number): string => 'PQ'[row % 2] ?? '';

test('what a mark is in a column', () => {
  assert.equal(useOfMark(['1,234', '0,020'], ','), 'decimals', 'thousands do not begin with a zero');
  assert.equal(useOfMark(['1,234', '2,5'], ','), 'decimals');
  assert.equal(useOfMark(['1,234', '1,234,567'], ','), 'groups');
  assert.equal(useOfMark(['1,234', '1,234.5'], ','), 'groups');
  assert.equal(useOfMark(['12', '1,234'], ','), 'groups', 'decimals would be 12,000');
  assert.equal(useOfMark(['1234', '1,234'], ','), 'decimals', 'thousands would be 1,234 both times');
  assert.equal(useOfMark(['€ 1,234', '12,345 €'], ','), 'either');
  assert.equal(useOfMark(['1.5', '12'], ','), null);
});

test('1,234 is read by what the column and the file show, and the doubt is said', async (context) => {
  const service = makeService(context);
  const read = (text: string, decimal?: ',' | '.'): Promise<DatasetInfo> =>
    service.import({ job: 'i', path: writeTable(context, 'n.csv', text), options: { decimal } });
  const doubts = ({ warnings }: DatasetInfo): string[] =>
    warnings.flatMap(({ code, message }) => (code === 'ambiguous_numbers' ? [message] : []));
  const range = (info: DatasetInfo): unknown[] => {
    const { type, minimum, maximum } = columnOf(info, 'x');
    return [type, minimum, maximum];
  };

  const zeros = await read(table('p,x,y', (row) => `${row}.25,"0,${thousandths(row % 20, 20)}",${yes(row)}`));
  assert.deepEqual([range(zeros), doubts(zeros)], [['number', 0.02, 0.723], []]);

  const points = await read(table('x;z;y', (row) => `0.${thousandths(row % 20, 200)};${row},5;${yes(row)}`));
  assert.deepEqual([range(points), doubts(points)], [['number', 0.2, 0.903], []]);

  const mixed = await read(table('x,y', (row) => `"${row % 3},${thousandths(row % 20, 94)}",${yes(row)}`));
  assert.ok((columnOf(mixed, 'x').maximum ?? 99) < 3, 'a zero before the comma in some rows decides for all');
  assert.deepEqual(doubts(mixed), []);

  const open = table('x,y', (row) => `"${1 + (row % 9)},${thousandths(row % 20, 100)}",${yes(row)}`);
  const doubt = await read(open);
  assert.deepEqual(range(doubt), ['number', 1100, 9729]);
  assert.match(
    doubts(doubt)[0] ?? '',
    /^x may have a mark .*: "1,100" is read as 1100, not as 1\.100\. Set the decimal/,
  );
  const set = await read(open, ',');
  assert.deepEqual([range(set), doubts(set)], [['number', 1.1, 9.729], []]);

  const shown = await read(
    table('x,z,y', (row) => `"${1 + (row % 9)},${thousandths(row % 20, 100)}",${row}.5,${yes(row)}`),
  );
  assert.deepEqual([range(shown), doubts(shown)], [['number', 1100, 9729], []], 'another column has decimal points');
});

test('a column that turns from thousands to decimals further down loses no comma', async (context) => {
  const text = table('x,y', (row) => `"${1 + (row % 9)},${thousandths(row % 20, 100)}.5",${yes(row)}`);
  const later = `${text}${Array.from({ length: 2000 }, (_, row) => `"2,000.5",${yes(row)}\n`).join('')}"1,5",P\n`;
  const service = makeService(context);
  const info = await service.import({ job: 'i', path: writeTable(context, 'later.csv', later) });
  assert.deepEqual((await allRows(service, info)).at(-1), ['1,5', 'P']);
  assert.equal(columnOf(info, 'x').minimum, 1100.5, '1,5 is neither 15 nor 1.5');
});
