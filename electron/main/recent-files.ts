// The files and folders that were opened last, for the File menu: `recent.json` in the home. Clearing the list removes the file.

import fs from 'node:fs';
import path from 'node:path';
import { Listeners } from '../../engine/protocol/listeners.ts';

const mostFiles = 10;

export class RecentFiles {
  readonly #file: string;
  readonly #changed = new Listeners<Record<string, never>>();
  readonly #added = new Listeners<{ file: string }>();
  #list: readonly string[];

  /** @param home  where the list is kept */
  constructor(home: string) {
    this.#file = path.join(home, 'recent.json');
    this.#list = read(this.#file);
  }

  /** Newest first; whether they are still there is seen when one is opened. */
  list(): readonly string[] {
    return this.#list;
  }

  add(file: string): void {
    this.#keep([file, ...this.#list.filter((other) => other !== file)].slice(0, mostFiles));
    this.#added.emit({ file });
  }

  clear(): void {
    this.#keep([]);
  }

  onChanged(listener: () => void): () => void {
    return this.#changed.add(listener);
  }

  onAdded(listener: (event: { file: string }) => void): () => void {
    return this.#added.add(listener);
  }

  /** A list that cannot be written is one for this session. */
  #keep(list: readonly string[]): void {
    this.#list = list;
    try {
      if (list.length > 0) fs.writeFileSync(this.#file, JSON.stringify(list, null, 1));
      else fs.rmSync(this.#file, { force: true });
    } catch {
      // Nothing is lost but the list.
    }
    this.#changed.emit({});
  }
}

function read(file: string): readonly string[] {
  try {
    const list = JSON.parse(fs.readFileSync(file, 'utf8')) as unknown;
    if (!Array.isArray(list)) return [];
    return list.filter((each): each is string => typeof each === 'string' && path.isAbsolute(each)).slice(0, mostFiles);
  } catch {
    return [];
  }
}
