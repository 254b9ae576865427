// Members of a best of all may draw by seeds of their own; their rows are divided by the seed of the whole. Whoever reads such a run again (a comparison,
// an explanation, an export, a check, a run after it) has to come to the rows it learned from and was tested on, whatever its seed.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { onRowsOf } from '../../engine/protocol/division.ts';
import type { Certificate } from '../../engine/protocol/exports.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { lastEvent, temporaryHome, trainyard } from '../support/cli.ts';
import { uniform } from '../support/table.ts';
import { exampleConfig, newRun } from './fixtures/history.ts';
import { createTableData, createTableHosts, tableConfig } from './fixtures/training.ts';

/** 400 rows of two classes, each with its number. */
function writeTable(folder: string): string {
  const random = uniform(3);
  const lines = Array.from({ length: 400 }, (_, row) => {
    const [a, b] = [random() * 4 - 2, random() * 4 - 2];
    return `${row},${a},${b},${a + b * b + random() > 0.8 ? 'yes' : 'no'}`;
  });
  const file = path.join(folder, 'numbered.csv');
  writeFileSync(file, ['number,a,b,bought', ...lines].join('\n'));
  return file;
}

interface Board {
  readonly leaderboard: readonly { readonly run: number; readonly learner: string; readonly weight: number }[];
}
interface Score {
  readonly name: string;
  readonly value: number;
}

/** A best of all with a member besides the linear one: where others keep the machine busy that takes longer. */
async function trainBest(t: TestContext): Promise<Board & { readonly home: string }> {
  for (const minutes of ['0.1', '0.3', '1']) {
    const home = temporaryHome(t);
    const file = writeTable(home);
    const trained = await trainyard(home, 'train', file, '--model', 'auto', '--minutes', minutes, '--json');
    assert.equal(trained.code, 0, trained.stderr);
    const { leaderboard } = trained.events.at(-1) as unknown as Board;
    if (leaderboard.length > 1) return { home, leaderboard };
  }
  return assert.fail('A minute was too short for a second member.');
}

test('comparison, evaluation, explanation, export and check of a member that draws by a seed of its own have the rows of the whole', async (t) => {
  const { home, leaderboard } = await trainBest(t);
  const { run } = leaderboard.find(({ learner }) => learner === 'network') ?? leaderboard[1];
  const asked = String(run);
  const trees = leaderboard.find(({ learner }) => learner === 'boosted');
  const shown = trees && (await trainyard(home, 'show', String(trees.run)));
  assert.ok(shown === undefined || shown.code === 0, shown?.stderr);
  const findings = async (): Promise<readonly unknown[]> => {
    const { events } = await trainyard(home, 'check', '--from', asked, '--json');
    // How fast rows are read differs from time to time, and how far a training of so many seconds gets with shuffled targets.
    return events.flatMap(({ event, check, figure }) =>
      event === 'finding' && check !== 'data' && check !== 'shuffled' ? [[check, figure]] : [],
    );
  };
  const before = await findings();
  assert.ok(before.length >= 3);

  // A network that is drawn late has such a seed; not every machine comes to one in time.
  const store = createStore(home);
  const { config } = await store.run({ run });
  await store.updateRun({ run, patch: { config: { ...config, seed: 791_900 } } });
  const { result } = await store.run({ run });
  await store.close();
  const loss = result!.metrics.test_loss;

  const scoreOf = (scores: unknown): number => (scores as Score[]).find(({ name }) => name === 'log_loss')!.value;
  const { scores } = await lastEvent(home, 'evaluate', asked, '--split', 'test');
  assert.ok(Math.abs(scoreOf(scores) - loss) < 1e-5, `evaluated: ${scoreOf(scores)}, ${loss} when it ended`);

  const explained = await lastEvent(home, 'explain', asked, '--split', 'test', '--shuffles', '2');
  const told = (explained.scores as { readonly log_loss: number }).log_loss;
  assert.ok(Math.abs(told - loss) < 1e-5, `explained: ${told}, ${loss} when it ended`);

  for (const [split, rows] of [
    ['test', 40],
    ['out-of-fold', 360],
  ] as const) {
    const { paired } = await lastEvent(home, 'compare', '1', asked, '--paired', split);
    assert.equal((paired as { test: { rows: number } }[])[0].test.rows, rows, `rows of the ${split} that both predict`);
  }

  const certified = async (of: string): Promise<unknown> => {
    const out = path.join(home, `model-${of}`);
    const { stdout, stderr } = await trainyard(home, 'export', of, '--format', 'onnx', '--out', out);
    assert.match(stdout, /certified: .*labels equal in 40 of 40/, stderr);
    const proof = JSON.parse(readFileSync(`${out}.check.json`, 'utf8')) as { readonly certificate: Certificate };
    assert.equal(proof.certificate.sources?.length, 40);
    return proof.certificate.sources;
  };
  assert.deepEqual(await certified(asked), await certified('1'), 'the test rows of the whole prove each');

  assert.deepEqual(await findings(), before, 'checked with the rows of the whole');
});

test('settings that are taken from a member get the seed that divided its rows; one that was chosen stays', async (context) => {
  const store = createStore(temporaryHome(context));
  context.after(() => store.close());
  const { id: whole } = await store.createRun({ ...newRun(), config: { ...exampleConfig, seed: 3 } });
  const family = { parent: whole, relation: 'member', start: { member: 0 } } as const;
  const own = tableConfig(1, { seed: 791_903, settings: { joined: true } });
  const member = await store.createRun({ ...newRun(), config: own, family });
  const seedOf = async (record: RunRecord, seed: number): Promise<number> =>
    (await onRowsOf(store, record, { ...record.config, seed })).seed;
  assert.deepEqual([await seedOf(member, own.seed), await seedOf(member, 7)], [3, 7]);
  const alone = await store.createRun({ ...newRun(), config: own });
  assert.equal(await seedOf(alone, own.seed), own.seed);

  const manager = createRunManager({
    store,
    data: createTableData(),
    hosts: createTableHosts(),
    owner: processOwner(),
  });
  for (const [seed, expected] of [
    [own.seed, 3],
    [7, 7],
  ]) {
    const begun = await manager.start({ config: { ...own, seed }, advisedBy: member.id });
    const { config, relation, parent } = await manager.finished({ run: begun.id });
    assert.deepEqual([config.seed, relation, parent], [expected, 'advised by', member.id]);
    assert.equal(config.settings.joined, undefined, 'some of its rows validate');
  }
});
