// The rows of a table shared out among the splits: by chance, by fold or by a column's order, every class by its share, copies
// together; and what there is to warn about.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo, DatasetInfo, DataWarning, PrepareOptions } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';
import { splitNames, usualSplit } from '../../protocol/use.ts';
import { streamNumbers } from '../database.ts';
import type { Job } from '../jobs.ts';
import { findCopies } from '../schema/copies.ts';
import { numericValue } from '../schema/stored.ts';
import type { StoredColumn } from '../schema/stored.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { show } from '../schema/typing.ts';
import { classSplitWarnings, refuseOneClass, refuseOneClassApart } from './class-splits.ts';
import { categoryCode } from './features.ts';
import { assignFold, sharesOfFold } from './folds.ts';
import { splitByColumn } from './ordered-split.ts';
import { partRows, usualParts } from './parts.ts';
import { assignSplits, leftOut as inNoSplit } from './split.ts';

/** With more rows it is the split that is to blame. */
const fewRows = 100;

/** Where each row of a table goes. */
export interface TableSplit {
  /** By rows: the place of its split's name, or `leftOut` of split.ts. */
  readonly splits: Uint8Array;
  readonly counts: readonly [number, number, number];
  /** The part of each training row, where parts were asked for. */
  readonly parts?: Uint8Array;
  readonly warnings: readonly DataWarning[];
}

export interface SplitRequest {
  readonly info: DatasetInfo;
  readonly table: MeasuredTable;
  readonly stored: ReadonlyMap<string, StoredColumn>;
  readonly target: ColumnInfo;
  /** In their order; null: a number is predicted. */
  readonly classes: readonly string[] | null;
  /** Columns that tell copies of rows. */
  readonly inUse: readonly { readonly info: ColumnInfo; readonly column: StoredColumn }[];
  readonly options: PrepareOptions;
  readonly job: Job;
}

/** @throws InputError if there are too few rows for the splits, or a column's order leaves a split without. */
export async function splitTable(connection: DuckDBConnection, request: SplitRequest): Promise<TableSplit> {
  const { info, table, stored, target, classes, inUse, options, job } = request;
  const shares = checkShares(options.settings.split ?? usualSplit);
  const strata = await readStrata(connection, table, stored.get(target.name) as StoredColumn, classes, job);
  const copies = await findCopies(connection, table, inUse, job);
  const { splitBy, fold, joined } = options.settings;
  const {
    splits,
    keys,
    warnings: splitWarnings,
  } = splitBy === undefined
    ? {
        keys: null,
        splits: splitByChance(strata, copies, (alone) =>
          fold === undefined
            ? assignSplits(alone, classes?.length ?? 1, shares, options.seed)
            : assignFold(alone, classes, shares, options.seed, fold),
        ),
        warnings: [],
      }
    : await splitByColumn(connection, table, splitBy, splitColumn(info, stored, splitBy.column), {
        strata,
        shares,
        seed: options.seed,
        fold,
        job,
      });
  // Its test rows are those of any other model on the same split.
  if (joined) splits.forEach((split, row) => split === 1 && (splits[row] = 0));
  const counts = countSplits(splits);
  const [train, validation, test] = sharesOfFold(shares, fold);
  checkCounts(counts, joined ? [train + validation, 0, test] : [train, validation, test], info.rows - target.missing);
  const ofClasses = classes && { strata, splits, classes, target: target.name };
  // A run that learned from such rows may still be looked at.
  const trains = options.splits === undefined;
  if (ofClasses && trains) refuseOneClass(ofClasses);
  const partsOf = (): Uint8Array => {
    const trained = strata.map((stratum, row) => (splits[row] === 0 ? stratum : -1));
    const outputs = classes === null || classes.length === 2 ? 1 : classes.length;
    const parts = partRows({
      ...{ strata: trained, classes: classes?.length ?? 1, copies, seed: options.seed },
      ...(splitBy && keys ? { by: { ...splitBy, keys } } : {}),
      parts: options.parts || usualParts(counts[0], outputs),
    });
    return parts.filter((_, row) => splits[row] === 0);
  };
  const parted = options.parts === undefined ? {} : { parts: partsOf() };
  if (ofClasses && trains && parted.parts) refuseOneClassApart(ofClasses, parted.parts);
  const warnings = [
    ...splitWarnings,
    ...(ofClasses ? classSplitWarnings(ofClasses) : []),
    ...(splitBy === undefined ? keptTogether(copies, splits) : []),
    ...sharedRows(copies, splits),
  ];
  return { splits, counts, ...parted, warnings };
}

/** The row of the table behind each prepared row: split by split, in the table's order; splits that count no rows have none. */
export function sourcesOf(splits: Uint8Array, counts: readonly [number, number, number]): Uint32Array {
  const sources = new Uint32Array(counts[0] + counts[1] + counts[2]);
  const next = [0, counts[0], counts[0] + counts[1]];
  splits.forEach((split, row) => {
    const place = next[split];
    if (place === undefined || counts[split] === 0) return;
    sources[place] = row;
    next[split] = place + 1;
  });
  return sources;
}

/** Rows drawn by chance, each with its copies: `assign` draws for those that are no copy of an earlier one. */
function splitByChance(
  strata: Int32Array,
  copies: Int32Array | null,
  assign: (strata: Int32Array) => Uint8Array,
): Uint8Array {
  if (copies === null) return assign(strata);
  const splits = assign(strata.map((stratum, row) => (copies[row] === row ? stratum : -1)));
  return splits.map((split, row) => ((strata[row] ?? -1) < 0 ? inNoSplit : (splits[copies[row] as number] ?? split)));
}

function splitColumn(
  info: DatasetInfo,
  stored: ReadonlyMap<string, StoredColumn>,
  name: string,
): { info: ColumnInfo; column: StoredColumn } {
  const column = info.columns.find((one) => one.name === name);
  const found = stored.get(name);
  if (column === undefined || found === undefined) throw new RangeError(`no column ${name}`);
  return { info: column, column: found };
}

export function checkShares(shares: readonly [number, number, number]): readonly [number, number, number] {
  const sum = shares[0] + shares[1] + shares[2];
  if (shares.length === 3 && shares.every((share) => share >= 0) && shares[0] > 0 && Math.abs(sum - 1) < 1e-6)
    return shares;
  throw new InputError(
    'input.split',
    `The split ${shares.join(', ')} cannot be used: three shares that add up to 1 are needed, the first above 0.`,
    'For example 0.8, 0.1, 0.1.',
  );
}

/** Class of each row (0 for all in regression); −1 = no target. */
async function readStrata(
  connection: DuckDBConnection,
  table: MeasuredTable,
  target: StoredColumn,
  classes: readonly string[] | null,
  job: Job,
): Promise<Int32Array> {
  const strata = new Int32Array(table.rows);
  const value = classes === null ? numericValue(target, 'number') : categoryCode(target, classes);
  let start = 0;
  await streamNumbers(connection, `SELECT ${value} FROM ${table.from}`, job, ([column], rows) => {
    for (let row = 0; row < rows; row++) {
      const found = column?.getItem(row) ?? null;
      strata[start + row] = found === null ? -1 : classes === null ? 0 : found - 1;
    }
    start += rows;
  });
  return strata;
}

function countSplits(splits: Uint8Array): [number, number, number] {
  const counts = [0, 0, 0, 0];
  for (const split of splits) counts[split] = (counts[split] ?? 0) + 1;
  return [counts[0] ?? 0, counts[1] ?? 0, counts[2] ?? 0];
}

function checkCounts(counts: readonly number[], shares: readonly number[], usable: number): void {
  const needed = [2, 1, 1];
  const short = splitNames.filter(
    (_, index) => (shares[index] ?? 0) > 0 && (counts[index] ?? 0) < (needed[index] ?? 1),
  );
  if (short.length === 0) return;
  const percent = shares.map((share) => `${Number((share * 100).toPrecision(3))} %`).join(' / ');
  throw new InputError(
    'input.too_few_rows',
    usable < fewRows
      ? `${show(usable)} ${usable === 1 ? 'row is' : 'rows are'} too few for a split of ${percent}: too little is left for ${short.join(' and ')}.`
      : `A split of ${percent} leaves too little of ${show(usable)} rows for ${short.join(' and ')}.`,
    usable < fewRows ? 'Add rows, or change the split.' : 'Give every split a share of the rows.',
  );
}

/** Rows of other splits that are copies of one in the training split. */
function sharedRows(copies: Int32Array | null, splits: Uint8Array): DataWarning[] {
  if (copies === null) return [];
  const trains = new Set<number>();
  copies.forEach((first, row) => splits[row] === 0 && trains.add(first));
  const shared = [...copies.keys()].filter((row) => {
    const split = splits[row];
    return split !== 0 && split !== inNoSplit && trains.has(copies[row] as number);
  });
  if (shared.length === 0) return [];
  return [
    {
      code: 'shared_rows',
      message: `${show(shared.length)} ${shared.length === 1 ? 'row' : 'rows'} of the validation and test splits also ${shared.length === 1 ? 'stands' : 'stand'} in the training split: results look better than they are.`,
      rows: shared.slice(0, 10).map((row) => row + 1),
    },
  ];
}

/** How many rows follow their copies into a split. */
function keptTogether(copies: Int32Array | null, splits: Uint8Array): DataWarning[] {
  const kept =
    copies?.reduce((count, first, row) => count + Number(first !== row && splits[row] !== inNoSplit), 0) ?? 0;
  if (kept === 0) return [];
  const message = `${show(kept)} ${kept === 1 ? 'row is a copy of another one and stays' : 'rows are copies of others and stay'} in its split.`;
  return [{ code: 'copies', message: kept === 1 ? message : message.replace('its split', 'their splits') }];
}
