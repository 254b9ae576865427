// Best of all: the mix is the one that greedy selection has to find, parts of rows are fair, and a run that is killed goes on from the
// members that are done.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { partRows, usualParts, type Parting } from '../../engine/data/preprocess/parts.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import type { InputSpec } from '../../engine/model/spec.ts';
import type { NetworkConfig } from '../../engine/learners/network/declaration.ts';
import { Standing } from '../../engine/learners/auto/leaderboard.ts';
import type { Member } from '../../engine/learners/auto/member.ts';
import { candidates, type Candidate } from '../../engine/learners/auto/plan.ts';
import { fitPowerLaw, lossAt, withTwice } from '../../engine/learners/auto/curve.ts';
import { leastProbability, selectGreedily, type Judge } from '../../engine/learners/auto/selection.ts';
import { secondsOfPhases } from '../../engine/protocol/bill.ts';
import { createStore } from '../../engine/history/store.ts';
import type { KeptMember } from '../../engine/protocol/hosts.ts';
import type { LeaderboardRow } from '../../engine/protocol/leaderboard.ts';
import { MemberRuns } from '../../engine/runs/member-runs.ts';
import type { RunProgress, RunResult } from '../../engine/protocol/runs.ts';
import { lastEvent, startTrainyard, temporaryHome, trainyard } from '../support/cli.ts';
import { exampleConfig, newRun } from './fixtures/history.ts';
import { uniform } from '../support/table.ts';

const settings = { target: 'bought', task: 'classification' } as const;
const common = { dataset: 'd', device: 'cpu', threads: 1, seed: 4, settings } as const;

/** The same by the definition: every multiset that grows by one, its mean made anew. */
function selectByDefinition(models: readonly Float64Array[], { kind, truth, rows }: Judge): readonly number[] {
  const lossOf = (taken: readonly number[]): number => {
    let sum = 0;
    for (const row of rows) {
      const mean = taken.reduce((total, model) => total + models[model][row], 0) / taken.length;
      sum += kind === 'classes' ? -Math.log(Math.max(mean, leastProbability)) : (mean - truth[row]) ** 2;
    }
    return sum / rows.length;
  };
  let taken: number[] = [];
  let best = { taken, loss: Infinity };
  for (let size = 1; size <= 40; size++) {
    const tried = models.map((_, model) => [...taken, model]);
    const losses = tried.map(lossOf);
    taken = tried[losses.indexOf(Math.min(...losses))];
    if (Math.min(...losses) < best.loss) best = { taken, loss: Math.min(...losses) };
  }
  return models.map((_, model) => best.taken.filter((one) => one === model).length / best.taken.length);
}

function plan(input: InputSpec = { kind: 'columns', columns: [] }): readonly Candidate[] {
  const output = { kind: 'classes', classes: ['no', 'yes'] } as const;
  return [...candidates({ common, data: { task: 'classification', output, input }, rows: 400 })];
}

test('of texts a linear model and a network, beside what learns from the other columns where there are some', () => {
  const texts = [{ name: 'review', width: 40 }];
  const titles = plan({ kind: 'columns', columns: [], texts }).map(({ title }) => title);
  assert.deepEqual(titles, ['Linear model', 'Bag of words', 'Text network']);
  const mixed = plan({ kind: 'columns', columns: [{ name: 'price', kind: 'number' }], texts });
  assert.deepEqual(
    mixed.slice(0, 6).map(({ title }) => title),
    ['Linear model', 'Bag of words', 'Boosted trees, small', 'Network', 'Boosted trees', 'Text network'],
  );
  const { layers } = (mixed[5].config(0) as NetworkConfig).model;
  assert.ok(
    layers.some(({ from }) => Array.isArray(from) && from.includes('input')),
    'numbers join behind the text',
  );
  assert.ok(!plan().some(({ title }) => /^(Bag of words|Text network)$/.test(title)));
});

test('greedy selection takes what the definition takes, of classes and of numbers, on the rows it is shown', () => {
  for (const kind of ['classes', 'values'] as const) {
    for (let seed = 1; seed <= 5; seed++) {
      const random = uniform(seed);
      const truth = Float64Array.from({ length: 60 }, () => random());
      const models = Array.from({ length: 6 }, (_, model) =>
        truth.map((value) => (kind === 'classes' ? random() : value + (random() - 0.4) * (model + 1))),
      );
      const judge = { kind, truth, rows: Uint32Array.from({ length: 40 }, (_, at) => at + 10) };
      const { weights, loss } = selectGreedily(models, judge);
      selectByDefinition(models, judge).forEach((weight, model) =>
        assert.ok(Math.abs(weight - weights[model]) < 1e-12, `${kind}, seed ${seed}: model ${model}`),
      );
      for (const one of models) assert.ok(loss <= selectGreedily([one], judge).loss);
    }
  }
});

test('a member with fewer folds has no weight beside one with all, however well it does on them; alone it answers', () => {
  const targets = Float32Array.of(0, 1, 2, 3);
  const rows = { targets, count: 2, rowsOf: (part: number) => Uint32Array.from(part === 1 ? [0, 1] : [2, 3]) };
  const output = { kind: 'value', name: 'price', offset: 0, scale: 1 } as const;
  const config = plan()[0].config(0);
  const nothing = new Uint8Array(0);
  const member = (number: number, outOfFold: readonly number[], parts: readonly number[]): Member => ({
    number,
    ...{ title: `${number}`, config, seconds: 1, microseconds: 1, parameters: 1 },
    models: parts.map((part) => ({ part, model: nothing, weights: nothing })),
    outOfFold: Float64Array.from(outOfFold),
    test: new Float64Array(0),
  });
  const whole = member(0, [0.5, 1.5, 2.5, 3.5], [1, 2]);
  const sure = member(1, [0, 1, NaN, NaN], [1]);
  const standing = new Standing([sure, whole], rows, output);
  assert.deepEqual(standing.select(), [0, 1]);
  assert.deepEqual(
    standing.board([0, 1]).map(({ title }) => title),
    ['The best one alone', '0', '1', 'Always the same answer'],
  );
  const [, , fewer] = standing.board([0, 1]);
  assert.deepEqual([fewer.score, fewer.ensembleThere], [0, 0.5], 'beside what the ensemble has on the same rows');
  assert.ok(standing.board([0, 1]).every(({ member: of, ensembleThere }) => of === 1 || ensembleThere === undefined));
  const far = member(3, [9, 8, -7, -6], [1, 2]);
  assert.deepEqual(
    new Standing([whole, far], rows, output).board([1, 0]).map(({ tied }) => tied),
    [true, true, false, true],
    'chance does not explain what is far behind',
  );
  const alone = new Standing([sure, member(2, [1, 2, NaN, NaN], [1])], rows, output);
  assert.deepEqual(alone.select(), [1, 0]);
});

test('a power law is found again, and twice the rows are read off it', () => {
  const law = { floor: 0.2, scale: 3, power: 0.5 };
  const points = [100, 200, 400, 800, 1000].map((rows) => ({ rows, loss: lossAt(law, rows), error: 0.001 }));
  const found = fitPowerLaw(points);
  for (const name of ['floor', 'scale', 'power'] as const) assert.ok(Math.abs(found[name] - law[name]) < 1e-6, name);
  const { loss, interval } = withTwice(points, 1);
  assert.ok(Math.abs(loss - lossAt(law, 2000)) < 1e-9);
  assert.ok(interval[0] < loss && loss < interval[1] && interval[1] < points[4].loss + 0.004);
  const flat = points.map((point) => ({ ...point, loss: 0.5 }));
  assert.ok(Math.abs(withTwice(flat, 1).loss - 0.5) < 1e-9, 'nothing is to be gained');
});

test('parts hold each row once, classes alike; groups stay whole, the latest rows are held out, single rows train', () => {
  const rows = 100;
  const strata = Int32Array.from({ length: rows }, (_, row) =>
    row === 99 ? 2 : row % 4 === 0 ? 1 : row === 7 ? -1 : 0,
  );
  const asked: Parting = { strata, classes: 3, copies: null, parts: 5, seed: 1 };
  const parts = partRows(asked);
  assert.equal(parts[7], 0, 'no training row');
  assert.equal(parts[99], 0, 'the only row of its class is always learned from');
  for (let part = 1; part <= 5; part++) {
    const own = [...parts.keys()].filter((row) => parts[row] === part);
    assert.ok(own.length >= 19 && own.length <= 20);
    assert.equal(own.filter((row) => strata[row] === 1).length, 5);
  }
  const keys = Float64Array.from({ length: rows }, (_, row) => Math.floor(row / 10));
  const groups = partRows({ ...asked, by: { kind: 'group', column: 'shop', keys } });
  for (let row = 0; row < rows; row++) {
    const first = Math.floor(row / 10) * 10;
    if (strata[row] >= 0) assert.equal(groups[row], groups[first]);
  }
  const latest = partRows({ ...asked, by: { kind: 'time', column: 'day', keys } });
  assert.deepEqual([...new Set([...latest.subarray(80)])], [1]);
  assert.ok(!latest.subarray(0, 80).includes(1));
  const copies = Int32Array.from({ length: rows }, (_, row) => (row % 2 === 0 ? row : row - 1));
  const together = partRows({ ...asked, strata: new Int32Array(rows), classes: 1, copies });
  for (let row = 0; row < rows; row += 2) assert.equal(together[row], together[row + 1]);
  const one = { kind: 'group', column: 'shop', keys: new Float64Array(rows) } as const;
  assert.throws(() => partRows({ ...asked, by: one }), /one group of shop/);
  assert.throws(() => partRows({ ...asked, by: { ...one, kind: 'time' } }), /same shop/);
  assert.deepEqual([usualParts(2_000, 1), usualParts(50_000, 1), usualParts(9_000, 26)], [5, 3, 1]);
});

test('quick models of every kind come first, RealMLP once they had their turns; the same seed plans the same', () => {
  const planned = plan();
  assert.deepEqual(
    planned.slice(0, 5).map(({ title }) => title),
    ['Linear model', 'Boosted trees, small', 'Network', 'Boosted trees', 'MLP for tables'],
  );
  assert.deepEqual(
    planned.slice(5, 7).map(({ title }) => title),
    ['Extra trees', 'Forest'],
  );
  assert.equal(
    planned.findIndex(({ title }) => title === 'RealMLP'),
    11,
  );
  const config = planned[11].config(0);
  assert.equal((config as NetworkConfig).model.preset, 'realmlp');
  assert.equal((config as NetworkConfig).training.schedule.name, 'coslog4');
  assert.deepEqual(plan()[11].config(2), planned[11].config(2));
});

/** Rows of two classes that no single kind of model has wholly. */
function writeTable(folder: string): string {
  const random = uniform(3);
  const lines = Array.from({ length: 400 }, () => {
    const [a, b] = [random() * 4 - 2, random() * 4 - 2];
    const shop = ['north', 'south', 'east'][Math.floor(random() * 3)];
    return `${a},${b},${shop},${a + (shop === 'north' ? b * b : 0) + random() > 0.5 ? 'yes' : 'no'}`;
  });
  const file = path.join(folder, 'shops.csv');
  writeFileSync(file, ['a,b,shop,bought', ...lines].join('\n'));
  return file;
}

interface Row {
  readonly run: number;
  readonly learner: string;
  readonly title: string;
  readonly score: number;
  readonly interval: readonly [number, number];
  readonly folds: readonly number[];
  readonly of_folds: number;
  readonly seconds: number;
  readonly weight: number;
}

test('a best of all that is killed goes on from the members that are done, and predicts with their mix', async (t) => {
  const home = temporaryHome(t);
  const file = writeTable(home);
  const begun = startTrainyard(home, ['train', file, '--model', 'auto', '--minutes', '0.1', '--json']);
  await begun.event('epoch');
  begun.child.kill('SIGKILL');
  await begun.finished;
  const { code, events, stderr } = await trainyard(home, 'train', '--resume', '1', '--json');
  assert.equal(code, 0, stderr);
  const ended = events.at(-1) as unknown as { readonly elapsed_seconds: number; readonly leaderboard: readonly Row[] };
  const { leaderboard } = ended;
  assert.ok(ended.elapsed_seconds < 6 + 6, `${ended.elapsed_seconds} s of 6`);
  const [ensemble, ...others] = leaderboard;
  assert.equal(others.at(-1)?.learner, 'constant');
  const members = others.slice(0, -1);
  assert.equal(ensemble.run, 1);
  assert.ok(members.length >= 2);
  const runs = members.map(({ run }) => run).sort((one, other) => one - other);
  assert.deepEqual(
    runs,
    Array.from({ length: members.length }, (_, at) => at + 2),
    'none was trained twice',
  );
  // What was cut short is scored on other rows.
  const whole = members.filter(({ folds, of_folds: all }) => folds.length === all);
  assert.ok(whole.length > 0 && whole.every(({ score }) => ensemble.score <= score + 1e-9));
  for (const { interval, score } of leaderboard) assert.ok(interval[0] <= score && score <= interval[1]);
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  assert.ok(Math.abs(weights - 1) < 1e-9);
  for (const { run } of [ensemble, members[0]]) {
    const { events: predicted } = await trainyard(home, 'predict', String(run), file, '--json');
    const metrics = predicted.at(-1)!.metrics as { readonly accuracy: number };
    assert.ok(metrics.accuracy > 0.8, `run ${run}: ${metrics.accuracy}`);
  }
  const evaluated = await lastEvent(home, 'evaluate', '1');
  const explained = await lastEvent(home, 'explain', '1', '--shuffles', '2');
  assert.deepEqual([evaluated.split, explained.split], ['test', 'test'], 'no row it learned from');
  assert.match((await trainyard(home, 'evaluate', '1', '--split', 'validation')).stderr, /the train or test split/);
  // One that draws by a seed of its own is judged on the rows of the whole all the same.
  const drawn = whole.filter(({ title }) => /^Network \d/.test(title)).slice(0, 1);
  for (const { run, score } of [ensemble, members[0], ...drawn]) {
    const { split, rows, scores } = await lastEvent(home, 'evaluate', String(run), '--split', 'out-of-fold');
    const found = (scores as { name: string; value: number }[]).find(({ name }) => name === 'log_loss')!.value;
    assert.deepEqual([split, rows], ['out of fold', 360], 'every training row');
    assert.ok(Math.abs(found - score) < 1e-5, `run ${run}: ${found}, ${score} on the leaderboard`);
  }
  for (const { run } of [members[0], ...drawn]) {
    const { scores } = await lastEvent(home, 'evaluate', String(run), '--split', 'test');
    const found = (scores as { name: string; value: number }[]).find(({ name }) => name === 'log_loss')!.value;
    const { result } = (await lastEvent(home, 'show', String(run))) as unknown as { result: RunResult };
    assert.ok(Math.abs(found - result.metrics['test_loss']) < 1e-5, `run ${run}: ${found} on the test rows`);
  }
  const { paired } = await lastEvent(home, 'compare', '1', String(members[0].run), '--paired', 'out-of-fold');
  assert.equal((paired as { test: { rows: number } }[])[0].test.rows, 360);
  const exported = await trainyard(home, 'export', '1', '--format', 'onnx', '--out', path.join(home, 'all'));
  assert.match(exported.stdout, /certified: .*labels equal in 40 of 40/, exported.stderr);
  const refused = await trainyard(home, 'export', '1', '--format', 'pytorch');
  assert.match(refused.stderr, /no PyTorch project of the best of all.*ONNX, Report, TensorBoard, MLflow/s);
  const folder = await trainyard(home, 'export', '1', '--format', 'mlflow', '--out', path.join(home, 'mlflow'));
  assert.equal(folder.code, 0, folder.stderr);
  const member = await lastEvent(home, 'show', String(members[0].run));
  const { stdout } = await trainyard(home, 'show', String(members[0].run));
  assert.match(stdout, /result .*training/);
  assert.doesNotMatch(stdout, /training rows\/s|– without pauses/, 'nobody counted them');
  assert.deepEqual([member.relation, member.parent, member.state], ['member', 1, 'completed']);
  const number = String(members[0].run);
  const trees = members.find(({ learner }) => learner === 'boosted')!;
  for (const asked of [
    ['forecast', '--model', number],
    ['forecast', '--model', String(trees.run)],
    ['show', number, '--tree', '1'],
    ['continue', number],
    ['train', file, '--from', number],
  ]) {
    const { code: refusal, stderr: why } = await trainyard(home, ...asked);
    assert.equal(refusal, 2, asked.join(' '));
    assert.match(why, /is a member of run 1: it has a model for each fold/, asked.join(' '));
  }

  // Both keep their bills: what the two attempts took is in their phases, once.
  const { progress } = (await lastEvent(home, 'show', '1')) as unknown as { readonly progress: RunProgress };
  const [phases, elapsed] = [secondsOfPhases(progress.bill!.phases), progress.secondsElapsed];
  assert.ok(phases > 0.7 * elapsed && phases < 1.3 * elapsed, `${phases} s of ${elapsed}`);
  assert.ok(progress.bill!.phases.training! > 5);
  const { bill } = member.progress as RunProgress;
  assert.ok(bill!.phases.training! > 0 && bill!.cpuSeconds > 0);
  assert.ok(bill!.cpuSeconds < progress.bill!.cpuSeconds);
  assert.equal('spent' in (member.result as object), false, 'it stands in the bill alone');
});

test('members of an attempt before keep their numbers; one that is lost on its way waits for no turn', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  context.after(() => store.close());
  const { owner, ...called } = newRun();
  const record = await store.createRun({ owner, ...called });
  const member = (number: number): KeptMember => ({
    member: number,
    title: 'Linear model',
    config: exampleConfig,
    parameters: 3,
    files: { 'model.json': new Uint8Array(2) } as unknown as KeptMember['files'],
    result: {
      ...{ reason: 'completed', device: 'cpu', threads: 1, epochs: 5, steps: 5, seconds: 1, examplesPerSecond: 0 },
      ...{ metrics: { val_loss: 0.5 }, bestEpoch: 5 },
    },
  });
  await new MemberRuns({ store, record, owner }).keep(member(0));
  const [{ id }] = (await store.runs({ parent: record.id })).runs;

  const later = new MemberRuns({ store, record, owner });
  await later.read();
  const leaderboard = [{ member: 0 }] as unknown as readonly LeaderboardRow[];
  assert.deepEqual(later.withNumbers({ leaderboard }, record.id), { leaderboard: [{ member: 0, run: id }] });

  const writeFile = (): Promise<never> => Promise.reject(new Error('killed'));
  await assert.rejects(new MemberRuns({ store: { ...store, writeFile }, record, owner }).keep(member(1)), /killed/);
  const states = (await store.runs({ parent: record.id })).runs.map(({ state }) => state);
  assert.deepEqual(states.sort(), ['completed', 'running'], 'a queued run is begun by the next process');
});

test('a checkpoint that is none is refused', () => {
  assert.throws(() => learnerNamed('auto').checkCheckpoint?.(new Uint8Array(40)), /damaged/);
});
