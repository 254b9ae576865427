// What a person may change about a dataset: the words of its settings.

import { fieldsFor, type SettingsOf } from './field.ts';

export const columnTypes = ['number', 'category', 'datetime', 'boolean', 'text', 'identifier'] as const;
export type ColumnType = (typeof columnTypes)[number];

/** `language`: each token of a text, told by those before it. */
export const tasks = ['classification', 'regression', 'language'] as const;
export type Task = (typeof tasks)[number];

/** What a split goes by, other than chance. `time`: the earliest rows train, the latest test. `group`: all rows of a group are in one split. */
export const splitKinds = ['time', 'group'] as const;

/** How texts become tokens. What is left out follows from the model: one that counts words takes words, whole texts. */
export const textFields = fieldsFor<object>()({
  tokenizer: {
    kind: 'choice',
    label: 'Tokens',
    help: 'what texts are cut into (default: what the model reads best)',
    unset: 'What the model reads best',
    choices: { words: 'Words', wordpiece: 'Pieces of words', bytes: 'Byte pairs', characters: 'Characters' },
  },
  vocabulary: {
    kind: 'number',
    whole: true,
    label: 'Vocabulary',
    unit: 'tokens',
    help: 'different tokens at most, the most frequent of the training rows (default 8,192; 65,536 words where they are only counted)',
    unset: 'As the model needs',
    minimum: 16,
    maximum: 1_000_000,
  },
  length: {
    kind: 'number',
    whole: true,
    label: 'Length',
    unit: 'tokens',
    help: 'tokens of a text that are read (default: what holds 95 % of the training texts, 256 at most)',
    unset: 'Of 95 % of the texts',
    minimum: 1,
    maximum: 16_384,
  },
});
export type TextSettings = SettingsOf<typeof textFields>;
