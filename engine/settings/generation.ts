// How a language model writes: the settings of `generate` and of the pane on a run's page.

import { fieldsFor, type SettingsOf } from './field.ts';

export const generationFields = fieldsFor<unknown>()({
  tokens: {
    kind: 'number',
    whole: true,
    label: 'Tokens',
    help: 'tokens to write',
    minimum: 1,
    maximum: 100_000,
    default: 200,
  },
  temperature: {
    kind: 'number',
    label: 'Temperature',
    help: 'how daring it is: 0 = the likeliest token always, 1 = as likely as it thinks',
    minimum: 0,
    maximum: 10,
    default: 0.8,
  },
  topP: {
    kind: 'number',
    label: 'Top p',
    help: 'draw from the likeliest tokens that together have this probability',
    flag: 'top-p',
    minimum: 0,
    maximum: 1,
    default: 0.95,
  },
  seed: {
    kind: 'number',
    whole: true,
    label: 'Seed',
    help: 'the same seed gives the same text',
    minimum: 0,
    maximum: 2 ** 32 - 1,
    default: 1,
  },
});

export type GenerationSettings = SettingsOf<typeof generationFields>;
