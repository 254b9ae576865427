// What a member does when time is up: a fold that cannot count is neither written nor scored, and one that there is no time to score is left out.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { MemberAtWork } from '../../engine/learners/auto/member.ts';
import { PartRows } from '../../engine/learners/auto/part-rows.ts';
import { RowsForMembers } from '../../engine/learners/auto/trained.ts';
import { declarationOf, usualSettings } from '../../engine/learners/declared/registry.ts';
import type { LearnerJob } from '../../engine/learners/learner.ts';
import { learnerNamed } from '../../engine/learners/registry.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import { decodeText, encodeText } from '../../engine/train/safetensors.ts';
import { partsJob } from '../support/parts-job.ts';

const settings = { target: 'bought', task: 'classification' } as const;
const common = { dataset: 'd', device: 'cpu', threads: 1, seed: 4, settings } as const;

function jobOf(learner: string, own: object, onFile: (file: string) => void): LearnerJob {
  const usual = usualSettings(declarationOf({ learner }), { rows: 128, task: 'classification' } as never);
  const config = { ...common, learner, [learner]: { ...usual, ...own } } as RunConfig;
  return partsJob(config, 5, { onFile: ({ file }) => onFile(file) });
}

test('trees of a fold that is given up write nothing, of one that is stopped their model once', async (t) => {
  const backend = createCpuBackend({ threads: 1 });
  t.after(() => backend.close());
  for (const [end, models] of [
    ['abandon', 0],
    ['stop', 1],
  ] as const) {
    const files: string[] = [];
    const job = jobOf('forest', { trees: 2_000 }, (file) => files.push(file));
    const columns = ['a', 'b', 'c'].map((name) => ({ name, kind: 'number' as const }));
    const data = { ...job.data, input: { kind: 'columns' as const, columns } };
    const training = await learnerNamed('forest').open({
      ...job,
      data,
      backend: async () => backend,
      modelAlone: true,
    });
    await training.advance(1);
    job.control[end]();
    while (await training.advance(1_000)) continue;
    assert.equal(training.result().reason, 'stopped');
    assert.equal(files.filter((file) => file === 'model.json').length, models, end);
  }
});

test('a fold for whose scoring there is no time is left out, unless nothing else answers', async () => {
  const job = jobOf('linear', {}, () => undefined);
  const rows = await PartRows.read(job);
  const test = new RowsForMembers(job, {} as never);
  for (const [needed, left, folds] of [
    [false, 100, 1],
    [false, 0, 0],
    [true, 0, 1],
  ] as const) {
    const member = new MemberAtWork(0, { title: 'Linear', config: () => job.config }, job, rows, test);
    while ((await member.advance(false, needed, left)) && member.folds === 0) continue;
    assert.equal(member.folds, folds, `${left} s left`);
  }
});

test('texts of more than one piece are read as they were written', () => {
  const text = JSON.stringify({ text: 'abc'.repeat(9_000), letter: 'ß' });
  assert.deepEqual(JSON.parse(decodeText(encodeText(text))), JSON.parse(text));
});
