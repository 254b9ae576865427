// Column names that are all there, all different, and acceptable to DuckDB, which takes "Age" and "age" for the same.

import type { DataWarning } from '../../protocol/data.ts';

/** Name of the row number that DuckDB adds to a Parquet file's columns. */
const reserved = 'file_row_number';

/**
 * Makes names unique by numbering them (`a`, `a_2`) and fills in missing ones (`column 3`). Says so, unless the file had
 * no names at all.
 */
export function uniqueNames(
  written: readonly string[],
  hasHeader = true,
): { readonly names: readonly string[]; readonly warnings: readonly DataWarning[] } {
  const trimmed = written.map((name) => name.replaceAll(/\s+/g, ' ').trim());
  const taken = new Set<string>([reserved]);
  const original = new Set(trimmed.map((name) => name.toLowerCase()));
  const names: string[] = [];
  const changes: string[] = [];
  const changed: string[] = [];
  trimmed.forEach((wish, index) => {
    const base = wish === '' ? `column ${index + 1}` : wish;
    let name = base;
    // A made-up name must not take one that stands elsewhere in the header.
    for (let count = 2; taken.has(name.toLowerCase()) || (name !== wish && original.has(name.toLowerCase())); count++) {
      name = `${base}_${count}`;
    }
    taken.add(name.toLowerCase());
    names.push(name);
    if (name === wish || !hasHeader) return;
    changes.push(wish === '' ? `the one without a name is now "${name}"` : `a second "${wish}" is now "${name}"`);
    changed.push(name);
  });
  if (changes.length === 0) return { names, warnings: [] };
  const listed = changes.slice(0, 5).join('; ') + (changes.length > 5 ? `; and ${changes.length - 5} more` : '');
  return {
    names,
    warnings: [{ code: 'renamed', message: `Column names have to differ: ${listed}.`, columns: changed }],
  };
}
