// What happens to a person's disk and processes, met at the command line: a store that is killed in mid-run, a damaged checkpoint,
// a damaged history, a home that cannot be written or made.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { encodeSafetensors, decodeSafetensors, encodeText } from '../../engine/train/safetensors.ts';
import { readTrained } from '../../engine/learners/predict.ts';
import { lastEvent, penguins, startTrainyard, tables, temporaryHome, trainyard } from '../support/cli.ts';

const long = ['train', path.join(tables, 'digits.csv'), '--hidden', '256', '--patience', '0', '--threads', '1'];

/** The store processes of a home. */
function storesOf(home: string): readonly number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(`--home=${home}`)).map((line) => Number.parseInt(line, 10));
}

test('a run outlives its store; a damaged checkpoint gives way to the one before', async (context) => {
  const home = temporaryHome(context);
  const run = startTrainyard(home, [...long, '--epochs', '5000', '--json']);
  await run.event('epoch');
  process.kill(storesOf(home)[0], 'SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const folder = path.join(home, 'runs', '1');
  // A first checkpoint after a second; stopping writes another.
  while (!existsSync(path.join(folder, 'checkpoint.bin'))) await new Promise((resolve) => setTimeout(resolve, 50));
  run.child.kill('SIGINT');
  const ended = await run.finished;
  assert.equal((await lastEvent(home, 'show', '1')).state, 'stopped', ended.stderr);
  const { stdout } = await trainyard(home, 'show', '1', '--metrics', '--json');
  const points = stdout.split('\n').filter((line) => line.includes('"train_loss"') && line.includes('"metric"'));
  const steps = points.map((line) => (JSON.parse(line) as { step: number }).step);
  const width = steps[1] - steps[0];
  assert.deepEqual(
    steps,
    steps.map((_, index) => (index + 1) * width),
    'no epoch is missing, none is there twice',
  );

  const bytes = readFileSync(path.join(folder, 'checkpoint.bin'));
  bytes[bytes.length - 9] ^= 1;
  writeFileSync(path.join(folder, 'checkpoint.bin'), bytes);
  const resumed = startTrainyard(home, ['train', '--resume', '1', '--json']);
  await resumed.event('epoch');
  resumed.child.kill('SIGINT');
  const { stderr } = await resumed.finished;
  assert.match(stderr, /checkpoint\.bin of run 1 is damaged: .* goes on from the checkpoint before it/);

  // As earlier versions left it: without checksums.
  rmSync(path.join(folder, 'checksums.json'));
  const unchecked = startTrainyard(home, ['train', '--resume', '1', '--json']);
  await unchecked.event('epoch');
  unchecked.child.kill('SIGINT');
  assert.match((await unchecked.finished).stderr, /written before checksums were kept, .*: it could not be checked/);

  for (const name of ['checkpoint.bin', 'checkpoint.previous.bin']) writeFileSync(path.join(folder, name), 'nothing');
  const refused = await trainyard(home, 'train', '--resume', '1');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /There is no other checkpoint to go on from\. Train again with the settings/);
  assert.doesNotMatch(refused.stderr, /is kept|--resume/);
});

test('a home below /proc ends in one line, and nothing goes on', async () => {
  const { code, stderr } = await trainyard('/proc/x', 'runs');
  assert.equal(code, 2);
  assert.match(stderr, /^trainyard: The folder \/proc\/x cannot be made\. [^\n]*\n$/);
  assert.deepEqual(storesOf('/proc/x'), []);
});

test('a home that cannot be written is looked at, predicts and exports; a damaged one is repaired', async (context) => {
  const home = temporaryHome(context);
  await lastEvent(home, 'train', penguins, '--epochs', '3');
  const out = temporaryHome(context);
  if (readOnlyMount(home)) {
    try {
      assert.equal((await lastEvent(home, 'show', '1')).state, 'completed');
      assert.equal((await lastEvent(home, 'runs')).run, 1);
      await lastEvent(home, 'predict', '1', penguins, '--out', path.join(out, 'p.csv'));
      await lastEvent(home, 'export', '1', '--out', path.join(out, 'm.json'));
      assert.ok(existsSync(path.join(out, 'p.csv')) && existsSync(path.join(out, 'm.json')));
      for (const command of [
        ['train', penguins, '--epochs', '1'],
        ['delete', '1'],
      ]) {
        const { code, stderr } = await trainyard(home, ...command);
        assert.equal(code, 2, stderr);
        assert.match(stderr, /^trainyard: The folder [^\n]* cannot be written[^\n]*\n$/);
      }
    } finally {
      execFileSync('umount', ['-l', home]);
    }
  } else context.diagnostic('no read-only mount here (needs root on Linux): that part was left out');

  const folder = path.join(home, 'runs/1');
  renameSync(path.join(folder, 'checksums.json'), path.join(home, 'kept.json'));
  const unchecked = await trainyard(home, 'export', '1', '--out', path.join(out, 'm.json'));
  assert.deepEqual([unchecked.code, /! The list of checksums of run 1, .* is gone/.test(unchecked.stderr)], [0, true]);
  renameSync(path.join(home, 'kept.json'), path.join(folder, 'checksums.json'));
  renameSync(path.join(folder, 'preprocessing.json'), path.join(home, 'kept.json'));
  const gone = await trainyard(home, 'predict', '1', penguins);
  assert.match(
    gone.stderr,
    /^trainyard: Run 1 was trained, but its file preprocessing\.json is gone from its folder[^\n]*\n$/,
  );
  const looked = await trainyard(home, 'repair');
  assert.match(
    looked.stdout,
    /^The history is whole.*\nRun 1: preprocessing\.json is gone from its folder\. Put a copy back/,
  );
  renameSync(path.join(home, 'kept.json'), path.join(folder, 'preprocessing.json'));

  // Without a backup the folders are all there is.
  rmSync(path.join(home, 'backups'), { recursive: true, force: true });
  writeFileSync(path.join(home, 'history.db'), '');
  const { code, stderr } = await trainyard(home, 'runs');
  assert.equal(code, 2);
  assert.match(
    stderr,
    /^trainyard: The history [^\n]* is empty, but the folder runs holds 1 run\. Run `trainyard repair`[^\n]*\n$/,
  );
  const repaired = await trainyard(home, 'repair');
  assert.match(repaired.stdout, /The damaged file is kept as .*history\.damaged-/);
  assert.match(repaired.stdout, /Run \(1\) rebuilt from their folders/);
  assert.equal((await lastEvent(home, 'show', '1')).state, 'completed');
});

function readOnlyMount(folder: string): boolean {
  try {
    execFileSync('mount', ['--bind', folder, folder], { stdio: 'ignore' });
    execFileSync('mount', ['-o', 'remount,ro,bind', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('weights are read strictly: places without gaps or overlaps, shapes that fit, values that are numbers', () => {
  const tensor = { shape: [2, 2], data: new Float32Array([1, 2, 3, 4]) };
  const whole = encodeSafetensors({ tensors: { a: tensor, b: tensor }, metadata: { format: 'pt' } });
  assert.deepEqual(decodeSafetensors(whole).tensors['b'].data, tensor.data);
  const withHeader = (header: object, dataBytes: number): Uint8Array => {
    const text = encodeText(JSON.stringify(header));
    const file = new Uint8Array(8 + text.length + dataBytes);
    new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
    file.set(text, 8);
    return file;
  };
  const place = (...data_offsets: number[]): object => ({ dtype: 'F32', shape: [1], data_offsets });
  const broken: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['overlap', withHeader({ a: place(0, 4), b: place(0, 4) }, 4), /begins at byte/],
    ['gap', withHeader({ a: place(0, 4), b: place(8, 12) }, 12), /begins at byte/],
    ['negative', withHeader({ a: place(-4, 0) }, 4), /has no place/],
    ['fraction', withHeader({ a: place(0.5, 4.5) }, 8), /has no place/],
    ['beyond the end', withHeader({ a: place(0, 4) }, 2), /tensors end at/],
    ['behind the tensors', withHeader({ a: place(0, 4) }, 9), /tensors end at/],
    ['no shape', withHeader({ a: { dtype: 'F32', shape: [-1], data_offsets: [0, 4] } }, 4), /has no shape/],
    ['huge shape', withHeader({ a: { dtype: 'F32', shape: [2 ** 40], data_offsets: [0, 4] } }, 4), /bytes for/],
    ['a list', withHeader([], 0), /not JSON/],
  ];
  for (const [name, file, message] of broken) {
    assert.throws(() => decodeSafetensors(file), { code: 'data.safetensors', message }, name);
  }
  const nan = encodeSafetensors({ tensors: { a: { shape: [1], data: new Float32Array([NaN]) } }, metadata: {} });
  assert.throws(() => readTrained('{}', whole, 3), { code: 'run.damaged_file', message: /model\.json of run 3/ });
  assert.throws(() => readTrained('{', whole, 3), { code: 'run.damaged_file', message: /it is not JSON/ });
  const model = {
    model: { version: 1, layers: [{ type: 'output' }] },
    training: {
      epochs: 1,
      batch: 1,
      seed: 1,
      loss: 'auto',
      huberDelta: 1,
      labelSmoothing: 0,
      classWeights: 'none',
      optimizer: { name: 'adam', learningRate: 1 },
      schedule: { name: 'constant' },
    },
    input: { kind: 'table', width: 1, numeric: 1, embeddings: [] },
    output: { kind: 'classes', classes: ['a', 'b'] },
    task: 'classification',
  };
  assert.throws(() => readTrained(JSON.stringify(model), nan, 3), { message: /value 0 of tensor a is NaN/ });
});
