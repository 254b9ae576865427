// `evaluate` end to end: the scores of the run itself come out again, each beside its interval and the baselines; another file, costs, numbers.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import Database from 'better-sqlite3';
import type { PairedTest } from '../../engine/evaluation/paired.ts';
import type { FoldScores, Score } from '../../engine/protocol/evaluated-rows.ts';
import type { FoldsResult } from '../../engine/protocol/runs.ts';
import { lastEvent, tables, temporaryHome, trainyard } from '../support/cli.ts';

const scoreOf = (event: Record<string, unknown>, name: string): Score =>
  (event.scores as Score[]).find((score) => score.name === name) ?? assert.fail(`no ${name}`);

test('two classes: every split, the test split counted, costs, another file', async (t) => {
  const home = temporaryHome(t);
  const file = path.join(tables, 'breast_cancer.csv');
  const trained = await lastEvent(home, 'train', file, '--epochs', '8', '--split', '0.5,0.25,0.25');
  const metrics = trained.metrics as Record<string, number>;
  const linear = (trained.baseline as { linear: { metrics: Record<string, number> } } | undefined)?.linear.metrics;
  for (const [split, prefix] of [
    ['validation', 'val'],
    ['test', 'test'],
  ] as const) {
    const event = await lastEvent(home, 'evaluate', '1', '--split', split);
    assert.equal(event.event, 'evaluation');
    for (const [name, metric] of [
      ['accuracy', 'accuracy'],
      ['roc_auc', 'roc_auc'],
      ['balanced_accuracy', 'balanced_accuracy'],
      ['log_loss', 'loss'],
    ]) {
      const score = scoreOf(event, name);
      const wanted = metrics[`${prefix}_${metric}`];
      assert.ok(Math.abs(score.value - wanted) < 1e-6, `${split} ${name}: ${score.value}, the run says ${wanted}`);
      assert.ok(score.low <= score.value && score.value <= score.high);
      if (linear) assert.ok(Math.abs((score.linear ?? NaN) - linear[`${prefix}_${metric}`]) < 1e-6, `linear ${name}`);
    }
    const confusion = (event.confusion as number[][]).flat();
    assert.equal(
      confusion.reduce((sum, count) => sum + count, 0),
      event.rows,
    );
    assert.equal(event.opened_before, 0);
    // A run notes the mean of F1 over the classes; of two classes the one that is looked for is asked about here.
    const each = (event.classes as { f1: number; name: string }[]).map(({ f1 }) => f1);
    assert.ok(Math.abs((each[0] + each[1]) / 2 - metrics[`${prefix}_f1`]) < 1e-6);
    assert.ok(each.some((f1) => Math.abs(f1 - scoreOf(event, 'f1').value) < 1e-6));
  }
  assert.match((await trainyard(home, 'show', '1')).stdout, /^ {2}F1 \(macro\) /m);
  const again = await trainyard(
    home,
    'evaluate',
    '1',
    '--split',
    'test',
    '--cost-missed',
    '300',
    '--cost-needless',
    '60',
  );
  assert.match(again.stdout, /test split, 14\d rows, opened once before, last 20/);
  assert.match(again.stdout, /the cheapest on the validation split/);
  assert.match(again.stdout, /^Calibration error /m);
  assert.match(again.stdout, /^F1 of “[^”]+” /m);

  const between = await lastEvent(
    home,
    'evaluate',
    '1',
    '--threshold',
    '0.335',
    '--cost-missed',
    '3',
    '--cost-needless',
    '1',
  );
  const [[, needless], [missed]] = between.confusion as number[][];
  const price = (3 * missed + needless) / (between.rows as number);
  assert.ok(Math.abs((between.cost as { a_row: number }).a_row - price) < 1e-12);

  const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
  const other = path.join(home, 'later.csv');
  fs.writeFileSync(other, [lines[0], ...lines.slice(100, 200)].join('\n'));
  const elsewhere = await lastEvent(home, 'evaluate', '1', other);
  // The threshold for another file is looked for where it is for any rows: on the validation split.
  const costs = ['--cost-missed', '300', '--cost-needless', '60'];
  const own = await lastEvent(home, 'evaluate', '1', '--split', 'train', ...costs);
  const there = await lastEvent(home, 'evaluate', '1', other, ...costs);
  assert.equal((there.cost as { chosen_on: string }).chosen_on, 'validation');
  assert.equal(there.threshold, own.threshold);
  assert.deepEqual([elsewhere.rows, elsewhere.file, elsewhere.split], [100, 'later.csv', null]);
  const [worst] = elsewhere.worst as { row: number; truth: string }[];
  if (worst) assert.equal(lines[100 + worst.row - 1].split(',').at(-1), worst.truth);

  // Rows of a class that the run has never heard of are no rows without a truth: it is wrong about them.
  const target = lines[0].lastIndexOf(',');
  const told = lines.slice(100, 200);
  const strange = told.map((line, row) => (row < 25 ? `${line.slice(0, line.lastIndexOf(','))},elsewhere` : line));
  fs.writeFileSync(other, [lines[0], ...strange].join('\n'));
  const foreign = await lastEvent(home, 'evaluate', '1', other);
  const { value: accuracy } = scoreOf(foreign, 'accuracy');
  const { rows: beyond, accuracy: withThem } = foreign.unknown_classes as { rows: number; accuracy: number };
  assert.deepEqual([foreign.rows, foreign.left_out, beyond], [75, 0, 25]);
  assert.ok(Math.abs(withThem - 0.75 * accuracy) < 1e-12);

  fs.writeFileSync(
    other,
    [lines[0].slice(0, target), ...lines.slice(1, 50).map((line) => line.slice(0, line.lastIndexOf(',')))].join('\n'),
  );
  const untold = await trainyard(home, 'evaluate', '1', other);
  assert.equal(untold.code, 2);
  assert.match(untold.stderr, /nothing to compare the predictions with.*Predict the file instead/);
  assert.equal((await trainyard(home, 'evaluate', '1', other, '--split', 'test')).code, 2);
});

test('a file that writes its target true and false is evaluated by a run of ones and zeros', async (t) => {
  const home = temporaryHome(t);
  const write = (name: string, words: readonly string[]): string => {
    const lines = Array.from(
      { length: 200 },
      (_, row) => `${(row * 37) % 101},${words[(row * 37) % 101 > 45 ? 1 : 0]}`,
    );
    fs.writeFileSync(path.join(home, name), ['size,large', ...lines].join('\n'));
    return path.join(home, name);
  };
  const own = write('own.csv', ['0', '1']);
  await lastEvent(home, 'train', own, '--model', 'linear');
  const same = await lastEvent(home, 'evaluate', '1', own);
  const inWords = await lastEvent(home, 'evaluate', '1', write('words.csv', ['false', 'true']));
  assert.deepEqual([inWords.rows, inWords.confusion], [200, same.confusion]);
});

test('numbers: errors by range, coverage, rows farthest off', async (t) => {
  const home = temporaryHome(t);
  const trained = await lastEvent(
    home,
    'train',
    path.join(tables, 'diabetes.csv'),
    '--model',
    'linear',
    '--split',
    '0.4,0.3,0.3',
  );
  const event = await lastEvent(home, 'evaluate', '1', '--split', 'test');
  const metrics = trained.metrics as Record<string, number>;
  for (const name of ['rmse', 'mae', 'r2']) {
    assert.ok(Math.abs(scoreOf(event, name).value / metrics[`test_${name}`] - 1) < 1e-5, name);
    assert.equal(scoreOf(event, name).linear, null);
  }
  assert.equal(scoreOf(event, 'bias').name, 'bias');
  assert.equal((event.ranges as unknown[]).length, 8);
  const coverage = event.coverage as { promised: number; held: number; rows: number };
  assert.equal(coverage.rows, event.rows);
  assert.ok(Math.abs(coverage.held - coverage.promised) < 0.15);
  const worst = event.worst as { share: number }[];
  assert.ok(Math.abs(worst[0].share) >= Math.abs(worst[1].share));
  await lastEvent(
    home,
    'train',
    path.join(tables, 'diabetes.csv'),
    '--model',
    'linear',
    '--split',
    '0.4,0.3,0.3',
    '--penalty',
    '100000',
  );
  const compared = await lastEvent(home, 'compare', '1', '2', '--paired', 'validation');
  const [{ test: paired }] = compared.paired as { test: PairedTest }[];
  assert.deepEqual([paired.test, paired.better + paired.worse], ['paired bootstrap', paired.rows]);
  assert.ok(paired.p < 0.01 && paired.difference.low > 0, 'the one that hardly learns is farther off');
  const several = await trainyard(home, 'compare', '1', '2', '1', '--paired', 'validation');
  assert.match(
    several.stdout,
    /run 2 is better than run 1 on 45 of 133 rows, worse on 88: p = 0\.001, 0\.002 after Holm's correction \(/,
  );
  assert.match(several.stdout, /run 1 is better than run 1 on 0 of .*: p = 1 .*: cannot tell them apart/);
  const refused = await trainyard(home, 'evaluate', '1', '--split', 'everything');
  assert.match(refused.stderr, /train, validation, test/);
});

test('cross-validation: each row once out of fold, the same figures in show, evaluate and the file', async (t) => {
  const home = temporaryHome(t);
  const trained = await lastEvent(home, 'train', path.join(tables, 'iris.csv'), '--epochs', '20', '--folds', '3');
  const { mean, deviation, folds } = trained.folds as FoldsResult;
  assert.deepEqual([trained.run, folds.map(({ fold }) => fold)], [1, [1, 2, 3]]);

  const event = await lastEvent(home, 'evaluate', '1');
  assert.deepEqual([event.split, event.rows, event.left_out], ['out of fold', 150, 0]);
  const { spread, folds: scored } = event as unknown as Pick<FoldScores, 'spread' | 'folds'>;
  for (const [score, metric] of [
    ['accuracy', 'test_accuracy'],
    ['log_loss', 'test_loss'],
    ['roc_auc', 'test_roc_auc'],
  ] as const) {
    assert.ok(Math.abs(spread[score]!.mean - mean[metric]) < 1e-6, `${score}: ${spread[score]!.mean}, ${mean[metric]}`);
    assert.ok(Math.abs(spread[score]!.deviation - deviation[metric]) < 1e-6, score);
    scored.forEach(({ scores }, at) => assert.ok(Math.abs(scores[score]! - folds[at].metrics[metric]) < 1e-6, score));
  }
  const weighted = scored.reduce((sum, { rows, scores }) => sum + (rows * scores.accuracy!) / 150, 0);
  assert.ok(Math.abs(scoreOf(event, 'accuracy').value - weighted) < 1e-9);

  const out = path.join(home, 'folds.csv');
  await lastEvent(home, 'predict', '1', '--out-of-fold', '--out', out);
  const [head, ...lines] = fs.readFileSync(out, 'utf8').trim().split('\n');
  assert.equal(head, 'row,fold,truth,prediction,p(setosa),p(versicolor),p(virginica)');
  const cells = lines.map((line) => line.split(','));
  assert.deepEqual(
    cells.map(([row]) => Number(row)),
    Array.from({ length: 150 }, (_, row) => row + 1),
  );
  const right = cells.filter(([, , truth, predicted]) => truth === predicted).length / 150;
  assert.ok(Math.abs(right - weighted) < 1e-9);

  const shown = await trainyard(home, 'show', '1');
  assert.match(shown.stdout, /result +completed after 3 of 3 folds[^]+fold 1 +2 [^]+mean[^]+deviation/);
  assert.deepEqual([event.of_rows, event.folds_standing, event.of_folds], [150, 3, 3]);
  assert.match((await trainyard(home, 'evaluate', '1')).stdout, /^Run 1: .*, out of fold, 150 rows$/m);

  const alone = await trainyard(home, 'delete', '3', '--purge');
  assert.equal(alone.code, 2);
  assert.match(
    alone.stderr,
    /Run 3 is fold 2 of run 1 and cannot be deleted by itself\. Delete the cross-validation, run 1/,
  );
  // As a history from before that may be.
  const history = new Database(path.join(home, 'history.db'));
  history.prepare('UPDATE run SET deleted_at = ? WHERE id = 3').run(Date.now());
  history.close();
  fs.writeFileSync(path.join(home, 'history.db-seal'), '');
  const left = 150 - scored[1].rows;
  const some = await lastEvent(home, 'evaluate', '1');
  assert.deepEqual([some.rows, some.of_rows, some.folds_standing, some.of_folds], [left, 150, 2, 3]);
  const missing = '2 of 3 folds stand (fold 2: it is in the trash).';
  const words = `${missing} The rows of the others are left out: ${left} of 150 are here.`;
  assert.deepEqual(some.warnings, [{ code: 'missing_folds', message: words }]);
  const said = await trainyard(home, 'evaluate', '1');
  assert.ok(said.stdout.includes(`, out of fold, ${left} of 150 rows (2 of 3 folds)\n`), said.stdout);
  const written = await trainyard(home, 'predict', '1', '--out-of-fold', '--out', path.join(home, 'some.csv'));
  assert.ok(written.stdout.includes(`! ${words}`), written.stdout);
  assert.ok(written.stdout.includes(`\n${left} of 150 rows (2 of 3 folds), each predicted`), written.stdout);
  assert.ok((await trainyard(home, 'show', '1')).stdout.includes(`! ${missing}`));

  const many = await trainyard(home, 'train', path.join(tables, 'iris.csv'), '--folds', '60');
  assert.match(many.stderr, /The class “setosa” has \d+ different rows: too few for 60 folds\. Take \d+ folds at most/);
});

test('out of fold no threshold is looked for, and numbers are written as the file has them', async (t) => {
  const home = temporaryHome(t);
  await lastEvent(home, 'train', path.join(tables, 'breast_cancer.csv'), '--model', 'linear', '--folds', '2');
  const costs = ['--cost-missed', '300', '--cost-needless', '60'];
  const priced = await lastEvent(home, 'evaluate', '1', ...costs);
  assert.deepEqual([priced.threshold, (priced.cost as { chosen_on: unknown }).chosen_on], [0.5, null]);
  assert.match(
    (await trainyard(home, 'evaluate', '1', ...costs)).stdout,
    /^threshold 0\.5 \(none is looked for on test rows/m,
  );
  const fold = await lastEvent(home, 'evaluate', '2', '--split', 'test', ...costs);
  assert.equal((fold.cost as { chosen_on: unknown }).chosen_on, 'validation');

  const file = path.join(home, 'prices.csv');
  const price = (row: number): string => (887.06 + 1.13 * row).toFixed(2);
  const rows = Array.from({ length: 60 }, (_, row) => `${row % 7},${row * 0.5},${row === 8 ? '' : price(row)}`);
  fs.writeFileSync(file, ['kind,size,price', ...rows].join('\n'));
  const { run } = await lastEvent(home, 'train', file, '--target', 'price', '--model', 'linear', '--folds', '3');
  const out = path.join(home, 'prices-folds.csv');
  await lastEvent(home, 'predict', String(run), '--out-of-fold', '--out', out);
  const [, ...lines] = fs.readFileSync(out, 'utf8').trim().split('\n');
  assert.equal(lines.length, 59);
  for (const [row, , truth] of lines.map((line) => line.split(',')))
    assert.equal(Number(truth), Number(price(Number(row) - 1)));
});
