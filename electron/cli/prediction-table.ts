// Predictions as a table: the predicted class or value a row, and a probability column a class; for pictures, their files.

import type { OutputSpec } from '../../engine/model/spec.ts';
import type { Predictions } from '../../engine/train/predict.ts';

export interface PredictionTable {
  readonly columns: readonly string[];
  readonly rows: (limit?: number) => Iterable<Readonly<Record<string, string | number>>>;
  readonly csv: () => string;
}

/** `files`: the picture of each row. */
export function predictionTable(
  output: OutputSpec,
  predictions: Predictions,
  files?: readonly string[],
): PredictionTable {
  const probability = output.kind === 'classes' ? output.classes.map((name) => `p(${name})`) : [];
  const columns = ['row', ...(files ? ['file'] : []), 'prediction', ...probability];
  const cells = (row: number): readonly (string | number)[] => {
    const value = predictions.values[row];
    const name = files ? [row + 1, files[row]] : [row + 1];
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
    csv() {
      const lines = [columns.map(quote).join(',')];
      for (let row = 0; row < predictions.rows; row++) lines.push(cells(row).map(quote).join(','));
      return `${lines.join('\n')}\n`;
    },
  };
}

/** A field of a CSV file (RFC 4180). */
function quote(value: string | number): string {
  const text = typeof value === 'number' ? String(Number(value.toPrecision(9))) : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
