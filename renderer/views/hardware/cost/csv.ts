// The table of Time and cost as a file: full precision, decimal point.

import { asEnglish } from '../../../lib/format.ts';
import type { CostRow } from './rows.ts';

export function toCsv(rows: readonly CostRow[]): string {
  const quote = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const head = 'device,kind,numbers,fits,epoch low s,epoch high s,training s,kWh,kg CO2,money USD,price USD,price date';
  const lines = rows.map((row) =>
    [
      quote(row.name),
      row.kind,
      row.numbers,
      row.fits ? 'yes' : quote(asEnglish(row.fitNote)),
      ...row.epochRange,
      row.training,
      row.kwh ?? '',
      row.kilogramsCo2 ?? '',
      row.money ?? '',
      row.price?.value ?? '',
      row.price?.date ?? '',
    ].join(','),
  );
  return `${[head, ...lines].join('\n')}\n`;
}
