// `predict` on files of any size: the file's own columns beside the predictions, as CSV and Parquet, and no more memory for more rows.

import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { lastEvent, startTrainyard, temporaryHome, trainyard } from '../support/cli.ts';

/** A row: an identifier with zeros before it, a number, a category, a note with a comma, and what is to be learned. */
const line = (row: number): string =>
  `${String(row).padStart(7, '0')},${(row % 97) / 2},${'AB'[row % 2]},"note, ${row}",${row % 97 < 48 ? 'yes' : 'no'}`;

function writeRows(file: string, rows: number, header = 'id,size,kind,note,y'): void {
  const out = openSync(file, 'w');
  writeSync(out, `${header}\n`);
  for (let row = 0; row < rows; row += 10_000) {
    const count = Math.min(10_000, rows - row);
    writeSync(out, `${Array.from({ length: count }, (_, at) => line(row + at)).join('\n')}\n`);
  }
  closeSync(out);
}

test('predict keeps the columns of the file, says what it could not use, and writes CSV and Parquet alike', async (t) => {
  const home = temporaryHome(t);
  const place = (name: string): string => path.join(home, name);
  writeRows(place('train.csv'), 400);
  await lastEvent(home, 'train', place('train.csv'), '--target', 'y', '--model', 'linear');

  const odd = 'ID,Size,kind,note\n007,1.5,A,=1+1\n008,x,b,plain\n009,2,C,\n';
  writeFileSync(place('odd.csv'), odd);
  const csv = place('out.csv');
  await lastEvent(home, 'predict', '1', place('odd.csv'), '--columns', 'all', '--out', csv, '--escape-formulas');
  const lines = readFileSync(csv, 'utf8').trimEnd().split('\n');
  assert.equal(lines[0], 'ID,Size,kind,note,prediction,p(no),p(yes),reasons');
  assert.match(lines[1] ?? '', /^007,1\.5,A,'=1\+1,yes,[\d.e-]+,[\d.e-]+,$/);
  assert.match(lines[2] ?? '', /^008,x,b,plain,(yes|no),.*,"size: ""x"" is no number"$/);
  assert.match(lines[3] ?? '', /^009,2,C,,(yes|no),.*,"kind: ""C"" is unknown"$/);

  // Many row groups: every row has the prediction that stands for it in the file without columns.
  writeRows(place('many.csv'), 90_000);
  await lastEvent(home, 'predict', '1', place('many.csv'), '--out', place('alone.csv'));
  await lastEvent(home, 'predict', '1', place('many.csv'), '--columns', 'all', '--out', place('many.parquet'));
  const { rows: counted } = await lastEvent(
    home,
    ...['predict', '1', place('many.parquet'), '--columns', 'all', '--out', place('again.csv')],
  );
  assert.equal(counted, 90_000);
  const alone = readFileSync(place('alone.csv'), 'utf8').trimEnd().split('\n');
  const again = readFileSync(place('again.csv'), 'utf8').trimEnd().split('\n');
  assert.equal(
    again[0],
    'id,size,kind,note,y,prediction,p(no),p(yes),reasons,prediction (2),p(no) (2),p(yes) (2),reasons (2)',
  );
  for (let row = 1; row <= 90_000; row += 1) {
    const [, prediction, no] = alone[row].split(',');
    const [own, predicted] = again[row].split(`,${'yes,no'.split(',').includes(prediction) ? '' : '?'}${prediction},`);
    assert.ok(own.startsWith(String(row - 1).padStart(7, '0')), `row ${row}: ${again[row]}`);
    assert.ok(again[row].includes(`"note, ${row - 1}"`) && predicted !== undefined, again[row]);
    const share = /,(?:yes|no),(?:yes|no),([\d.e-]+),/.exec(again[row])?.[1];
    assert.ok(Math.abs(Number(share) - Number(no)) < 1e-8, `row ${row}: ${share} and ${no}`);
  }

  const refusals = [
    [['--columns', 'all'], /--columns says what is written to a file/],
    [['--columns', 'some', '--out', csv], /--columns is “some”/],
    [['--match', 'size', '--out', csv], /--match holds “size”/],
  ] as const;
  for (const [options, message] of refusals) {
    const { code, stderr } = await trainyard(home, 'predict', '1', place('odd.csv'), ...options);
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
  writeFileSync(place('other.csv'), 'how big,kind\n1.5,A\n2.5,B\n');
  const matched = await lastEvent(home, 'predict', '1', place('other.csv'), '--match', 'size=how big');
  assert.match(JSON.stringify(matched.warnings), /named differently/);
  const without = await lastEvent(home, 'predict', '1', place('other.csv'), '--without', 'size');
  assert.equal((without.columns as { missing: number }[])[0]?.missing, 1);
});

test('columns that were exchanged are told by their values; none of a file like that of the training is', async (t) => {
  const home = temporaryHome(t);
  const place = (name: string): string => path.join(home, name);
  const write = (name: string, header: string, cells: (row: number) => readonly (string | number)[]): string => {
    const rows = Array.from({ length: 200 }, (_, row) => [...cells(row), row % 97 < 48 ? 'yes' : 'no'].join(','));
    writeFileSync(place(name), `${header},y\n${rows.join('\n')}\n`);
    return place(name);
  };
  const day = (row: number, year: number): string =>
    new Date(Date.UTC(year, 0, 1 + (row % 300))).toISOString().slice(0, 10);
  const cells = (row: number) => [40 + (row % 21), 900 + (row % 201), 45 + (row % 9), day(row, 1980), day(row, 2024)];
  const header = 'size,amount,age,born,bought';
  await lastEvent(home, 'train', write('right.csv', header, cells), '--target', 'y', '--model', 'linear');
  const toldOf = async (file: string): Promise<readonly string[]> => {
    const { warnings } = await lastEvent(home, 'predict', '1', file);
    return (warnings as { code: string; message: string }[]).flatMap(({ code, message }) =>
      code === 'like_other' ? [message] : [],
    );
  };
  assert.deepEqual(await toldOf(place('right.csv')), []);
  const told = await toldOf(write('exchanged.csv', 'amount,size,age,bought,born', cells));
  assert.equal(told.length, 3, told.join());
  assert.equal(told[0], 'size looks like amount: its mean is 999.5, in training it was 49.53. Were the two exchanged?');
  assert.match(told[2], /^born looks like bought: its times are about 2024-0\d-\d\d, in training .* 1980-0/);
});

test(
  'a file ten times as long takes hardly more memory',
  { skip: process.platform !== 'linux' && 'Linux alone tells how much memory a process has had' },
  async (t) => {
    const home = temporaryHome(t);
    const place = (name: string): string => path.join(home, name);
    writeRows(place('train.csv'), 400);
    await lastEvent(home, 'train', place('train.csv'), '--target', 'y', '--model', 'linear');
    const peakOf = async (rows: number): Promise<number> => {
      writeRows(place('long.csv'), rows, 'id,size,kind,note,truth');
      const running = startTrainyard(home, [
        'predict',
        '1',
        place('long.csv'),
        '--columns',
        'all',
        '--out',
        place('out.parquet'),
      ]);
      let peak = 0;
      const look = setInterval(() => {
        const status = readStatus(running.child.pid);
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      }, 20);
      const { code, stderr } = await running.finished;
      clearInterval(look);
      assert.equal(code, 0, stderr);
      return peak;
    };
    const short = await peakOf(100_000);
    const long = await peakOf(1_000_000);
    t.diagnostic(
      `${(statSync(place('long.csv')).size / 1e6).toFixed(0)} MB: ${short.toFixed(0)} and ${long.toFixed(0)} MiB`,
    );
    assert.ok(long < short + 200, `${short.toFixed(0)} MiB for 100,000 rows, ${long.toFixed(0)} MiB for a million`);
  },
);

function readStatus(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
