// What every run has, whatever learns: its seed and where it is trained.

import { fieldsFor, type SettingsOf } from './field.ts';

export const runFields = fieldsFor<unknown>()({
  seed: {
    kind: 'number',
    whole: true,
    label: 'Seed',
    ungrouped: true,
    help: 'seed of split, weights and order',
    minimum: 0,
    maximum: 2 ** 32 - 1,
    default: 1,
  },
  device: {
    kind: 'choice',
    label: 'Device',
    help: 'where to train (default auto)',
    choices: { auto: 'auto', cpu: 'CPU', gpu: 'GPU', reference: 'reference' },
    default: 'auto',
  },
  // Several that share every batch; absent: `device` alone.
  devices: {
    kind: 'text',
    label: 'Several devices',
    help: 'train on several at once, each with its share of every batch: cpu:2, cpu,gpu or, by weights, cpu@3,gpu@1',
    longest: 200,
  },
  // Cross-validation: one training a fold, each time with another part of the rows as its test split.
  folds: {
    kind: 'number',
    whole: true,
    label: 'Cross-validation',
    unit: 'folds',
    help: 'cross-validation: train once a fold, each time tested on another part of the rows',
    minimum: 2,
    maximum: 100,
    unset: 'None: one training',
    offered: [3, 5, 10],
  },
  // CPU threads.
  threads: {
    kind: 'number',
    whole: true,
    label: 'Threads',
    help: 'CPU threads; 0 = as many as pay',
    minimum: 0,
    maximum: 1024,
    default: 0,
  },
});

export type CommonSettings = SettingsOf<typeof runFields>;
