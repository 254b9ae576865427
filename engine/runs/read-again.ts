// Files that were written, read again from the disk: what a person gets is held against what was meant, byte by byte.

import { readFile } from 'node:fs/promises';
import { TrainyardError } from '../protocol/errors.ts';
import type { ExportedFile } from '../protocol/exports.ts';

/** Says what was equal. `place` tells where a file lies. Throws `run.export_differs`. */
export async function readAgain(
  files: readonly ExportedFile[],
  place: (file: string, index: number) => string,
): Promise<string> {
  let bytes = 0;
  for (const [index, { path, data }] of files.entries()) {
    const there = place(path, index);
    const found = await readFile(there);
    if (found.compare(data) !== 0) {
      throw new TrainyardError(
        'run.export_differs',
        `${there} does not hold what was written to it.`,
        'Look after the disk, or export to another one.',
      );
    }
    bytes += data.length;
  }
  const what = files.length === 1 ? '1 file' : `${files.length.toLocaleString('en')} files`;
  return `${what}, ${bytes.toLocaleString('en')} bytes, read from the disk again as they were written`;
}
