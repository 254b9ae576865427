// The datasets that come with the app, for a first run without a file of one's own: a table as a file, pictures drawn when they
// are asked for.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { AppInfo } from '../../engine/protocol/app.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { writeShapes } from './sample-shapes.ts';

export type Sample = AppInfo['samples'][number];

const penguins: Sample = {
  id: 'penguins',
  kind: 'table',
  title: 'Palmer penguins',
  detail: '344 penguins, 7 columns: which species is it?',
};
const shapes: Sample = {
  id: 'shapes',
  kind: 'images',
  title: 'Shapes',
  detail: '720 small pictures of 6 shapes: which one is it?',
};

export interface Samples {
  /** Those that are there. */
  list(): readonly Sample[];
  /** A sample's file or folder while `work` has it. */
  use<T>(id: string, work: (path: string) => Promise<T>): Promise<T>;
}

/** @param folder  where the files that come with the app lie */
export function createSamples(folder: string): Samples {
  const table = path.join(folder, 'penguins.csv');
  return {
    list: () => (fs.existsSync(table) ? [penguins, shapes] : [shapes]),
    async use(id, work) {
      switch (id) {
        case penguins.id:
          return work(table);
        case shapes.id: {
          const temporary = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'trainyard-sample-'));
          try {
            const pictures = path.join(temporary, 'Shapes');
            await writeShapes(pictures);
            return await work(pictures);
          } finally {
            await fs.promises.rm(temporary, { recursive: true, force: true });
          }
        }
        default:
          throw new InputError('input.no_sample', `There is no sample called "${id}".`, 'Choose one of the list.');
      }
    },
  };
}
