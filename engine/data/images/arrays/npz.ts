// NPZ: a zip archive of NPY files, packed or not. Each array is read as a stream of its own.

import { basename } from 'node:path';
import { openPromise } from 'yauzl';
import type { Entry } from 'yauzl';
import { InputError } from '../../../protocol/errors.ts';
import { npyHeadBytes, parseNpyHeader } from './npy.ts';
import { dropStart, takeStart } from './stored.ts';
import type { StoredArray } from './stored.ts';

/** The arrays of an archive. @throws InputError if it is none. */
export async function readNpz(path: string): Promise<readonly StoredArray[]> {
  const arrays: StoredArray[] = [];
  for (const entry of await listEntries(path)) {
    const name = entry.fileName.replace(/\.npy$/, '');
    const head = await takeStart(openEntry(path, entry), npyHeadBytes);
    const { shape, element, bytes } = parseNpyHeader(head, `${basename(path)}: ${name}`);
    arrays.push({ name, path, shape, element, open: () => dropStart(openEntry(path, entry), bytes) });
  }
  return arrays;
}

async function listEntries(path: string): Promise<Entry[]> {
  try {
    const zip = await openPromise(path, { lazyEntries: true });
    return await new Promise((resolve, reject) => {
      const entries: Entry[] = [];
      zip.on('entry', (entry: Entry) => {
        if (entry.fileName.endsWith('.npy')) entries.push(entry);
        zip.readEntry();
      });
      zip.once('end', () => resolve(entries));
      zip.once('error', reject);
      zip.readEntry();
    });
  } catch (error) {
    throw explain(path, error);
  }
}

/** An entry's unpacked bytes. */
async function* openEntry(path: string, entry: Entry): AsyncGenerator<Buffer> {
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true });
  try {
    yield* (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>;
  } catch (error) {
    throw explain(path, error);
  } finally {
    zip.close();
  }
}

function explain(path: string, cause: unknown): InputError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${basename(path)} cannot be unpacked: ${reason}`;
  return new InputError('input.npz', message, 'Save it again with numpy.savez.', { cause });
}
