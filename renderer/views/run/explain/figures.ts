// The figures of an explanation as tables: whole, and with the names as they are.

import type { Contributions, Dependence, Explanation } from '../../../../engine/protocol/explanation.ts';
import { cellText } from '../../../../engine/explanation/words.ts';
import type { Figures } from '../../../components/pane/figures.ts';
import { short } from '../../../lib/format.ts';
import type { Explaining } from './explaining.svelte.ts';

/** A column of each shuffle behind the mean. */
export function importanceFigures({ order, drops }: Explaining, { columns }: Explanation): Figures {
  const most = Math.max(0, ...drops.map((own) => own.length));
  const shuffles = Array.from({ length: most }, (_, i) => `shuffle ${i + 1}`);
  return {
    columns: ['column', 'mean', ...shuffles],
    rows: order.map(({ column, spread }) => [
      columns[column].name,
      spread.mean,
      ...shuffles.map((_, i) => drops[column][i] ?? null),
    ]),
  };
}

export function dependenceFigures(all: readonly Dependence[], { columns }: Explanation): Figures {
  return {
    columns: ['column', 'value', 'mean answer'],
    rows: all.flatMap(({ column, values, mean }) =>
      Array.from(values, (value, i) => [
        columns[column].name,
        columns[column].kind === 'number' ? value : cellText(columns[column], value, short),
        mean[i],
      ]),
    ),
  };
}

/** From the average to the prediction, every column of it. */
export function contributionFigures(
  { shares, errors, values, average, prediction }: Contributions,
  { columns }: Explanation,
): Figures {
  const order = [...shares.keys()].sort((a, b) => Math.abs(shares[b]) - Math.abs(shares[a]));
  return {
    columns: ['column', 'value', 'share', 'standard error'],
    rows: [
      ['average', null, average, null],
      ...order.map((column) => [
        columns[column].name,
        columns[column].kind === 'number' ? values[column] : cellText(columns[column], values[column], short),
        shares[column],
        errors[column],
      ]),
      ['prediction', null, prediction, null],
    ],
  };
}
