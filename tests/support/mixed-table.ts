// A table with a column of every kind, some of them with many values, all with some missing: what an export has to get right.

import { writeFileSync } from 'node:fs';
import { uniform } from './table.ts';

const cities = ['Rom', 'Köln', 'São Paulo', 'Oslo, Norway', ''];

/** 400 rows. `classes`: `churn` is yes, maybe or no; `numbers`: `price` is a number. */
export function writeMixedTable(file: string, target: 'classes' | 'numbers'): void {
  const random = uniform(5);
  const pick = (count: number): number => Math.floor(random() * count);
  const lines = [`age,income,member,city,code,joined,seen,${target === 'classes' ? 'churn' : 'price'}`];
  for (let row = 0; row < 400; row++) {
    const age = random() < 0.1 ? null : 18 + pick(70);
    const code = pick(40);
    const city = pick(cities.length);
    const member = ['yes', 'no', 'no', ''][pick(4)];
    const seen = new Date(Date.UTC(2015, 0, 1) + pick(4_000_000) * 60_000);
    const joined = new Date((pick(23_000) - 3_650) * 86_400_000);
    const score = ((age ?? 40) - 50) / 20 + (member === 'yes' ? 1 : 0) + (city === 0 ? 0.7 : 0) + (code % 7) * 0.2;
    const value = score + (seen.getUTCHours() > 12 ? 0.5 : 0) + random();
    const cells = [
      age ?? '',
      random() < 0.1 ? '' : (50_000 + 40_000 * (random() - 0.5)).toFixed(2),
      member,
      cities[city].includes(',') ? `"${cities[city]}"` : cities[city],
      `c${code}`,
      random() < 0.05 ? '' : joined.toISOString().slice(0, 10),
      seen.toISOString().slice(0, 16).replace('T', ' '),
      target === 'numbers' ? (300 + 100 * value).toFixed(3) : value > 2 ? 'yes' : value < 1 ? 'no' : 'maybe',
    ];
    lines.push(cells.join(','));
  }
  writeFileSync(file, `${lines.join('\n')}\n`);
}
