// The datasets that come with the app, for a first run without a file of one's own: one table is a file with real measurements, all others are
// made when they are asked for (samples/README.md says whose they are). What each is good for stands on its card.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { AppInfo } from '../../../engine/protocol/app.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { writeDigits } from './digits.ts';
import { writeShapes } from './shapes.ts';
import { customers, flats, reviews } from './tables.ts';

export type Sample = AppInfo['samples'][number];

interface Made extends Sample {
  /** Name of its file or folder, which the dataset will have. */
  readonly file: string;
  readonly write: (place: string) => Promise<void>;
}

const made = 'Made by a program, no rights reserved (CC0)';
const writesText = (text: () => string) => (file: string) => fs.promises.writeFile(file, text());

const penguins: Sample = {
  id: 'penguins',
  kind: 'table',
  title: 'Palmer penguins',
  detail: '344 penguins, 7 columns: which species is it?',
  teaches: 'The whole way from a table to predictions in a minute: classes, missing cells, a confusion matrix.',
  origin: 'Palmer Station LTER and K. Gorman, CC0',
};

const drawn: readonly Made[] = [
  {
    id: 'flats',
    kind: 'table',
    title: 'Flats to let',
    detail: '1,200 flats, 10 columns: what is the rent?',
    teaches: 'Predicting a number: residuals, and what trees see that a straight line does not.',
    origin: made,
    file: 'flats.csv',
    write: writesText(flats),
  },
  {
    id: 'customers',
    kind: 'table',
    title: 'Customers who left',
    detail: '1,525 customers, 10 columns: who leaves?',
    teaches: 'Reading the warnings: an answer given away, rows twice, holes, a rare class.',
    origin: made,
    file: 'customers.csv',
    write: writesText(customers),
  },
  {
    id: 'digits',
    kind: 'images',
    title: 'Digits',
    detail: '600 pictures of digits: which one is it?',
    teaches: 'A convolutional network, and which digits it takes for each other.',
    origin: made,
    file: 'digits',
    write: writeDigits,
  },
  {
    id: 'shapes',
    kind: 'images',
    title: 'Shapes',
    detail: '720 small pictures of 6 shapes: which one is it?',
    teaches: 'Changing pictures while training, and seeing where in a picture the network looked.',
    origin: made,
    file: 'shapes',
    write: writeShapes,
  },
  {
    id: 'reviews',
    kind: 'text',
    title: 'Reviews',
    detail: '1,000 short texts: does the writer recommend it?',
    teaches: 'Texts as they are: what they are cut into, and what a model makes of “not a single complaint”.',
    origin: made,
    file: 'reviews.csv',
    write: writesText(reviews),
  },
];

export interface Samples {
  /** Those that are there. */
  list(): readonly Sample[];
  /** A sample's file or folder while `work` has it. */
  use<T>(id: string, work: (path: string) => Promise<T>): Promise<T>;
}

/** @param folder  where the files that come with the app lie */
export function createSamples(folder: string): Samples {
  const table = path.join(folder, 'penguins.csv');
  const shown = drawn.map(({ file: _file, write: _write, ...sample }): Sample => sample);
  return {
    list: () => (fs.existsSync(table) ? [penguins, ...shown] : shown),
    async use(id, work) {
      if (id === penguins.id) return work(table);
      const sample = drawn.find((one) => one.id === id);
      if (!sample) {
        throw new InputError('input.no_sample', `There is no sample called "${id}".`, 'Choose one of the list.');
      }
      const temporary = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'trainyard-sample-'));
      try {
        const place = path.join(temporary, sample.file);
        await sample.write(place);
        return await work(place);
      } finally {
        await fs.promises.rm(temporary, { recursive: true, force: true });
      }
    },
  };
}
