// How a text is read that a model learns to write: the settings of texts (dataset.ts) in the words of a language model.

import { textFields } from './dataset.ts';
import { fieldsFor } from './field.ts';

const { characters, bytes } = textFields.tokenizer.choices;

/** Where nothing was chosen: different tokens at most, by what they are, and tokens that the model sees. */
export const usualReading = { characters: 4_096, bytes: 8_192, length: 64 } as const;
/** Texts up to so many UTF-16 units are read by their characters unless told otherwise, longer ones by byte pairs. */
export const shortText = 4_000_000;

export const languageFields = fieldsFor<object>()({
  tokenizer: {
    ...textFields.tokenizer,
    help: 'what the text is cut into',
    unset: 'By its length',
    choices: { characters, bytes },
  },
  vocabulary: { ...textFields.vocabulary, help: 'different tokens at most, the most frequent of the training part' },
  length: { ...textFields.length, label: 'Context', help: 'tokens that the model sees at once', unset: '64' },
});
