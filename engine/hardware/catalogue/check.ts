// What is wrong with a file of the catalogue, in words that name line and field.

import type { z } from 'zod';
import { JsonError, nameOf, readJson, type LocatedJson, type Place } from './read-json.ts';
import { rowNames, type RowName } from './schema.ts';

export interface Problem {
  readonly line: number;
  /** `devices[14].memory`; '' where the file is no JSON. */
  readonly field: string;
  readonly what: string;
}

/** `Line 312, field `devices[14].memory`: a number expected.` */
export const problemText = ({ line, field, what }: Problem): string =>
  `Line ${line}${field === '' ? '' : `, field \`${field}\``}: ${what}.`;

export interface Checked<T> {
  readonly value: T | null;
  readonly problems: readonly Problem[];
}

/** The rows of a file as far as they are any, whatever else is wrong with it. */
export type LooseRows = { readonly [list in RowName]: readonly LooseRow[] } & { readonly sources: object };
export type LooseRow = Readonly<Record<string, unknown>>;

/** Reads a file by its schema; `more` is what the schema cannot say, asked of the rows even where something is wrong with the file. */
export function checkFile<T>(
  text: string,
  schema: z.ZodType<T>,
  more: (rows: LooseRows) => readonly { readonly place: Place; readonly what: string }[],
): Checked<T> {
  let json: LocatedJson;
  try {
    json = readJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { value: null, problems: [{ line: error.line, field: '', what: error.message }] };
  }
  const parsed = schema.safeParse(json.value);
  const first = parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(issue, json));
  const told = new Set(first.map(({ field }) => field));
  const others = more(looseRows(json.value)).map(({ place, what }) => problemAt(json, place, what));
  const problems = [...first, ...others.filter(({ field }) => !told.has(field))].toSorted((a, b) => a.line - b.line);
  return { value: parsed.success && problems.length === 0 ? parsed.data : null, problems };
}

function looseRows(value: unknown): LooseRows {
  const file = isObject(value) ? value : {};
  const rows = (list: RowName): readonly LooseRow[] => {
    const found = file[list];
    return Array.isArray(found) ? found.map((row: unknown) => (isObject(row) ? row : {})) : [];
  };
  return {
    devices: rows('devices'),
    offers: rows('offers'),
    grids: rows('grids'),
    tariffs: rows('tariffs'),
    sources: isObject(file.sources) ? file.sources : {},
  };
}

const isObject = (value: unknown): value is LooseRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const problemAt = (json: LocatedJson, place: Place, what: string): Problem => ({
  line: json.lineOf(place),
  field: nameOf(place),
  what,
});

/** What the schema has against a value; a figure may be a number or an object, and only what it looks like counts. */
function problemsOf(issue: z.core.$ZodIssue, json: LocatedJson): Problem[] {
  const place = issue.path as Place;
  const at = (what: string): Problem => problemAt(json, place, what);
  switch (issue.code) {
    case 'invalid_union': {
      const looksLikeObject = typeof valueAt(json.value, place) === 'object' && valueAt(json.value, place) !== null;
      const branch = issue.errors[looksLikeObject ? 1 : 0] ?? [];
      return branch.flatMap((inner) =>
        problemsOf({ ...inner, path: [...place, ...inner.path] as PropertyKey[] }, json),
      );
    }
    case 'unrecognized_keys':
      return issue.keys.map((key) => problemAt(json, [...place, key], 'no such field'));
    case 'invalid_type':
      if (valueAt(json.value, place) === undefined) return [at('missing')];
      return [at(`${kindWords.get(issue.expected) ?? issue.expected} expected`)];
    case 'invalid_value':
      return [at(`${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')} expected`)];
    case 'too_small':
      if (issue.origin === 'string') return [at('a text expected')];
      return [at(`${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum} expected`)];
    case 'too_big':
      return [
        at(
          issue.origin === 'string'
            ? `at most ${issue.maximum} characters expected`
            : `at most ${issue.maximum} expected`,
        ),
      ];
    case 'invalid_format':
      return [at(formatWords.get(issue.format) ?? 'letters, digits, dots and dashes expected')];
    default:
      return [at(issue.message)];
  }
}

const kindWords = new Map([
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['string', 'a text'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
]);
const formatWords = new Map([
  ['date', 'a date such as 2026-11-21 expected'],
  ['url', 'an address such as https://example.org expected'],
]);

function valueAt(value: unknown, place: Place): unknown {
  let found: unknown = value;
  for (const part of place) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string | number, unknown>)[part];
  }
  return found;
}

/** What the schema cannot say: names twice, sources that are not listed, ranges that do not hold their value. */
export function rowProblems(file: LooseRows, knowsSource: (key: string) => boolean): { place: Place; what: string }[] {
  const found: { place: Place; what: string }[] = [];
  for (const list of rowNames) {
    const ids = new Set<unknown>();
    for (const [index, row] of file[list].entries()) {
      if (typeof row.id === 'string') {
        if (ids.has(row.id)) found.push({ place: [list, index, 'id'], what: `“${row.id}” is there twice` });
        ids.add(row.id);
      }
      for (const [name, value] of Object.entries({ ...row, '': row })) {
        const place = name === '' ? [list, index] : [list, index, name];
        if (typeof value !== 'object' || value === null) continue;
        const { source, low, high, value: middle } = value as Record<string, unknown>;
        if (typeof source === 'string' && !knowsSource(source)) {
          found.push({ place: [...place, 'source'], what: `“${source}” is not among the sources` });
        }
        const least = typeof low === 'number' ? low : middle;
        const most = typeof high === 'number' ? high : middle;
        if (typeof middle === 'number' && ((least as number) > middle || middle > (most as number))) {
          found.push({ place: [...place, 'value'], what: 'a value from low to high expected' });
        }
      }
    }
  }
  return found;
}
