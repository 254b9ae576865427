// What default settings reach on real tables: the median of three seeds. A change that lowers one of these makes the
// product worse, whatever else it does.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { createDataService } from '../../engine/data/service.ts';
import { defaultPreset, trainedOn } from '../../engine/model/presets.ts';
import type { DatasetSettings } from '../../engine/protocol/data.ts';
import { usualTraining } from '../../engine/settings/network.ts';
import { penguins, tables, temporaryHome } from '../support/cli.ts';
import { trainHere } from '../support/train.ts';

interface Expected {
  readonly file: string;
  readonly settings?: DatasetSettings;
  readonly metric: 'test_accuracy' | 'test_r2';
  readonly least: number;
}

const expected: readonly Expected[] = [
  { file: path.join(tables, 'iris.csv'), metric: 'test_accuracy', least: 0.93 },
  { file: penguins, settings: { target: 'species' }, metric: 'test_accuracy', least: 0.96 },
  { file: path.join(tables, 'breast_cancer.csv'), metric: 'test_accuracy', least: 0.95 },
  { file: path.join(tables, 'digits.csv'), settings: { task: 'classification' }, metric: 'test_accuracy', least: 0.95 },
  { file: path.join(tables, 'diabetes.csv'), metric: 'test_r2', least: 0.38 },
];

for (const { file, settings = {}, metric, least } of expected) {
  test(`${path.basename(file, '.csv')}: median ${metric} of three seeds is at least ${least}`, async (t) => {
    const data = createDataService({ home: temporaryHome(t) });
    t.after(() => data.close());
    const info = await data.import({ job: 'import', path: file, settings });
    const scores: number[] = [];
    for (const seed of [1, 2, 3]) {
      const options = { settings: { ...settings, target: info.target!, task: info.task! }, seed };
      const prepared = await data.prepare({ job: 'prepare', dataset: info.id, options });
      const { counts, output, task } = prepared;
      const classes = output.kind === 'classes' ? output.classes.length : 0;
      const model = defaultPreset(counts.train, undefined, classes).spec;
      const training = { ...usualTraining(trainedOn(counts.train, task, { model, classes })), seed };
      const { result } = await trainHere(
        {
          data: prepared,
          x: new Float32Array(0),
          y: new Float32Array(0),
          readShard: (shard) => data.readShard({ handle: prepared.handle, shard }),
        },
        { backend: createCpuBackend({ threads: 1 }), model, training },
      );
      scores.push(result.metrics[metric]);
    }
    const median = [...scores].sort((a, b) => a - b)[1];
    assert.ok(median >= least, `${scores.map((score) => score.toFixed(3)).join(', ')}`);
  });
}
