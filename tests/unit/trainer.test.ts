// The trainer on made-up tables with the float64 reference: it learns, repeats itself bit for bit, streams without a
// difference in what it may promise, stops early, and continues from a checkpoint as if it had never stopped.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import type { RunFile, TrainingProgress } from '../../engine/protocol/runs.ts';
import { trainingFields } from '../../engine/settings/training.ts';
import { decodeCheckpoint, initialState } from '../../engine/train/checkpoint.ts';
import { CheckpointWriter } from '../../engine/train/checkpoint-writer.ts';
import { decodeSafetensors } from '../../engine/train/safetensors.ts';
import { Session } from '../../engine/train/session.ts';
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
  const { result, points } = await trainHere(table, { training: { ...quick, epochs: 2 } });
  assert.equal(table.data.counts.train, 184);
  assert.equal(result.steps, 2 * Math.ceil(184 / 16));
  assert.equal(Math.round(result.examplesPerSecond * result.seconds), 2 * 184, 'a remainder counts as the rows it has');
  const losses = series(points, 'step_loss').slice(0, 12);
  const sum = losses.reduce((all, loss, step) => all + (step < 11 ? 16 : 8) * loss, 0);
  assert.ok(Math.abs(series(points, 'train_loss')[0] - sum / 184) < 1e-9, 'in the mean loss of an epoch too');
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
  const options = {
    model: mlp([32]),
    training: { epochs: 200, batch: 8, earlyStopping: { enabled: true, patience: 5, minimumDelta: 0 } },
  };
  let last = 0;
  const { result, points, log } = await trainHere(noise, { ...options, onSubmit: (submits) => (last = submits) });
  assert.equal(result.reason, 'early_stopped');
  assert.equal(result.epochs, result.bestEpoch + 5);
  const losses = series(points, 'val_loss');
  assert.ok(Math.abs(result.metrics.val_loss - Math.min(...losses)) < 1e-6);
  assert.match(log.map((line) => line.message).join('\n'), /Stops early/);

  const stopAt = Math.floor((last * (result.epochs - 2)) / result.epochs);
  const stopped = await trainHere(noise, {
    ...options,
    onSubmit: (submits, control) => submits === stopAt && control.stop(),
  });
  const checkpoint = stopped.files.get('checkpoint.bin')!;
  assert.ok(decodeCheckpoint(checkpoint).state.stale > 0, 'stopped while it waits for a better epoch');
  const resumed = await trainHere(noise, { ...options, checkpoint });
  assert.deepEqual([resumed.result.reason, resumed.result.epochs], ['early_stopped', result.epochs]);

  const demanding = { enabled: true, patience: 2, minimumDelta: 10 };
  const { result: idle } = await trainHere(table, { training: { ...quick, earlyStopping: demanding } });
  assert.deepEqual([idle.reason, idle.epochs, idle.bestEpoch], ['early_stopped', 3, 1], 'no epoch is better by 10');
});

test('the log holds every epoch of a short run, some of a long one, and the pauses', async () => {
  const messages = async (options: Parameters<typeof trainHere>[1]): Promise<readonly string[]> =>
    (await trainHere(table, options)).log.map((line) => line.message);
  const epochs = (all: readonly string[]): readonly number[] =>
    all.flatMap((message) => /^Epoch (\d+) of/.exec(message)?.[1] ?? []).map(Number);
  const short = await messages({
    training: quick,
    onSubmit: (submits, control) => {
      if (submits === 2) control.pause();
    },
    onPaused: (control) => setTimeout(() => control.resume(), 20),
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

test('a diverging run keeps its best weights, says where and what to do, and its figures end there', async () => {
  const { optimizer } = defaultTraining(1e6, 'regression');
  const growing = { ...optimizer, name: 'sgd' as const, learningRate: 0.7, momentum: 0, weightDecay: 0 };
  const reports: TrainingProgress[] = [];
  const numbers = makeTable({ rows: 100, numeric: 3, classes: 0 });
  const { result, files, points } = await trainHere(numbers, {
    model: mlp([]),
    backend: createCpuBackend({ threads: 1 }),
    training: {
      epochs: 500,
      batch: 16,
      optimizer: growing,
      earlyStopping: { enabled: false, patience: 1, minimumDelta: 0 },
    },
    reports,
  });
  const { divergence, bestEpoch, metrics } = result;
  assert.deepEqual([result.reason, result.steps], ['diverged', divergence?.step]);
  assert.ok(bestEpoch >= 1 && bestEpoch < result.epochs, `best ${bestEpoch} of ${result.epochs}`);
  assert.match(
    divergence!.message,
    new RegExp(`^The loss became .* at step ${result.steps}\\. The weights of epoch ${bestEpoch} are kept\\.$`),
  );
  assert.equal(reports.at(-1)?.step, result.steps);
  assert.ok(Math.abs(metrics.val_loss - Math.min(...series(points, 'val_loss'))) < 1e-6);
  const weights = decodeSafetensors(files.get('best.safetensors')!).tensors;
  for (const { data } of Object.values(weights)) assert.ok(data.every((value) => Math.abs(value) < 1e6));
  const named = /“(.+)” to 1\.$/.exec(divergence!.hint)?.[1];
  assert.equal(named, trainingFields.clipNorm.label, `${divergence!.hint} names the form's control`);

  const optimizerAtOnce = { ...growing, learningRate: 1e30 };
  const atOnce = await trainHere(numbers, { training: { epochs: 5, optimizer: optimizerAtOnce } });
  assert.deepEqual([atOnce.result.reason, atOnce.result.bestEpoch], ['diverged', 0]);
  assert.match(atOnce.result.divergence!.message, /No epoch was complete: there are no weights worth keeping\.$/);
  assert.deepEqual([atOnce.result.metrics, atOnce.files.has('best.safetensors')], [{}, false]);
});

test('no checkpoint leaves before the last one is kept, nor oftener than their size allows', async () => {
  let onTheirWay = 0;
  let most = 0;
  let written = 0;
  const keep = async (file: RunFile): Promise<void> => {
    if (file !== 'checkpoint.bin') return;
    written++;
    most = Math.max(most, ++onTheirWay);
    await new Promise((resolve) => setTimeout(resolve, 30));
    onTheirWay--;
  };
  // The clock runs fast: a checkpoint is due after each submit.
  await trainHere(table, { training: { ...quick, epochs: 60 }, keep, haste: 1e6 });
  assert.ok(written >= 2, `${written} checkpoints`);
  assert.equal(most, 1);

  let now = 0;
  const due: number[] = [];
  const parameters = new Float32Array(64);
  const plan = {
    slots: [{ elements: 64 }],
    tensors: { w: { slot: 0, offset: 0, shape: [64], type: 'f32' } },
    checkpoint: ['w'],
  };
  const read = async (): Promise<Float32Array> => {
    now += 3_000;
    return parameters;
  };
  const writer = new CheckpointWriter({
    session: { executable: { read }, plan } as unknown as ConstructorParameters<typeof CheckpointWriter>[0]['session'],
    best: ['w'],
    clock: () => now,
    diary: { add: () => undefined, checkpoint: () => undefined },
    onFile: () => undefined,
  });
  for (; now < 1_000_000; now += 100) {
    if (!writer.due) continue;
    due.push(now);
    await writer.write(initialState(), {}, () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(due.length >= 5, `${due.length} checkpoints`);
  assert.ok((due.length - 1) * 3_000 <= 0.02 * due.at(-1)!, `${due.length} checkpoints of 3 s in ${due.at(-1)} ms`);
});

test('without rows that validate it is said what that means', async () => {
  const { log } = await trainHere(makeTable({ rows: 60, numeric: 2, classes: 2, split: [0.9, 0, 0.1] }), {
    training: { epochs: 1, batch: 16 },
  });
  assert.ok(
    log.some(({ level, message }) => level === 'warning' && /^No row validates: .* such as 10 %/.test(message)),
  );
});

test('every row is predicted by its own values, in the last places of a submit too', async () => {
  const made = makeTable({ rows: 2561, numeric: 1, classes: 0 });
  const session = await Session.open({
    ...made,
    backend: createCpuBackend({ threads: 1 }),
    model: mlp([]),
    training: defaultTraining(2049, 'regression'),
    dataBudget: 1e9,
    predictOnly: true,
  });
  for (const { name, shape } of session.model.parameters) {
    session.executable.write(name, Float32Array.of(shape.length === 2 ? 1 : 0));
  }
  // Several submits, a step that is filled up, and a lone row.
  for (const [start, end] of [
    [0, 2049],
    [0, 300],
    [2048, 2049],
  ]) {
    assert.deepEqual(await session.predict({ start, end }), made.x.subarray(start, end));
  }
  session.close();
});

test('a device that is lost while two results are on their way fails a prediction once', async () => {
  const made = makeTable({ rows: 20_000, numeric: 2, classes: 0 });
  const reference = createReferenceBackend();
  let reads = 0;
  const compile: Backend['compile'] = async (plan) => {
    const executable = await reference.compile(plan);
    executable.read = () => {
      reads++;
      return new Promise((_, reject) => setImmediate(() => reject(new Error('lost'))));
    };
    return executable;
  };
  const session = await Session.open({
    ...made,
    backend: { ...reference, compile },
    model: mlp([]),
    training: defaultTraining(16_000, 'regression'),
    dataBudget: 1e9,
    predictOnly: true,
  });
  await assert.rejects(session.predict({ start: 0, end: 16_000 }), /lost/);
  assert.equal(reads, 2);
  // A failure that nobody hears of would end the process, and this test, here.
  await new Promise((resolve) => setTimeout(resolve, 10));
});
