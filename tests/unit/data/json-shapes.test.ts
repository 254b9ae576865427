// JSON that is a table in another shape than a list of objects; what is none is refused by what it is.

import assert from 'node:assert/strict';
import test from 'node:test';
import { shapeOf } from '../../../engine/data/formats/json-shapes.ts';
import { allRows, makeService, writeTable } from './helpers.ts';

const objects = Array.from({ length: 30 }, (_, row) => ({
  n: row * 1.5,
  side: { x: row % 4 },
  ...(row % 9 === 0 ? { now: 1 } : {}),
  kind: 'PQ'[row % 2],
}));
const lists = objects.map(({ n, kind }) => [n, kind]);

test('rows within an object, as lists, and columns as lists are read as tables', async (context) => {
  const service = makeService(context);
  const names = ['n', 'side.x', 'now', 'kind'];
  const shapes: readonly (readonly [value: unknown, names: readonly string[], last: readonly unknown[]])[] = [
    [{ data: objects }, names, [43.5, 1, null, 'Q']],
    [{ version: 3, result: { took: 2, rows: objects } }, names, [43.5, 1, null, 'Q']],
    [lists, ['column 1', 'column 2'], [43.5, 'Q']],
    [
      [['n', 'kind'], ...lists],
      ['n', 'kind'],
      [43.5, 'Q'],
    ],
    [{ n: objects.map(({ n }) => n), kind: objects.map(({ kind }) => kind) }, ['n', 'kind'], [43.5, 'Q']],
  ];
  for (const [value, expected, last] of shapes) {
    for (const space of [0, 1]) {
      const path = writeTable(context, 'shape.json', JSON.stringify(value, null, space));
      const info = await service.import({ job: 'i', path });
      assert.deepEqual(
        info.columns.map(({ name }) => name),
        expected,
      );
      assert.deepEqual((await allRows(service, info)).slice(29), [last]);
    }
  }
  const long = JSON.stringify({ data: [{ id: 1, x: 2 }] }).replace('1', '9007199254740993');
  const exact = await service.import({ job: 'i', path: writeTable(context, 'exact.json', long) });
  assert.deepEqual(await allRows(service, exact), [['9007199254740993', 2]]);
});

test('JSON that is no table is refused by what it is', async (context) => {
  const service = makeService(context);
  const refused: readonly (readonly [value: unknown, message: RegExp])[] = [
    [[1, 2, 3], /holds a list of single values\.$/],
    [[], /holds an empty list\.$/],
    [{}, /holds an empty object\.$/],
    ['words', /holds a single value\.$/],
    [[[1, 2], [3]], /holds lists of 1 to 2 values\.$/],
    [{ a: [1, 2], y: [3] }, /holds columns of different lengths \(a 2, y 1\)\.$/],
    [{ a: objects, b: objects }, /holds several lists of objects \(a, b\)\.$/],
    [{ a: { 0: 1, 1: 2 }, y: { 0: 'P', 1: 'Q' } }, /holds objects with numbers for names\.$/],
  ];
  for (const [value, message] of refused) {
    const path = writeTable(context, 'none.json', JSON.stringify(value));
    await assert.rejects(service.import({ job: 'i', path }), { code: 'input.json', message });
  }
  assert.equal(shapeOf('{"a": 1}\n{"a": 2}\n', true), 'objects');
  assert.equal(shapeOf('{"a": 1}\n', true), 'one object');
});

test('JSON lines with bytes that are not UTF-8, in Latin-1 or in UTF-16 are JSON lines still, and what is odd is said', async (context) => {
  const lines = Array.from({ length: 40 }, (_, row) =>
    JSON.stringify({ note: `café ${row}, no. ${row}`, size: row * 1.5, kind: 'PQ'[row % 2] }),
  );
  const service = makeService(context);
  const utf8 = Buffer.from(lines.join('\n'));
  const odd = Buffer.concat([
    utf8,
    Buffer.from('\n{"note":"caf'),
    Buffer.of(0xe9),
    Buffer.from('","size":1,"kind":"Q"}\n'),
  ]);
  const utf16 = Buffer.from(`\uFEFF${lines.join('\n')}`, 'utf16le');
  const far = Buffer.concat([
    Buffer.from(`${JSON.stringify({ note: 'plain '.repeat(8_000), size: 1, kind: 'P' })}\n`.repeat(50)),
    odd,
  ]);
  for (const [name, bytes, said] of [
    ['odd', odd, /^Line 41 holds bytes that are not UTF-8/],
    ['latin', Buffer.from(lines.join('\n'), 'latin1'), /^40 lines hold bytes that are not UTF-8/],
    ['utf16', utf16, null],
    ['far', far, /^Line 91 holds bytes that are not UTF-8/],
  ] as const) {
    const info = await service.import({ job: name, path: writeTable(context, `${name}.jsonl`, bytes) });
    assert.deepEqual(
      info.columns.map((column) => column.name),
      ['note', 'size', 'kind'],
      name,
    );
    const warnings = info.warnings.map(({ message }) => message).filter((message) => message.includes('UTF-8'));
    assert.equal(warnings.length, said ? 1 : 0, `${name}: ${warnings.join()}`);
    if (said) assert.match(warnings[0], said);
    const rows = await allRows(service, info);
    assert.equal(rows.at(name === 'odd' || name === 'far' ? -2 : -1)?.[0], 'café 39, no. 39', name);
    if (name === 'odd' || name === 'far') assert.equal(rows.at(-1)?.[0], 'café', name);
  }
});
