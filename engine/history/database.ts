// One connection to the history's SQLite file: how it is opened, statements prepared once, transactions that take the
// write lock at their start, so that two processes on one home wait for each other instead of failing half-way.

import Database from 'better-sqlite3';
import { CancelledError } from '../protocol/errors.ts';

/** A prepared statement; `Parameters` and `Row` are what the SQL text takes and gives. */
export type Statement<Parameters extends unknown[], Row> = Database.Statement<Parameters, Row>;

export interface Connection {
  readonly file: string;
  /** Prepares a statement, or returns it from the cache. */
  sql<Parameters extends unknown[] = unknown[], Row = unknown>(text: string): Statement<Parameters, Row>;
  /** Runs several statements without parameters. */
  execute(text: string): void;
  /** Runs `work` in one transaction; whatever it throws undoes it all. May be nested. */
  transaction<Result>(work: () => Result): Result;
  pragma(name: string): number | string;
  /** A copy of all that is committed, made beside other work; `goOn` is asked between its parts and ends it. */
  copyTo(file: string, goOn: () => boolean): Promise<void>;
  close(): void;
}

export interface DatabaseOptions {
  /** Called before each transaction. */
  readonly beforeWrite?: () => void;
}

/** Pages of a copy made in one go: some milliseconds. */
const copiedAtOnce = 500;

/** How long a statement waits for another process's transaction before it fails with SQLITE_BUSY. */
const busyMilliseconds = 10_000;

/** Milliseconds between two tries of what SQLite does not wait for by itself. */
const retryMilliseconds = 20;

/**
 * Puts a database in write-ahead mode. SQLite gives up at once where another process writes to a file that is not in that mode yet, as two
 * programs do that begin a home together.
 */
function writeAhead(database: Database.Database): void {
  const end = performance.now() + busyMilliseconds;
  for (;;) {
    try {
      database.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || performance.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMilliseconds);
    }
  }
}

/** Opens or creates a database file in write-ahead mode. Throws what SQLite throws; failures.ts makes words of it. */
export function openDatabase(file: string, { beforeWrite }: DatabaseOptions = {}): Connection {
  const database = new Database(file, { timeout: busyMilliseconds });
  try {
    writeAhead(database);
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
  } catch (error) {
    database.close();
    throw error;
  }

  const statements = new Map<string, Database.Statement>();
  return {
    file,
    sql<Parameters extends unknown[], Row>(text: string) {
      let statement = statements.get(text);
      if (statement === undefined) statements.set(text, (statement = database.prepare(text)));
      return statement as unknown as Statement<Parameters, Row>;
    },
    execute: (text) => void database.exec(text),
    transaction(work) {
      if (!database.inTransaction) beforeWrite?.();
      return database.transaction(work).immediate();
    },
    async copyTo(target, goOn) {
      const progress = (): number => {
        if (goOn()) return copiedAtOnce;
        throw new CancelledError();
      };
      await database.backup(target, { progress });
    },
    pragma: (name) => database.pragma(name, { simple: true }) as number | string,
    close: () => void database.close(),
  };
}
