// `search` as people start it: what it tells, that a search which is killed goes on as if nothing had happened, that the test rows stay closed,
// and what is refused.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createStore } from '../../engine/history/store.ts';
import type { SearchConfig } from '../../engine/learners/search/declaration.ts';
import { spaceOf } from '../../engine/learners/search/declaration.ts';
import { configOfTrial } from '../../engine/learners/declared/searched-trial.ts';
import { searchedFields, type Searched } from '../../engine/learners/declared/searched-fields.ts';
import { checkKinds, checkSpace, parseSpace } from '../../engine/search/read-space.ts';
import { readySpace, searched } from '../../engine/search/ready.ts';
import type { TrainedOn } from '../../engine/settings/training.ts';
import { lastEvent, startTrainyard, temporaryHome, trainyard } from '../support/cli.ts';
import { uniform } from '../support/table.ts';

/** 200 rows; one column tells most. */
function writeTable(folder: string): string {
  const random = uniform(4);
  const lines = Array.from({ length: 200 }, () => {
    const [a, b, noise] = [random(), random(), random() - 0.5];
    return `${a.toFixed(4)},${b.toFixed(4)},${a - 0.4 * b + 0.3 * noise > 0.3 ? 'yes' : 'no'}`;
  });
  const file = path.join(folder, 'made.csv');
  writeFileSync(file, ['a,b,bought', ...lines].join('\n'));
  return file;
}

const small = {
  trees: 12,
  patience: 0,
  learningRate: { kind: 'float', low: 0.05, high: 0.5, log: true },
  leaves: { kind: 'integer', low: 2, high: 16, log: true },
  objective: 'auto',
};

function writeSpace(folder: string, space: unknown): string {
  const file = path.join(folder, 'space.json');
  writeFileSync(file, typeof space === 'string' ? space : JSON.stringify(space));
  return file;
}

interface TrialEvent {
  readonly event: string;
  readonly trial: number;
  readonly run: number;
  readonly settings: Readonly<Record<string, number>>;
  readonly score: number;
  readonly stopped: boolean;
  readonly after?: number;
  readonly steps: number;
}

/** Not its steps: folds that a killed process took along are trained again. */
const told = ({ trial, settings, score, stopped, after }: TrialEvent): object => ({
  ...{ trial, settings, score, stopped, after },
});
const trialsOf = (events: readonly object[]): readonly TrialEvent[] =>
  (events as readonly TrialEvent[]).filter(({ event }) => event === 'trial');

test('a search tells its trials, keeps the best as a model, and looks at no test row', async (t) => {
  const home = temporaryHome(t);
  const [file, space] = [writeTable(home), writeSpace(home, small)];
  const args = ['search', file, '--target', 'bought', '--space', space, '--trials', '20', '--asha', '--json'];
  const { code, events, stderr } = await trainyard(home, ...args);
  assert.equal(code, 0, stderr);
  const trials = trialsOf(events);
  assert.deepEqual(
    trials.map(({ trial, run }) => [trial, run]),
    Array.from({ length: 20 }, (_, at) => [at + 1, 1]),
  );
  const last = events.at(-1) as unknown as {
    readonly event: string;
    readonly search: number;
    readonly best: { readonly trial: number; readonly run: number; readonly score: number };
    readonly trials: number;
    readonly stopped: number;
    readonly luck: number;
    readonly steps: number;
    readonly full_steps: number;
    readonly metrics: Readonly<Record<string, number>>;
  };
  const completed = trials.filter(({ stopped }) => !stopped);
  const least = Math.min(...completed.map(({ score }) => score));
  assert.deepEqual([last.event, last.search, last.trials], ['finished', 1, 20]);
  assert.deepEqual([last.best.run, last.best.score], [1, least]);
  assert.equal(last.stopped, 20 - completed.length);
  assert.ok(last.stopped >= 8, `${last.stopped} of 20 were stopped early`);
  assert.ok(last.luck >= 0 && last.steps < last.full_steps);
  // Twelve trees a fold at most, five folds. One that goes on with an earlier one has those settings, and trains what that one lacks.
  for (const { steps, stopped, after } of trials)
    assert.ok(stopped || after !== undefined ? steps < 60 : steps === 60, `${steps} steps`);
  const goneOn = trials.filter(({ after }) => after !== undefined);
  assert.ok(goneOn.length > 0);
  for (const { trial, after, settings } of goneOn) {
    assert.ok(after! < trial && trials[after! - 1].stopped);
    assert.deepEqual(settings, trials[after! - 1].settings);
  }
  assert.equal(new Set(goneOn.map(({ after }) => after)).size, goneOn.length);
  assert.deepEqual(
    Object.keys(last.metrics).filter((name) => name.startsWith('test_')),
    [],
  );
  const predicted = await lastEvent(home, 'predict', '1', file);
  assert.ok((predicted.metrics as { accuracy: number }).accuracy > 0.8);
  assert.equal((await lastEvent(home, 'evaluate', '1', '--split', 'test')).split, 'test');
  // The same seed, the same search; other samplers look elsewhere.
  const again = await trainyard(home, ...args);
  const withSteps = (one: TrialEvent): object => ({ ...told(one), steps: one.steps });
  assert.deepEqual(trialsOf(again.events).map(withSteps), trials.map(withSteps));
  const random = await trainyard(home, ...args, '--sampler', 'random', '--parallel', '2', '--ensemble', '2');
  assert.equal(random.code, 0, random.stderr);
  const elsewhere = trialsOf(random.events);
  assert.notDeepEqual(elsewhere[0].settings, trials[0].settings);
  // Two threads train them, and they are told in their order.
  assert.deepEqual(
    elsewhere.map(({ trial }) => trial),
    trials.map(({ trial }) => trial),
  );
  // Its best two as one model, which is asked of the test rows too.
  const ensemble = random.events.at(-1) as unknown as { readonly run: number; readonly metrics: object };
  assert.deepEqual([ensemble.run, 'test_accuracy' in ensemble.metrics], [4, true]);
  const store = createStore(home);
  t.after(() => store.close());
  const { leaderboard } = (await store.run({ run: 4 })).result!;
  assert.equal(leaderboard?.filter(({ member }) => member !== null).length, 2);
  assert.ok((await store.run({ run: 3 })).result!.threads >= 2);
  assert.match((await store.log({ run: 3 })).map(({ message }) => message).join('\n'), /trained 2 at a time/);
});

test('a search that is killed again and again loses no trial, tells none twice and comes to the same', async (t) => {
  const home = temporaryHome(t);
  // Slow enough that it is killed in its middle on a busy machine too: of 120 trees all trials were done within 0.3 s.
  const slow = { ...small, trees: 600 };
  const [file, space] = [writeTable(home), writeSpace(home, slow)];
  const args = ['search', file, '--target', 'bought', '--space', space, '--trials', '24', '--asha', '--json'];
  const whole = await trainyard(home, ...args);
  const begun = startTrainyard(home, args);
  await begun.event('trial');
  begun.child.kill('SIGKILL');
  const seen = [...trialsOf((await begun.finished).events)];
  for (let kills = 1; kills < 4; kills++) {
    const running = startTrainyard(home, ['search', '--resume', '2', '--json']);
    await running.event('trial');
    running.child.kill('SIGKILL');
    seen.push(...trialsOf((await running.finished).events));
  }
  const rest = await trainyard(home, 'search', '--resume', '2', '--json');
  assert.equal(rest.code, 0, rest.stderr);
  seen.push(...trialsOf(rest.events));
  assert.ok(trialsOf(rest.events).length < 24 - 3, 'trials of before were kept');
  const numbers = seen.map(({ trial }) => trial);
  assert.equal(new Set(numbers).size, numbers.length, 'none was told twice');
  const store = createStore(home);
  t.after(() => store.close());
  const [kept, of] = [await store.trials({ run: 2 }), await store.trials({ run: 1 })];
  const same = ({ trial, settings, score, state, losses, rungs }: (typeof kept)[number]): object => ({
    ...{ trial, settings, score, state, losses, rungs },
  });
  assert.deepEqual(kept.map(same), of.map(same));
  assert.deepEqual(await store.trials({ run: 2, after: 22 }), kept.slice(22));
  const [one, other] = [whole.events.at(-1), rest.events.at(-1)] as { best: { trial: number; score: number } }[];
  assert.deepEqual([other.best.trial, other.best.score], [one.best.trial, one.best.score]);
  // The model is that of the best trial, wherever the kills fell.
  const answers = await Promise.all(['1', '2'].map((run) => lastEvent(home, 'predict', run, file)));
  assert.deepEqual(answers[1].metrics, answers[0].metrics);
});

test('what cannot be searched is refused in one line before anything is read', async (t) => {
  const home = temporaryHome(t);
  const file = writeTable(home);
  const cases: readonly (readonly [space: unknown, message: RegExp])[] = [
    ['{', /it is not JSON/],
    [[], /it is no object/],
    [{ trees: 10 }, /nothing to choose/],
    [{ leafs: { kind: 'integer', low: 2, high: 8 } }, /“leafs” is no setting of it\. Settings: trees, learningRate/],
    [{ leaves: { kind: 'float', low: 2, high: 8 } }, /leaves is a whole number/],
    [{ leaves: { kind: 'integer', low: 1, high: 8 } }, /leaves cannot be 1\. It takes a whole number from 2/],
    ['{"l2": {"kind": "float", "low": 0, "high": 1e999}}', /high of l2 cannot be Infinity\. It takes/],
    [{ learningRate: { kind: 'float', low: 0.5, high: 0.1 } }, /goes from 0\.5 to 0\.1/],
    [{ l2: { kind: 'float', low: 0, high: 1, log: true } }, /l2 is logarithmic from 0/],
    [{ objective: { kind: 'choice', values: ['auto', 'best'] } }, /objective cannot be "best"/],
    [{ l2: { kind: 'float', low: 0, high: 1, when: { leaves: [4] } } }, /hangs on leaves, which is not chosen/],
    [
      {
        objective: { kind: 'choice', values: ['auto', 'huber'] },
        huberDelta: { kind: 'float', low: 0.1, high: 1, when: { objective: ['hubr'] } },
      },
      /huberDelta hangs on objective being "hubr", which it never is/,
    ],
    [
      {
        leaves: { kind: 'integer', low: 4, high: 8 },
        l2: { kind: 'float', low: 0, high: 1, when: { leaves: [8, 9] } },
      },
      /l2 hangs on leaves being 9, which it never is/,
    ],
    [{ l2: { kind: 'float', low: 0, high: 1, step: 2 } }, /l2 has “step”/],
    [{ leaves: { kind: 'choice', values: [4, 8], low: 2 } }, /leaves has “low”, which means nothing there/],
    [{ objective: { kind: 'choice', values: ['auto', 'huber'] } }, /objective means nothing for this target/],
  ];
  for (const [space, message] of cases) {
    const { code, stderr } = await trainyard(home, 'search', file, '--space', writeSpace(home, space));
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  }
  const flags: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['--space', path.join(home, 'none.json')], /none\.json cannot be read: it is not there/],
    [['--trials', '0'], /The search has no end/],
    [['--sampler', 'grid'], /--sampler is “grid”/],
    [['--until', 'noon'], /--until noon is no time/],
    [['--until', '2001-01-01'], /--until 2001-01-01 is past/],
    [['--until', '7:00', '--minutes', '3'], /do not go together/],
    [['--folds', '1'], /--folds is “1”\. It has to be a whole number from 2 to 20/],
    [['--folds', '21'], /^trainyard: --folds is “21”\. It has to be a whole number from 2 to 20/],
    [['--ensemble', '1'], /--ensemble is “1”/],
    [['--ensemble', '3', '--queue'], /--ensemble and --queue do not go together/],
  ];
  for (const [args, message] of flags) {
    const { code, stderr } = await trainyard(home, 'search', file, '--target', 'bought', ...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
  const again = await trainyard(home, 'search', '--resume', '1', '--until', 'noon');
  assert.match(again.stderr, /--until noon is no time/);
  assert.ok(!existsSync(path.join(home, 'runs', '1')), 'nothing was recorded');
});

test('settings that mean nothing for the target are refused, and those that nothing in the space makes count', () => {
  const about = (task: 'classification' | 'regression'): TrainedOn => ({
    ...{ task, rows: 100, classes: task === 'regression' ? 0 : 2, pictures: null },
    model: { batchNorm: false, steps: 0 },
  });
  const check = (space: object, task: 'classification' | 'regression', of: Searched = 'boosted') =>
    checkSpace(parseSpace(JSON.stringify(space), searchedFields[of]), searchedFields[of], about(task));
  const delta = { huberDelta: { kind: 'float', low: 0.1, high: 10 } };
  const leaves = { leaves: { kind: 'integer', low: 4, high: 8 } };
  assert.throws(() => check(delta, 'regression'), /huberDelta has no effect, as objective is never "huber"/);
  assert.throws(() => check({ ...delta, objective: 'huber' }, 'classification'), /means nothing for this target/);
  check({ ...delta, objective: 'huber' }, 'regression');
  check({ objective: { kind: 'choice', values: ['auto', 'huber'] }, ...delta }, 'regression');
  // The default does no harm.
  check({ objective: 'auto', classWeights: 'none', ...leaves }, 'classification');
  check({ objective: 'auto', classWeights: 'none', ...leaves }, 'regression');
  const loss = { loss: { kind: 'choice', values: ['cross_entropy', 'mae'] } };
  assert.throws(() => check(loss, 'regression', 'network'), /loss cannot be "cross_entropy" for this target/);
  // What was searched before is still shown.
  const odd = JSON.stringify({ leaves: { kind: 'choice', values: [4, 8], low: 2 } });
  assert.deepEqual(parseSpace(odd, searchedFields.boosted).space, { leaves: { kind: 'choice', values: [4, 8] } });
  assert.throws(() => checkKinds(odd), /leaves has “low”/);
  for (const of of searched)
    for (const task of ['classification', 'regression'] as const) check(readySpace(of), task, of);
});

test('every ready-made space can be read, and what is fixed or chosen reaches the settings of its trials', () => {
  const settings = { target: 'bought', task: 'classification' } as const;
  const common = { dataset: 'd', device: 'cpu', threads: 1, seed: 4, settings, learner: 'search' } as const;
  const output = { kind: 'classes', classes: ['no', 'yes'] } as const;
  for (const of of searched) {
    const search = {
      of,
      space: 'ready-made',
      trials: 1,
      minutes: 0,
      sampler: 'tpe',
      asha: false,
      parallel: 1,
      parts: 0,
    } as const;
    const { space, fixed } = spaceOf(search);
    assert.ok(Object.keys(space).length > 0);
    const config: SearchConfig = { ...common, search };
    const trial = configOfTrial(config, fixed, { data: { task: 'classification', output }, rows: 500 });
    assert.equal(trial.learner, of);
    assert.ok(!('search' in trial));
  }
  const network = { ...common, search: { of: 'network', space: 'ready-made' } } as unknown as SearchConfig;
  const chosen = {
    'model.depth': 2,
    'model.width': 24,
    'model.dropout': 0.25,
    'optimizer.learningRate': 0.02,
    batch: 64,
  };
  const trial = configOfTrial(network, chosen, { data: { task: 'classification', output }, rows: 500 });
  const { model, training } = trial as unknown as {
    readonly model: { readonly layers: readonly object[] };
    readonly training: { readonly batch: number; readonly optimizer: { readonly learningRate: number } };
  };
  assert.deepEqual(model.layers.slice(0, 2), [
    { type: 'dense', units: 24, activation: 'relu' },
    { type: 'dropout', rate: 0.25 },
  ]);
  assert.equal(model.layers.length, 5);
  assert.deepEqual([training.batch, training.optimizer.learningRate], [64, 0.02]);
});
