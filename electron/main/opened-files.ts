// Files the app is opened with: named on its command line, by "Open with" of the system's file manager, or dropped on its icon. They wait
// here until the window asks for them, since the first ones are there before any page is.

import path from 'node:path';
import fs from 'node:fs';
import { Listeners } from '../../engine/protocol/listeners.ts';

/** More at once is a mistake of whoever calls. */
const mostFiles = 100;

/**
 * The files among a program's arguments, as absolute paths: what is no switch, and is there.
 * @param folder  what relative paths stand against
 * @param own  the app's own folder, which a development Electron is given as an argument
 */
export function filesAmong(args: readonly string[], folder: string, own: string): readonly string[] {
  return args
    .filter((argument) => argument !== '' && !argument.startsWith('-'))
    .map((argument) => path.resolve(folder, argument))
    .filter((file) => file !== path.resolve(own) && fs.existsSync(file))
    .slice(0, mostFiles);
}

/** What another start of the app hands over, whatever it was that sent it. */
export function filesOfOther(data: unknown): readonly string[] {
  const { files } = (data ?? {}) as { readonly files?: unknown };
  if (!Array.isArray(files)) return [];
  return files.filter((file): file is string => typeof file === 'string' && path.isAbsolute(file)).slice(0, mostFiles);
}

export class OpenedFiles {
  readonly #listeners = new Listeners<Record<string, never>>();
  #waiting: readonly string[] = [];

  add(files: readonly string[]): void {
    if (files.length === 0) return;
    this.#waiting = [...this.#waiting, ...files];
    this.#listeners.emit({});
  }

  /** Hands out those that wait, each once. */
  take(): readonly string[] {
    const files = this.#waiting;
    this.#waiting = [];
    return files;
  }

  onOpened(listener: (event: Record<string, never>) => void): () => void {
    return this.#listeners.add(listener);
  }
}
