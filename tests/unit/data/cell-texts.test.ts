// The columns of a file that was predicted come back as they stand in it, cell by cell, however it is read; a file that is no longer the
// same gives none.

import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { RecordReader } from '../../../engine/data/formats/records.ts';
import { importFile, writeTable } from './helpers.ts';

const rows = 60;

/** A service and what was learned from a table of a number, a category and a day. */
async function learned(context: test.TestContext) {
  const lines = Array.from(
    { length: rows },
    (_, row) => `${row / 2},${'ab'[row % 2]},2024-01-${10 + (row % 9)},${row}`,
  );
  const path = writeTable(context, 'train.csv', `${['size,kind,day,y', ...lines].join('\n')}\n`);
  const { service, info } = await importFile(context, path, {}, { target: 'y' });
  const { preprocessing } = await service.prepare({
    job: 'prepare',
    dataset: info.id,
    options: { settings: { target: 'y', task: 'regression' }, seed: 1 },
  });
  return {
    service,
    async predict(file: string) {
      const { handle, counts } = await service.transform({
        job: 'read',
        path: file,
        preprocessing,
        force: true,
        keep: true,
      });
      await service.keepPredictions({
        handle,
        values: Float64Array.from({ length: counts.test }, (_, row) => row),
        probabilities: null,
      });
      return handle;
    },
    async save(handle: string, original = true): Promise<string> {
      const format = { format: 'csv', original, probabilities: false, reasons: original } as const;
      return readFileSync((await service.writePredictions({ job: 'write', handle, ...format })).path, 'utf8');
    },
  };
}

/** All fields of a text. */
function fieldsOf(text: string, delimiter = ','): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  const style = { delimiter, quote: '"', escape: '"', spaced: false } as const;
  const reader = new RecordReader(style, ({ fields }) => found.push(fields));
  reader.push(text);
  reader.end();
  return found;
}

const cells = [
  ['1.50', ' a ', '2024-01-10', '007'],
  ['1e1', 'NA', '2024-01-11', ' lead and trail '],
  ['0.10', '"b"', '', 'two\nlines'],
  ['+3', '', '2024-01-13', 'NULL'],
  ['-0', 'B', '2024-01-14', '-'],
];
const quoted = (cell: string): string => (/[",;\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const plain = [['size', 'kind', 'day', 'note'], ...cells].map((row) => row.map(quoted).join(',')).join('\n') + '\n';
const comma = cells.map(([size, ...others]) => [size.replace('.', ','), ...others]);
const semicolons =
  [['size', 'kind', 'day', 'note'], ...comma].map((row) => row.map(quoted).join(';')).join('\r\n') + '\r\n';

test('columns of a file come back as they stand in it', async (context) => {
  const { predict, save } = await learned(context);
  const files = [
    ['plain.csv', plain, cells],
    ['marked.csv', `\ufeff${plain}`, cells],
    ['semicolons.csv', semicolons, comma],
    ['line-ends.csv', plain.replace('007\n', '007\r\n'), cells],
    ['packed.csv.gz', gzipSync(plain), cells],
    ['latin.csv', Buffer.from(plain.replace('007', 'für Köln'), 'latin1'), cells],
  ] as const;
  for (const [name, text, expected] of files) {
    const [header, ...found] = fieldsOf(await save(await predict(writeTable(context, name, text))));
    assert.deepEqual(header, ['size', 'kind', 'day', 'note', 'prediction', 'reasons'], name);
    const known = expected.map((row) =>
      name === 'latin.csv' ? row.map((cell) => (cell === '007' ? 'für Köln' : cell)) : row,
    );
    assert.deepEqual(
      found.map((row) => row.slice(0, 4)),
      known,
      name,
    );
    assert.deepEqual(
      found.map((row) => row[4]),
      ['0.0', '1.0', '2.0', '3.0', '4.0'],
      name,
    );
  }
});

test('a file that has changed since gives no columns, and the predictions alone are still there', async (context) => {
  const { predict, save } = await learned(context);
  const file = writeTable(context, 'plain.csv', plain);
  const handle = await predict(file);
  assert.equal(fieldsOf(await save(handle)).length, 6);
  appendFileSync(file, '9,a,2024-01-15,more\n');
  await assert.rejects(save(handle), { code: 'input.changed', message: /plain\.csv is not what was predicted/ });
  writeFileSync(file, plain.replace('007', '008'));
  utimesSync(file, 1, 1);
  await assert.rejects(save(handle), { code: 'input.changed' });
  const alone = fieldsOf(await save(handle, false));
  assert.deepEqual(alone.slice(0, 2), [
    ['row', 'prediction'],
    ['1', '0.0'],
  ]);
  assert.deepEqual(alone.at(-1), ['5', '4.0']);
});
