// How a best of all comes to its end: by time, by a stop, by a pause in which it is killed; and what it says where its best is none.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import { decodeState } from '../../engine/learners/auto/checkpoint.ts';
import { everyKind } from '../../engine/learners/declared/chosen-members.ts';
import { declaration as autoDeclaration } from '../../engine/learners/auto/declaration.ts';
import { noBetter } from '../../engine/learners/auto/words.ts';
import { configWith } from '../../engine/learners/declared/registry.ts';
import type { Learner, LearnerEvents } from '../../engine/learners/learner.ts';
import { factor, inverseTrace } from '../../engine/learners/linear/cholesky.ts';
import { blockOf, finish } from '../../engine/learners/linear/work.ts';
import { otherLearners } from '../../engine/learners/predict.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { LeaderboardRow } from '../../engine/protocol/leaderboard.ts';
import type { RunResult } from '../../engine/protocol/runs.ts';
import { RunControl, type Surroundings } from '../../engine/train/control.ts';
import { partsJob } from '../support/parts-job.ts';

const settings = { target: 'bought', task: 'classification' } as const;
const common = { dataset: 'd', device: 'cpu', threads: 1, seed: 4, settings } as const;

/**
 * Trains a best of all whose only kind is the linear model, which comes to nothing of fewer than `least` rows. `onWork` hears of each moment of
 * work before it, by the number of the training.
 */
async function learnLinear(
  least: number,
  surroundings: Surroundings,
  events: Partial<LearnerEvents>,
  control = new RunControl(),
  onWork: (training: number) => void = () => undefined,
) {
  let opened = 0;
  const diverged: Learner['open'] = async () => ({
    advance: async () => false,
    result: () => ({ reason: 'diverged' }) as RunResult,
  });
  const config = configWith(autoDeclaration, common, { minutes: 100, curve: true, parts: 0, members: everyKind });
  const training = await learnerNamed('auto').open({
    ...partsJob(config, 5, events),
    control,
    surroundings,
    others: {
      ...otherLearners,
      named(name) {
        if (name !== 'linear') throw new InputError('run.learner', 'It is not wanted here.', 'Leave it out.');
        const { open, read } = learnerNamed(name);
        return {
          read,
          async open(job) {
            const [number, training] = [++opened, await (job.data.counts.train < least ? diverged(job) : open(job))];
            return {
              advance(milliseconds) {
                onWork(number);
                return training.advance(milliseconds);
              },
              result: () => training.result(),
            };
          },
        };
      },
    },
  });
  while (await training.advance(1_000)) continue;
  return training.result();
}

test('a learning curve has a point less where so few rows come to no model, and the run its result', async () => {
  const result = await learnLinear(30, nodeSurroundings, {});
  assert.equal(result.reason, 'completed');
  assert.deepEqual(
    result.learningCurve?.points.map(({ rows }) => rows),
    [51, 102, 128],
  );
});

test('a pause takes nothing of the time, a checkpoint does', async () => {
  const [pause, checkpoint] = [30_000, 7_000];
  const control = new RunControl();
  let [now, paused, breaths] = [0, 0, 0];
  const clock = (): number => (now += 100);
  const breathe = async (): Promise<void> => {
    if (++breaths !== 20) return;
    control.pause();
    setImmediate(() => {
      [now, paused] = [now + pause, paused + pause];
      control.resume();
    });
  };
  const onFile: LearnerEvents['onFile'] = async ({ file }) => {
    if (file === 'checkpoint.bin') now += checkpoint;
  };
  const { steps } = await learnLinear(0, { ...nodeSurroundings, clock, breathe }, { onFile }, control);
  assert.equal(paused, pause);
  const seconds = (now - paused) / 1000;
  assert.ok(Math.abs(steps / 10 - seconds) < 2, `${steps / 10} s of ${seconds}`);
});

/** A clock on which each look takes so long that a fold is many slices, each a piece of work. */
function slowClock(): () => number {
  let now = 0;
  return () => (now += 15);
}

test('a fold that is stopped on its way counts only where nothing else answers', async () => {
  for (const [fold, folds, within] of [
    [1, 1, false],
    [3, 2, false],
    [1, 1, true],
    [3, 2, true],
  ] as const) {
    const control = new RunControl();
    let models: readonly unknown[] = [];
    const result = await learnLinear(
      0,
      { ...nodeSurroundings, clock: slowClock() },
      {
        onReport: ({ progress }) => !within && progress.auto?.at?.fold === fold && control.stop(),
        onMember: ({ files }) => {
          const file = JSON.parse(new TextDecoder().decode(files['model.json'])) as {
            readonly members: readonly { readonly models: readonly unknown[] }[];
          };
          models = file.members[0].models;
        },
      },
      control,
      // Or in the middle of a moment of work, as in the app.
      (number) => within && number === fold && control.stop(),
    );
    const when = `stopped in fold ${fold}${within ? ', at work' : ''}`;
    assert.deepEqual([result.reason, models.length], ['stopped', folds], when);
  }
});

test('a checkpoint names the member at work as the next one', async () => {
  const control = new RunControl();
  const kept: Uint8Array[] = [];
  let breaths = 0;
  const breathe = async (): Promise<void> => {
    if (++breaths !== 5) return;
    control.pause();
    setImmediate(() => {
      control.resume();
      control.stop();
    });
  };
  const onFile: LearnerEvents['onFile'] = ({ file, data }) => void (file === 'checkpoint.bin' && kept.push(data));
  await learnLinear(0, { ...nodeSurroundings, clock: slowClock(), breathe }, { onFile }, control);
  const states = kept.map(decodeState);
  assert.deepEqual([states[0].members.length, states[0].next], [0, 0], 'paused in the first');
  for (const { members, leftOut, next } of states) assert.equal(next, members.length + leftOut.length);
});

test('model, weights and recipe are handed over as one', async () => {
  const handed: (readonly string[])[] = [];
  const onFile: LearnerEvents['onFile'] = ({ file, together = {} }) =>
    void (
      file === 'evaluation.json' ||
      file === 'checkpoint.bin' ||
      handed.push([file, ...Object.keys(together)].sort())
    );
  await learnLinear(0, nodeSurroundings, { onFile });
  assert.ok(handed.length > 0);
  for (const files of handed) assert.deepEqual(files, ['best.safetensors', 'model.json', 'preprocessing.json']);
});

test('a best that is no better than always the same answer is in doubt', () => {
  const row = (learner: string, score: number): LeaderboardRow => ({
    ...{ member: null, run: null, learner, title: learner, score, interval: [0, 9], folds: [score], ofFolds: 1 },
    ...{ tied: true, seconds: 1, microseconds: 1, weight: 0 },
  });
  assert.match(noBetter([row('auto', 2.414), row('constant', 1.581)]).doubt ?? '', /2\.414, .*same answer 1\.581/);
  assert.deepEqual(noBetter([row('auto', 1.58), row('constant', 1.581)]), {});
});

test('the trace of an inverse is laid down after so much work, however long its columns are', () => {
  const M = 1000;
  const matrix = Float64Array.from({ length: M * M }, (_, at) => (Math.floor(at / M) === at % M ? 2 : 0));
  finish(factor(matrix, M, 0));
  let yields = 0;
  const work = inverseTrace(matrix, M);
  for (let next = work.next(); ; next = work.next()) {
    if (next.done) {
      assert.ok(Math.abs(next.value - M / 2) < 1e-9);
      break;
    }
    yields++;
  }
  assert.ok(yields > M ** 3 / 6 / blockOf(1) / 2, `${yields} times`);
});
