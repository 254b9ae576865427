import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRecords, RecordReader } from '../../../engine/data/formats/records.ts';
import type { RecordStyle, TextRecord } from '../../../engine/data/formats/records.ts';
import { randomBits } from '../../../engine/data/preprocess/split.ts';

const pieces = ['a', '1', ',', ';', '"', "'", '\n', '\r\n', '\r', ' ', '\t', '\\', '||', '""', '","', 'é'];

/** Its fields, by the plainest rule: what stands between delimiters and line ends; no quotes, no spaces. */
function fieldsOf(text: string, delimiter: string): string[][] {
  const lines = text.split(/\r\n|\n|\r/);
  return lines.filter((line) => line !== '').map((line) => line.split(delimiter));
}

test('a text without quotes has the fields that stand between delimiters and line ends of all kinds', () => {
  const plain = pieces.filter((piece) => !/["'\\]/.test(piece));
  for (let round = 0; round < 4000; round++) {
    const text = Array.from({ length: 30 }, (_, at) => plain[randomBits(round, at) % plain.length]).join('');
    const delimiter = [',', ';', '||', ' '][round % 4];
    const style: RecordStyle = { delimiter, quote: '"', escape: '"', spaced: false };
    const read = readRecords(text, style, true).map(({ fields }) => [...fields]);
    assert.deepEqual(read, fieldsOf(text, delimiter), JSON.stringify(text));
  }
});

test('records are the same however a text comes in parts', () => {
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: 30 }, (_, at) => pieces[randomBits(round, at) % pieces.length]).join('');
    const delimiter = [',', ';', '||', ' ', '\t'][round % 5];
    const style: RecordStyle = { delimiter, quote: '"', escape: '"', spaced: delimiter === ' ' };
    const inParts: TextRecord[] = [];
    const reader = new RecordReader(style, (record) => inParts.push(record));
    for (let at = 0; at < text.length; at += 1 + (round % 3)) reader.push(text.slice(at, at + 1 + (round % 3)));
    reader.end();
    assert.deepEqual(inParts, readRecords(text, style, true), JSON.stringify(text));
  }
});

test('an empty text in quotes is a record, nothing but spaces is none', () => {
  for (const delimiter of [',', ' ']) {
    const style: RecordStyle = { delimiter, quote: '"', escape: '"', spaced: delimiter === ' ' };
    const read = readRecords('a\n""\n\nb\n', style, true);
    assert.deepEqual(
      read.map(({ fields, line }) => [fields, line]),
      [
        [['a'], 1],
        [[''], 2],
        [['b'], 4],
      ],
    );
  }
  const spaced: RecordStyle = { delimiter: ' ', quote: '"', escape: '"', spaced: true };
  assert.deepEqual(
    readRecords('a\n  \t\nb', spaced, true).map(({ fields }) => fields),
    [['a'], ['b']],
  );
});

test('a delimiter that does not occur is looked for once, not in every record', () => {
  const text = 'word\n'.repeat(200_000);
  const style: RecordStyle = { delimiter: ';', quote: '"', escape: '"', spaced: false };
  let records = 0;
  const reader = new RecordReader(style, () => records++);
  const start = process.cpuUsage();
  reader.push(text);
  reader.end();
  const { user } = process.cpuUsage(start);
  assert.equal(records, 200_000);
  // To its end for each record that would be 10¹¹ characters.
  assert.ok(user < 5e6, `${user} µs`);
});
