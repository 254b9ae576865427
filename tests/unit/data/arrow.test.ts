// Arrow files and streams, Feather files, packed or not: values and types as they were written, digit by digit.

import assert from 'node:assert/strict';
import test from 'node:test';
import { unpackLz4 } from '../../../engine/data/formats/lz4.ts';
import files from '../fixtures/arrow-files.json' with { type: 'json' };
import { allRows, columnOf, importFile, makeService, writeTable } from './helpers.ts';

const contentOf = (name: 'table.arrow' | 'table.arrows' | 'table.feather'): Buffer =>
  Buffer.from(files[name].join(''), 'base64');

for (const name of ['table.arrow', 'table.arrows', 'table.feather'] as const) {
  test(`${name} is read with its types`, async (context) => {
    const { service, info } = await importFile(context, writeTable(context, name, contentOf(name)));
    assert.equal(info.reading.format, 'Arrow');
    assert.deepEqual(
      info.columns.map((column) => [column.name, column.type]),
      [
        ['id', 'identifier'],
        ['size', 'number'],
        ['kind', 'category'],
        ['even', 'boolean'],
        ['day', 'datetime'],
        ['price', 'number'],
        ['place.lat', 'number'],
        ['__proto__', 'category'],
      ],
    );
    const rows = await allRows(service, info);
    assert.equal(rows.length, 24);
    assert.deepEqual(rows[0], ['9007199254740993', null, 'a "q", x', true, '2020-01-01', 0, null, 'u']);
    assert.deepEqual(rows[5], ['9007199254741003', 7.5, 'w2', false, '2020-01-06', -6.25, 2.5, 'v']);
    assert.equal(columnOf(info, 'place.lat').missing, 4);
  });
}

test('an Arrow file that was cut off is refused', async (context) => {
  const bytes = contentOf('table.feather');
  const path = writeTable(context, 'cut.feather', bytes.subarray(0, bytes.length / 2));
  await assert.rejects(makeService(context).import({ job: 'a', path }), {
    name: 'InputError',
    code: 'input.arrow',
    message: /cut\.feather is a damaged Arrow file/,
  });
});

test('LZ4: literals, matches that overlap, and blocks that are not packed', () => {
  // The frame of "abcabcabcabcabc!", as the specification writes it: no sizes, no checksums but the header's.
  const header = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
  const packed = [0x38, ...Buffer.from('abc'), 3, 0, 0x10, ...Buffer.from('!')];
  const frame = Uint8Array.from([...header, packed.length, 0, 0, 0, ...packed, 0, 0, 0, 0]);
  assert.equal(Buffer.from(unpackLz4(frame)).toString(), 'abcabcabcabcabc!');
  const stored = Uint8Array.from([...header, 3, 0, 0, 0x80, ...Buffer.from('xyz'), 0, 0, 0, 0]);
  assert.equal(Buffer.from(unpackLz4(stored)).toString(), 'xyz');
  const outside = Uint8Array.from([...header, 4, 0, 0, 0, 0x10, 65, 9, 0, 0, 0, 0, 0]);
  assert.throws(() => unpackLz4(outside), RangeError);
});
