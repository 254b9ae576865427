// What the rows of an evaluation cost: one preparation of columns as they are, of the splits that are wanted alone, gives those that the
// model learned from, bit for bit.

import assert from 'node:assert/strict';
import test from 'node:test';
import { medianOf } from '../../../engine/data/preprocess/median.ts';
import { modelledRows } from '../../../engine/data/preprocess/modelled-rows.ts';
import { sniffDateFormats } from '../../../engine/data/schema/dates.ts';
import { randomBits } from '../../../engine/data/preprocess/split.ts';
import type { DatasetSettings, PreparedData, PrepareOptions, Shard } from '../../../engine/protocol/data.ts';
import { importFile, writeTable } from './helpers.ts';

/** Every kind of column: numbers and dates with gaps, few categories and many, yes and no. */
function table(): string {
  const lines = ['day,price,colour,street,open,sold'];
  for (let row = 0; row < 600; row++) {
    const day = row % 11 === 5 ? '' : new Date(Date.UTC(2024, 0, 1 + row)).toISOString().slice(0, 10);
    const price = row % 7 === 3 ? '' : String(100 + row / 8);
    const colour = row % 9 === 4 ? '' : ['red', 'green', 'blue', 'red'][row % 4];
    const open = row % 3 === 0 ? 'yes' : 'no';
    lines.push([day, price, colour, `street ${row % 40}`, open, row % 2 === 0 ? 'early' : 'late'].join(','));
  }
  return lines.join('\n');
}

test('columns as they are become the rows of the model, of the wanted splits alone', async (context) => {
  const { service, info } = await importFile(context, writeTable(context, 'shop.csv', table()));
  const settings = { target: 'sold', types: { street: 'category' } } as const;
  const prepare = (options: Partial<PrepareOptions>): Promise<PreparedData> =>
    service.prepare({ job: 'p', dataset: info.id, options: { settings, seed: 5, ...options } });
  const learned = await prepare({});
  const wanted = await prepare({ forms: ['columns', 'pixels'], splits: ['validation'] });
  assert.deepEqual(wanted.counts, { train: 0, validation: learned.counts.validation, test: 0 });
  assert.deepEqual(wanted.classCounts, learned.classCounts);
  const { train, validation } = learned.counts;
  assert.deepEqual(wanted.sources, learned.sources?.slice(train, train + validation));
  const readShard = (shard: number): Promise<Shard> => service.readShard({ handle: wanted.handle, shard });
  const made = modelledRows({ data: wanted, readShard }, learned.preprocessing);
  assert.deepEqual([made.data.input, made.data.width], [learned.input, learned.width]);
  const all = await service.readShard({ handle: learned.handle, shard: 0 });
  const own = await made.readShard(0);
  assert.deepEqual(own.x, all.x.slice(train * learned.width, (train + validation) * learned.width));
  assert.deepEqual(own.y, all.y.slice(train, train + validation));
});

test('rows that validate in turn are those that train and those that validate elsewhere; the test rows stay, to the row', async (context) => {
  const lines = Array.from({ length: 344 }, (_, row) => `${randomBits(3, row)},${['no', 'yes', 'maybe'][row % 3]}`);
  const { service, info } = await importFile(context, writeTable(context, 'odd.csv', ['a,b', ...lines].join('\n')));
  const prepare = (settings: DatasetSettings, parts?: number): Promise<PreparedData> =>
    service.prepare({
      job: 'p',
      dataset: info.id,
      options: { settings: { target: 'b', ...settings }, seed: 0, parts },
    });
  for (const settings of [{}, { splitBy: { kind: 'time', column: 'a' } }] as const) {
    const apart = await prepare(settings);
    const joined = await prepare({ ...settings, joined: true }, 5);
    const { train, validation, test: tested } = apart.counts;
    assert.deepEqual(joined.counts, { train: train + validation, validation: 0, test: tested });
    assert.equal(joined.parts?.length, train + validation);
    assert.deepEqual(joined.sources?.slice(train + validation), apart.sources?.slice(train + validation));
  }
});

test('the median is the middle of the sorted numbers', () => {
  for (let rows = 0; rows < 60; rows++) {
    const values = Float64Array.from({ length: rows }, (_, i) => (rows % 3 === 0 ? randomBits(7, i) : i % 4));
    const sorted = values.slice().sort();
    const wanted = rows === 0 ? 0 : (sorted[(rows - 1) >> 1] + sorted[rows >> 1]) / 2;
    assert.equal(medianOf(values), wanted, `${rows} numbers`);
  }
});

test('a text that stands in many rows is asked once whether it is a date, one without a digit hardly at all', () => {
  const asked = (rows: number, texts: readonly string[]): number => {
    const exec = RegExp.prototype.exec;
    let count = 0;
    RegExp.prototype.exec = function (text) {
      count++;
      return exec.call(this, text);
    };
    try {
      assert.deepEqual(sniffDateFormats(Array.from({ length: rows }, (_, row) => texts[row % 2])), []);
    } finally {
      RegExp.prototype.exec = exec;
    }
    return count;
  };
  const codes = ['A1', 'B7'];
  assert.equal(asked(20_000, codes), asked(2, codes));
  const words = asked(20_000, ['red', 'blue']);
  assert.ok(words < 20, `asked ${words} times`);
});
