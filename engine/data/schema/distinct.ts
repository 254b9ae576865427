// How many different values the columns of a long table have, within 2 %.

import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../database.ts';
import { aggregate } from './aggregate.ts';
import type { Distinct } from './distinct-sample.ts';
import type { MeasuredTable } from './table.ts';

/** Different values that are counted for an estimate: its standard deviation is 0.8 % of it at most. */
const countedValues = 2 ** 15;
/** Fewer counted values than this tell too little. */
const fewestCounted = 2 ** 13.5;
/** Share of the values from which on it has to be known whether all of them differ. */
export const nearlyAll = 0.8;

/**
 * Different values of columns of a long table. Few are counted exactly. Of many, those whose hash falls into one of 2^k
 * equal parts are counted, k such that about `countedValues` remain (distinct sampling; Gibbons 2001). Exactly as well
 * where `decides` says that being different in every row decides something, and it is nearly so.
 */
export async function countDistinct(
  connection: DuckDBConnection,
  table: MeasuredTable,
  values: readonly string[],
  counts: readonly number[],
  decides: (index: number) => boolean,
): Promise<Distinct[]> {
  const looks = await aggregate(connection, table.sample, values, (value) => ({
    count: `count(${value})`,
    distinct: `approx_count_distinct(${value})`,
  }));
  let parts = looks.map(({ count, distinct }, index) => {
    const expected = extrapolate(Number(count), Number(distinct), counts[index] as number);
    return 2 ** Math.max(0, Math.ceil(Math.log2(expected / countedValues)));
  });
  const found = values.map((): Distinct => ({ distinct: 0, exact: false }));
  for (let open = values.map((_, index) => index); open.length > 0;) {
    // A query of its own for each: as filtered aggregates of one they would take twice the time.
    const selected = open.map((index, at) => {
      const part = parts[index] as number;
      const filter = part === 1 ? '' : ` WHERE hash(v) & ${part - 1} = 0`;
      return `(SELECT count(DISTINCT v) FROM (SELECT ${values[index] as string} AS v FROM ${table.from})${filter}) AS d${at}`;
    });
    const [row = {}] = await queryRows(connection, `SELECT ${selected.join(', ')}`);
    const again: number[] = [];
    open.forEach((index, at) => {
      const part = parts[index] as number;
      const counted = Number(row[`d${at}`]);
      found[index] = { distinct: Math.min(counts[index] as number, counted * part), exact: part === 1 };
      const many = counted * part > (counts[index] as number) * nearlyAll;
      if (part > 1 && (counted < fewestCounted || (many && decides(index)))) again.push(index);
    });
    parts = parts.map((part, index) => {
      const { distinct } = found[index] as Distinct;
      const many = distinct > (counts[index] as number) * nearlyAll && decides(index);
      return many ? 1 : Math.min(part / 2, 2 ** Math.max(0, Math.floor(Math.log2(distinct / countedValues))));
    });
    open = again;
  }
  return found;
}

/**
 * Distinct values among `total`, roughly, from those of a sample: if D values are equally likely, n draws find
 * D·(1 − e^(−n/D)) of them. Solved for D by bisection.
 */
function extrapolate(count: number, distinct: number, total: number): number {
  if (distinct >= count || distinct === 0) return total;
  const found = (values: number, draws: number): number => values * -Math.expm1(-draws / values);
  let [least, most] = [distinct, 1e12];
  while (most - least > 0.5) {
    const middle = (least + most) / 2;
    if (found(middle, count) < distinct) least = middle;
    else most = middle;
  }
  return Math.max(1, Math.round(found(most, total)));
}
