// Where a run is trained, whatever learns.

import { fieldsFor, type SettingsOf } from './field.ts';

export const runFields = fieldsFor<unknown>()({
  device: {
    kind: 'choice',
    label: 'Device',
    help: 'where to train (default auto)',
    choices: { auto: 'auto', cpu: 'CPU', gpu: 'GPU', reference: 'reference' },
    default: 'auto',
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

export type RunSurroundings = SettingsOf<typeof runFields>;
