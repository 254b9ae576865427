// How long the texts of a column are, in words and in characters.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning, TextLengths } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';
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
  // Materialized: words are counted once, which of long texts is most of the work.
  const rows = await queryRows(
    connection,
    `WITH lengths AS MATERIALIZED (
       SELECT len(regexp_extract_all(${text}, '\\S+')) AS words, length(${text}) AS characters
       FROM ${table.from} WHERE ${text} IS NOT NULL),
     facts AS (
       SELECT min(words) AS least, median(words) AS middle, max(words) AS most, median(characters) AS usual,
         max(characters) AS longest FROM lengths)
     SELECT facts.*, least(${bins - 1}, CAST(floor((words - least) * ${bins} / greatest(1, most - least)) AS INTEGER)) AS bin,
       count(*) AS texts
     FROM lengths, facts GROUP BY ALL`,
  );
  const [found] = rows;
  if (found === undefined) return null;
  const [least, most] = [Number(found.least), Number(found.most)];
  const histogram = new Array<number>(bins).fill(0);
  for (const { bin, texts } of rows) histogram[Number(bin)] = Number(texts);
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
