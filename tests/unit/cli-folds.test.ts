// A cross-validation put to use: with every learner it predicts as the plain mean of its folds, which were each fitted on rows of their own, and
// leaves as one ONNX graph that does so; it is explained out of fold, and refuses what it has not.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { declarations } from '../../engine/learners/declared/registry.ts';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';

const home = temporaryHome({ after } as never);

/** Some towns stand in one row or two: each fold knows others. */
function writeRows(name: string, rows: number, first: number): string {
  const lines = Array.from({ length: rows }, (_, at) => {
    const i = first + at;
    const a = ((i * 37) % 101) / 10;
    const town = i % 8 === 0 ? `rare ${i % 56}` : ['Lima', 'Bonn', 'Köln'][i % 3];
    const gap = i % 6 === 0 ? '' : ((i * 53) % 29) / 3;
    const price = 20 + 3 * a + (i % 3) * 4 + Number(gap) / 2 + ((i * 71) % 13) / 5;
    const day = `2024-${String(1 + (i % 12)).padStart(2, '0')}-${String(1 + (i % 28)).padStart(2, '0')}`;
    return `${a},${town},${gap},${day},${i % 2 === 0 ? 'yes' : 'no'},${price.toFixed(2)},${price > 42 ? 'dear' : 'cheap'}`;
  });
  const file = path.join(home, `${name}.csv`);
  fs.writeFileSync(file, `a,town,gap,day,open,price,kind\n${lines.join('\n')}\n`);
  return file;
}
const rows = writeRows('rows', 132, 0);
const others = writeRows('others', 30, 132);

/** What a run says of the other file: [rows][values]. */
async function predictions(run: number): Promise<readonly (readonly number[])[]> {
  const out = path.join(home, `predicted-${run}.csv`);
  await lastEvent(home, 'predict', String(run), others, '--out', out);
  const [head, ...lines] = fs.readFileSync(out, 'utf8').trim().split('\n');
  const from = head.includes('p(') ? 2 : 1;
  return lines.map((line) => line.split(',').slice(from).map(Number));
}

const folds = 3;
const learners = declarations.filter(({ parts }) => !parts);

for (const target of ['kind', 'price']) {
  for (const { name, layers } of target === 'kind' ? learners : learners.slice(0, 3)) {
    test(`${name} for ${target}: the mean of its folds, here and in onnxruntime`, async () => {
      const model = layers ? ['--hidden', '6', '--epochs', '6'] : ['--model', name];
      const settings = ['--target', target, '--ignore', target === 'kind' ? 'price' : 'kind', '--folds', String(folds)];
      const { run } = (await lastEvent(home, 'train', rows, ...model, ...settings)) as { readonly run: number };
      const whole = await predictions(run);
      assert.equal(whole.length, 30);
      const each = await Promise.all([1, 2, 3].map((fold) => predictions(run + fold)));
      const apart = whole.some((values, row) => values.some((_, k) => each[0][row][k] !== each[1][row][k]));
      assert.ok(apart, 'the folds say different things');
      whole.forEach((values, row) =>
        values.forEach((value, k) => {
          const mean = each.reduce((sum, one) => sum + one[row][k], 0) / folds;
          assert.ok(Math.abs(value - mean) <= 3e-6 * Math.max(1, Math.abs(mean)), `row ${row}: ${value}, not ${mean}`);
        }),
      );
      const out = path.join(home, `${name}-${target}.onnx`);
      const { certificate } = await lastEvent(home, 'export', String(run), '--format', 'onnx', '--out', out);
      const { passed, rows: checked } = certificate as { readonly passed: boolean; readonly rows: number };
      assert.deepEqual([passed, checked], [true, 132]);
    });
  }
}

test('explained on rows that the answering fold did not learn from, evaluated on another file; the rest is refused', async () => {
  const args = ['--target', 'kind', '--ignore', 'price', '--model', 'forest', '--trees', '20', '--folds', '3'];
  const { run } = (await lastEvent(home, 'train', rows, ...args)) as { readonly run: number };
  const scoreIn = ({ scores }: Record<string, unknown>, name: string): number =>
    (scores as readonly { readonly name: string; readonly value: number }[]).find((one) => one.name === name)!.value;
  const own = await lastEvent(home, 'evaluate', String(run));
  const why = await lastEvent(home, 'explain', String(run), '--shuffles', '2', '--row', '5');
  assert.equal(why.split, 'out of fold');
  const { scores } = why as { readonly scores: Readonly<Record<string, number>> };
  assert.ok(Math.abs(scores.log_loss - scoreIn(own, 'log_loss')) < 1e-6, 'the unshuffled score is the one out of fold');
  const [first] = why.importance as readonly { readonly column: string }[];
  assert.equal(first.column, 'a');
  const other = await lastEvent(home, 'evaluate', String(run), others);
  assert.equal(other.rows, 30);
  const predicted = await predictions(run);
  const truth = fs.readFileSync(others, 'utf8').trim().split('\n').slice(1);
  const right = truth.filter((line, row) => line.endsWith(predicted[row][0] >= 0.5 ? 'cheap' : 'dear')).length;
  assert.ok(Math.abs(scoreIn(other, 'accuracy') - right / 30) < 1e-9);
  for (const [asked, words, wanted] of [
    [['export', String(run), '--format', 'safetensors'], /mean of the models of its folds: safetensors holds one/, 1],
    [['export', String(run), '--format', 'pytorch'], /It leaves as ONNX, Report, TensorBoard or Specification/, 1],
    [['show', String(run), '--tree', '1'], /it has no trees of its own\. Look at those of one of its folds\./, 2],
    [['explain', String(run), '--split', 'test'], /its folds divide the rows in as many ways/, 2],
    [['evaluate', String(run), '--split', 'train'], /its folds divide the rows in as many ways/, 2],
    [['predict', String(run), others, '--checkpoint', 'last'], /has kept no others/, 2],
  ] as const) {
    const { code, stderr } = await trainyard(home, ...asked);
    assert.equal(code, wanted, stderr);
    assert.match(stderr, words);
  }
});
