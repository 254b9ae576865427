// Files the app is opened with: named on its command line, by "Open with" of the system's file manager, or dropped on its icon. They wait
// here until the window asks for them, since the first ones are there before any page is.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenedItems } from '../../engine/protocol/app.ts';
import { InputError, toWire } from '../../engine/protocol/errors.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import { forPage } from '../../engine/protocol/shown-errors.ts';
import type { ChosenPaths } from './paths.ts';

/** More at once is a mistake of whoever calls. */
const mostFiles = 100;

/**
 * The files among a program's arguments, as absolute paths: what is no switch. Desktops hand over paths or file: addresses. Those that are not there are told in the window.
 * @param folder  what relative paths stand against
 * @param own  the app's own folder, which a development Electron is given as an argument
 */
export function filesAmong(args: readonly string[], folder: string, own: string): readonly string[] {
  return args
    .filter((argument) => argument !== '' && !argument.startsWith('-'))
    .map((argument) => path.resolve(folder, pathOf(argument)))
    .filter((file) => file !== path.resolve(own))
    .slice(0, mostFiles);
}

function pathOf(argument: string): string {
  if (!/^file:\/\//i.test(argument)) return argument;
  try {
    return fileURLToPath(argument);
  } catch {
    // Of another machine, say: told as a file that is not there.
    return argument;
  }
}

/** What this start hands over to the app that runs already. As ASCII: Electron loses all of it where a name goes beyond Latin-1. */
export const filesForOther = (files: readonly string[]): { readonly files: string } => ({
  files: Buffer.from(JSON.stringify(files)).toString('base64'),
});

/** What another start of the app hands over, whatever it was that sent it. */
export function filesOfOther(data: unknown): readonly string[] {
  const { files: sent } = (data ?? {}) as { readonly files?: unknown };
  let files: unknown;
  try {
    files = JSON.parse(Buffer.from(String(sent), 'base64').toString());
  } catch {
    return [];
  }
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

  /** Hands out those that wait, each once, as tokens; or why there is none. */
  take(paths: ChosenPaths): OpenedItems {
    const files = this.#waiting;
    this.#waiting = [];
    const items: OpenedItems['items'][number][] = [];
    const refused: OpenedItems['refused'][number][] = [];
    for (const file of files) {
      try {
        requireThere(file);
        items.push(paths.add(file));
      } catch (error) {
        refused.push({ name: path.basename(file), error: forPage(toWire(error)) });
      }
    }
    return { items, refused };
  }

  onOpened(listener: (event: Record<string, never>) => void): () => void {
    return this.#listeners.add(listener);
  }
}

/** What a person named on a command line, or a file manager offers from its memory, may not be there, or lead nowhere. */
function requireThere(file: string): void {
  const why = reasonOf(file);
  if (why === null) return;
  const name = path.basename(file);
  const [message, hint] =
    why === 'ELOOP'
      ? [`${name} leads nowhere: its links lead in a circle.`, 'Mend the link, or open the file that it was meant for.']
      : why === 'EACCES'
        ? [`${name} may not be read by this account.`, 'Ask whoever owns it, or copy it to a folder of yours.']
        : [`${name} was to be opened, and there is no such file or folder.`, 'Look at its name and its folder.'];
  throw new InputError('input.no_file', message, hint);
}

function reasonOf(file: string): string | null {
  try {
    fs.statSync(file);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'ENOENT';
  }
}
