// What a file format has to offer: recognise a file from its first bytes, and describe to DuckDB how to read it. The
// import does the rest. To add one: a file here, a line in registry.ts, a fixture under tests/fixtures.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning, ReadOptions } from '../../protocol/data.ts';
import type { StoredColumn } from '../schema/stored.ts';
import type { Job } from '../jobs.ts';
import type { NumberMoments } from '../schema/moments.ts';
import type { DecimalMark } from '../schema/numbers.ts';

/** The beginning of a file. */
export interface FileHead {
  /** Absolute path. */
  readonly path: string;
  /** File name without its folder. */
  readonly name: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Its first bytes, `headBytes` at most. */
  readonly bytes: Uint8Array;
}

/** Bytes of a file that `sniff` and `open` may look at. */
export const headBytes = 2 ** 21;

export interface OpenRequest {
  readonly head: FileHead;
  readonly options: ReadOptions;
  /** A connection that may read the file and `workFolder`, once it is open. */
  readonly connection: Promise<DuckDBConnection>;
  /** Folder for temporary files; removed after the import. */
  readonly workFolder: string;
  readonly job: Job;
  /** How many may work on it. */
  readonly threads: number;
  /** The file is read for a model: like the one it was trained on. Otherwise it stands for itself. */
  readonly like?: TrainingFile;
}

/** What a model knows of the file it was trained on. */
export interface TrainingFile {
  /** There was a row of units below the header. */
  readonly units: boolean;
  /** Its columns of texts by their bare names (preprocess/forms.ts): they stay texts; of exact ones no word stands for a missing cell. */
  readonly texts?: ReadonlyMap<string, { readonly exact: boolean }>;
}

/** The cells of a file as they stand in it, before they are trimmed, taken for missing or read as numbers. */
export interface CellTexts {
  /** The file that they are read from: the person's own, or a copy in the work folder. */
  readonly path: string;
  /** SQL for a table of the same rows in the same order, its columns under these names. */
  readonly table: (names: readonly string[]) => string;
}

/** A file that DuckDB can read. */
export interface TableSource {
  /** Columns as they will be stored, in the file's order. */
  readonly columns: readonly StoredColumn[];
  /** SELECT statement that gives `columns`, in the file's row order. */
  readonly query: string;
  /** Writes the copy without DuckDB. null: it cannot, and `recover` tells another way. */
  readonly write?: (target: string, groupRows: number, report: (share: number) => void) => Promise<WrittenTable | null>;
  /** How the file is read, for people. */
  readonly reading: Readonly<Record<string, string>>;
  readonly warnings: readonly DataWarning[];
  /** The decimal mark of its numbers; without it, a point unless a column says otherwise. */
  readonly decimal?: DecimalMark;
  /**
   * Called when all rows have been read. Another source means: what was assumed about the file did not hold to its end,
   * read it again that way. May add warnings by returning `finished`.
   * `rows`: how many were read.
   * @throws InputError if the file is broken.
   */
  readonly check: (rows: number) => Promise<SourceCheck>;
  /** Aborted when it turns out that reading this way would take for ever; then `recover` tells another. */
  readonly unfit?: AbortSignal;
  /** Another way to read the file once DuckDB has failed to; without it the file is refused. */
  readonly recover?: () => Promise<TableSource>;
  /** Columns stored as numbers that may be too large to be exact; without it, all of them. */
  readonly large?: ReadonlySet<string>;
  /** Of text: its cells as they stand there. Without it, the values of `query` are all there is. */
  readonly texts?: CellTexts;
  /** The same source with some columns of numbers kept as text, digit by digit. */
  readonly keepExact: (columns: readonly string[]) => TableSource;
}

/** A copy that was measured while it was written. */
export interface WrittenTable {
  readonly rows: number;
  /** Of all columns of numbers, by name. */
  readonly numbers: ReadonlyMap<string, NumberMoments>;
  /** Table expression of its sample, where it was put aside. */
  readonly sample?: string;
}

export type SourceCheck =
  { readonly finished: readonly DataWarning[] } | { readonly again: TableSource; readonly why: string };

export interface DatasetFormat {
  readonly name: string;
  /** Whether the file looks like this format. */
  readonly sniff: (head: FileHead) => boolean;
  /** @throws InputError if the file cannot be read as this format. */
  readonly open: (request: OpenRequest) => Promise<TableSource>;
}
