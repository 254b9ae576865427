// Rows given one by one are read as the cells of a file are: the same words make the same numbers.

import assert from 'node:assert/strict';
import test from 'node:test';
import { RowReader } from '../../../engine/data/preprocess/one-row.ts';
import { parsePreprocessing } from '../../../engine/data/preprocess/recipe.ts';
import { readTime } from '../../../engine/data/preprocess/read-time.ts';
import { importFile, writeTable } from './helpers.ts';

const header = 'price,day,member,group,town,y';
const line = (row: number): string =>
  `"$${(row * 37) % 1500}.50",${1 + (row % 28)}/${1 + (row % 12)}/2023,${row % 2 === 0 ? 'yes' : 'no'},${['North', 'South', ''][row % 3]},town ${row % 40},${row % 2}`;

for (const forms of [['matrix'], ['columns']] as const) {
  test(`one row at a time and a file make the same ${forms[0]}`, async (context) => {
    const lines = Array.from({ length: 300 }, (_, row) => line(row));
    const file = writeTable(context, 'train.csv', `${[header, ...lines].join('\n')}\n`);
    const { service, info } = await importFile(context, file, {}, { target: 'y' });
    const options = { settings: { target: 'y', types: { town: 'category' } }, seed: 1, forms } as const;
    const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options });

    const cells: readonly (readonly (string | null)[])[] = [
      ['$12.50', '03/04/2023', 'yes', 'North', 'town 3'],
      ['-$1', '28/2/2023', 'No', 'south ', 'Town  7'],
      ['', '', '', '', ''],
      ['7.25', '30/02/2023', 'perhaps', 'West', 'nowhere'],
      ['dear', 'soon', 'TRUE', 'North', 'town 39'],
      ['n/a', '-', '?', 'NA', 'null'],
    ];
    const names = header.split(',').slice(0, 5);
    const text = [names.join(','), ...cells.map((row) => row.map((cell) => `"${cell ?? ''}"`).join(','))].join('\n');
    const path = writeTable(context, 'new.csv', `${text}\n`);
    const data = await service.transform({ job: 't', path, preprocessing, force: true, match: {} });
    const { x } = await service.readShard({ handle: data.handle, shard: 0 });
    const reader = new RowReader(parsePreprocessing(preprocessing));
    const rows = cells.map((row) => Object.fromEntries(row.map((cell, index) => [names[index].toUpperCase(), cell])));
    const { x: own, reasons } = reader.read(rows);
    assert.deepEqual([...own], [...x]);
    assert.deepEqual(reasons[3], [
      'day: "30/02/2023" is no date',
      'member: "perhaps" is neither yes nor no',
      'group: "West" is unknown',
      'town: "nowhere" is unknown',
    ]);
    assert.deepEqual(reasons[0], []);
    assert.deepEqual(
      reasons[5],
      ['price', 'day', 'member', 'town'].map((name) => `${name} is missing`),
    );
    const typed = reader.read([
      { price: 12.5, day: Date.UTC(2023, 3, 3), member: true, group: 'North', town: 'town 3' },
    ]);
    assert.deepEqual([...typed.x], [...own.subarray(0, reader.width)], 'values with types say the same as words');
    // What a form starts from: as the row is read, of the training's spelling and of the file's own.
    assert.deepEqual(reader.values(rows[0]), {
      price: 12.5,
      day: Date.UTC(2023, 3, 3),
      member: true,
      group: 'North',
      town: 'town 3',
    });
    assert.deepEqual(Object.values(reader.values(rows[2])), [null, null, null, null, null]);
    assert.deepEqual(Object.values(reader.values(rows[4])), [null, null, true, 'North', 'town 39']);
    const german = `${names.join(',')}\n"1.234,5",28.02.2023,ja,SOUTH,nowhere\n"2,5",01.03.2023,nein,North,\n`;
    const other = writeTable(context, 'other.csv', german);
    const keep = { preprocessing, force: true, match: {}, keep: true } as const;
    const { handle } = await service.transform({ job: 'k', path: other, ...keep });
    await service.keepPredictions({
      handle,
      values: Float64Array.of(0, 1),
      probabilities: Float64Array.of(1, 0, 0, 1),
    });
    const page = await service.predictedRows({ handle, offset: 0, limit: 10 });
    assert.equal(page.rows[0][1], '28.02.2023');
    assert.deepEqual(
      page.read.map(([price, day, , group, town]) => [price, day, group, town]),
      [
        [1234.5, Date.UTC(2023, 1, 28), 'South', 'nowhere'],
        [2.5, Date.UTC(2023, 2, 1), 'North', null],
      ],
    );
    await service.release({ handle });

    assert.throws(() => reader.read([{ price: 1 }]), { code: 'input.missing_column', message: 'Row 1 has no "day".' });
  });
}

test('numbers of a request are read as those of a file: marks between thousands, decimal commas, currencies, yes and no', async (context) => {
  const lines = Array.from({ length: 300 }, (_, row) => `${((row * 37) % 1500) + 0.5},${row % 2}`);
  const file = writeTable(context, 'train.csv', `${['price,y', ...lines].join('\n')}\n`);
  const { service, info } = await importFile(context, file, {}, { target: 'y' });
  const options = { settings: { target: 'y' }, seed: 1, forms: ['columns'] } as const;
  const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options });
  const reader = new RowReader(parsePreprocessing(preprocessing));
  const columns: readonly (readonly (string | number | boolean)[])[] = [
    ['1,234.5', '7', 3],
    ['1,234'],
    ['1.234,5', '2,5', 'dear'],
    ['$5', "1'234", '12 %'],
    ['2,5', '100.5'],
    ['true', '3', 'inf', '1e3'],
    [true, false],
    [true, 3],
  ];
  for (const column of columns) {
    const rows = column.map((price) => ({ price }));
    const path = writeTable(context, 'rows.json', JSON.stringify(rows));
    const data = await service.transform({ job: 't', path, preprocessing, force: true, match: {} });
    const { x } = await service.readShard({ handle: data.handle, shard: 0 });
    assert.deepEqual([...reader.read(rows).x], [...x], column.join());
    await service.release({ handle: data.handle });
  }
  assert.deepEqual([...reader.read([{ price: '1,234.5' }]).x], [1234.5]);
  assert.deepEqual(reader.values({ price: '1,234.5' }), { price: 1234.5 });
  // A number of JSON has its point whoever wrote the texts beside it.
  assert.deepEqual([...reader.read([{ price: '1.234,5' }, { price: '2,5' }, { price: 2.5 }]).x], [1234.5, 2.5, 2.5]);
});

test('times are read by their formats', () => {
  const day = Date.UTC(2023, 1, 14);
  const cases: readonly (readonly [value: string | number, format: string | undefined, wanted: number | undefined])[] =
    [
      ['2023-02-14', undefined, day],
      ['2023-02-14T12:30:15.5+02:00', undefined, day + 10.5 * 3_600_000 + 15_500],
      ['2023-02-30', undefined, undefined],
      ['14.02.23', '%d.%m.%y', day],
      ['Tue, 14 Feb 2023 01:05:00 PM', '%a, %d %b %Y %I:%M:%S %p', day + 13 * 3_600_000 + 300_000],
      ['Tue 14 Feb 2023', '%a, %d %b %Y', day],
      ['February 14, 2023', '%B %d, %Y', day],
      ['2023Q1', 'quarter', Date.UTC(2023, 0, 1)],
      ['2023-W07', 'week', Date.UTC(2023, 1, 13)],
      ['14/13/2023', '%d/%m/%Y', undefined],
      ['2023-02-14', '%d/%m/%Y', day],
      [1_676_332_800, undefined, day],
      [day, undefined, day],
    ];
  for (const [value, format, wanted] of cases) assert.equal(readTime(value, format), wanted, `${value} as ${format}`);
});
