// Figures worked out by hand where a slip would still look right: a sign, a root, one more or one less, what is divided by what.

import assert from 'node:assert/strict';
import test from 'node:test';
import { judgeDead } from '../../engine/doctor/network/dead.ts';
import type { Inside } from '../../engine/doctor/network/inside.ts';
import { rankScore } from '../../engine/doctor/rank-score.ts';
import { judgeStart } from '../../engine/doctor/start.ts';
import { cutColumns, findSlices } from '../../engine/evaluation/slices.ts';
import { spreadOf } from '../../engine/explanation/importance.ts';
import { explainTable } from '../../engine/explanation/whole-tables.ts';
import { relativeDifferences } from '../../engine/export/certificate.ts';
import type { PreparedData } from '../../engine/protocol/data.ts';
import { largestRows, parseRows } from '../../engine/serving/inference.ts';

const near = (value: number, expected: number): void =>
  assert.ok(Math.abs(value - expected) < 1e-9 * Math.abs(expected), `${value} and not ${expected}`);

test('the interval of a slice of numbers: its standard error, of the deviation with one row less', () => {
  const group = Float64Array.from({ length: 100 }, (_, row) => (row < 50 ? 0 : 1));
  const cut = cutColumns({ columns: [{ name: 'new', kind: 'boolean' }], values: [group] });
  const errors = Float64Array.from(group, (one, row) => (one === 1 ? 10 + (row % 2) : row % 2));
  const [worst] = findSlices(cut, { errors, shares: false });
  near(worst.error, 10.5);
  // 25 rows of 10 and 25 of 11.
  near(worst.high - worst.error, (1.959963984540054 * Math.sqrt((50 * 0.25) / 49)) / Math.sqrt(50));
});

test('a column is noise where the mean of its shuffles is within two standard errors', () => {
  const shuffles = (off: number): readonly number[] => [1 - off, 1 + off, 1 - off, 1 + off];
  near(spreadOf(shuffles(0.8)).deviation, 0.8 * Math.sqrt(4 / 3));
  assert.deepEqual([spreadOf(shuffles(0.8)).noise, spreadOf(shuffles(0.9)).noise], [false, true]);
});

test('a file is explained in shares that grow to 1, and a column counts by the size of its contributions', async () => {
  const parts = [6, 4];
  const data = {
    input: { kind: 'columns', columns: ['a', 'b'].map((name) => ({ name, kind: 'number' })) },
    shardStarts: [0, 6, 10],
  } as unknown as PreparedData;
  let time = 0;
  const told: number[] = [];
  const found = await explainTable(
    {
      data,
      readShard: async (shard) => ({ x: new Float32Array(parts[shard] * 2), rows: parts[shard] }) as never,
    },
    {
      scale: 'answer',
      average: 1,
      *rows(_values, count) {
        yield 0.5;
        const shares = Float64Array.from({ length: 2 * count }, (_, i) => (i % 2 === 0 ? (i % 4 === 0 ? 3 : -3) : 0.5));
        return { shares, predictions: new Float64Array(count) };
      },
    },
    () => Promise.reject(new Error('trees need no sampling')),
    null,
    async () => undefined,
    { clock: () => (time += 100), breathe: async () => undefined, onProgress: (share) => told.push(share) },
  );
  assert.deepEqual(told, [0.3, 0.8]);
  assert.deepEqual([...found.mean], [3, 0.5]);
});

test('the chance of a rank correlation, a start above and below theory, and what silenced units', () => {
  const values = Float32Array.from({ length: 26 }, (_, row) => row);
  near(rankScore({ kind: 'value', name: 'y', offset: 0, scale: 1 }, values, values, 1).deviation, 1 / 5);

  const theory = { loss: 1, words: 'ln 3' };
  const starts = [1.2, 1.5, 2.5, 0.5].map((start) => judgeStart(start, theory, 10_000));
  assert.deepEqual(
    starts.map(({ kind, title }) => `${kind}: ${title}`),
    [
      'fine: Loss starts as theory says',
      'look: Loss starts too high',
      'fix: Loss starts too high',
      'look: Loss starts below chance',
    ],
  );

  const inside = (silent: number): Inside => ({
    ...{ gradients: [], sizes: [], activations: [], loss: 1, rows: 64, weightSize: 1 },
    layers: ['first', 'output'].map((name) => ({ name }) as Inside['layers'][number]),
    silent: [
      { units: 100, silent },
      { units: 3, silent: 0 },
    ],
  });
  const toldOf = (before: number): string => judgeDead(inside(30), inside(before), 200, 0.1).text;
  assert.match(toldOf(13), /At the start it was 13 %: 200 steps at a rate of 0.1 silenced the rest/);
  assert.doesNotMatch(toldOf(15), /silenced/, 'twice as many and no more');
});

test('a difference is held against what the run itself says, and a request has 10,000 rows', () => {
  const expected = { rows: 1, probabilities: Float64Array.of(0.5, 0.5), labels: ['a'], values: null, scale: 1 };
  near(relativeDifferences(expected, { values: [0.9, 0.1], labels: ['a'] })[0], 0.8);
  const rows = Array.from({ length: largestRows }, () => ({ a: 1 }));
  assert.equal(parseRows(rows).length, 10_000);
  assert.throws(() => parseRows([...rows, { a: 1 }]), { code: 'input.request' });
});
