// `datasets`: listed with their runs, removed without harm to them, brought back by importing the file again.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { lastEvent, startTrainyard, tables, temporaryHome, trainyard } from '../support/cli.ts';

const iris = path.join(tables, 'iris.csv');
const digits = path.join(tables, 'digits.csv');

test('datasets are listed and removed; their runs stay, and the file brings them back', async (t) => {
  const home = temporaryHome(t);
  assert.match((await trainyard(home, 'datasets')).stdout, /^No datasets yet/);
  const { dataset } = await lastEvent(home, 'inspect', iris);
  const id = String(dataset);
  const stopped = startTrainyard(home, ['train', iris, '--epochs', '1000000', '--patience', '0', '--json']);
  await stopped.event('epoch');

  const atWork = await trainyard(home, 'datasets', 'remove', id.slice(0, 12));
  assert.equal(atWork.code, 2);
  assert.match(atWork.stderr, /iris\.csv is at work: run 1 needs it\. .*stop/);
  stopped.child.kill('SIGTERM');
  assert.equal((await stopped.finished).code, 0);

  const listed = await trainyard(home, 'datasets', '--json');
  assert.deepEqual(
    listed.events.map(({ event, dataset: number, source, rows, runs }) => ({ event, number, source, rows, runs })),
    [{ event: 'dataset', number: id, source: 'iris.csv', rows: 150, runs: [1] }],
  );
  assert.match((await trainyard(home, 'datasets')).stdout, new RegExp(`^${id.slice(0, 12)} +iris\\.csv +150 `, 'm'));

  const removed = await trainyard(home, 'datasets', 'remove', id.slice(0, 12));
  assert.equal(removed.code, 0, removed.stderr);
  assert.match(removed.stdout, /Removed iris\.csv .*import its file again/);
  assert.match(removed.stdout, /run 1 can still be shown and predict, and leave in formats that need no rows of it\./);
  assert.match(removed.stdout, /! run 1 cannot be resumed until then/);
  assert.deepEqual(readdirSync(path.join(home, 'datasets')), []);
  assert.equal((await trainyard(home, 'predict', '1', iris, '--json')).code, 0);
  assert.notEqual((await trainyard(home, 'train', '--resume', '1')).code, 0);
  for (const [format, why] of [
    ['onnx', 'ONNX is checked on its rows'],
    ['pytorch-ddp', 'PyTorch on a cluster trains on its rows'],
  ]) {
    const { code, stderr } = await trainyard(home, 'export', '1', '--format', format, '--out', path.join(home, 'out'));
    assert.equal(code, 1);
    assert.match(stderr, /The dataset iris of run 1 is not here any more\. Import its file again: .* dataset\. /);
    assert.ok(stderr.includes(`${why}; `), stderr);
  }
  assert.equal((await trainyard(home, 'export', '1', '--out', path.join(home, 'run.json'))).code, 0);

  assert.equal((await lastEvent(home, 'inspect', iris)).dataset, id, 'the same file, the same dataset');
});

test('several are removed at once, or none', async (t) => {
  const home = temporaryHome(t);
  const ids: string[] = [];
  for (const file of [iris, digits]) ids.push(String((await lastEvent(home, 'inspect', file)).dataset));
  for (const wrong of ['zzzz', ids[0].slice(0, 2)]) {
    const { code, stderr } = await trainyard(home, 'datasets', 'remove', ids[1], wrong);
    assert.equal(code, 2);
    assert.match(stderr, /There is no dataset “.*” here\. List them/);
  }
  assert.ok(ids.every((id) => existsSync(path.join(home, 'datasets', id))));
  assert.equal((await trainyard(home, 'datasets', 'remove')).code, 2);
  assert.equal((await trainyard(home, 'datasets', 'delete', ids[0])).code, 2);
  const { events } = await trainyard(home, 'datasets', 'remove', ...ids, '--json');
  assert.deepEqual(
    events.map((event) => [event.event, event.dataset, event.runs, event.cannotResume]),
    ids.map((id) => ['dataset_removed', id, [], []]),
  );
  assert.deepEqual((await trainyard(home, 'datasets', '--json')).events, []);
});
