// Why a file that an option names cannot be read, in words.

import { codeOf } from '../../engine/history/home.ts';
import { InputError } from '../../engine/protocol/errors.ts';

const reasons = new Map<string | undefined, string>([
  ['ENOENT', 'it is not there'],
  ['ENOTDIR', 'part of the path is a file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'the system does not allow it'],
  ['EPERM', 'the system does not allow it'],
  ['ELOOP', 'its links lead in a circle'],
  ['ENAMETOOLONG', 'the name is too long'],
]);

/** What the system said, as an error of this code. */
export function unreadable(file: string, error: unknown, code: `input.${string}`, hint: string): InputError {
  const { message } = error as Error;
  return new InputError(code, `${file} cannot be read: ${reasons.get(codeOf(error)) ?? message}.`, hint, {
    cause: error,
  });
}
