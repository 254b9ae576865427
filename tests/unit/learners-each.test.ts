// Every learner there is, where a person meets it: on the command line and in its help, in the history, in what the window offers and
// may ask for, and put to use.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { flagsOf } from '../../electron/cli/setting-flags.ts';
import { requests } from '../../electron/main/requests.ts';
import { configWith, declarations, offered, usualSettings } from '../../engine/learners/declared/registry.ts';
import { trainedOn } from '../../engine/model/presets.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import type { RunEvaluation } from '../../engine/protocol/evaluation.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { lastEvent, penguins, temporaryHome, trainyard } from '../support/cli.ts';

const home = temporaryHome({ after } as never);
const { stdout: help } = await trainyard(home, 'train', '--help');

for (const learner of declarations) {
  const { name, noun, fields, layers } = learner;
  test(`${name}: trained, listed, shown and put to use`, async () => {
    for (const flag of Object.keys(flagsOf(fields))) assert.match(help, new RegExp(`^ +--${flag} `, 'm'));
    if (!layers) assert.ok(help.includes(`${name} for ${noun}`), 'the help of --model');
    assert.ok(learner.forms.includes('pixels') || offered('table').includes(learner));

    const few = ownValue(fields, 'minutes') ? ['--minutes', '0.05'] : [];
    const flags = layers ? ['--hidden', '4', '--epochs', '2'] : ['--model', name, ...few];
    const { run, metrics } = (await lastEvent(home, 'train', penguins, ...flags)) as {
      readonly run: number;
      readonly metrics: Readonly<Record<string, number>>;
    };
    const shown = (await lastEvent(home, 'show', String(run))) as unknown as RunRecord;
    assert.deepEqual([shown.state, shown.config.learner], ['completed', name]);
    assert.ok(requests.startRun.safeParse({ config: shown.config }).success, 'what was kept can be asked for again');
    const evaluation = JSON.parse(
      fs.readFileSync(path.join(home, 'runs', String(run), 'evaluation.json'), 'utf8'),
    ) as RunEvaluation;
    const { epochs, bestEpoch } = shown.result!;
    assert.equal(evaluation.epoch, bestEpoch > 0 ? bestEpoch : epochs, 'scored are the weights that are kept');
    assert.match((await trainyard(home, 'runs')).stdout, new RegExp(`\\b${learner.label(shown.config)}\\b`));

    const out = path.join(home, `${name}.csv`);
    const predicted = (await lastEvent(home, 'predict', String(run), penguins, '--out', out)) as {
      readonly metrics: Readonly<Record<string, number>>;
    };
    assert.equal(fs.readFileSync(out, 'utf8').trim().split('\n').length, 345);
    assert.ok(
      Math.abs(predicted.metrics.accuracy - (metrics.train_accuracy ?? metrics.val_accuracy)) < 0.15,
      JSON.stringify(predicted.metrics),
    );
    if (layers) return;
    const about = trainedOn(100, 'classification', { classes: 3 });
    const common = { dataset: 'd', settings: {}, seed: 1, device: 'auto', threads: 0 } as const;
    const config = configWith(learner, common, usualSettings(learner, about));
    assert.ok(requests.startRun.safeParse({ config }).success);
    assert.ok(!requests.startRun.safeParse({ config: { ...config, more: 1 } }).success);
  });
}
