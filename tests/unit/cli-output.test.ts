// What the command line writes: all of it to a slow reader, nothing after a closed one, files whole or not at all, names
// with nothing hidden in them, and one line where writing fails.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import test, { after, before } from 'node:test';

import { findNative } from '../../engine/backends/cpu/native.ts';
import { printMetrics } from '../../electron/cli/run-text.ts';
import { formatNumber, Output } from '../../electron/cli/output.ts';
import { checkOutput } from '../../electron/cli/output-file.ts';
import { predictionTable } from '../../engine/learners/prediction-table.ts';
import { Sink } from '../../electron/cli/sink.ts';
import { visible } from '../../engine/protocol/visible.ts';
import { toWire } from '../../engine/protocol/errors.ts';
import { inShell, lastEvent, startTrainyard, trainyard } from '../support/cli.ts';

/** A home with one run, shared by the tests of this file. */
let home = '';
let table = '';
const rows = 1798;

before(async () => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-output-'));
  table = path.join(home, 'table.csv');
  const lines = Array.from({ length: rows }, (_, i) => `${i % 97},${i % 31},${i % 97 > 48 ? 'yes' : 'no'}`);
  fs.writeFileSync(table, ['a,b,label', ...lines, ''].join('\n'));
  await lastEvent(home, 'train', table, '--epochs', '2', '--target', 'label');
});
after(() => fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

test('figures stay readable: huge ones by their power of ten, and no table where there are none', async () => {
  assert.deepEqual([1204.5, 123_456, 9e14, 1.234e30, -4e15].map(formatNumber), [
    ...['1204.50', '123,456', '900,000,000,000,000', '1.23e+30', '-4.00e+15'],
  ]);
  const out = new PassThrough();
  const output = new Output(false, {
    out: new Sink(out, () => undefined),
    error: new Sink(new PassThrough(), () => undefined),
  });
  printMetrics(output, {});
  assert.equal(out.read(), null);
  printMetrics(output, { train_loss: 1 });
  assert.match(String(out.read()), /metric +train +val +test\n +loss +1\.0000/);
});

const one = (text: string): number => text.trim().split('\n').length;

test('a slow reader gets everything', async () => {
  const { stdout } = await inShell(home, `$T predict 1 ${table} --json | (sleep 1; wc -l)`);
  assert.equal(Number(stdout), rows + 1, 'a line a row, and the last event');
  const { stderr } = await inShell(home, `$T show ${'x'.repeat(100_000)} 2>&1 >/dev/null | (sleep 1; cat) >&2`);
  assert.match(stderr, /^trainyard: “x{100000}” is no run number.*\n$/, 'standard error too');
});

test('a reader that goes ends the command with 141 and without a word', async () => {
  const { stdout, stderr } = await inShell(home, `$T predict 1 ${table} --json | head -1 >&2; echo \${PIPESTATUS[0]}`);
  assert.equal(stdout, '141\n');
  assert.match(stderr, /^\{"event":"prediction".*\}\n$/);
});

test('a training whose reader goes is stopped and keeps its weights', async () => {
  const args = `--target label --epochs 1000000 --patience 0 --name piped --json`;
  const { stdout, stderr } = await inShell(home, `$T train ${table} ${args} | head -3 >&2; echo \${PIPESTATUS[0]}`);
  assert.equal(stdout, '141\n');
  assert.match(stderr, /Stops run \d+ and keeps its best weights\.\n$/);
  assert.doesNotMatch(stderr, /\n {4}at /, 'no stack');
  const [run] = (await trainyard(home, 'runs', '--search', 'piped', '--json')).events;
  assert.equal(run.state, 'stopped');
  assert.equal((await trainyard(home, 'predict', String(run.run), table, '--json')).code, 0);
});

test('a full device ends in one line and exit code 1', { skip: process.platform !== 'linux' }, async () => {
  for (const command of ['runs', `predict 1 ${table} --json`, '--help', `predict 1 ${table} --out /dev/full`]) {
    const { code, stderr } = await inShell(home, `$T ${command} >/dev/full`);
    assert.equal(code, 1, command);
    assert.match(
      stderr,
      /^trainyard: .* cannot be written: no space is left on the device\. .*Make room.*\n$/,
      command,
    );
    assert.equal(one(stderr), 1, command);
  }
  assert.equal((await inShell(home, '$T tarin 2>/dev/full')).code, 2, 'nobody can be told');
});

test('running out of memory is said in one line', () => {
  for (const run of [() => new ArrayBuffer(2 ** 52), () => 'x'.repeat(2 ** 29)]) {
    assert.throws(run, (error) => {
      const { code, message, hint } = toWire(error);
      assert.equal(code, 'device.out_of_memory');
      assert.match(`${message} ${hint}`, /^Memory ran out\. Use less data/);
      return true;
    });
  }
});

test('control characters and turned directions are written out', async () => {
  assert.equal(
    visible('a\u001b[31mb\r\nc\u202ed\u009b\ud800 é 日本 👩‍🔬'),
    'a\\x1b[31mb\\r\\nc\\u202ed\\x9b\\ud800 é 日本 👩‍🔬',
  );
  const evil = path.join(home, 'evil\u001b]0;title\u0007.csv');
  const lines = Array.from({ length: 60 }, (_, i) => `${i % 7},${i % 2 ? 'no' : 'yes\u202e'}`);
  fs.writeFileSync(evil, ['"a\u001b[31m",label', ...lines, ''].join('\n'));
  const outputs = [
    await trainyard(home, 'inspect', evil),
    await trainyard(home, 'train', evil, '--epochs', '1', '--target', 'label', '--name', 'n\u001b[5m\nm'),
    await trainyard(home, 'runs'),
    await trainyard(home, 'datasets'),
    await trainyard(home, 'show', '\u001b[31m'),
    await trainyard(home, 'inspect', path.join(home, 'nothing\u001b[31m.csv')),
  ];
  const text = outputs.map(({ stdout, stderr }) => stdout + stderr).join('');
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  for (const written of [
    'a\\x1b[31m',
    'evil\\x1b]0;title\\x07.csv',
    'yes\\u202e',
    'n\\x1b[5m\\nm',
    'nothing\\x1b[31m',
  ]) {
    assert.ok(text.includes(written), written);
  }
});

test('--out writes beside and renames: links, modes and other files stay as they are', async () => {
  const folder = fs.mkdtempSync(path.join(home, 'out-'));
  const [file, link, dangling] = ['real.csv', 'link.csv', 'dangling.csv'].map((name) => path.join(folder, name));
  fs.writeFileSync(file, 'old');
  fs.chmodSync(file, 0o640);
  fs.symlinkSync('real.csv', link);
  fs.symlinkSync('new.csv', dangling);
  for (const out of [link, dangling])
    assert.equal((await trainyard(home, 'predict', '1', table, '--out', out)).code, 0);
  assert.equal(fs.readlinkSync(link), 'real.csv');
  assert.equal(fs.statSync(file).mode & 0o777, 0o640);
  for (const name of ['real.csv', 'new.csv']) {
    assert.equal(one(fs.readFileSync(path.join(folder, name), 'utf8')), rows + 1);
  }
  const exported = path.join(folder, 'run.json');
  await lastEvent(home, 'export', '1', '--out', exported);
  assert.ok(JSON.parse(fs.readFileSync(exported, 'utf8')));
  assert.deepEqual(fs.readdirSync(folder).sort(), ['dangling.csv', 'link.csv', 'new.csv', 'real.csv', 'run.json']);

  const piped = await inShell(
    home,
    `$T predict 1 ${table} --out /dev/stdout | wc -l; $T predict 1 ${table} --out >(wc -l)`,
  );
  assert.match(
    piped.stdout,
    new RegExp(`^${rows + 1}\n[^]*^${rows + 1}$`, 'm'),
    'a pipe gets the file and nothing else',
  );
  assert.equal((await trainyard(home, 'predict', '1', table, '--out', '/dev/stdout', '--json')).code, 2);
  const refused = await trainyard(home, 'export', '1', '--out', path.join(folder, 'none', 'x.json'));
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /Cannot write .*: its folder is not there\. Choose another place\.\n$/);
});

test('a write that is cut off leaves the old file whole, and the next one tidies up', async () => {
  const folder = fs.mkdtempSync(path.join(home, 'cut-'));
  const file = path.join(folder, 'predictions.csv');
  fs.writeFileSync(file, 'old\n');
  // A limit on the size of files stands for a full disk.
  const full = await inShell(home, `trap '' XFSZ; ulimit -f 16; $T predict 1 ${table} --out ${file}`);
  assert.deepEqual(
    [full.code, fs.readFileSync(file, 'utf8'), fs.readdirSync(folder).length],
    [1, 'old\n', 1],
    full.stderr,
  );
  assert.equal(one(full.stderr), 1);

  const leftover = path.join(folder, '.trainyard-elsewhere-1');
  fs.writeFileSync(leftover, 'of another machine');
  const big = path.join(home, 'big.csv');
  const lines = Array.from({ length: 400_000 }, (_, i) => `${i % 97},${i % 31}`);
  fs.writeFileSync(big, ['a,b', ...lines, ''].join('\n'));
  const hidden = () =>
    fs.readdirSync(folder).filter((name) => name.startsWith('.') && name !== path.basename(leftover));
  const running = startTrainyard(home, ['predict', '1', big, '--out', file]);
  while (hidden().length === 0 && running.child.exitCode === null)
    await new Promise((resolve) => setImmediate(resolve));
  running.child.kill('SIGKILL');
  await running.finished;
  assert.deepEqual([fs.readFileSync(file, 'utf8'), hidden().length], ['old\n', 1], 'killed while it wrote');
  await lastEvent(home, 'predict', '1', table, '--out', file);
  assert.deepEqual([one(fs.readFileSync(file, 'utf8')), hidden()], [rows + 1, []]);
  assert.ok(fs.existsSync(leftover), 'what belongs to others stays');
});

test('--escape-formulas keeps spreadsheets from computing names; numbers stay numbers', async () => {
  const classes = ['=1+1', '+cmd', '-1.5', '-x', '@SUM(A1)', '\tt', 'plain', '＝1', '"=q'];
  const values = Float64Array.from(classes.keys());
  const predictions = {
    rows: classes.length,
    values,
    probabilities: new Float64Array(classes.length ** 2),
    outputs: new Float32Array(0),
    evaluation: null,
  };
  const cells = (escape: boolean) =>
    [...predictionTable({ kind: 'classes', classes }, predictions, undefined).csv(escape)]
      .slice(1)
      .map((l) => l.split(',')[1]);
  assert.deepEqual(cells(true), ["'=1+1", "'+cmd", '-1.5', "'-x", "'@SUM(A1)", "'\tt", 'plain', "'＝1", '"""=q"']);
  assert.equal(cells(false)[0], '=1+1', 'only where it is asked for');
  const value = { ...predictions, rows: 1, values: Float64Array.of(-2.5), probabilities: null };
  assert.deepEqual(
    [...predictionTable({ kind: 'value', name: 'y', offset: 0, scale: 1 }, value, undefined).csv(true)],
    ['row,prediction\n', '1,-2.5\n'],
  );

  const file = path.join(home, 'formulas.csv');
  const lines = Array.from({ length: 60 }, (_, i) => `${i % 7},${i % 7 > 3 ? '=HYPERLINK(1)' : '-7'}`);
  fs.writeFileSync(file, ['a,label', ...lines, ''].join('\n'));
  const { run } = await lastEvent(
    home,
    'train',
    file,
    '--epochs',
    '30',
    '--target',
    'label',
    '--types',
    'label=category',
  );
  const out = path.join(home, 'formulas-out.csv');
  await lastEvent(home, 'predict', String(run), file, '--out', out, '--escape-formulas');
  const written = fs.readFileSync(out, 'utf8');
  assert.match(written, /^\d+,'=HYPERLINK\(1\),/m);
  assert.match(written, /^\d+,-7,/m);
});

test('more threads than cores are capped, with a word', async () => {
  const { code, stderr, events } = await trainyard(
    home,
    ...['train', table, '--target', 'label', '--epochs', '1', '--threads', '1000', '--json'],
  );
  assert.equal(code, 0, stderr);
  const cores = os.availableParallelism();
  assert.match(
    stderr,
    new RegExp(`^! --threads is 1000; this machine has ${cores} cores?, so it is ${cores} now\\.$`, 'm'),
  );
  assert.ok(Number(events.at(-1)!.threads) <= cores);
});

test('a missing addon is said with what it costs, by devices and by check, and not where it is there', async () => {
  const words = /No native addon: training takes about 2\.5 × as long, as our benchmarks measured elsewhere\./;
  const listed = await inShell(home, 'TRAINYARD_NATIVE=0 $T devices');
  assert.match(listed.stdout, words);
  // It is here, or may be: what brings it back is the variable.
  assert.match(listed.stdout, /TRAINYARD_NATIVE is 0, which leaves it out: unset it\./);
  assert.doesNotMatch(listed.stdout, /Install Trainyard again/);
  const checked = await inShell(home, `TRAINYARD_NATIVE=0 $T check ${table} --target label`);
  assert.match(checked.stderr + checked.stdout, words);
  assert.match(checked.stderr + checked.stdout, /TRAINYARD_NATIVE is 0, which leaves it out: unset it\./);
  if (findNative() !== undefined) assert.doesNotMatch((await inShell(home, '$T devices')).stdout, /No native addon/);
});

test('looking for GPUs prints nothing of the drivers', async () => {
  const { stderr, code } = await trainyard(home, 'devices');
  assert.deepEqual([code, stderr], [0, '']);
  // A driver that is there and does not work, as its manifest says.
  const manifest = path.join(home, 'driver.json');
  fs.writeFileSync(
    manifest,
    '{"file_format_version":"1.0.0","ICD":{"library_path":"./none.so","api_version":"1.1.0"}}',
  );
  const broken = await inShell(home, `VK_ICD_FILENAMES=${manifest} $T devices`);
  assert.deepEqual([broken.code, broken.stderr], [0, '']);
});

test('progress of long work stays out of a standard output that carries the file', async () => {
  const [out, error] = [new PassThrough(), new PassThrough()];
  const sink = (stream: PassThrough): Sink => new Sink(stream, () => undefined);
  const output = new Output(false, { out: sink(out), error: sink(error) });
  await checkOutput('/dev/stdout', output);
  // As if the work had begun long ago: the first line of progress is due.
  while (performance.now() < 2000) await new Promise((resolve) => setTimeout(resolve, 50));
  output.bar(0, 'Reading');
  assert.equal(out.read(), null);
  assert.equal(String(error.read()), '0 % Reading\n');
});
