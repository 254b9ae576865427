// How a search comes to its end: by time where no trial comes to a model, where nothing new is left; and what a pause counts for.

import assert from 'node:assert/strict';
import test from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import type { LearnerJob, ThreadAtWork } from '../../engine/learners/learner.ts';
import { otherLearners } from '../../engine/learners/predict.ts';
import { configWith } from '../../engine/learners/declared/registry.ts';
import { createTrainerHost } from '../../engine/learners/host.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import { declaration, searchFields } from '../../engine/learners/search/declaration.ts';
import { serveTrials } from '../../engine/learners/search/trial-partner.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { threadPort } from '../../engine/protocol/port.node.ts';
import type { RunResult } from '../../engine/protocol/runs.ts';
import type { Trial } from '../../engine/protocol/search.ts';
import { defaultsOf } from '../../engine/settings/values.ts';
import { RunControl } from '../../engine/train/control.ts';
import { partsJob } from '../support/parts-job.ts';
import { searchLinear } from '../support/search.ts';

test('a search whose trials all fail ends when its time is over, and hours of a pause count for none of them', async () => {
  let [now, opened] = [0, 0];
  const control = new RunControl();
  const seconds: number[] = [];
  const failing: LearnerJob['others'] = {
    ...otherLearners,
    named: (name) => ({
      ...learnerNamed(name),
      async open() {
        assert.ok(++opened < 100, 'it goes on and on');
        let steps = 0;
        return {
          async advance() {
            now += 1_000;
            if (opened === 3) control.pause();
            if (++steps < 2) return true;
            throw new InputError('input.rows', 'These rows cannot be learned.', 'Take others.');
          },
          result: () => ({ steps: 0, seconds: 0 }) as RunResult,
        };
      },
    }),
  };
  const events = {
    onPaused({ paused }: { readonly paused: boolean }) {
      if (!paused) return;
      setImmediate(() => {
        now += 7_200_000;
        control.resume();
      });
    },
  };
  const surroundings = { ...nodeSurroundings, clock: () => now };
  const told = { onTrial: (trial: Trial) => void seconds.push(trial.seconds) };
  const quiet = {
    onStarted: () => undefined,
    onReport: () => undefined,
    onLog: () => undefined,
    onFile: () => undefined,
  };
  await assert.rejects(
    searchLinear(
      { trials: 0, minutes: 0.5 },
      { control, surroundings, others: failing, events: { ...quiet, ...events, ...told } },
    ),
    { code: 'run.no_trial', message: /Trial 1: These rows cannot be learned/ },
  );
  assert.deepEqual(seconds, new Array<number>(15).fill(2));
});

test('a trial that is at work when it is asked to stop is none: it begins anew when the search goes on', async () => {
  const own = { trials: 5, sampler: 'random' } as const;
  const told = (trials: readonly Trial[]): unknown[] =>
    trials.map(({ trial, score, losses }) => [trial, score, losses]);
  const whole = await searchLinear(own);
  // In the first and in the second of two folds of trial 3.
  for (const fold of [5, 6]) {
    const control = new RunControl();
    let opened = 0;
    const others: LearnerJob['others'] = {
      ...otherLearners,
      named: (name) => ({
        ...learnerNamed(name),
        async open(job) {
          const training = await learnerNamed(name).open(job);
          const stops = ++opened === fold;
          return {
            advance(milliseconds) {
              if (stops) control.stop();
              return training.advance(milliseconds);
            },
            result: () => training.result(),
          };
        },
      }),
    };
    const { trials, result } = await searchLinear(own, { control, others });
    assert.deepEqual(told(trials), told(whole.trials.slice(0, 2)));
    assert.deepEqual([result.reason, result.search?.completed], ['stopped', 2]);
    const rest = await searchLinear(own, { trials });
    assert.deepEqual(told(rest.trials), told(whole.trials));
    assert.equal(rest.result.search?.best?.trial, whole.result.search?.best?.trial);
  }
});

test('trials that fail are told before the search that they end, each with why', async () => {
  const space = {
    ...{
      'optimizer.name': 'sgd',
      'optimizer.learningRate': 100,
      'optimizer.momentum': 0.99,
      'schedule.name': 'constant',
    },
    ...{ epochs: 5, 'model.width': 32, 'model.depth': { kind: 'integer', low: 2, high: 3 } },
  };
  const search = { ...defaultsOf(searchFields, { rows: 160, task: 'classification' } as never), trials: 2 };
  const common = { dataset: 'd', settings: {}, device: 'cpu', threads: 1, seed: 4 } as const;
  const config = configWith(declaration, common, { ...search, of: 'network', space: JSON.stringify(space) });
  const { data, readShard } = partsJob(config, 2);
  const host = createTrainerHost({
    createBackend: async () => createReferenceBackend(),
    readShard: async (_, shard) => readShard(shard),
    surroundings: nodeSurroundings,
    dataBudget: 1e9,
  });
  const told: Trial[] = [];
  host.onTrials((trials) => void told.push(...trials));
  await assert.rejects(host.train({ run: 1, config, data }), {
    code: 'run.no_trial',
    message: 'No trial came to a model. Trial 1 came to no model in fold 1: its loss was no number.',
  });
  assert.deepEqual(
    told.map(({ trial, state }) => [trial, state]),
    [
      [1, 'failed'],
      [2, 'failed'],
    ],
  );
});

test('a fold of a trial hands over its model alone: no checkpoint, no scores that nobody reads', async () => {
  const columns = ['a', 'b', 'c'].map((name) => ({ name, kind: 'number' }) as const);
  const spaces = {
    linear: { penalty: { kind: 'float', low: 0.1, high: 1 } },
    boosted: { trees: 3, l2: { kind: 'float', low: 0.1, high: 1 } },
  };
  for (const learner of ['linear', 'boosted'] as const) {
    const files: string[] = [];
    const spied: LearnerJob['others'] = {
      ...otherLearners,
      named: (name) => ({
        ...learnerNamed(name),
        open: (job) =>
          learnerNamed(name).open({
            ...job,
            data: { ...job.data, input: { kind: 'columns', columns } },
            events: {
              ...job.events,
              onFile(file) {
                files.push(file.file);
                return job.events.onFile(file);
              },
            },
          }),
      }),
    };
    const backend = async () => createReferenceBackend();
    const { trials } = await searchLinear(
      { of: learner, space: JSON.stringify(spaces[learner]), trials: 2 },
      { others: spied, backend },
    );
    assert.deepEqual(
      trials.map(({ state }) => state),
      ['completed', 'completed'],
    );
    // Two trials of two folds.
    const ofFold = ['best.safetensors', 'model.json', 'preprocessing.json'];
    assert.deepEqual(
      files,
      [1, 2, 3, 4].flatMap(() => ofFold),
      learner,
    );
  }
});

test('a search of which nothing new is left ends with the same trial, wherever it was interrupted', async () => {
  const space = JSON.stringify({ penalty: { kind: 'choice', values: [1, 100] } });
  const own = { space, sampler: 'random', trials: 0, minutes: 100 } as const;
  const whole = await searchLinear(own);
  assert.equal(whole.result.search?.ended, 'exhausted');
  const kept = whole.trials.slice(0, -5);
  const rest = await searchLinear(own, { trials: kept });
  assert.deepEqual(
    rest.trials.map(({ trial, settings }) => ({ trial, settings })),
    whole.trials.map(({ trial, settings }) => ({ trial, settings })),
  );
  assert.equal(rest.result.search?.best?.trial, whole.result.search?.best?.trial);
});

test('trials that two partners train are those that one trains that looks back as far, also behind some that are known', async () => {
  const space = JSON.stringify({ penalty: { kind: 'float', low: 1e-4, high: 1e4, log: true } });
  const own = { space, trials: 14, asha: true, parallel: 2 } as const;
  let started = 0;
  // At the other end of a port, as a thread is; that a thread serves it too the command line shows.
  const trialThread = (): ThreadAtWork => {
    started++;
    const { port1, port2 } = new MessageChannel();
    const backend = (): Promise<never> => Promise.reject(new Error('no device'));
    serveTrials(threadPort(port2), { backend, surroundings: nodeSurroundings, others: otherLearners });
    return { port: threadPort(port1), end: () => port1.close() };
  };
  const told = ({ trials, result }: Awaited<ReturnType<typeof searchLinear>>): object => ({
    trials: trials.map(({ trial, settings, score, rungs, note }) => ({ trial, settings, score, rungs, note })),
    best: result.search?.best?.trial,
    metrics: result.metrics,
  });
  const here = await searchLinear(own);
  const there = await searchLinear(own, { trialThread });
  assert.equal(started, 2);
  assert.ok(here.result.search!.stopped > 1);
  assert.deepEqual(told(there), told(here));
  // The best one was known, its model was not: it is trained once more, here.
  const rest = await searchLinear(own, { trialThread, trials: here.trials.slice(0, 10) });
  assert.deepEqual(told(rest), told(here));
  assert.notDeepEqual(told(await searchLinear({ ...own, parallel: 1 })), told(here));
});
