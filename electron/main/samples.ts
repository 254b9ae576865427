// The datasets that come with the app, for a first run without a file of one's own.

import fs from 'node:fs';
import { InputError } from '../../engine/protocol/errors.ts';
import { plainFile } from './folders.ts';

export interface Sample {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
}

const samples: readonly (Sample & { readonly file: string })[] = [
  {
    id: 'penguins',
    title: 'Palmer penguins',
    detail: '344 penguins, 7 columns: which species is it?',
    file: 'penguins.csv',
  },
];

/** Those that are there. */
export function listSamples(): readonly Sample[] {
  return samples
    .filter(({ file }) => fs.existsSync(plainFile('samples', file)))
    .map(({ id, title, detail }) => ({ id, title, detail }));
}

export function sampleFile(id: string): string {
  const sample = samples.find((candidate) => candidate.id === id);
  if (!sample) throw new InputError('input.no_sample', `There is no sample called "${id}".`, 'Choose one of the list.');
  return plainFile('samples', sample.file);
}
