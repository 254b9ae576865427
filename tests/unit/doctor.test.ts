// Checks before a run, on good nets and on bad ones: what is wrong with each is found, told with its figure and mended by what is advised.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { changed } from '../../engine/doctor/changes.ts';
import { ladder } from '../../engine/doctor/network/rates.ts';
import { deviationsApart, rankScore } from '../../engine/doctor/rank-score.ts';
import { judgeKeepingUp } from '../../engine/doctor/keeping-up.ts';
import type { Examination } from '../../engine/doctor/check.ts';
import { shuffledCheck } from '../../engine/doctor/shuffled.ts';
import { createExaminer } from '../../engine/learners/examiner.ts';
import { configWith, usualSettings } from '../../engine/learners/declared/registry.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import { trialAlone } from '../../engine/learners/trial-alone.ts';
import { declaration as linear } from '../../engine/learners/linear/declaration.ts';
import { isNetwork, networkConfig, type NetworkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp, presetNamed, specOf, trainedOn } from '../../engine/model/presets.ts';
import type { ModelSpec, TrainingSpec } from '../../engine/model/spec.ts';
import type { CheckFinding, CheckId, CheckReport } from '../../engine/protocol/checking.ts';
import type { PreparedData, Shard } from '../../engine/protocol/data.ts';
import { CancelledError } from '../../engine/protocol/errors.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import { withChosen } from '../../engine/settings/values.ts';
import type { Value } from '../../engine/settings/field.ts';
import { makeImages } from '../support/images.ts';
import { makeTable, uniform } from '../support/table.ts';

interface Made {
  readonly data: PreparedData;
  readonly readShard: (shard: number) => Promise<Shard>;
}

const common = { dataset: 'made', settings: {}, device: 'cpu', threads: 1 } as const;

function network({ data }: Made, model: ModelSpec, chosen: Readonly<Record<string, Value>> = {}): NetworkConfig {
  const usual: TrainingSpec = defaultTraining(data.counts.train, data.task);
  return networkConfig(common, model, withChosen({ ...usual, seed: 1 }, chosen));
}

const examiner = (made: Made, backend: () => Backend = () => createCpuBackend({ threads: 1 })) =>
  createExaminer({
    createBackend: async () => backend(),
    createReference: createReferenceBackend,
    readShard: async (_handle, shard) => made.readShard(shard),
    surroundings: nodeSurroundings,
    dataBudget: 1e9,
  });

const check = (made: Made, config: RunConfig, backend?: () => Backend): Promise<CheckReport> =>
  examiner(made, backend).check({ job: 'test', config, data: made.data });

function of({ findings }: CheckReport, id: CheckId): CheckFinding {
  const found = findings.find((finding) => finding.id === id);
  assert.ok(found, `${id} among ${findings.map((finding) => finding.id).join()}`);
  return found;
}

const kinds = (report: CheckReport): Readonly<Record<string, string>> =>
  Object.fromEntries(report.findings.map(({ id, kind }) => [id, kind]));

const deep = (layers: number, activation: string): ModelSpec => ({
  version: 1,
  layers: [...Array.from({ length: layers }, () => ({ type: 'dense', units: 32, activation })), { type: 'output' }],
});

const table = makeTable({ rows: 1_500, numeric: 8, classes: 3 });
const allFine = Object.fromEntries(
  ['data', 'start', 'gradients', 'activations', 'agreement', 'heart', 'shuffled', 'dead'].map((id) => [id, 'fine']),
);

test('a sound net: everything is fine, with figures and drawings', async () => {
  const told: string[] = [];
  const service = examiner(table);
  service.onFinding(({ finding }) => told.push(finding.id));
  const config = network(table, mlp([32, 16]));
  const report = await service.check({ job: 'test', config, data: table.data });
  assert.deepEqual(kinds(report), allFine, JSON.stringify(report.findings));
  assert.deepEqual([report.verdict, report.sentence, report.changed], ['fine', 'Nothing found.', null]);
  assert.deepEqual(told.toSorted(), Object.keys(allFine).sort(), 'each is told as it is known');
  assert.equal(report.done, 8);
  assert.ok(report.runSeconds !== null && report.runSeconds > 0);
  assert.match(of(report, 'start').text, /^ln 3 = 1\.1\.$/);
  assert.match(report.device, /^CPU, 1 thread$/);
  const { drawing } = of(report, 'gradients');
  assert.ok(drawing?.kind === 'layers');
  assert.deepEqual(
    drawing.layers.map(({ name }) => name),
    ['Dense 1', 'Dense 2', 'Output 3'],
  );
});

test('values, weighed classes and pictures through convolutions are fine as well', async () => {
  const values = makeTable({ rows: 1_500, numeric: 8, classes: 0 });
  assert.equal((await check(values, network(values, mlp([32, 16])))).verdict, 'fine');
  const weighed = await check(table, network(table, mlp([32, 16]), { classWeights: 'balanced', labelSmoothing: 0.1 }));
  assert.match(of(weighed, 'start').text, /^ln 3, classes weighed = 1\.1/);
  assert.equal(of(weighed, 'start').kind, 'fine');
  const pictures = makeImages({ rows: 400, channels: 1, height: 12, width: 12, classes: 4, split: [0.7, 0.3, 0] });
  const model = specOf(presetNamed('small-cnn')!, { kind: 'image', channels: 1, height: 12, width: 12 });
  const seen = await check(pictures, network(pictures, model));
  assert.equal(seen.verdict === 'fix', false, JSON.stringify(seen.findings));
  for (const id of ['start', 'gradients', 'agreement', 'heart'] as const) assert.equal(of(seen, id).kind, 'fine', id);
});

test('a deep net of sigmoids: gradients vanish, and what is advised mends it', async () => {
  const report = await check(table, network(table, deep(8, 'sigmoid')));
  assert.equal(report.verdict, 'fix');
  const gradients = of(report, 'gradients');
  assert.deepEqual([gradients.kind, gradients.title], ['fix', 'Gradients vanish']);
  assert.match(gradients.text, /Those of Dense 1 are [\d,]+ × smaller than those of Output 9/);
  assert.deepEqual([of(report, 'activations').kind, of(report, 'activations').title], ['fix', 'Activations shrink']);
  assert.ok(gradients.drawing?.kind === 'layers' && gradients.drawing.tried);
  assert.ok(gradients.drawing.tried.median[0] > 1e3 * gradients.drawing.layers[0].median);
  assert.ok(report.changed);
  const again = await check(table, report.changed.config);
  assert.deepEqual([of(again, 'gradients').kind, of(again, 'activations').kind], ['fine', 'fine']);
  assert.notEqual(again.verdict, 'fix', JSON.stringify(again.findings));
});

test('a rate that is far too high explodes, one that is far too low learns nothing: another one is found', async () => {
  const steep = network(table, mlp([32, 16]), { 'optimizer.name': 'sgd', 'optimizer.learningRate': 50 });
  const report = await check(table, steep);
  const heart = of(report, 'heart');
  assert.deepEqual([heart.kind, heart.title], ['fix', 'The loss explodes']);
  const rate = heart.action?.changes.settings?.['optimizer.learningRate'];
  assert.ok(typeof rate === 'number' && rate <= 5, `${String(rate)}`);
  assert.equal(of(report, 'dead').kind, 'undone', 'weights that are no numbers say nothing of units');
  assert.ok(report.changed && isNetwork(report.changed.config));
  assert.equal(report.changed.config.training.optimizer.learningRate, rate, 'the worst finding decides');

  const slow = await check(table, network(table, mlp([32, 16]), { 'optimizer.learningRate': 1e-7 }));
  assert.deepEqual([of(slow, 'heart').kind, of(slow, 'heart').title], ['fix', 'One batch is not learned by heart']);
  const higher = of(slow, 'heart').action?.changes.settings?.['optimizer.learningRate'];
  assert.ok(typeof higher === 'number' && higher > 1e-6, `${String(higher)}`);
});

test('steps that silence units are found by their dead units, and the rate is to blame', async () => {
  const report = await check(table, network(table, mlp([32, 16]), { 'optimizer.learningRate': 0.5 }));
  const dead = of(report, 'dead');
  assert.equal(dead.title, 'Dead units');
  assert.notEqual(dead.kind, 'fine');
  assert.match(dead.text, /At the start it was \d+ %: [\d,]+ steps at a rate of 0\.5/);
  const rate = dead.action?.changes.settings?.['optimizer.learningRate'];
  assert.ok(typeof rate === 'number' && rate < 0.5, JSON.stringify(dead.action?.changes));
});

/** Categories of many values, each a column of its own that is mostly 0, and classes half of which are rare; `classes` 0: values. */
function sparseTable(classes: number): Made {
  const [rows, values, columns] = [900, 40, 5];
  const width = values * columns;
  const random = uniform(7);
  const x = new Float32Array(rows * width);
  const y = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const codes = Array.from({ length: columns }, () => Math.floor(values * random() ** 2));
    codes.forEach((code, column) => (x[row * width + column * values + code] = 1));
    y[row] = classes > 0 ? Math.floor((classes * codes[0] ** 2) / values ** 2) : (codes[0] + codes[1]) / 12 - 2;
  }
  const like = makeTable({ rows, numeric: width, classes });
  const classCounts = like.data.classCounts.map((_, k) => y.subarray(0, 720).filter((label) => label === k).length);
  return { data: { ...like.data, classCounts }, readShard: async () => ({ rows, x, y }) };
}

test('no alarm at sound runs: columns that are mostly 0, rare classes, silent units', async () => {
  const nets = [
    [0, mlp([64, 32])],
    [2, deep(6, 'relu')],
    [12, mlp([64, 32])],
  ] as const;
  for (const [classes, layers] of nets) {
    const made = sparseTable(classes);
    const report = await check(made, network(made, layers, { 'optimizer.learningRate': 0.003 }));
    assert.notEqual(report.verdict, 'fix', `${classes}: ${JSON.stringify(report.findings)}`);
    assert.ok(of(report, 'gradients').figure !== '0');
    assert.equal(of(report, 'shuffled').kind, 'fine', of(report, 'shuffled').text);
  }
});

test('a rate that is advised suits the whole check, and is one', async () => {
  for (const rate of [1e-9, 100]) {
    const report = await check(table, network(table, mlp([32, 16]), { 'optimizer.learningRate': rate }));
    assert.equal(report.verdict, 'fix');
    assert.equal(report.changed?.count, 1, report.changed?.words);
    const again = await check(table, report.changed.config);
    assert.notEqual(again.verdict, 'fix', JSON.stringify(again.findings));
  }
  assert.deepEqual(ladder(1e-9, 'both').slice(0, 3), [1e-6, 1e-5, 1e-4]);
  assert.deepEqual(ladder(100, 'down').slice(0, 3), [1, 0.1, 0.01]);
});

test('a hundred layers: figures that can be read, and fewer layers to try', async () => {
  const report = await check(table, network(table, deep(100, 'tanh')));
  const gradients = of(report, 'gradients');
  assert.equal(gradients.kind, 'fix');
  assert.ok(gradients.text.length < 120, gradients.text);
  assert.match(report.changed?.words ?? '', /two hidden layers/);
  assert.notEqual((await check(table, report.changed!.config)).verdict, 'fix');
});

test('chance is that of the very score', () => {
  const output = { kind: 'classes', classes: ['a', 'b'] } as const;
  const random = uniform(3);
  const targets = Float32Array.from({ length: 200 }, (_, row) => (row < 40 ? 1 : 0));
  const outputs = Float32Array.from({ length: 200 }, (_, row) => random() + (row < 40 ? 0.5 : 0));
  const two = rankScore(output, outputs, targets, 1);
  const exact = Math.sqrt(201 / (12 * 40 * 160));
  assert.ok(Math.abs(two.deviation / exact - 1) < 0.15, `${two.deviation} of ${exact} (Mann & Whitney 1947)`);
  assert.ok(deviationsApart(two) > 6);
  // A class of one row is one row's worth of the score, however it comes out.
  const rare = { kind: 'classes', classes: Array.from({ length: 12 }, (_, k) => `${k}`) } as const;
  const few = Float32Array.from({ length: 60 }, (_, row) => (row < 50 ? row % 2 : row - 48));
  const score = rankScore(rare, Float32Array.from({ length: 720 }, random), few, 1);
  assert.ok(score.deviation < 0.06, `${score.deviation}`);
  assert.equal(deviationsApart(rankScore(output, new Float32Array(200), targets, 1)), 0);
});

test('labels that do not belong to their rows teach no more than shuffled ones', async () => {
  const y = Float32Array.from(table.y, (_, row) => table.y[(row * 997 + 13) % table.y.length]);
  const mixed: Made = { data: table.data, readShard: async () => ({ rows: table.y.length, x: table.x, y }) };
  const report = await check(mixed, network(table, mlp([32, 16])));
  assert.deepEqual(
    [of(report, 'shuffled').kind, of(report, 'shuffled').title],
    ['fix', 'Real labels teach no more than shuffled ones'],
  );
  assert.equal(of(report, 'heart').kind, 'fine', 'by heart anything can be learned');
});

test('a learner that tells no loss of its steps is given as long with shuffled labels as with its own', async () => {
  const sample = { data: { ...table.data, shardStarts: [0, 1_500] }, shard: await table.readShard(0) };
  const { train, validation } = table.data.counts;
  for (const losses of [[], Array.from({ length: 200 }, () => 1)]) {
    const limits: object[] = [];
    const trial: Examination['trial'] = async ({ shard: { y } }, limit) => {
      limits.push(limit);
      // It knows the true answers, whatever labels it is given.
      const own = limits.length === 1 ? y : new Float32Array(y.length);
      const outputs = Float32Array.from({ length: 3 * validation }, (_, i) =>
        i % 3 === own[train + Math.floor(i / 3)] ? 1 : 0,
      );
      return { outputs, losses };
    };
    const [found] = await shuffledCheck({ checks: [], trial }, { sample, data: table.data }, 1).run(nodeSurroundings);
    assert.deepEqual(limits[1], losses.length > 0 ? { steps: 200 } : limits[0]);
    assert.equal(found.kind, 'fine', found.text);
    assert.equal(found.drawing?.kind, losses.length > 0 ? 'curves' : undefined, 'no curve without figures');
  }
});

test('a net that is frozen as a whole, one class, one value, few rows', async () => {
  const frozen = await check(table, network(table, mlp([32, 16]), { frozenLayers: 3 }));
  assert.equal(of(frozen, 'heart').title, 'Nothing can be learned');
  assert.deepEqual(frozen.changed?.words, 'nothing frozen');

  const y = new Float32Array(table.y.length);
  const data = { ...table.data, classCounts: [table.data.counts.train, 0, 0] };
  const same: Made = { data, readShard: async () => ({ rows: y.length, x: table.x, y }) };
  const one = await check(same, network(table, mlp([8])));
  assert.deepEqual(
    one.findings.map(({ kind, figure }) => [kind, figure]),
    [['fix', '1 class']],
  );
  const few = makeTable({ rows: 24, numeric: 8, classes: 2 });
  const report = await check(few, network(few, mlp([8])));
  assert.deepEqual(
    [of(report, 'heart').kind, of(report, 'heart').text],
    ['undone', 'Needs a batch of 32; the split has 19.'],
  );
  assert.equal(of(report, 'shuffled').text, 'Needs 20 validation rows; the split has 2.');
  assert.deepEqual([report.verdict, report.done], ['fine', 6]);
  assert.match(report.sentence, /2 checks could not be made/);
});

test('a device that computes gradients wrongly is found out', async () => {
  const lying = (factor: number) => (): Backend => {
    const backend = createCpuBackend({ threads: 1 });
    return {
      device: backend.device,
      close: () => backend.close(),
      async compile(plan) {
        const executable = await backend.compile(plan);
        const read: typeof executable.read = async (tensor, ...rest) => {
          const values = await executable.read(tensor, ...rest);
          return tensor === 'gradient:1.weight' ? (values as Float32Array).map((value) => factor * value) : values;
        };
        return Object.assign(Object.create(executable) as typeof executable, {
          read,
          write: executable.write.bind(executable),
          run: executable.run.bind(executable),
          stepsAtOnce: executable.stepsAtOnce.bind(executable),
          dispose: executable.dispose.bind(executable),
          bytes: executable.bytes,
        });
      },
    };
  };
  const agreement = of(await check(table, network(table, mlp([32, 16])), lying(1.05)), 'agreement');
  assert.equal(agreement.kind, 'fix');
  assert.ok(Math.abs(Number(agreement.figure) - 0.05) < 0.005, agreement.figure);
  assert.match(agreement.text, /^Those of layer 1, on 8 rows; 10⁻⁴ is allowed/);
  const none = of(await check(table, network(table, mlp([32, 16])), lying(NaN)), 'agreement');
  assert.deepEqual([none.kind, none.figure], ['fix', 'no number'], 'sound layers behind it change nothing');
  assert.match(none.text, /^Those of layer 1, /);
});

test('a linear model: the checks that mean something for it', async () => {
  const config = configWith(
    linear,
    { ...common, seed: 1 },
    usualSettings(linear, trainedOn(96, 'classification', { classes: 3 })),
  );
  const report = await check(table, config);
  assert.deepEqual(kinds(report), { data: 'fine', start: 'fine', shuffled: 'fine' });
  assert.match(of(report, 'start').text, /^entropy of the classes/);
});

test('a learner that brings nothing of its own is tried as it is', async () => {
  const { examine, ...bare } = learnerNamed('linear');
  assert.ok(examine);
  const sample = { data: { ...table.data, shardStarts: [0, 1_500] }, shard: await table.readShard(0) };
  const config = configWith(
    linear,
    { ...common, seed: 1 },
    usualSettings(linear, trainedOn(96, 'classification', { classes: 3 })),
  );
  const job = { data: table.data, sample, config, readShard: table.readShard, dataBudget: 1e9 };
  const backend = (): never => assert.fail('no device is opened');
  const { trial } = trialAlone(bare, { ...job, backend, reference: backend }, nodeSurroundings);
  const { outputs } = await trial(sample, { milliseconds: 500 }, nodeSurroundings);
  assert.equal(outputs.length, 3 * (table.data.counts.validation + table.data.counts.test));
  assert.ok(outputs.every((value) => Number.isFinite(value)));
});

test('data that is read more slowly than it is trained on', () => {
  const about = { total: 1e6, resident: false };
  assert.equal(judgeKeepingUp({ ...about, read: 1_000, used: 1_050 }).kind, 'fine');
  const waiting = judgeKeepingUp({ ...about, read: 590, used: 1_000 });
  assert.deepEqual([waiting.kind, waiting.figure], ['look', '41 %']);
  assert.equal(judgeKeepingUp({ ...about, read: 100, used: 1_000 }).kind, 'fix');
  assert.equal(judgeKeepingUp({ ...about, resident: true, read: 100, used: 1_000 }).kind, 'fine');
});

test('changes keep what layers are called by', () => {
  const model: ModelSpec = {
    version: 1,
    layers: [
      { type: 'dense', units: 8, activation: 'sigmoid', id: 'a' },
      { type: 'dense', units: 8 },
      { type: 'add', from: ['a', '1'] },
      { type: 'output' },
    ],
  };
  const byPlace = changed(network(table, model), { batchNorm: true, activation: 'relu' });
  assert.deepEqual(
    byPlace.model.layers.map(({ type }) => type),
    ['dense', 'dense', 'add', 'output'],
    'a layer that is named by its place stays where it is',
  );
  assert.equal(byPlace.model.layers[0]['activation'], 'relu');
  const named = { ...model, layers: model.layers.toSpliced(1, 1, { type: 'dense', units: 8, id: 'b' }) };
  named.layers[2] = { type: 'add', from: ['a', 'b'] };
  const { layers } = changed(network(table, named), { batchNorm: true }).model;
  assert.deepEqual(
    layers.map(({ type, id }) => [type, id ?? null]),
    [
      ['dense', null],
      ['batch_norm', null],
      ['activation', 'a'],
      ['dense', null],
      ['batch_norm', null],
      ['activation', 'b'],
      ['add', null],
      ['output', null],
    ],
  );
});

test('a check that is cancelled ends at the next step', async () => {
  const service = examiner(table);
  service.onFinding(() => void service.cancel({ job: 'test' }));
  const checking = service.check({ job: 'test', config: network(table, mlp([32, 16])), data: table.data });
  await assert.rejects(checking, CancelledError);
});
