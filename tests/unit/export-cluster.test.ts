// A run as a project for a cluster: two processes of torchrun train as one does, a killed one ends the others, and the training goes on from
// its checkpoint.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';
import { writeMixedTable } from '../support/mixed-table.ts';
import { encoders, noise, paint, red } from '../support/pictures.ts';
import { lacksPython, python, runPython } from '../support/python.ts';
import type { MetricPoint } from '../../engine/protocol/runs.ts';

const home = temporaryHome({ after } as never);
const skip = lacksPython('numpy', 'torch', 'safetensors');
const env = { OMP_NUM_THREADS: '1' };
const torchrun = (...args: readonly string[]) => ['-m', 'torch.distributed.run', '--nproc-per-node', '2', ...args];

async function project(name: string, ...args: readonly string[]): Promise<{ out: string; run: string }> {
  const run = String((await lastEvent(home, 'train', ...args))['run']);
  const out = path.join(home, name);
  await lastEvent(home, 'export', run, '--format', 'pytorch-ddp', '--out', out);
  return { out, run };
}

function points(folder: string): readonly MetricPoint[] {
  const lines = fs.readFileSync(path.join(folder, 'metrics.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as MetricPoint);
}

/** Every point of one curve stands in the other, and is the same to 1e-5. */
function assertSameCurves(one: string, other: string): void {
  const [left, right] = [points(one), points(other)];
  const places = (all: readonly MetricPoint[]) => all.map(({ series, step }) => `${series} ${step}`);
  assert.deepEqual(places(left), places(right));
  const difference = Math.max(...left.map(({ value }, i) => Math.abs(value - right[i].value)));
  assert.ok(difference < 1e-5, `they differ by ${difference}`);
}

/** What PyTorch answers to all rows with the weights of a folder, in the target's unit or as the probability of the first class. */
const answers = `
import glob, json, sys, numpy as np, torch
from data import Pictures, config
from model import load
model, pictures = load(sys.argv[1] + "/weights.safetensors"), Pictures(torch.device("cpu"))
with torch.no_grad():
    out = torch.cat([model(pictures(torch.from_numpy(np.load(file)))) for file in sorted(glob.glob("data/*.x.npy"))]).double()
about = config["output"]
out = out.softmax(1) if "classes" in about else out * about["scale"] + about["offset"]
print(json.dumps(out[:, 0].tolist()))
`;

/** The finished folder becomes a run that predicts as PyTorch does, row by row, and names the run it comes from. */
async function assertComesBack(project: string, folder: string, source: string, value: string): Promise<void> {
  const { run } = await lastEvent(home, 'import-model', folder);
  const { stdout } = await trainyard(home, 'show', String(run));
  assert.match(stdout, /family +trained elsewhere, from run \d/);
  const again = await trainyard(home, 'export', String(run), '--format', 'pytorch', '--out', `${folder}-again`);
  assert.match(again.stderr, /was trained elsewhere: what it began with is not kept here\. Export run \d/);
  const { events } = await trainyard(home, 'predict', String(run), source, '--json');
  const ours = events.filter(({ event }) => event === 'prediction').map((row) => Number(row[value]));
  const theirs = JSON.parse(runPython(['-c', answers, folder], { cwd: project, env })) as number[];
  assert.ok(ours.length >= 60 && ours.length === theirs.length);
  // The project's rows stand by splits, ours as in the file.
  const [left, right] = [ours, theirs].map((all) => all.toSorted((a, b) => a - b));
  const difference = Math.max(...left.map((one, i) => Math.abs(one - right[i]) / Math.max(1, Math.abs(one))));
  assert.ok(difference < 1e-5, `they differ by ${difference}`);
}

function paintBars(folder: string): string {
  for (const [edge, name] of [0, 5, 10].map((from) => [from, `bar-${from}`] as const)) {
    fs.mkdirSync(path.join(folder, name), { recursive: true });
    for (let i = 0; i < 20; i++) {
      const ground = noise(40 * edge + i);
      const picture = paint(16, 16, (x, y) => (y >= edge && y < edge + 4 ? red : ground(x, y)));
      fs.writeFileSync(path.join(folder, name, `${i}.png`), encoders.png(picture));
    }
  }
  return folder;
}

test('a CNN with batch norm and changed pictures has the losses of one process in two', { skip }, async () => {
  // 48 rows in batches of 47: the last one is left out, as batch norm has no statistics of it.
  const pictures = paintBars(path.join(home, 'pictures'));
  const { out } = await project('cnn', pictures, '--model', 'small-cnn', '--epochs', '2', '--batch', '47');
  const read = (file: string): string => fs.readFileSync(path.join(out, file), 'utf8');
  assert.match(read('model.py'), /BatchNorm2d/);
  assert.match(read('config.json'), /"rowsOfEpoch": 47,[^]*"flip": true/);
  const [one, two] = [path.join(home, 'cnn-1'), path.join(home, 'cnn-2')];
  runPython(['train.py', '--out', one], { cwd: out, env });
  runPython(torchrun('train.py', '--out', two), { cwd: out, env });
  assertSameCurves(one, two);
  await assertComesBack(out, two, pictures, 'p(bar-0)');
});

test('a table: two processes as one; a killed one ends the other, and one process goes on', { skip }, async () => {
  const prices = path.join(home, 'prices.csv');
  writeMixedTable(prices, 'numbers');
  // 320 rows in batches of 29: of the last one, a single row, the second process has none.
  const { out, run } = await project('table', prices, '--hidden', '12', '--epochs', '40', '--batch', '29');
  const [one, two] = [path.join(home, 'table-1'), path.join(home, 'table-2')];
  runPython(['train.py', '--out', one], { cwd: out, env });

  const args = torchrun('train.py', '--out', two, '--checkpoint-seconds', '0');
  const child = spawn(python, args, { cwd: out, env: { ...process.env, ...env } });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += String(chunk)));
  const ended = once(child, 'close');
  const reached = (): boolean =>
    fs.existsSync(path.join(two, 'checkpoint.pt')) && points(two).some(({ step }) => step > 50);
  while (child.exitCode === null && !reached()) await new Promise((resolve) => setTimeout(resolve, 20));
  const children = fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
  assert.equal(children.length, 2, said);
  process.kill(Number(children[1]), 'SIGKILL');
  const [code] = (await ended) as [number];
  assert.equal(code, 1);
  assert.match(said, /process 0: another process is gone; the last checkpoint is in .*table-2/);
  assert.ok(!fs.existsSync(`/proc/${children[0]}`), 'nobody is left behind');
  assert.ok(!fs.existsSync(path.join(two, 'result.json')));

  const [, step] = /goes on after step (\d+) of 480/.exec(runPython(['train.py', '--out', two], { cwd: out, env })) ?? [
    '',
    '0',
  ];
  assert.ok(Number(step) > 50 && Number(step) < 480, step);
  assertSameCurves(one, two);
  assert.match(fs.readFileSync(path.join(two, 'result.json'), 'utf8'), /"reason": "completed"/);
  await assertComesBack(out, two, prices, 'prediction');

  // The project for one machine, whose second process has no row of the last batch either.
  const small = path.join(home, 'small');
  const [{ step: steps, value }] = points(one).filter(({ series }) => series === 'val_loss');
  await lastEvent(home, 'export', run, '--format', 'pytorch', '--out', small);
  const alike = runPython(torchrun('train.py', '--epochs', '1'), { cwd: small, env });
  const [, validation] = /epoch 1: loss \S+, validation (\S+)/.exec(alike) ?? [];
  assert.ok(steps === 12 && Math.abs(Number(validation) - value) < 1e-5, `${validation} instead of ${value}`);
});
