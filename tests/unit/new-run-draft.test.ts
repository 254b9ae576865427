// New run as it is drafted after a model of others: with the settings that suit the rows here, as `train --from` has them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { specOf, presetNamed, trainedOn } from '../../engine/model/presets.ts';
import { usualTraining, type InputSpec, type TrainingSpec } from '../../engine/model/spec.ts';
import { pretrainedDataset } from '../../engine/protocol/pretrained.ts';
import { viewState } from '../support/view-state.ts';

const imagenet: InputSpec = { kind: 'image', channels: 3, height: 224, width: 224 };
const input: InputSpec = { kind: 'image', channels: 3, height: 64, width: 64 };
const output = { kind: 'classes', classes: ['a', 'b', 'c'] } as const;
const dataset = { id: 'd', name: 'small', kind: 'images', task: 'classification', settings: {}, columns: [] };
const model = specOf(presetNamed('resnet18')!, imagenet);
const about = { input, model, classes: 3, begun: true };

test('a model of large pictures is drafted for the small ones here', async () => {
  const training = usualTraining(trainedOn(1000, 'classification', { input: imagenet, model, begun: true }));
  const own = { dataset: pretrainedDataset('ab12'), settings: {}, device: 'auto', threads: 0 } as const;
  const from = { name: 'resnet18', config: networkConfig(own, model, training) };
  const shape = { input, output, counts: { train: 58, validation: 7, test: 7 } };
  const draft = (await viewState('views/new-run/draft.svelte.ts', 'Draft', dataset, shape, from)) as {
    readonly training: TrainingSpec;
  };
  // Squares of 56 pixels, a quarter of what the model learned from, would cover most of these.
  assert.equal(training.augmentation?.cutout, 56);
  assert.equal(draft.training.augmentation?.cutout, 16);
  assert.deepEqual(draft.training, usualTraining(trainedOn(58, 'classification', about)));
});

test('the layers of a model of others keep its name, and are one’s own once they are edited', async () => {
  const others = { ...model, preset: 'ResNet of others' };
  const shape = { input, output, counts: { train: 58, validation: 7, test: 7 } };
  const draft = (await viewState('views/new-run/draft.svelte.ts', 'Draft', dataset, shape)) as {
    readonly config: { readonly model: { readonly preset?: string } };
    useLayers(given: typeof others, words: string, begun: boolean): void;
    remove(position: number): void;
  };
  draft.useLayers(others, 'the layers of run 1', true);
  assert.equal(draft.config.model.preset, 'ResNet of others');
  draft.remove(3);
  assert.equal(draft.config.model.preset, undefined);
});
