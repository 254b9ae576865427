// A run's preprocessing on other people's spelling of the same table: read as meant, counted column by column, or refused.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';
import type { PreparedData } from '../../../engine/protocol/data.ts';
import { meantCategory } from '../../../engine/data/preprocess/forms.ts';
import { codes, importFile, writeTable } from './helpers.ts';
import type { TestService } from './helpers.ts';

const rows = 120;
const groups = ['AB', 'CD', 'EF'];

/** One row of the training table. */
function cells(row: number): { price: number; day: number; month: number; member: boolean; group: string; y: number } {
  const price = 1000 + ((row * 37) % 500) / 4;
  return {
    price,
    day: 1 + (row % 28),
    month: 1 + (row % 12),
    member: row % 2 === 0,
    group: groups[row % 3] ?? '',
    y: price * 2,
  };
}

type Row = ReturnType<typeof cells>;

const two = (value: number): string => String(value).padStart(2, '0');
const iso = ({ day, month }: Row): string => `2023-${two(month)}-${two(day)}`;
const plain = {
  price: (row: Row) => String(row.price),
  date: iso,
  member: (row: Row) => (row.member ? 'yes' : 'no'),
  group: (row: Row) => row.group,
};
type Writers = Record<keyof typeof plain, (row: Row) => string>;

function write(writers: Writers, header = 'price,date,member,group', count = rows): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const row = cells(index);
    return [writers.price, writers.date, writers.member, writers.group].map((one) => `"${one(row)}"`).join(',');
  });
  return `${[header, ...lines].join('\n')}\n`;
}

/** Trains nothing, but prepares a table as training does, and gives its rows as `transform` sees them. */
async function prepared(context: TestContext): Promise<{ service: TestService; preprocessing: unknown }> {
  const lines = Array.from({ length: rows }, (_, index) => {
    const row = cells(index);
    return [plain.price(row), plain.date(row), plain.member(row), plain.group(row), row.y].join(',');
  });
  const path = writeTable(context, 'train.csv', `${['price,date,member,group,y', ...lines].join('\n')}\n`);
  const { service, info } = await importFile(context, path, {}, { target: 'y' });
  const data = await service.prepare({
    job: 'p',
    dataset: info.id,
    options: { settings: { target: 'y', task: 'regression' }, seed: 1 },
  });
  return { service, preprocessing: data.preprocessing };
}

async function numbers(service: TestService, data: PreparedData): Promise<number[]> {
  const { x } = await service.readShard({ handle: data.handle, shard: 0 });
  return [...x];
}

test('the same table in other spellings gives the same rows, and it is said', async (context) => {
  const { service, preprocessing } = await prepared(context);
  const transform = (text: string): Promise<PreparedData> =>
    service.transform({ job: 't', path: writeTable(context, 'new.csv', text), preprocessing });
  const same = await transform(write(plain));
  assert.deepEqual(same.warnings, []);
  assert.deepEqual(
    same.columns?.map(({ missing, unknown, trainingMissing }) => [missing, unknown, trainingMissing]),
    [0, 1, 2, 3].map(() => [0, 0, 0]),
  );
  const expected = await numbers(service, same);
  const spellings: readonly (readonly [string, Partial<Writers>, RegExp | null])[] = [
    ['dollars and thousands', { price: ({ price }) => `$${price.toLocaleString('en-US')}` }, /price: .*"\$"/],
    [
      'a decimal comma',
      { price: ({ price }) => String(price).replace('.', ',') },
      /price: .* with a decimal comma, unlike/,
    ],
    [
      'thousands',
      { price: ({ price }) => price.toLocaleString('en-US') },
      /price: .* with commas between thousands, un/,
    ],
    ['day first', { date: ({ day, month }) => `${day}.${month}.2023` }, /date: .*day\.month\.year/],
    ['year/month/day', { date: (row) => iso(row).replaceAll('-', '/') }, /date: /],
    ['whole numbers as dates', { date: (row) => iso(row).replaceAll('-', '') }, null],
    ['other booleans', { member: ({ member }) => (member ? 'TRUE' : 'FALSE') }, null],
    ['0 and 1', { member: ({ member }) => (member ? '1' : '0') }, null],
    ['small letters', { group: ({ group }) => group.toLowerCase() }, /group: .*"ab" as "AB"/],
  ];
  for (const [what, writers, note] of spellings) {
    const other = await transform(write({ ...plain, ...writers }));
    assert.deepEqual(await numbers(service, other), expected, what);
    assert.deepEqual(codes(other.warnings), note === null ? [] : ['respelled'], what);
    if (note !== null) assert.match(other.warnings[0]?.message ?? '', note);
  }
});

test('where 7,936 or 03/04 may be either, training decides, and it is said', async (context) => {
  const shape = (row: number): { size: number; day: number; month: number } => ({
    size: 1.001 + ((row * 377) % 8000) / 1000,
    day: 1 + (row % 12),
    month: 1 + ((row * 5) % 12),
  });
  const file = (date: (day: string, month: string) => string, size: (value: string) => string, mark = ','): string =>
    `${[
      ['size', 'when', 'y'],
      ...Array.from({ length: rows }, (_, row) => {
        const { size: value, day, month } = shape(row);
        return [size(value.toFixed(3)), date(two(day), two(month)), `${row % 7}.5`];
      }),
    ]
      .map((record) => record.join(mark))
      .join('\n')}\n`;
  const isoDate = (day: string, month: string): string => `2023-${month}-${day}`;
  const comma = (value: string): string => value.replace('.', ',');
  const fit = async (text: string): Promise<(other: string) => Promise<readonly [number[], readonly string[]]>> => {
    const { service, info } = await importFile(context, writeTable(context, 'train.csv', text), {}, { target: 'y' });
    const options = { settings: { target: 'y', task: 'regression' }, seed: 1 } as const;
    const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options });
    return async (other) => {
      const data = await service.transform({ job: 't', path: writeTable(context, 'new.csv', other), preprocessing });
      return [await numbers(service, data), data.warnings.map(({ message }) => message)];
    };
  };
  const plainly = file(isoDate, (value) => value);
  const transform = await fit(plainly);
  const [expected, silent] = await transform(plainly);
  assert.deepEqual(silent, []);
  const quoted = await transform(file(isoDate, (value) => `"${comma(value)}"`));
  assert.deepEqual(quoted, [expected, [sizeNote]], 'commas within quotes');
  assert.deepEqual(await transform(file(isoDate, comma, '\t')), [expected, [sizeNote]], 'commas between tabs');
  const [, [said = '', ...more]] = await transform(
    file(
      (day, month) => `${day}/${month}/2023`,
      (value) => value,
    ),
  );
  assert.match(said, /^when: dates are .* month\/day\/year, although day and month may be the other way round/);
  assert.deepEqual(more, []);

  // Training had the day first, and 13 in it; a new file with other marks and no such day is read that way.
  const late = (day: string, month: string): string => `${day === '12' ? '28' : day}/${month}/2023`;
  const dayFirst = await fit(file(late, (value) => value));
  const [slashes, none] = await dayFirst(
    file(
      (day, month) => `${day}/${month}/2023`,
      (value) => value,
    ),
  );
  assert.deepEqual(none, [], 'written as in training');
  const [dashes, [note = '']] = await dayFirst(
    file(
      (day, month) => `${day}-${month}-2023`,
      (value) => value,
    ),
  );
  assert.deepEqual(dashes, slashes);
  assert.match(note, /read as day-month-year, although/);
});

const sizeNote = 'size: numbers are written with a decimal comma, unlike in training; they are read that way.';

test('a category in other letters is none where two are meant', async (context) => {
  const path = writeTable(
    context,
    'two.csv',
    `g,y\n${Array.from({ length: 60 }, (_, index) => `${['a', 'A', 'b '][index % 3] ?? ''},${index % 5}.5`).join('\n')}\n`,
  );
  const { service, info } = await importFile(context, path, {}, { target: 'y' });
  const options = { settings: { target: 'y' }, seed: 1 };
  const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options });
  const other = writeTable(context, 'new.csv', 'g,h\na,1\nA,1\nB,1\n b,1\nÀ,1\nc,1\n');
  const data = await service.transform({ job: 't', path: other, preprocessing });
  assert.deepEqual(data.columns, [{ name: 'g', missing: 0, unknown: 2 / 6, trainingMissing: 0 }]);
  assert.deepEqual(codes(data.warnings), ['respelled', 'lost_cells']);
  assert.match(
    data.warnings[1]?.message ?? '',
    /^g: 2 of 6 cells are categories the model does not know \("c", "À"\); in training none were lost\. Expected: "/,
  );
});

for (const [trained, written] of [
  [
    ['0', '1'],
    ['false', 'true'],
  ],
  [
    ['0', '1'],
    ['no', 'yes'],
  ],
  [
    ['no', 'yes'],
    ['0', '1'],
  ],
  [
    ['false', 'true'],
    ['N', 'Y'],
  ],
] as const) {
  test(`a target ${written.join('/')} is that of training, ${trained.join('/')}; so is a category`, async (context) => {
    const table = (words: readonly string[]): string =>
      `g,size,y\n${Array.from({ length: 60 }, (_, row) => `${words[row % 2]},${row % 7},${words[row % 3 === 0 ? 1 : 0]}`).join('\n')}\n`;
    const { service, info } = await importFile(
      context,
      writeTable(context, 'own.csv', table(trained)),
      {},
      { target: 'y' },
    );
    const settings = { target: 'y', task: 'classification', types: { g: 'category' } } as const;
    const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options: { settings, seed: 1 } });
    const shardOf = async (name: string, words: readonly string[]) => {
      const data = await service.transform({
        job: name,
        path: writeTable(context, `${name}.csv`, table(words)),
        preprocessing,
      });
      assert.ok(data.columns?.every(({ missing, unknown }) => missing + unknown === 0));
      return service.readShard({ handle: data.handle, shard: 0 });
    };
    const [same, other] = [await shardOf('same', trained), await shardOf('other', written)];
    assert.deepEqual([other.x, other.y], [same.x, same.y]);
    assert.deepEqual([...new Set(other.y)].sort(), [0, 1]);
  });
}

test('words for yes and no stand for each other only where there are two, and one of each', () => {
  assert.deepEqual(['true', ' NO ', '1', 'perhaps'].map(meantCategory(['n', 'y'])), [2, 1, 2, undefined]);
  assert.deepEqual(['true', '1', 'b'].map(meantCategory(['a', 'b'])), [undefined, undefined, 2]);
  assert.equal(meantCategory(['0', '1', '2'])('true'), undefined);
  assert.equal(meantCategory(['yes', 'on'])('true'), undefined);
});

test('cells that are lost are counted, warned of above the usual share, and refused when they are all', async (context) => {
  const { service, preprocessing } = await prepared(context);
  const file = (writers: Partial<Writers>, count?: number): string =>
    writeTable(context, 'new.csv', write({ ...plain, ...writers }, undefined, count));
  const transform = (path: string, force = false): Promise<PreparedData> =>
    service.transform({ job: 't', path, preprocessing, force });

  const some = await transform(file({ price: (row) => (row.day === 3 ? 'about 12' : String(row.price)) }));
  const lost = Array.from({ length: rows }, (_, index) => cells(index)).filter(({ day }) => day === 3).length;
  assert.deepEqual(some.columns?.[0], { name: 'price', missing: 0, unknown: lost / rows, trainingMissing: 0 });
  assert.match(some.warnings[0]?.message ?? '', /price: 5 of 120 cells are no numbers \("about 12"\)/);

  const unusable = [
    [
      { price: () => 'abc' },
      /new\.csv does not fit the model\. price: 120 of 120 cells are no numbers \("abc"\).*Expected: numbers around 1,0/,
    ],
    [{ date: () => 'soon' }, /date: 120 of 120 cells are no dates \("soon"\).*Expected: dates around 2023-/],
    [{ group: ({ day }: Row) => `G${day}` }, /group: 120 of 120 cells are categories .*Expected: "AB", "CD", "EF"\./],
    [{ member: () => '' }, /member: 120 of 120 are empty; in training none were lost\. Expected: yes or no\./],
  ] as const;
  for (const [writers, message] of unusable) {
    await assert.rejects(transform(file(writers)), { code: 'input.unusable_column', message });
    const forced = await transform(file(writers), true);
    assert.deepEqual(codes(forced.warnings), ['lost_cells']);
    assert.equal(forced.counts.test, rows);
  }
  await assert.rejects(transform(file({ price: () => 'abc' }, 1)), { code: 'input.unusable_column' });
  const one = await transform(file({ group: () => 'XY' }, 1));
  assert.deepEqual(codes(one.warnings), ['lost_cells'], 'a new category in a single row says little');
});

test('a column that was mostly empty in training may be empty, but not hold other things', async (context) => {
  const notes = ['Shed', 'Pool', ''];
  const note = (row: number): string => (row % 10 === 0 ? (notes[(row / 10) % 2] ?? '') : '');
  const lines = Array.from({ length: 200 }, (_, row) => `${row % 7}.5,${note(row)},${row % 5}.5`);
  const path = writeTable(context, 'train.csv', `${['size,note,y', ...lines].join('\n')}\n`);
  const settings = { target: 'y', types: { note: 'category' } } as const;
  const { service, info } = await importFile(context, path, {}, settings);
  const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options: { settings, seed: 1 } });
  const transform = (write: (row: number) => string): Promise<PreparedData> => {
    const text = Array.from({ length: 200 }, (_, row) => `${row % 7}.5,${write(row)}`).join('\n');
    return service.transform({ job: 't', path: writeTable(context, 'new.csv', `size,note\n${text}\n`), preprocessing });
  };
  const sparse = await transform((row) => (row % 40 === 0 ? 'Pool' : row === 41 ? 'Barn' : ''));
  assert.equal(sparse.columns?.[1]?.unknown, 1 / 200);
  assert.equal((await transform(() => '')).counts.test, 200);
  await assert.rejects(
    transform((row) => (note(row) === '' ? '' : `Barn ${row}`)),
    { code: 'input.unusable_column', message: /note: 20 of 200 cells are categories the model does not know/ },
  );
});

test('a column that is spelled differently is named with the nearest there is', async (context) => {
  const { service, preprocessing } = await prepared(context);
  const transform = (header: string): Promise<PreparedData> =>
    service.transform({ job: 't', path: writeTable(context, 'new.csv', write(plain, header)), preprocessing });
  await assert.rejects(transform('Price,date,MEMBER,group'), {
    code: 'input.missing_column',
    message: 'new.csv lacks columns the model was trained on: "price", "member".',
    hint: 'Did you mean "Price" for "price", "MEMBER" for "member"?',
  });
  await assert.rejects(transform('price,da te,member,group'), { hint: 'Did you mean "da te"?' });
  await assert.rejects(transform('price,date,member,something else'), {
    hint: 'Its columns are: price, date, member, something else.',
  });
  const text = write(plain).replace(/^(.+)$/gm, (line) => `${line},${line.startsWith('price') ? 'Y' : '1'}`);
  const path = writeTable(context, 'target.csv', text);
  const data = await service.transform({ job: 't', path, preprocessing });
  const wrong = text.replace(',Y\n', ',y\n').replaceAll(/,1$/gm, ',one');
  const odd = await service.transform({ job: 't', path: writeTable(context, 'odd.csv', wrong), preprocessing });
  assert.match(odd.warnings[0]?.message ?? '', /^y: 120 of 120 cells are no numbers \("one"\)\. Expected/);
  assert.match(data.warnings[0]?.message ?? '', /There is a column "Y", but none "y"/);
});

test('one cell does not change how a file’s other cells of a category are read', async (context) => {
  const sizes = ['1e+300', '-1e+30', '3e+38', '-5.0'];
  const lines = Array.from({ length: rows }, (_, row) => `${sizes[row % 4]},${row % 7},${row % 4}`);
  const path = writeTable(context, 'train.csv', `${['size,x,y', ...lines].join('\n')}\n`);
  const { service, info } = await importFile(context, path, {}, { target: 'y', types: { size: 'category' } });
  const settings = { target: 'y', task: 'regression', types: { size: 'category' } } as const;
  const { preprocessing } = await service.prepare({ job: 'p', dataset: info.id, options: { settings, seed: 1 } });
  const read = async (last: string): Promise<{ values: number[]; lost: unknown }> => {
    const text = `size,x\n${[...sizes, last].map((size) => `${size},1`).join('\n')}\n`;
    const data = await service.transform({ job: 't', path: writeTable(context, 'new.csv', text), preprocessing });
    const [{ missing, unknown }] = data.columns ?? [];
    return { values: await numbers(service, data), lost: { missing, unknown } };
  };
  const before = await read('-5.0');
  assert.deepEqual(before.lost, { missing: 0, unknown: 0 });
  for (const odd of ['-1e308', '1e300', '7']) {
    const { values, lost } = await read(odd);
    const width = values.length / 5;
    assert.deepEqual(values.slice(0, 4 * width), before.values.slice(0, 4 * width), odd);
    assert.deepEqual(lost, { missing: 0, unknown: 0.2 }, odd);
  }
  // Nor where no cell has digits that a number would lose, and the column is stored as numbers.
  const text = 'size,x\n1e+300,1\n-1e308,1\n-5.0,1\n';
  const data = await service.transform({ job: 't', path: writeTable(context, 'new.csv', text), preprocessing });
  const [{ missing, unknown }] = data.columns ?? [];
  assert.deepEqual({ missing, unknown }, { missing: 0, unknown: 1 / 3 });
});
