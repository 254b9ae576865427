// Folders of images: one sub-folder a class. The import of a path that is a folder comes here.

import { InputError } from '../../protocol/errors.ts';

/** The refusal of a folder. */
export function refuseFolder(name: string): InputError {
  return new InputError(
    'input.folder',
    `${name} is a folder, not a table.`,
    'Choose a file: CSV, TSV, Parquet or JSON lines.',
  );
}
