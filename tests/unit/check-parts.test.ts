// Checks of learners that cut their training rows into parts (the best of all, a search): they are trained on the parts that a run would have.

import assert from 'node:assert/strict';
import test from 'node:test';
import { nodeSurroundings } from '../../electron/hosts/surroundings.ts';
import { asRows, readSample } from '../../engine/doctor/sample.ts';
import type { PreparedData } from '../../engine/protocol/data.ts';
import { penguins, temporaryHome, trainyard } from '../support/cli.ts';
import { makeTable } from '../support/table.ts';

test('a sample has the parts of its own rows, whatever shard they are from; rows put together otherwise have none', async () => {
  const { data } = makeTable({ rows: 24_000, numeric: 2, classes: 2 });
  const { train } = data.counts;
  const partOf = (row: number): number => row % 6;
  // Each row holds its number, in three shards that end within the splits.
  const shardStarts = [0, 5_000, 17_000, 24_000];
  const parted: PreparedData = { ...data, shardStarts, parts: Uint8Array.from({ length: train }, (_, i) => partOf(i)) };
  assert.ok(train > 8_192 && train > 17_000);
  const numbered = async (shard: number) => {
    const rows = shardStarts[shard + 1] - shardStarts[shard];
    const x = Float32Array.from(
      { length: rows * data.width },
      (_, i) => shardStarts[shard] + Math.floor(i / data.width),
    );
    return { rows, x, y: new Float32Array(rows) };
  };
  const { sample } = await readSample({ data: parted, readShard: numbered }, 3, nodeSurroundings);
  const { counts, parts, width } = sample.data;
  assert.ok(counts.train >= 8_190 && counts.train < train && counts.validation > 0);
  assert.deepEqual(
    [...(parts ?? [])],
    Array.from({ length: counts.train }, (_, row) => partOf(sample.shard.x[row * width])),
  );
  assert.equal(asRows(parted, sample.shard, counts).data.parts, undefined);
});

test('the best of all and a search are tried on shuffled labels, also those of an earlier run', async (t) => {
  const home = temporaryHome(t);
  const shuffled = async (...args: string[]): Promise<unknown> => {
    const { events, stderr } = await trainyard(home, 'check', ...args, '--json');
    const found = events.find(({ event, check }) => event === 'finding' && check === 'shuffled');
    assert.ok(found, stderr);
    return found['kind'] === 'fine' ? 'fine' : found['text'];
  };
  assert.equal(await shuffled(penguins, '--model', 'auto'), 'fine');
  assert.equal(await shuffled('penguins.csv', '--model', 'search'), 'fine');
  const trained = await trainyard(home, 'train', penguins, '--model', 'auto', '--minutes', '0.02');
  assert.equal(trained.code, 0, trained.stderr);
  assert.equal(await shuffled('--from', '1'), 'fine');
});
