// How long the texts of a column are, in words and in characters.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning, TextLengths } from '../../protocol/data.ts';
import { queryColumns, queryRows } from '../database.ts';
import { typedValue, type StoredColumn } from './stored.ts';
import type { MeasuredTable } from './table.ts';
import { show } from './typing.ts';

/** UTF-16 units of a text that are read at most. */
export const mostCharacters = 8_192;

const bins = 24;

/** Null where there is no text. */
export async function textLengths(
  connection: DuckDBConnection,
  table: MeasuredTable,
  column: StoredColumn,
): Promise<TextLengths | null> {
  const text = typedValue(column, 'text');
  const lengths = `SELECT len(regexp_extract_all(${text}, '\\S+')) AS words, length(${text}) AS characters FROM ${table.from} WHERE ${text} IS NOT NULL`;
  const [found = {}] = await queryRows(
    connection,
    `SELECT min(words) AS least, median(words) AS middle, max(words) AS most, median(characters) AS usual, max(characters) AS longest FROM (${lengths})`,
  );
  if (found.most === null || found.most === undefined) return null;
  const [least, most] = [Number(found.least), Number(found.most)];
  const bin = `least(${bins - 1}, CAST(floor((words - ${least}) * ${bins} / ${Math.max(1, most - least)}) AS INTEGER))`;
  const [places = [], counts = []] = await queryColumns(
    connection,
    `SELECT ${bin} AS bin, count(*) FROM (${lengths}) GROUP BY bin`,
  );
  const histogram = new Array<number>(bins).fill(0);
  places.forEach((place, at) => (histogram[Number(place)] = Number(counts[at])));
  return {
    words: { minimum: least, median: Number(found.middle), maximum: most },
    characters: { median: Number(found.usual), maximum: Number(found.longest) },
    histogram,
  };
}

/** What is said of texts of which the longest has so many characters; null: all of it is read. */
export function cutTexts(name: string, longest: number, keepsEnd = false): DataWarning | null {
  if (longest <= mostCharacters) return null;
  const where = keepsEnd ? 'before the last' : 'behind the first';
  const message = `${name} has texts of up to ${show(longest)} characters: what stands ${where} ${show(mostCharacters)} is not read.`;
  return { code: 'cut_texts', message, columns: [name] };
}
