// The datasets that come with the app, for a first run without a file of one's own: a table as a file, pictures drawn when they
// are asked for.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { AppInfo } from '../../engine/protocol/app.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { plainFile } from './folders.ts';
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
const table = (): string => plainFile('samples', 'penguins.csv');

/** Those that are there. */
export function listSamples(): readonly Sample[] {
  return fs.existsSync(table()) ? [penguins, shapes] : [shapes];
}

/** A sample's file or folder while `work` has it. */
export async function withSample<T>(id: string, work: (path: string) => Promise<T>): Promise<T> {
  switch (id) {
    case penguins.id:
      return work(table());
    case shapes.id: {
      const temporary = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'trainyard-sample-'));
      try {
        const folder = path.join(temporary, 'Shapes');
        await writeShapes(folder);
        return await work(folder);
      } finally {
        await fs.promises.rm(temporary, { recursive: true, force: true });
      }
    }
    default:
      throw new InputError('input.no_sample', `There is no sample called "${id}".`, 'Choose one of the list.');
  }
}
