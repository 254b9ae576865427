// A whole home in one file, made while runs train. The history is copied through SQLite's own way of copying an open database, and
// looked at before it goes in; a run that is going on is there with a checkpoint that is no newer than its curve.

import { rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ArchiveHead, ArchiveReport } from '../../protocol/keeping.ts';
import { checkBeside, checkSchema } from '../check.ts';
import { openDatabase } from '../database.ts';
import type { Connection } from '../database.ts';
import { databaseFileName } from '../failures.ts';
import { bytesOf, contentsOf, datasetsOf, ownContents, refuseOwnPlace, runContents } from './contents.ts';
import type { Content } from './contents.ts';
import type { Watched } from './tar.ts';
import { writeArchive } from './write.ts';

export interface BackupRequest {
  readonly home: string;
  readonly connection: Connection;
  readonly file: string;
  /** Datasets, too: without them runs are shown, predict and are exported, but neither resumed nor evaluated anew. */
  readonly datasets: boolean;
}

/** Throws what `writeArchive` throws, and `store.corrupt` if the history cannot be relied on. */
export async function backUpHome(request: BackupRequest, watched: Watched): Promise<ArchiveReport> {
  const { home, connection, file } = request;
  refuseOwnPlace(home, file);
  const all = connection.sql<[], { id: number; going: number }>(runsAndStates).all();
  const datasets = request.datasets ? datasetsOf(home).map((id) => contentsOf(home, `datasets/${id}`)) : [];
  // The copy of the history stands beside the archive until it is in it.
  let bytes = 2 * statSync(connection.file).size + bytesOf([...datasets.flat(), ...ownContents(home)]);
  for (const { id } of all) {
    bytes += bytesOf(runContents(home, id));
    await setImmediate();
  }
  const head: ArchiveHead = {
    format: 1,
    kind: 'home',
    created: Date.now(),
    machine: hostname(),
    runs: all.length,
    datasets: datasets.length,
  };
  const copy = `${file}.${process.pid}.history`;
  const remove = (): void => {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(copy + suffix, { force: true });
  };
  process.once('exit', remove);
  try {
    return await writeArchive(
      file,
      {
        head,
        bytes,
        stage: 'Writing the backup',
        async fill(writer) {
          const put = async (contents: readonly Content[]): Promise<void> => {
            for (const { path } of contents) await writer.file(path, join(home, path));
          };
          const going = all.filter((run) => run.going === 1).map(({ id }) => id);
          for (const run of going) await put(runContents(home, run));
          await connection.copyTo(copy, watched.goOn);
          const copied = await runsOfCopy(copy);
          await writer.file(databaseFileName, copy);
          remove();
          // Those that still go on have been put in, with what they had before the copy.
          for (const { id, going: goesOn } of copied) {
            if (goesOn !== 1 || !going.includes(id)) await put(runContents(home, id));
          }
          await put([...datasets.flat(), ...ownContents(home)]);
        },
      },
      watched,
    );
  } finally {
    remove();
    process.off('exit', remove);
  }
}

const runsAndStates = "SELECT id, state IN ('running', 'paused') AS going FROM run ORDER BY id";

/** Looks at a copy as whoever opens it will, and returns its runs. */
async function runsOfCopy(copy: string): Promise<readonly { readonly id: number; readonly going: number }[]> {
  const connection = openDatabase(copy);
  try {
    await checkBeside(connection);
    checkSchema(connection);
    const runs = connection.sql<[], { id: number; going: number }>(runsAndStates).all();
    // One file, with nothing beside it.
    connection.pragma('journal_mode = DELETE');
    return runs;
  } finally {
    connection.close();
  }
}
