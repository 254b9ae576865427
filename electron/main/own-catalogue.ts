// The file of own hardware prices in the home folder: read for the window, changed one price at a time.

import fs from 'node:fs/promises';
import path from 'node:path';
import { ownCataloguePlace, withOwnPrice, type OwnPrice } from '../../engine/hardware/catalogue/own.ts';
import { codeOf, makeFolder } from '../../engine/history/home.ts';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';

/** No person types more than this. */
const largestBytes = 5e6;

export interface OwnCatalogue {
  /** The text of the file; null = there is none. Throws InputError `input.file`. */
  read(): Promise<string | null>;
  /** Returns the new text. Throws InputError `input.catalogue` for a damaged file or a price nobody believes. */
  setPrice(price: OwnPrice): Promise<string>;
}

export function createOwnCatalogue(home: string, now: () => Date = () => new Date()): OwnCatalogue {
  const file = path.join(home, ...ownCataloguePlace);
  const name = ownCataloguePlace.join('/');
  let last: Promise<unknown> = Promise.resolve();

  async function read(): Promise<string | null> {
    try {
      const { size } = await fs.stat(file);
      if (size > largestBytes) throw new InputError('input.file', `${name} has ${size} bytes.`, 'Make it smaller.');
      return await fs.readFile(file, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
      if (error instanceof TrainyardError) throw error;
      const hint = 'Check who may read it in the data folder.';
      throw new InputError('input.file', `${name} cannot be read: ${codeOf(error)}.`, hint, { cause: error });
    }
  }

  async function change(price: OwnPrice): Promise<string> {
    const text = withOwnPrice(await read(), price, now().toISOString().slice(0, 10));
    const temporary = `${file}.${process.pid}.part`;
    try {
      makeFolder(path.dirname(file));
      await fs.writeFile(temporary, text);
      await fs.rename(temporary, file);
    } catch (error) {
      await fs.rm(temporary, { force: true });
      const hint = 'Check the data folder and the space there.';
      throw new TrainyardError('store.not_saved', `${name} could not be saved (${codeOf(error)}).`, hint, {
        cause: error,
      });
    }
    return text;
  }

  return {
    read,
    // One after the other: each reads what the one before it wrote.
    setPrice(price) {
      const done = last.then(() => change(price));
      last = done.catch(() => undefined);
      return done;
    },
  };
}
