// What is no network and is to be done by a time: trees, forests, linear models, the best of all and a search, on a clock that goes on a
// little whenever it is looked at.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { configWith, declarationOf } from '../../engine/learners/declared/registry.ts';
import { otherLearners } from '../../engine/learners/predict.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { RunResult } from '../../engine/protocol/runs.ts';
import { defaultsOf } from '../../engine/settings/values.ts';
import { RunControl } from '../../engine/train/control.ts';
import type { Trial } from '../../engine/protocol/search.ts';
import { makeTable } from '../support/table.ts';

/** They take columns as they are. */
const trees: ReadonlySet<string> = new Set(['boosted', 'forest']);

interface Ended {
  readonly result: RunResult;
  /** Milliseconds on the clock of the test. */
  readonly ended: number;
  readonly log: readonly string[];
  readonly trials: readonly Trial[];
}

interface Asked {
  readonly until?: number;
  readonly validation?: boolean;
  /** Milliseconds of a pause after a second. */
  readonly pause?: number;
  /** By then it is told to stop. */
  readonly stop?: number;
  /** Milliseconds that the clock goes on by when it is looked at. */
  readonly tick?: number;
}

async function train(
  name: string,
  own: object,
  { until, validation = true, pause = 0, stop = Infinity, tick = 1 }: Asked,
): Promise<Ended> {
  const folds = name === 'auto' || name === 'search';
  const split = validation && !folds ? ([0.6, 0.2, 0.2] as const) : ([0.8, 0, 0.2] as const);
  const table = makeTable({ rows: 300, numeric: 4, classes: 2, split });
  const columns = ['a', 'b', 'c', 'd'].map((column) => ({ name: column, kind: 'number' }) as const);
  const input = trees.has(name) ? ({ kind: 'columns', columns } as const) : table.data.input;
  const declaration = declarationOf({ learner: name });
  const usual = defaultsOf(declaration.fields, { rows: 200, task: 'classification' } as never);
  const common = { dataset: 'd', device: 'cpu', threads: 1, seed: 4, settings: { target: 'bought' } } as const;
  const config = { ...configWith(declaration, common as never, { ...usual, ...own }), until };
  const backend = createCpuBackend({ threads: 1 });
  const log: string[] = [];
  const trials: Trial[] = [];
  const control = new RunControl();
  let now = 0;
  let isPaused = false;
  try {
    const training = await learnerNamed(name).open({
      config,
      data: {
        ...{ ...table.data, input, preprocessing: {} },
        ...(folds ? { parts: Uint8Array.from({ length: 240 }, (_, row) => 1 + (row % 2)) } : {}),
      },
      readShard: async (shard) => table.readShard(shard),
      dataBudget: 1e9,
      backend: async () => backend,
      control,
      surroundings: {
        ...nodeSurroundings,
        clock() {
          now += tick;
          if (now >= stop) control.stop();
          return now;
        },
        now: () => now,
        async breathe() {
          if (pause === 0 || isPaused || now < 1_000) return;
          isPaused = true;
          control.pause();
          setImmediate(() => {
            now += pause;
            control.resume();
          });
        },
      },
      others: {
        ...otherLearners,
        named(learner) {
          if (learner === 'linear') return learnerNamed(learner);
          throw new InputError('run.learner', 'It is not wanted here.', 'Leave it out.');
        },
      },
      events: {
        onStarted: () => undefined,
        onReport: () => undefined,
        onLog: ({ message }) => log.push(message),
        onTrial: (trial) => void trials.push(trial),
        onPaused: () => undefined,
        onFile: () => undefined,
      },
    });
    while (await training.advance(1_000)) continue;
    return { result: training.result(), ended: now, log, trials };
  } finally {
    await backend.close();
  }
}

test('boosting has as many trees as there is time for where it would stop by itself, and stops by itself as ever', async () => {
  const small = { leaves: 4, learningRate: 0.001 };
  const cut = await train('boosted', { ...small, trees: 10, patience: 100_000 }, { until: 8_000 });
  assert.equal(cut.result.reason, 'completed');
  assert.ok(cut.result.epochs > 10, `${cut.result.epochs} trees`);
  assert.ok(cut.ended <= 8_000 && cut.ended > 4_000, `it ended after ${cut.ended} ms`);
  assert.match(cut.result.remark!, /as many as there was time for$/);
  assert.match(cut.log.join('\n'), /There is time for about [\d,]+ trees until \d\d:\d\d:08\./);
  const { planned, epochs, annealed } = cut.result.deadline!;
  assert.deepEqual([epochs, annealed], [cut.result.epochs, undefined]);
  assert.ok(planned! > 0.5 * epochs && planned! < 2 * epochs, `${planned} planned, ${epochs} grown`);
  const stale = await train('boosted', { leaves: 4, learningRate: 1, patience: 5 }, { until: 600_000 });
  assert.equal(stale.result.reason, 'early_stopped');
  const all = await train('boosted', { ...small, trees: 10 }, { until: 600_000, validation: false });
  assert.deepEqual([all.result.reason, all.result.epochs], ['completed', 10], 'nothing would end it before');
});

test('a forest has all its trees, or those there is time for, what scoring them takes included', async () => {
  const cut = await train('forest', { trees: 100_000 }, { until: 8_000, tick: 10 });
  assert.ok(cut.ended <= 8_000 && cut.ended > 4_000, `it ended after ${cut.ended} ms`);
  assert.ok(cut.result.epochs > 3 && cut.result.epochs < 100_000);
  const paused = await train('forest', { trees: 100_000 }, { until: 8_000, tick: 10, pause: 4_000 });
  assert.ok(paused.ended <= 8_000, `it ended after ${paused.ended} ms`);
  assert.ok(paused.result.epochs < 0.8 * cut.result.epochs, 'a pause takes of the time');
  const whole = await train('forest', { trees: 5 }, { until: 600_000 });
  assert.deepEqual([whole.result.epochs, whole.result.deadline!.until], [5, 600_000]);
  for (const name of ['forest', 'boosted']) {
    const short = await train(name, { trees: 100 }, { until: 1_700, tick: 20 });
    assert.equal(short.result.epochs, 1, `${name}: without a tree there is no model`);
    assert.match(short.result.remark!, /as many as there was time for$/);
  }
});

test('trees that are stopped as their time ends are stopped, and may go on; what looking at the time took is told', async () => {
  for (const name of ['forest', 'boosted']) {
    const { reason } = (await train(name, { trees: 100 }, { until: 1_700, tick: 20, stop: 100 })).result;
    assert.equal(reason, 'stopped', name);
  }
  const { spent } = (await train('forest', { trees: 100_000 }, { until: 8_000, tick: 10 })).result;
  // Scoring at the end is two looks at the clock.
  assert.ok(spent!.phases.scoring! > 0.025, JSON.stringify(spent));
});

test('a linear model keeps the best penalty there was time to try', async () => {
  const whole = await train('linear', {}, { until: 600_000 });
  const until = 1_500 + Math.round(whole.ended / 2);
  const cut = await train('linear', {}, { until });
  assert.ok(cut.ended <= until, `it ended after ${cut.ended} of ${until} ms`);
  assert.ok(cut.result.epochs > 0 && cut.result.epochs < whole.result.epochs, `${cut.result.epochs} penalties`);
  assert.match(cut.result.remark!, /all that there was time for$/);
  assert.doesNotMatch(whole.result.remark!, /time/);
});

test('the best of all and a search look until then, whatever their minutes and trials say', async () => {
  const auto = await train('auto', { minutes: 1_000, curve: true }, { until: 4_000, tick: 20 });
  assert.ok(auto.ended <= 4_000, `it ended after ${auto.ended} ms`);
  assert.ok(auto.result.leaderboard!.length > 1);
  assert.equal(auto.result.deadline!.until, 4_000);
  const search = await train('search', { of: 'linear', trials: 0 }, { until: 8_000, tick: 5 });
  assert.ok(search.ended <= 8_000 && search.ended > 3_000, `it ended after ${search.ended} ms`);
  assert.ok(search.result.epochs > 1);
  assert.deepEqual(
    [search.result.search!.ended, search.result.deadline!.epochs],
    ['minutes', search.result.search!.trials],
  );
  const plan = /There is time for about (\d+) trials until \d\d:\d\d:08\./.exec(search.log.join('\n'));
  assert.equal(Number(plan?.[1]), search.result.deadline!.planned);
  assert.ok(search.result.deadline!.planned! > 1);
  const short = await train('search', { of: 'linear', trials: 0 }, { until: 2_000, tick: 5 });
  assert.ok(short.ended <= 2_000, `it ended after ${short.ended} ms`);
  assert.equal(short.result.search!.trials, 1, 'the first one ends with what it has');
  assert.equal(short.result.search!.best!.trial, 1);
  assert.match(short.result.remark!, /^trial 1 of 1 trial, .*; its time was over before its last fold was done$/);
  assert.doesNotMatch(search.result.remark!, /time was over/);
  const [only] = short.trials;
  assert.match(only.note, /its time was over before its last fold was done/);
  assert.ok(only.state === 'completed' && only.reached > 0 && only.reached < 1, `${only.reached}`);
  assert.ok(
    search.trials.every(({ reached, note }) => reached === 1 && note === ''),
    'the one at work was given up',
  );
});
