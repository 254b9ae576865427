// A RunQuery as SQL. Text from outside only ever becomes a parameter; what may be sorted by is listed here.

import { InputError } from '../protocol/errors.ts';
import type { RunQuery } from '../protocol/store.ts';
import { foldCase } from './records.ts';
import { ownValue } from '../protocol/own.ts';

/** How many runs a query without a limit gives. */
export const defaultLimit = 1000;

/** Shorter words are looked for without the index. */
const indexedLetters = 3;

export interface RunSql {
  /** Gives rows of `run`, in order. */
  readonly rows: string;
  /** Gives how many there are without offset and limit, as `total`. */
  readonly total: string;
  readonly parameters: Readonly<Record<string, string | number | null>>;
}

const sortColumns: Readonly<Record<string, string>> = {
  name: 'run.name COLLATE NOCASE',
  state: 'run.state',
  dataset: 'run.dataset_name COLLATE NOCASE',
  device: 'run.device',
  threads: 'run.threads',
  parameters: 'run.parameters',
  createdAt: 'run.created_at',
  startedAt: 'run.started_at',
  endedAt: 'run.ended_at',
  duration: "json_extract(run.progress, '$.secondsElapsed')",
  starred: 'run.starred',
  group: 'run."group" COLLATE NOCASE',
};

/** `seriesNumber` gives the number of a series to sort by, or null if no run has it. Throws `input.sort`. */
export function sqlOf(query: RunQuery, seriesNumber: (name: string) => number | null): RunSql {
  const { where, parameters } = conditionsOf(query);
  const order = orderOf(query.sort ?? { by: 'createdAt', descending: true }, seriesNumber);
  return {
    rows: `SELECT run.* FROM run ${order.join} WHERE ${where} ORDER BY ${order.by} LIMIT @limit OFFSET @offset`,
    total: `SELECT count(*) AS total FROM run WHERE ${where}`,
    parameters: {
      ...parameters,
      ...order.parameters,
      limit: query.limit ?? defaultLimit,
      offset: query.offset ?? 0,
    },
  };
}

function conditionsOf(query: RunQuery): Pick<RunSql, 'parameters'> & { readonly where: string } {
  const conditions = [query.deleted ? 'run.deleted_at IS NOT NULL' : 'run.deleted_at IS NULL'];
  const parameters: Record<string, string | number> = {};
  const add = (name: string, value: string | number, condition: string): void => {
    Object.assign(parameters, { [name]: value });
    conditions.push(condition);
  };

  if (query.states) add('states', JSON.stringify(query.states), 'run.state IN (SELECT value FROM json_each(@states))');
  if (query.dataset !== undefined) add('dataset', query.dataset, 'run.dataset = @dataset');
  if (query.parent !== undefined) add('parent', query.parent, 'run.parent = @parent');
  if (query.withoutFolds === true) conditions.push("(run.relation IS NULL OR run.relation NOT IN ('fold', 'member'))");
  if (query.group !== undefined) add('group', query.group, 'run."group" = @group');
  if (query.starred !== undefined) add('starred', query.starred ? 1 : 0, 'run.starred = @starred');
  query.tags?.forEach((tag, index) => {
    add(`tag${index}`, tag, `EXISTS (SELECT 1 FROM json_each(run.tags) WHERE value = @tag${index})`);
  });
  const words = wordsIn(query.search ?? '');
  const long = words.filter((word) => [...word].length >= indexedLetters);
  if (long.length > 0) {
    const phrases = long.map((word) => `"${word.replaceAll('"', '""')}"`).join(' AND ');
    add('words', phrases, 'run.id IN (SELECT rowid FROM run_text WHERE run_text MATCH @words)');
  }
  const short = words.filter((word) => !long.includes(word));
  short.forEach((word, index) => add(`word${index}`, word, `instr(run.search, @word${index}) > 0`));
  return { where: conditions.join(' AND '), parameters };
}

/** Words, and what stands between quotation marks as it is. */
function wordsIn(search: string): readonly string[] {
  return [...foldCase(search).matchAll(/"([^"]*)"?|[^\s"]+/g)].map(([word, quoted]) => quoted ?? word).filter(Boolean);
}

/** Runs without the value stand last; among equals the newest is first. */
function orderOf(
  sort: NonNullable<RunQuery['sort']>,
  seriesNumber: (name: string) => number | null,
): Pick<RunSql, 'parameters'> & { readonly by: string; readonly join: string } {
  const direction = sort.descending ? 'DESC' : 'ASC';
  const metric = /^(best|last)\.(.+)$/.exec(sort.by);
  if (metric) {
    return {
      join: 'LEFT JOIN summary ON summary.run = run.id AND summary.series = @series',
      by: `summary.${metric[1]} ${direction} NULLS LAST, run.id DESC`,
      parameters: { series: seriesNumber(metric[2]) },
    };
  }
  const column = ownValue(sortColumns, sort.by);
  if (column === undefined) {
    const known = [...Object.keys(sortColumns), 'best.SERIES', 'last.SERIES'].join(', ');
    throw new InputError('input.sort', `Runs cannot be sorted by "${sort.by}".`, `Sort by one of ${known}.`);
  }
  // `created_at` is never missing: without NULLS LAST its index gives the order.
  const nulls = sort.by === 'createdAt' ? '' : ' NULLS LAST';
  return {
    join: '',
    by: `${column} ${direction}${nulls}, run.id ${sort.by === 'createdAt' ? direction : 'DESC'}`,
    parameters: {},
  };
}
