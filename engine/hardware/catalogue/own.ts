// The person's own entries as a file: where it lies in the home folder, and one price changed in it. What the rest of the file says
// stays as it is; a damaged one is never written over.

import { catalogueError, checkCatalogue } from './catalogue.ts';
import { readJson } from './read-json.ts';
import { ownFile, type OwnFile } from './schema.ts';

/** Path parts below the home folder. */
export const ownCataloguePlace = ['hardware', 'catalogue.json'] as const;

/** One price of a built-in or own row; `value` in USD (offers: an hour of the whole instance), null takes the own one back. */
export interface OwnPrice {
  readonly list: 'devices' | 'offers';
  readonly id: string;
  readonly field: 'streetPrice' | 'onDemand' | 'spot';
  readonly value: number | null;
}

/** The text of the file with the price in it, dated `today` (`2026-11-22`). Throws InputError `input.catalogue`. */
export function withOwnPrice(text: string | null, { list, id, field, value }: OwnPrice, today: string): string {
  const before = text === null ? { version: 1 as const } : parsed(text);
  const rows = [...(before[list] ?? [])] as ({ readonly id: string } & Readonly<Record<string, unknown>>)[];
  const at = rows.findIndex((row) => row.id === id);
  const { [field]: _old, ...rest } = at < 0 ? { id, [field]: undefined } : rows[at];
  const row = { ...rest, id, ...(value === null ? {} : { [field]: { value, date: today } }) };
  const empty = Object.keys(row).length === 1;
  if (at >= 0) rows.splice(at, 1, ...(empty ? [] : [row]));
  else if (!empty) rows.push(row);
  const after = `${JSON.stringify({ ...before, [list]: rows }, null, 2)}\n`;
  parsed(after);
  return after;
}

function parsed(text: string): OwnFile {
  const problems = checkCatalogue(text);
  if (problems.length > 0) throw catalogueError(ownCataloguePlace.join('/'), problems);
  return ownFile.parse(readJson(text).value);
}
