// A run that goes on as another one: with unchanged settings it is, bit for bit on the CPU, the run that never stopped; with
// changed ones it says what begins anew.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { heldRateText } from '../../engine/model/held-rate.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { networkConfig, declaration } from '../../engine/learners/network/declaration.ts';
import type { ModelSpec, TrainingSpec } from '../../engine/model/spec.ts';
import { noAugmentation } from '../../engine/settings/augmentation.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import { makeImages, type MadeImages } from '../support/images.ts';
import { makeTable, type MadeTable } from '../support/table.ts';
import { series, trainHere, type TrainTestOptions } from '../support/train.ts';

const table = makeTable({ rows: 200, numeric: 4, classes: 3, shardRows: 60 });
const images = makeImages({ rows: 120, channels: 1, height: 6, width: 6, classes: 3, shardRows: 50 });
const cnn: ModelSpec = {
  version: 1,
  layers: [{ type: 'conv2d', filters: 4 }, { type: 'batch_norm' }, { type: 'flatten' }, { type: 'output' }],
};
const calm = { enabled: false, patience: 1, minimumDelta: 0 };

interface Case {
  readonly name: string;
  readonly data?: MadeTable | MadeImages;
  readonly training?: Partial<TrainingSpec>;
  readonly options?: Partial<TrainTestOptions>;
  readonly threads?: readonly [first: number, then: number];
}

const base = defaultTraining(160, 'classification');
const schedule = (changes: Partial<TrainingSpec['schedule']>): Partial<TrainingSpec> => ({
  schedule: { ...base.schedule, ...changes },
});

const cases: readonly Case[] = [
  { name: 'a constant rate', training: schedule({ name: 'constant', warmupEpochs: 1 }) },
  { name: 'steps', training: schedule({ name: 'step', stepEpochs: 2, gamma: 0.5 }) },
  { name: 'a cosine, whose last rate is held', training: schedule({ name: 'cosine' }) },
  { name: 'one cycle', training: schedule({ name: 'one_cycle' }) },
  { name: 'batches in parts', training: { accumulate: 3, clipNorm: 1, classWeights: 'balanced' } },
  { name: 'rows in windows', options: { dataBudget: 64 * 20 } },
  { name: 'other threads', threads: [1, 2] },
  {
    name: 'pictures that are changed and mixed, with batch norm',
    data: images,
    training: { augmentation: { ...noAugmentation, flip: true, rotation: 10, cutout: 1, mixup: 0.4 } },
    options: { model: cnn },
  },
  {
    name: 'early stopping that counts on',
    training: { earlyStopping: { enabled: true, patience: 4, minimumDelta: 0.5 } },
  },
];

/** As `continue --epochs` makes them: the settings of a run, for so many epochs in all. */
function extended({ seed, ...training }: TrainingSpec, epochs: number): TrainingSpec {
  const common = { dataset: 'd', settings: {}, device: 'cpu', threads: 0 } as const;
  const config = declaration.extended!(networkConfig(common, mlp([8]), { ...training, seed }), epochs);
  return { ...config.training, seed };
}

const start = (file: Uint8Array, more: object = {}) => ({ parent: 12, relation: 'continued', file, ...more }) as const;

for (const { name, data = table, training = {}, options = {}, threads = [1, 1] } of cases) {
  test(`3 epochs and 3 more are 6 in one go: ${name}`, async () => {
    const settings: TrainingSpec = { ...base, epochs: 3, batch: 16, seed: 5, earlyStopping: calm, ...training };
    const longer = extended(settings, 6);
    const run = (changes: Partial<TrainTestOptions>, count = 1) =>
      trainHere(data, {
        model: mlp([8], { dropout: 0.2 }),
        backend: createCpuBackend({ threads: count }),
        ...options,
        ...changes,
      });
    const whole = await run({ training: longer });
    const first = await run({ training: settings }, threads[0]);
    const second = await run({ training: longer, start: start(first.files.get('checkpoint.bin')!) }, threads[1]);
    for (const name of ['train_loss', 'val_loss', 'learning_rate']) {
      assert.deepEqual(series([...first.points, ...second.points], name), series(whole.points, name), name);
    }
    assert.deepEqual(second.files.get('best.safetensors'), whole.files.get('best.safetensors'));
    const { reason, epochs, steps, bestEpoch, metrics } = whole.result;
    assert.deepEqual({ ...second.result, reason, epochs, steps, bestEpoch, metrics }, second.result);
    const [one, other] = [second, whole].map(({ files }) => decodeCheckpoint(files.get('checkpoint.bin')!));
    assert.deepEqual(one.tensors, other.tensors, 'the state at the end, the optimizer’s included');
    assert.ok(
      second.log.some(
        ({ message }) => message === `Goes on where run 12 was after 3 epochs, step ${first.result.steps}.`,
      ),
    );
    assert.ok(second.result.seconds < 1 + whole.result.seconds, 'the seconds of its own alone');
  });
}

test('a run that stopped early goes on although nothing got better', async () => {
  const training = { epochs: 40, batch: 16, earlyStopping: { enabled: true, patience: 2, minimumDelta: 10 } };
  const first = await trainHere(table, { training });
  assert.deepEqual([first.result.reason, first.result.epochs], ['early_stopped', 3]);
  const second = await trainHere(table, { training, start: start(first.files.get('checkpoint.bin')!) });
  assert.deepEqual([second.result.reason, second.result.epochs], ['early_stopped', 5]);
  // Killed between its last checkpoint and its end, a run has nothing more to do.
  const again = await trainHere(table, { training, checkpoint: second.files.get('checkpoint.bin')! });
  assert.deepEqual([again.result.reason, again.result.epochs], ['early_stopped', 5]);
});

test('with another rate, batch and optimizer the schedule and the optimizer begin anew', async () => {
  const training: Partial<TrainingSpec> = {
    epochs: 3,
    batch: 16,
    earlyStopping: calm,
    ...schedule({ name: 'cosine', finalShare: 0 }),
  };
  const stopped = await trainHere(table, {
    training,
    onSubmit: (submits, control) => {
      if (submits === 2) control.stop();
    },
  });
  const { state } = decodeCheckpoint(stopped.files.get('checkpoint.bin')!);
  assert.ok(state.rows > 0 || state.epoch > 0);
  const optimizer = { ...base.optimizer, name: 'sgd', learningRate: 0.02 } as const;
  const changed = { ...training, epochs: state.epoch + 4, batch: 40, optimizer };
  const from = start(stopped.files.get('checkpoint.bin')!, { anew: true });
  const { points, result, log } = await trainHere(table, { training: changed, start: from });
  const rates = points.filter(({ series }) => series === 'learning_rate');
  assert.deepEqual(
    rates.map(({ epoch }) => epoch - state.epoch),
    [1, 2, 3, 4],
  );
  assert.ok(
    rates[0].value < 0.02 && rates[0].value > 0.012 && rates[3].value === 0,
    'one cosine over the epochs to come',
  );
  assert.equal(result.steps, state.step + 4 * 4, 'four steps of 40 of 160 rows');
  const said = log.map(({ message }) => message).join('\n');
  assert.match(said, /The optimizer is another one: it begins anew\.\nThe schedule of the learning rate begins anew\./);
  const curve = points.filter(({ series }) => series === 'step_loss').map(({ epoch }) => epoch);
  assert.equal(curve.at(-1), result.epochs, 'epochs are counted by the steps of each');
});

test('from weights alone everything but them begins anew, and they stay the best until others are better', async () => {
  const first = await trainHere(table, { training: { epochs: 6, batch: 16, earlyStopping: calm } });
  const weights = first.files.get('best.safetensors')!;
  const { bestEpoch, metrics } = first.result;
  const optimizer = { ...base.optimizer, name: 'sgd', learningRate: 1e-9, weightDecay: 0 } as const;
  const training = { epochs: bestEpoch + 2, batch: 16, optimizer, earlyStopping: { ...calm, minimumDelta: 1e-3 } };
  const place = { epoch: bestEpoch, step: 10 * bestEpoch, seconds: 1 };
  const { result, files } = await trainHere(table, { training, start: start(weights, place) });
  assert.deepEqual([result.epochs, result.steps, result.bestEpoch], [bestEpoch + 2, 10 * (bestEpoch + 2), bestEpoch]);
  assert.deepEqual(result.metrics, metrics);
  assert.deepEqual(files.get('best.safetensors'), weights);
});

test('a schedule that ends before the training says what rate it holds', async () => {
  const optimizer = { ...base.optimizer, learningRate: 0.01 };
  const held = (changes: Partial<TrainingSpec['schedule']>, epochs = 8) =>
    heldRateText({ epochs, optimizer, schedule: { ...base.schedule, overEpochs: 5, ...changes } });
  const ends = 'The schedule of the learning rate ends after 5 epochs: from there on the rate stays at';
  assert.equal(held({ name: 'cosine', finalShare: 0.01 }), `${ends} 0.0001, 1 % of its peak.`);
  assert.match(
    held({ name: 'one_cycle' })!,
    /stays at 4e-8, 0\.0004 % of its peak\. At that next to nothing is learned/,
  );
  assert.deepEqual(
    [held({ name: 'constant' }), held({ name: 'step' }), held({ overEpochs: 0 }), held({}, 5)],
    [null, null, null, null],
  );
  const training = { epochs: 3, batch: 16, earlyStopping: calm, ...schedule({ name: 'one_cycle' }) };
  const first = await trainHere(table, { training });
  const file = first.files.get('checkpoint.bin')!;
  const longer = { ...training, epochs: 4, ...schedule({ name: 'one_cycle', overEpochs: 3 }) };
  const { log } = await trainHere(table, { training: longer, start: start(file) });
  assert.ok(log.some(({ message }) => /^The schedule of the learning rate ends after 3 epochs: /.test(message)));
});

test('what makes the schedule begin anew, and what is another loss', () => {
  const common = { dataset: 'd', settings: {}, device: 'cpu', threads: 0 } as const;
  const before = networkConfig(common, mlp([8]), base);
  const after = (changes: Partial<TrainingSpec>) => {
    const longer = declaration.extended!(before, before.training.epochs + 5);
    return declaration.goesOn!(before, { ...longer, training: { ...longer.training, ...changes } });
  };
  assert.deepEqual(after({}), {});
  assert.deepEqual(after({ clipNorm: 1, accumulate: 2, earlyStopping: calm }), {});
  assert.deepEqual(after({ batch: 7 }), { anew: true });
  assert.deepEqual(after({ optimizer: { ...base.optimizer, learningRate: 1 } }), { anew: true });
  assert.deepEqual(after(schedule({ name: 'constant' })), { anew: true });
  assert.deepEqual(after({ labelSmoothing: 0.2 }), { incomparable: true });
  assert.throws(() => declaration.goesOn!(before, { ...before, model: mlp([9]) }), /with the layers it has/);
});
