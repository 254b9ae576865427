// Predictions as a table: the predicted class or value a row, and a probability column a class; for pictures, their files.

import type { OutputSpec } from '../model/spec.ts';
import type { Predictions } from './predict.ts';

export interface PredictionTable {
  readonly columns: readonly string[];
  readonly rows: (limit?: number) => Iterable<Readonly<Record<string, string | number>>>;
  /** The lines of a CSV file, the header before the first row; `escapeFormulas`: see `csvField`. */
  readonly csv: (escapeFormulas?: boolean) => Iterable<string>;
}

/** `files`: the picture of each row of the whole; `first`: the number of the first row, where these are a part of it. */
export function predictionTable(
  output: OutputSpec,
  predictions: Predictions,
  files?: readonly string[],
  first = 0,
): PredictionTable {
  const probability = output.kind === 'classes' ? output.classes.map((name) => `p(${name})`) : [];
  const columns = ['row', ...(files ? ['file'] : []), 'prediction', ...probability];
  const cells = (row: number): readonly (string | number)[] => {
    const value = predictions.values[row];
    const name = files ? [first + row + 1, files[first + row]] : [first + row + 1];
    if (output.kind === 'value') return [...name, value];
    const { classes } = output;
    const p = predictions.probabilities!.subarray(row * classes.length, (row + 1) * classes.length);
    return [...name, classes[value], ...p];
  };
  return {
    columns,
    *rows(limit = predictions.rows) {
      for (let row = 0; row < Math.min(limit, predictions.rows); row++) {
        const values = cells(row);
        yield Object.fromEntries(columns.map((name, i) => [name, values[i]]));
      }
    },
    *csv(escapeFormulas = false) {
      const line = (values: readonly (string | number)[]): string =>
        `${values.map((value) => csvField(value, escapeFormulas)).join(',')}\n`;
      if (first === 0) yield line(columns);
      for (let row = 0; row < predictions.rows; row++) yield line(cells(row));
    },
  };
}

/** What a spreadsheet takes for a formula, in normal and in full width; a number such as `-1.5` stays one. */
const formula = /^(?!\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$)[=+\-@\t\r\n＝＋－＠]/i;

/** A field of a CSV file (RFC 4180); with `escapeFormulas` an apostrophe stands before what a spreadsheet would compute. */
export function csvField(value: string | number, escapeFormulas: boolean): string {
  const plain = typeof value === 'number' ? String(Number(value.toPrecision(9))) : value;
  const text = escapeFormulas && typeof value === 'string' && formula.test(plain) ? `'${plain}` : plain;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
