// Chromium's links in the home, by which a second start finds the app that has it. They come along where a home is copied while its app
// runs: the copy would then hand over to that app, and end without a word. So the home notes which folder it is.

import fs from 'node:fs';
import path from 'node:path';

const links = ['SingletonLock', 'SingletonSocket', 'SingletonCookie'] as const;
const noteOf = (home: string): string => path.join(home, 'window', 'folder');
/** The same for all machines that share a disk; a copy has another. */
const numberOf = (home: string): string => String(fs.statSync(home, { bigint: true }).ino);

/** Before the lock is asked for: links of the folder that this one was copied from are removed. */
export function forgetCopiedLinks(home: string): void {
  let noted: string;
  try {
    noted = fs.readFileSync(noteOf(home), 'utf8');
  } catch {
    return;
  }
  // A note that could not be written to its end tells nothing: the links may be those of an app that runs.
  if (noted === '' || noted === numberOf(home)) return;
  for (const link of links) fs.rmSync(path.join(home, link), { force: true });
}

/** Once this app has the lock. Where it cannot be noted, on a full disk for one, the app starts all the same. */
export function noteFolder(home: string): void {
  try {
    fs.mkdirSync(path.dirname(noteOf(home)), { recursive: true });
    fs.writeFileSync(noteOf(home), numberOf(home));
  } catch {
    // A copy then hands over to the app that has this home, as it would without any note.
  }
}
