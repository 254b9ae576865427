// The figures of a pane as a table, and as a CSV file.

export interface Figures {
  readonly columns: readonly string[];
  /** Numbers are as they were computed, never rounded; null = there is none. */
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** RFC 4180, with line feeds. */
export function csvOf({ columns, rows }: Figures): string {
  const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const written = (cell: string | number | null): string =>
    typeof cell === 'string' ? quote(cell) : cell === null || Number.isNaN(cell) ? '' : String(cell);
  return [columns.map(quote), ...rows.map((row) => row.map(written))].map((line) => line.join(',') + '\n').join('');
}
