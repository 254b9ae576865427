// A home that cannot be written: on a disk mounted for reading, or another person's. Its history is opened as a copy in the
// system's folder for temporary files (a database in write-ahead mode cannot be opened where nothing can be written).

import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../protocol/errors.ts';
import type { StoreService } from '../protocol/store.ts';
import { databaseFileName } from './failures.ts';
import { codeOf } from './home.ts';
import { openHistory } from './open.ts';
import type { History } from './open.ts';

/** Whether a home holds a history and cannot be written. One without a history is refused when it is opened. */
export function isReadOnly(home: string): boolean {
  const file = join(home, databaseFileName);
  if (!existsSync(file)) return false;
  return [home, file].some((path) => {
    try {
      accessSync(path, constants.W_OK);
      return false;
    } catch (error) {
      return ['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error));
    }
  });
}

/** Opens a copy of the history; it goes when it is closed. Throws like `openHistory`. */
export function openReadOnly(home: string): History {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-looking-'));
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // For a process that ends without closing it.
  process.once('exit', remove);
  try {
    refuseLittleRoom(home, folder);
    for (const suffix of ['', '-wal', '-seal']) {
      const source = join(home, databaseFileName + suffix);
      if (existsSync(source)) copyFileSync(source, join(folder, databaseFileName + suffix), constants.COPYFILE_FICLONE);
    }
    const history = openHistory(home, folder);
    return {
      ...history,
      readOnly: true,
      close() {
        history.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function refuseLittleRoom(home: string, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const { size } = statSync(join(home, databaseFileName));
  if (bavail * bsize > 2 * size) return;
  throw new InputError(
    'store.full',
    `The folder ${home} cannot be written, and ${tmpdir()} has no room for a copy of its history to look at.`,
    'Free some space there, or give yourself the right to write in the home.',
  );
}

const looking: ReadonlySet<string> = new Set<keyof StoreService>([
  'run',
  'runs',
  'metrics',
  'log',
  'trials',
  'readFile',
  'isChecked',
  'tags',
  'groups',
  'usage',
  'backUp',
  'exportRuns',
  'cancelJob',
  'onJob',
  'getSetting',
  'labs',
  'lab',
  'onChanged',
  'close',
]);

/** The same service for a home that cannot be written. */
export function refuseWrites(service: StoreService, home: string): StoreService {
  const methods = Object.entries(service).map(([name, method]: [string, unknown]) => {
    if (looking.has(name)) return [name, method] as const;
    // Nothing is done about what can be left as it is.
    if (name === 'recover' || name === 'adopt') return [name, async () => []] as const;
    return [name, () => Promise.reject(readOnly(home))] as const;
  });
  return Object.fromEntries(methods) as unknown as StoreService;
}

function readOnly(home: string): InputError {
  return new InputError(
    'store.readonly',
    `The folder ${home} cannot be written: its runs can be looked at, used and exported, and nothing else.`,
    'Give yourself the right to write there, or set TRAINYARD_HOME to another folder.',
  );
}
