// Parts of the program that are loaded when they are needed.

import { TrainyardError } from './errors.ts';

/** What brings back a part that is missing: who has a package has no set-up to run. */
export const installAgain = 'install Trainyard again, or run the set-up again (npm run setup) where it is a clone';

/** What `importing` gives. Throws TrainyardError `internal.not_loaded`. */
export async function loadPart<T>(importing: Promise<T>): Promise<T> {
  try {
    return await importing;
  } catch (error) {
    throw new TrainyardError(
      'internal.not_loaded',
      `A part of Trainyard cannot be loaded: ${error instanceof Error ? error.message : String(error)}.`,
      `Close other programs if memory is short; else ${installAgain}.`,
      { cause: error },
    );
  }
}
