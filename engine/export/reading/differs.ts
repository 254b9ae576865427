// What a written export does not hold, though the run has it: it is refused, and no file of it stays.

import { TrainyardError } from '../../protocol/errors.ts';

/** `what` is part of a sentence. */
export function differs(what: string): never {
  throw new TrainyardError(
    'run.export_differs',
    `The export was read back and does not hold what the run has: ${what}.`,
    'Choose another format; please report it, with the run if you can.',
  );
}

/** A file of the export by its path. */
export function fileOf(files: ReadonlyMap<string, Uint8Array>, path: string): Uint8Array {
  return files.get(path) ?? differs(`the file ${path} is missing`);
}

/** `1 tensor`, `12 tensors` */
export const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
