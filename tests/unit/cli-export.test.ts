// `export` on the command line: models certified against the run that made them, in onnxruntime's own process and, where there is
// one, in Python's; what fails stands apart.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { exportFormats } from '../../engine/protocol/exports.ts';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';
import { writeMixedTable } from '../support/mixed-table.ts';
import { lacksPython, runPython } from '../support/python.ts';
import { encoders, noise, paint, red } from '../support/pictures.ts';

const home = temporaryHome({ after } as never);
const mixed = path.join(home, 'mixed.csv');
const prices = path.join(home, 'prices.csv');
writeMixedTable(mixed, 'classes');
writeMixedTable(prices, 'numbers');
const pictures = path.join(home, 'pictures');
for (const [edge, name] of [0, 5, 10].map((from) => [from, `bar-${from}`] as const)) {
  fs.mkdirSync(path.join(pictures, name), { recursive: true });
  for (let i = 0; i < 40; i++) {
    const ground = noise(40 * edge + i);
    const picture = paint(16, 16, (x, y) => (y >= edge && y < edge + 4 ? red : ground(x, y)));
    fs.writeFileSync(path.join(pictures, name, `${i}.png`), encoders.png(picture));
  }
}

const cases = [
  { name: 'a network on mixed columns', args: [mixed, '--hidden', '12,6', '--epochs', '2'], about: /double N × 1/ },
  { name: 'a network for numbers', args: [prices, '--hidden', '8', '--epochs', '2'], about: /double N × 1/ },
  { name: 'a linear model of classes', args: [mixed, '--model', 'linear'], about: /string N × 1/ },
  { name: 'boosted trees of classes', args: [mixed, '--model', 'boosted', '--trees', '40'], about: /string N × 1/ },
  {
    name: 'boosted counts',
    args: [prices, '--model', 'boosted', '--trees', '40', '--objective', 'poisson'],
    about: /double N × 1/,
  },
  { name: 'a forest of classes', args: [mixed, '--model', 'forest', '--trees', '20'], about: /string N × 1/ },
  { name: 'extra trees for numbers', args: [prices, '--model', 'extra', '--trees', '20'], about: /string N × 1/ },
  { name: 'a linear model of pictures', args: [pictures, '--model', 'linear'], about: /uint8 N × 16 × 16 × 3/ },
  { name: 'a small CNN', args: [pictures, '--model', 'small-cnn', '--epochs', '1'], about: /uint8 N × 16 × 16 × 3/ },
  { name: 'ResNet-20', args: [pictures, '--model', 'resnet20', '--epochs', '1'], about: /uint8 N × 16 × 16 × 3/ },
];

interface Exported {
  readonly out: string;
  readonly certificate: {
    readonly passed: boolean;
    readonly largest: number;
    readonly rows: number;
    readonly split: string;
    readonly labelsEqual: number | null;
    readonly inputs: readonly { readonly name: string; readonly type: string }[];
    readonly runtime: string;
  };
}

const models: string[] = [];

for (const [index, { name, args, about }] of cases.entries()) {
  test(`${name} leaves as ONNX and predicts the same there`, async () => {
    const { run } = await lastEvent(home, 'train', ...args);
    const out = path.join(home, `model ${index + 1}.onnx`);
    const { certificate } = (await lastEvent(
      home,
      'export',
      String(run),
      '--format',
      'onnx',
      '--out',
      out,
    )) as unknown as Exported;
    assert.ok(certificate.passed && certificate.largest <= 1e-5, JSON.stringify(certificate));
    assert.ok(certificate.rows >= 12 && certificate.split === 'test', JSON.stringify(certificate));
    assert.ok(certificate.labelsEqual === null || certificate.labelsEqual === certificate.rows);
    assert.match(certificate.inputs.map(({ type }) => type).join('; '), about);
    assert.match(certificate.runtime, /^onnxruntime \d/);
    models.push(out);
  });
}

test(
  'the official checker and onnxruntime in Python agree with every certificate',
  { skip: lacksPython('numpy', 'onnx', 'onnxruntime') },
  () => {
    for (const model of models) {
      const said = runPython([model.replace(/onnx$/, 'check.py')]);
      assert.match(said, /checker finds nothing wrong[^]*passes with onnxruntime/);
    }
  },
);

test('a file is checked again; one of another run is refused', async () => {
  const again = await lastEvent(home, 'export', '1', '--check', models[0]);
  assert.equal((again as unknown as Exported).certificate.passed, true);
  const { code, stderr } = await trainyard(home, 'export', '1', '--check', models[2]);
  assert.equal(code, 1);
  assert.match(stderr, /model 3\.onnx does not predict as run 1 does: largest relative difference/);
  const damaged = path.join(home, 'damaged.onnx');
  fs.writeFileSync(damaged, fs.readFileSync(models[0]).subarray(0, 100));
  const refused = await trainyard(home, 'export', '1', '--check', damaged);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /onnxruntime cannot run the model/);
  const folder = await trainyard(home, 'export', '1', '--format', 'onnx', '--out', `${home}/..`);
  assert.equal(folder.code, 2);
  assert.match(folder.stderr, /folder/);
});

test('a folder that cannot be made is refused in one line, before or in place of a file of that name', async () => {
  const file = path.join(home, 'taken');
  fs.writeFileSync(file, 'mine');
  const below = process.platform === 'linux' ? [['/proc/none/project', /its folder is not there/] as const] : [];
  const places = [
    [file, /a file has that name/],
    [path.join(file, 'project'), /part of the path is a file/],
    ...below,
  ] as const;
  for (const [out, why] of places) {
    for (const format of ['pytorch', 'pytorch-ddp']) {
      const { code, stderr } = await trainyard(home, 'export', '1', '--format', format, '--out', out);
      const last = stderr.trim().split('\n').at(-1)!;
      assert.equal(code, 2, stderr);
      assert.match(last, why);
      assert.ok(last.startsWith(`trainyard: Cannot write ${out}`), last);
    }
  }
  assert.equal(fs.readFileSync(file, 'utf8'), 'mine');
});

const project = path.join(home, 'project');
const compared = path.join(home, 'compared');

test('a run leaves as a project, a report, event files and a folder for MLflow', async () => {
  const { bytes, checked, proven } = await lastEvent(home, 'export', '1', '--format', 'pytorch', '--out', project);
  assert.equal(checked, 'read back');
  assert.match(
    String(proven),
    /files there and whole, .* bit for bit.*11 files, [\d,]+ bytes, read from the disk again/,
  );
  assert.ok(Number(bytes) > 20_000);
  const files = fs.readdirSync(project, { recursive: true, encoding: 'utf8' });
  for (const file of [
    'model.py',
    'data.py',
    'train.py',
    'requirements.txt',
    'README.md',
    'config.json',
    'data/x.npy',
  ]) {
    assert.ok(files.includes(path.normalize(file)), file);
  }
  const config = JSON.parse(fs.readFileSync(path.join(project, 'config.json'), 'utf8')) as { firstLosses: unknown[] };
  assert.equal(config.firstLosses.length, 10);
  const page = path.join(home, 'report.html');
  await lastEvent(home, 'export', '1', '--format', 'html', '--out', page);
  assert.match(fs.readFileSync(page, 'utf8'), /<polyline/);
  for (const format of ['tensorboard', 'mlflow']) {
    const { out } = await lastEvent(home, 'export', '1', '--format', format, '--out', path.join(compared, format));
    assert.ok(fs.readdirSync(String(out)).length > 0);
  }
  await lastEvent(home, 'export', '1', '--format', 'safetensors', '--out', path.join(home, 'weights'));
});

test(
  'in PyTorch the weights load, and the first ten losses are the run’s, alone and in two processes',
  { skip: lacksPython('numpy', 'torch', 'safetensors') },
  () => {
    assert.match(runPython([path.join(home, 'weights.model.py')]), /Linear\(in_features=\d+, out_features=12/);
    const env = { OMP_NUM_THREADS: '1' };
    const alone = runPython(['train.py', '--compare'], { cwd: project, env });
    const two = runPython(['-m', 'torch.distributed.run', '--nproc-per-node', '2', 'train.py', '--compare'], {
      cwd: project,
      env,
    });
    for (const said of [alone, two]) {
      const differences = [...said.matchAll(/^step \d+: .* difference (\S+)$/gm)].map(([, value]) => Number(value));
      assert.equal(differences.length, 10, said);
      assert.ok(Math.max(...differences) < 1e-5, said);
    }
  },
);

test('a linear model leaves as a project that comes to the same solution, alone and in two processes', async () => {
  const { run } = await lastEvent(home, 'train', prices, '--model', 'linear');
  const solved = cases.flatMap(({ args }, index) => (args[2] === 'linear' ? [String(index + 1)] : []));
  const projects = [...solved, String(run)].map((id) => ({ id, out: path.join(home, `linear-${id}`) }));
  for (const { id, out } of projects) {
    const { proven } = await lastEvent(home, 'export', id, '--format', 'pytorch', '--out', out);
    assert.match(String(proven), /9 files, [\d,]+ bytes, read from the disk again/);
    assert.match(fs.readFileSync(path.join(out, 'README.md'), 'utf8'), /There are no steps, epochs or learning rate/);
  }
  const { stderr } = await trainyard(home, 'export', String(run), '--format', 'pytorch-ddp');
  assert.match(stderr, /^trainyard: There is no PyTorch on a cluster of a linear model\. It leaves as ONNX, [^\n]+\n$/);
  const lacking = lacksPython('numpy', 'torch', 'safetensors');
  if (lacking !== false) return console.log(`  not solved in PyTorch: ${lacking}`);
  const [same, env] = [/^the same solution$/m, { OMP_NUM_THREADS: '1' }];
  for (const { out } of projects) assert.match(runPython(['train.py', '--compare'], { cwd: out, env }), same);
  const two = ['-m', 'torch.distributed.run', '--nproc-per-node', '2', 'train.py', '--compare'];
  assert.match(runPython(two, { cwd: projects[0].out, env }), same);
});

test('TensorBoard reads the event files', { skip: lacksPython('tensorboard') }, () => {
  const read = [
    'import sys',
    'from tensorboard.backend.event_processing.event_accumulator import EventAccumulator',
    'events = EventAccumulator(sys.argv[1]); events.Reload()',
    "print(len(events.Scalars('val_loss')))",
  ].join('\n');
  assert.equal(runPython(['-c', read, path.join(compared, 'tensorboard')]).trim(), '2');
});

test('a cross-validation leaves as a report, as event files a fold and as text; not as one model alone', async () => {
  const { run } = await lastEvent(home, 'train', mixed, '--model', 'linear', '--folds', '3');
  const outOf = async (format: string): Promise<string> => {
    const out = path.join(home, `folds-${format}`);
    await lastEvent(home, 'export', String(run), '--format', format, '--out', out);
    return out;
  };
  assert.match(fs.readFileSync(await outOf('html'), 'utf8'), /<th>mean<\/th><th>deviation<\/th><th>fold 1<\/th>/);
  assert.deepEqual(fs.readdirSync(await outOf('tensorboard')).sort(), ['fold-1', 'fold-2', 'fold-3', 'mean']);
  const { folds, run: about } = JSON.parse(fs.readFileSync(await outOf('json'), 'utf8')) as {
    readonly run: { readonly result: { readonly folds: { readonly mean: Record<string, number> } } };
    readonly folds: readonly { readonly fold: number; readonly state: string }[];
  };
  assert.deepEqual(
    folds.map(({ fold, state }) => [fold, state]),
    [1, 2, 3].map((fold) => [fold, 'completed']),
  );
  assert.ok(about.result.folds.mean.test_accuracy > 0);
  const { code, stderr } = await trainyard(home, 'export', String(run), '--format', 'mlflow');
  assert.equal(code, 1);
  assert.match(
    stderr,
    /MLflow folder holds one model alone\. It leaves as ONNX, Report, TensorBoard or Specification;/,
  );
});

test('without the dataset there is no proof, and without proof no model', async () => {
  const datasets = (await trainyard(home, 'datasets', '--json')).events as readonly { dataset: string; name: string }[];
  const { run } = await lastEvent(home, 'train', prices, '--model', 'linear');
  await trainyard(home, 'datasets', 'remove', String(datasets.find(({ name }) => name === 'prices')?.dataset));
  const out = path.join(home, 'unproven.onnx');
  const { code } = await trainyard(home, 'export', String(run), '--format', 'onnx', '--out', out);
  assert.notEqual(code, 0);
  assert.ok(!fs.existsSync(out));
});

test('a model of trees leaves in the formats that have words for it; the others name one that has', async () => {
  const { run } = await lastEvent(home, 'train', prices, '--model', 'forest', '--trees', '3');
  const refused: string[] = [];
  for (const format of exportFormats) {
    const out = path.join(home, `forest-${format}`);
    const { code, stderr } = await trainyard(home, 'export', String(run), '--format', format, '--out', out);
    if (code === 0) continue;
    refused.push(format);
    assert.match(stderr, /^trainyard: There is no [^\n]+ of a random forest\. It leaves as ONNX, [^\n]+\.\n$/);
  }
  assert.deepEqual(refused, ['safetensors', 'pytorch', 'pytorch-ddp']);
  const files = fs.readdirSync(path.join(home, 'forest-mlflow'), { recursive: true, encoding: 'utf8' });
  const model = path.join(home, 'forest-mlflow', files.find((file) => file.endsWith('MLmodel')) ?? '');
  const onnx = path.join(path.dirname(model), /"data":"([^"]+)"/.exec(fs.readFileSync(model, 'utf8'))?.[1] ?? '');
  assert.ok(fs.readFileSync(onnx).equals(fs.readFileSync(path.join(home, 'forest-onnx.onnx'))));
});
