// JSON that is no list of objects and yet a table: rows within an object (`{"data": [{…}]}`), rows as lists, columns as
// lists. What is none of these is refused by what it is.

import type { DuckDBConnection, DuckDBType } from '@duckdb/node-api';
import { DuckDBTypeId } from '@duckdb/node-api';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import { queryRows } from '../database.ts';
import { explainFailure } from '../failures.ts';
import { readHead } from '../files.ts';
import { quoteName, quoteText } from '../sql.ts';
import { delimitedText } from './delimited.ts';
import type { OpenRequest, TableSource } from './format.ts';

/** What the beginning of a JSON text says that it is. */
export type JsonShape = 'objects' | 'one object' | 'lists' | 'other';

/** `complete`: the text is the whole file. */
export function shapeOf(text: string, complete: boolean): JsonShape {
  const start = text.trimStart();
  if (/^\[\s*\[/.test(start)) return 'lists';
  if (/^\[\s*\{/.test(start)) return 'objects';
  if (!/^\{\s*"/.test(start)) return 'other';
  const end = start.indexOf('\n');
  const rest = end < 0 ? '' : start.slice(end).trim();
  // An object in the first line, and something below: one object a line.
  const lines = (rest !== '' || !complete) && end >= 0 && isObject(start.slice(0, end));
  return lines ? 'objects' : 'one object';
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Rows as lists: written as delimited text, of which the first line is a header if it looks like one. */
export async function openLists(request: OpenRequest): Promise<TableSource> {
  const { head, workFolder, options } = request;
  const connection = await request.connection;
  const lists = `read_json_objects(${quoteText(head.path)}, format = 'array')`;
  const [facts = {}] = await queryRows(
    connection,
    `SELECT min(json_array_length(json)) AS least, max(json_array_length(json)) AS most,
       count(*) FILTER (json_type(json) <> 'ARRAY') AS others FROM ${lists}`,
  );
  const [least, most] = [Number(facts.least), Number(facts.most)];
  if (facts.others !== 0 || least !== most || most === 0) {
    throw noTable(head.name, facts.others === 0 ? `lists of ${least} to ${most} values` : 'lists among other values');
  }
  const path = join(workFolder, 'lists.csv');
  const cells = Array.from({ length: most }, (_, index) => `json ->> ${index}`);
  await explainFailure(() =>
    connection.run(
      `COPY (SELECT ${cells.join(', ')} FROM ${lists}) TO ${quoteText(path)} (FORMAT csv, HEADER false, FORCE_QUOTE *)`,
    ),
  );
  const copy = await readHead(path, head.name, (await stat(path)).size);
  const { header } = options;
  const source = await delimitedText.open({
    ...request,
    head: copy,
    options: { delimiter: ',', decimal: '.', header },
  });
  return { ...source, reading: { format: 'JSON, a list a row', encoding: 'UTF-8' } };
}

/**
 * The table within a file that may hold a single object, as a table expression; null = it is a row like any other.
 * @throws InputError if it holds several tables, or none.
 */
export async function tableWithin(connection: DuckDBConnection, table: string, name: string): Promise<string | null> {
  const [counted] = await queryRows(connection, `SELECT count(*) AS rows FROM (SELECT 1 FROM ${table} LIMIT 2)`);
  if (counted?.rows !== 1) return null;
  const described = await explainFailure(() => connection.runAndReadAll(`SELECT * FROM ${table} LIMIT 0`));
  const types = described.columnTypes();
  const columns = described
    .columnNames()
    .map((column, index) => ({ column, type: types[index] as DuckDBType, expression: quoteName(column) }));
  const found = columns.flatMap(({ column, type, expression }) => listsOfObjects(column, type, expression, 1));
  const [rows, second] = found;
  if (second !== undefined) {
    throw noTable(name, `several lists of objects (${found.map(({ path }) => path).join(', ')})`);
  }
  if (rows !== undefined) {
    return `(SELECT unnest(listed) FROM (SELECT unnest(${rows.expression}) AS listed FROM ${table}))`;
  }
  if (columns.every(({ type }) => type.typeId === DuckDBTypeId.LIST))
    return columnsOf(connection, table, name, columns);
  const numbered = columns.every(({ type }) => structOf(type)?.entryNames.every((entry) => /^\d+$/.test(entry)));
  if (numbered) throw noTable(name, 'objects with numbers for names');
  return null;
}

interface Structure {
  readonly entryNames: readonly string[];
  readonly entryTypes: readonly DuckDBType[];
}

function structOf(type: DuckDBType): (DuckDBType & Structure) | null {
  return type.typeId === DuckDBTypeId.STRUCT ? (type as DuckDBType & Structure) : null;
}

/** Lists of objects in a value, and in the objects it consists of down to `depth`. */
function listsOfObjects(
  path: string,
  type: DuckDBType,
  expression: string,
  depth: number,
): readonly { readonly path: string; readonly expression: string }[] {
  if (type.typeId === DuckDBTypeId.LIST) {
    const { valueType } = type as DuckDBType & { readonly valueType: DuckDBType };
    return structOf(valueType) === null ? [] : [{ path, expression }];
  }
  const structure = structOf(type);
  if (structure === null || depth === 0) return [];
  return structure.entryNames.flatMap((entry, index) =>
    listsOfObjects(
      `${path}.${entry}`,
      structure.entryTypes[index] as DuckDBType,
      `struct_extract(${expression}, ${quoteText(entry)})`,
      depth - 1,
    ),
  );
}

async function columnsOf(
  connection: DuckDBConnection,
  table: string,
  name: string,
  columns: readonly { readonly column: string; readonly expression: string }[],
): Promise<string> {
  const selected = columns.map(({ expression }, index) => `len(${expression}) AS c${index}`);
  const [lengths = {}] = await queryRows(connection, `SELECT ${selected.join(', ')} FROM ${table}`);
  const counts = columns.map((_, index) => Number(lengths[`c${index}`] ?? 0));
  if (new Set(counts).size > 1) {
    const listed = columns.slice(0, 4).map(({ column }, index) => `${column} ${counts[index]}`);
    throw noTable(name, `columns of different lengths (${listed.join(', ')}${columns.length > 4 ? ' …' : ''})`);
  }
  const unnested = columns.map(({ expression }) => `unnest(${expression}) AS ${expression}`);
  return `(SELECT ${unnested.join(', ')} FROM ${table})`;
}

/** The refusal of JSON that holds something else than rows. */
export function noTable(name: string, what: string): InputError {
  return new InputError(
    'input.json',
    `${name} is no table: it holds ${what}.`,
    'Write a list of objects, one a row, or one object a line.',
  );
}

/** What a JSON text holds that is neither objects nor lists. */
export function describeOther(text: string): string {
  const start = text.trim();
  if (/^\[\s*\]/.test(start)) return 'an empty list';
  if (/^\{\s*\}/.test(start)) return 'an empty object';
  return start.startsWith('[') ? 'a list of single values' : 'a single value';
}
