// What is said of a dataset, with the flag that does what it advises.

import type { DataWarning } from '../../engine/protocol/data.ts';

const flags: ReadonlyMap<string, (column: string) => string> = new Map<string, (column: string) => string>([
  ['time_split', (column) => `--time ${column}`],
  ['group_split', (column) => `--group ${column}`],
  ['text', (column) => `--text ${column}`],
  ['leak', (column) => `--ignore ${column}`],
  ['short_test', () => '--folds 5'],
  ['group_target', () => '--folds 5'],
]);

/** The message, and in brackets the flag: `… Split by group if it is to predict for new ones. (--group patient_id)`. */
export function withFlag({ code, message, columns: [column] = [] }: DataWarning): string {
  const flag = column === undefined ? undefined : flags.get(code)?.(quoted(column));
  return flag === undefined ? message : `${message} (${flag})`;
}

/** As a shell wants it. */
export const quoted = (name: string): string => (/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
