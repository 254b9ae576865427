// The trainer on made-up tables with the float64 reference: it learns, repeats itself bit for bit, streams without a
// difference in what it may promise, stops early, and continues from a checkpoint as if it had never stopped.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { TrainyardError } from '../../engine/protocol/errors.ts';
import type { TrainingProgress } from '../../engine/protocol/runs.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import { advanced } from '../../renderer/views/new-run/training-fields.ts';
import { makeTable } from '../support/table.ts';
import { series, trainHere } from '../support/train.ts';

const table = makeTable({ rows: 230, numeric: 4, classes: 3 });
const quick = { epochs: 6, batch: 16, seed: 5 };

test('learns a table, for classes and for numbers', async () => {
  const { optimizer } = defaultTraining(1e6, 'regression');
  const training = { epochs: 40, batch: 16, optimizer: { ...optimizer, learningRate: 0.01 } };
  const classes = await trainHere(table, { training });
  assert.ok(classes.result.metrics.test_accuracy >= 0.75, `accuracy ${classes.result.metrics.test_accuracy}`);
  const numbers = await trainHere(makeTable({ rows: 230, numeric: 4, classes: 0 }), { training });
  assert.ok(numbers.result.metrics.test_r2 >= 0.9, `r2 ${numbers.result.metrics.test_r2}`);
});

test('same seed, same bits; another seed, other bits', async () => {
  const [a, b, c] = [
    await trainHere(table, { training: quick }),
    await trainHere(table, { training: quick }),
    await trainHere(table, { training: { ...quick, seed: 6 } }),
  ];
  assert.deepEqual(a.files.get('best.safetensors'), b.files.get('best.safetensors'));
  assert.deepEqual(series(a.points, 'step_loss'), series(b.points, 'step_loss'));
  assert.notDeepEqual(series(a.points, 'step_loss'), series(c.points, 'step_loss'));
});

test('every row is used once an epoch, the remainder included', async () => {
  const { result } = await trainHere(table, { training: { ...quick, epochs: 2 } });
  assert.equal(table.data.counts.train, 184);
  assert.equal(result.steps, 2 * Math.ceil(184 / 16));
  assert.equal(Math.round(result.examplesPerSecond * result.seconds), 2 * 184, 'a remainder counts as the rows it has');
});

test('a dataset larger than the budget streams in windows and learns as well', async () => {
  const large = makeTable({ rows: 600, numeric: 4, classes: 3, shardRows: 100 });
  const rowBytes = 4 * 5;
  const training = { epochs: 10, batch: 16 };
  const streamed = await trainHere(large, { training, dataBudget: 150 * rowBytes });
  const whole = await trainHere(large, { training });
  assert.match(streamed.log.map((line) => line.message).join('\n'), /windows of 144 rows/);
  assert.equal(streamed.result.steps, whole.result.steps);
  assert.ok(Math.abs(streamed.result.metrics.test_accuracy - whole.result.metrics.test_accuracy) < 0.1);
});

test('a run stopped in mid-epoch continues on the same curve', async () => {
  const model = mlp([8], { dropout: 0.2 });
  const training = { ...quick, epochs: 5, clipNorm: 1 };
  const backend = createCpuBackend({ threads: 1 });
  const whole = await trainHere(table, { model, training, backend });
  const stopped = await trainHere(table, {
    model,
    training,
    backend,
    onSubmit: (submits, control) => {
      if (submits === 4) control.stop();
    },
  });
  assert.equal(stopped.result.reason, 'stopped');
  const checkpoint = stopped.files.get('checkpoint.bin')!;
  const { state } = decodeCheckpoint(checkpoint);
  assert.ok(state.step < whole.result.steps);
  const rest = await trainHere(table, { model, training, backend, checkpoint });
  assert.deepEqual(rest.files.get('best.safetensors'), whole.files.get('best.safetensors'));
  assert.deepEqual(
    series(rest.points, 'val_loss'),
    series(whole.points, 'val_loss').slice(-series(rest.points, 'val_loss').length),
  );
  assert.deepEqual(rest.result.metrics, whole.result.metrics);
});

test('stops early and keeps the best weights', async () => {
  const noise = makeTable({ rows: 120, numeric: 2, classes: 0 });
  noise.y.forEach((_, i) => (noise.y[i] = ((i * 7919) % 13) / 13));
  const { result, points, log } = await trainHere(noise, {
    model: mlp([32]),
    training: { epochs: 200, batch: 8, earlyStopping: { enabled: true, patience: 5, minimumDelta: 0 } },
  });
  assert.equal(result.reason, 'early_stopped');
  assert.equal(result.epochs, result.bestEpoch + 5);
  const losses = series(points, 'val_loss');
  assert.ok(Math.abs(result.metrics.val_loss - Math.min(...losses)) < 1e-6);
  assert.match(log.map((line) => line.message).join('\n'), /Stops early/);
});

test('the log holds every epoch of a short run, some of a long one, and the pauses', async () => {
  const messages = async (options: Parameters<typeof trainHere>[1]): Promise<readonly string[]> =>
    (await trainHere(table, options)).log.map((line) => line.message);
  const epochs = (all: readonly string[]): readonly number[] =>
    all.flatMap((message) => /^Epoch (\d+) of/.exec(message)?.[1] ?? []).map(Number);
  const short = await messages({
    training: quick,
    onSubmit: (submits, control) => {
      if (submits !== 2) return;
      control.pause();
      setTimeout(() => control.resume(), 20);
    },
  });
  assert.deepEqual(epochs(short), [1, 2, 3, 4, 5, 6]);
  assert.match(short.join('\n'), /^Paused at step \d+\.\nGoes on after a pause of 0\.\d+ s\.$/m);

  const long = await messages({ training: { ...quick, epochs: 303, batch: 256 } });
  assert.deepEqual(epochs(long), [1, ...Array.from({ length: 30 }, (_, i) => 10 * (i + 1)), 303]);
  assert.match(long.join('\n'), /Every 10th of the 303 epochs is written here/);
});

test('a batch larger than the data is clamped and said', async () => {
  const { result, log } = await trainHere(table, { training: { epochs: 1, batch: 4096 } });
  assert.equal(result.steps, 1);
  assert.match(log.map((line) => line.message).join('\n'), /batch of 4096 is larger/);
});

test('a diverging run fails with what to do, and its figures end at the step that is named', async () => {
  const { optimizer } = defaultTraining(1e6, 'regression');
  const reports: TrainingProgress[] = [];
  const failed = await trainHere(makeTable({ rows: 100, numeric: 3, classes: 0 }), {
    training: { epochs: 50, optimizer: { ...optimizer, name: 'sgd', learningRate: 1e6, momentum: 0.9 } },
    reports,
  }).then(
    () => assert.fail('it has to diverge'),
    (error: unknown) => error as TrainyardError,
  );
  const step = /^The loss became .* at step (\d+)\.$/.exec(failed.message)?.[1];
  assert.ok(Number(step) > 1, failed.message);
  assert.equal(reports.at(-1)?.step, Number(step));
  const { label } = advanced.find((setting) => setting.label.startsWith('Clip'))!;
  const named = /“(.+)” to 1\.$/.exec(failed.hint)?.[1];
  assert.ok(named && label.startsWith(named), `${failed.hint} names the form's “${label}”`);
});

test('without rows that validate it is said what that means', async () => {
  const { log } = await trainHere(makeTable({ rows: 60, numeric: 2, classes: 2, split: [0.9, 0, 0.1] }), {
    training: { epochs: 1, batch: 16 },
  });
  assert.ok(
    log.some(({ level, message }) => level === 'warning' && /^No row validates: .* such as 10 %/.test(message)),
  );
});
