// Several files of a run that stand for one thing, put in their places together: each is written beside its place, then a note names them
// all, and from that moment on they are the files of the run; being renamed is but tidying. Who reads them, or opens the history after a
// process was killed between two renames, goes by the note.

import { existsSync, readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Of a hand-over that may not have come to its end. */
export const handOverFile = 'hand-over.json';
/** Ends the names of files that wait for their places. */
const waiting = '.next';

const noted = z.strictObject({ mark: z.string().regex(/^[\w-]+$/), files: z.array(z.string().regex(/^[\w.-]+$/)) });
type Note = z.infer<typeof noted>;

let count = 0;

/** Another one for each hand-over: what is left of one is never taken for a part of the next. */
const markOf = (): string => `${process.pid}-${Date.now()}-${++count}`;

const waitingName = (file: string, mark: string): string => `${file}.${mark}${waiting}`;

export const isWaiting = (name: string): boolean => name.endsWith(waiting);

/**
 * `write`: a file as a whole or not at all, and lasting. `noted`: called once all are written and before they count. A failure before the
 * note leaves what was there.
 */
export async function handOver<File extends string>(
  folder: string,
  files: readonly (readonly [file: File, data: Uint8Array])[],
  { write, known }: { readonly write: (target: string, data: Uint8Array) => Promise<void>; known(): Promise<void> },
): Promise<void> {
  const mark = markOf();
  const names = files.map(([file]) => file);
  try {
    for (const [file, data] of files) await write(join(folder, waitingName(file, mark)), data);
    await known();
    const note = JSON.stringify({ mark, files: names } satisfies Note);
    await write(join(folder, handOverFile), new TextEncoder().encode(note));
  } catch (error) {
    for (const file of names) await rm(join(folder, waitingName(file, mark)), { force: true });
    throw error;
  }
  await finishHandOver(folder);
  await rm(join(folder, handOverFile), { force: true });
}

/** Puts files in their places that a hand-over has left beside them. Another process may do the same at the same time. */
export async function finishHandOver(folder: string): Promise<void> {
  const note = noteIn(folder);
  for (const file of note?.files ?? []) {
    const there = join(folder, waitingName(file, note!.mark));
    // Who may only read finds it by `standing`.
    if (existsSync(there)) await rename(there, join(folder, file)).catch(() => undefined);
  }
}

/** Where a file lies: beside its place, where a hand-over has not come to its end. */
export function standing(folder: string, file: string): string {
  const note = noteIn(folder);
  const there = note?.files.includes(file) ? join(folder, waitingName(file, note.mark)) : null;
  return there !== null && existsSync(there) ? there : join(folder, file);
}

function noteIn(folder: string): Note | null {
  const path = join(folder, handOverFile);
  if (!existsSync(path)) return null;
  try {
    return noted.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}
