// Writing SQL safely: names and texts from a person's file only reach DuckDB through these two functions.

/** A column's name as an SQL identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as an SQL literal. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Texts as an SQL list literal. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map(quoteText).join(', ')}]`;
}

/** A number as a literal of DOUBLE, to the last bit. A cast would be bound and folded each time: thousands of them take seconds. */
export function double(value: number): string {
  return `(${value.toExponential()})`;
}

/** A Parquet file as a table expression; `file_row_number` (from 0) can be used as a column. */
export function parquetTable(path: string): string {
  return `read_parquet(${quoteText(path)}, file_row_number = true)`;
}
