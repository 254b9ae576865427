// Claims in words: verdicts, what they say in numbers, how they are decided.

import type { Claim } from '../../../../engine/hardware/claims/claim.ts';
import { longTime } from '../../../../engine/hardware/claims/claim-test.ts';
import type { Verdict } from '../../../../engine/hardware/claims/verdict.ts';
import { time } from '../../../../engine/hardware/lessons/lesson.ts';
import { compact, regional, short } from '../../../lib/format.ts';

export function verdictWords({ verdict, factor }: Pick<Verdict, 'verdict' | 'factor'>): string {
  if (verdict !== 'wrong here' || factor === undefined) return verdict;
  return `wrong × ${short(Math.max(factor, 1 / factor), 2)}`;
}

/** Whether its verdict needs this machine measured, or is arithmetic, or rests on words. */
export function decidedBy({ test }: Pick<Claim, 'test'>): 'lab' | 'sum' | 'words' {
  if (test === 'text') return 'words';
  const sums: readonly Claim['test'][] = [
    'sum',
    'figures',
    'range',
    'break-even',
    'resnet-memory',
    'state-bytes',
    'spot',
    'scaling-out',
  ];
  return sums.includes(test) ? 'sum' : 'lab';
}

export const decidedWords = {
  lab: 'by measuring this machine',
  sum: 'by arithmetic and the catalogue',
  words: 'in words: no number decides it',
} as const;

/** `ratioLarge` as “ratio large”. */
export const figureName = (name: string): string =>
  name
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z0-9])/g, '$1 $2')
    .toLowerCase();

/** What a value is, where the name of its figure does not read as that. */
const units: ReadonlyMap<string, string> = new Map([
  ['cpuMicroseconds', 'µs on the CPU'],
  ['gpuMicroseconds', 'µs on the GPU'],
  ['ratio', '× as fast'],
  ['ratioLarge', '× as fast, large'],
  ['ratioSmall', '× as fast, small'],
  ['speedup', '× as fast'],
  ['gain', '× as fast'],
  ['valuesPerCycle', 'values a cycle'],
  ['multiplyAdds', 'multiply-adds'],
  ['gflops', 'GFLOP/s'],
  ['megabytes', 'MB'],
]);

/** `24.5 GFLOP`, `315 ZFLOP` */
function flop(gigas: number): string {
  const prefixes = ['G', 'T', 'P', 'E', 'Z', 'Y'];
  const place = Math.min(prefixes.length - 1, Math.max(0, Math.floor(Math.log10(gigas) / 3)));
  return `${short(gigas / 1000 ** place, 3)} ${prefixes[place]}FLOP`;
}

/** `13.4 values per cycle`, `20.6 ms`, `537 M multiply adds`. */
export function figureWords(name: string, value: number): readonly [value: string, unit: string] {
  if (name === 'seconds') return [regional(time(value)), ''];
  if (/hours$/i.test(name)) return [regional(longTime(value)), figureName(name.replace(/hours$/i, ''))];
  if (name === 'gflopsPerExample') return [flop(value), 'an example'];
  if (name.endsWith('Seconds')) return [regional(time(value)), figureName(name.slice(0, -'Seconds'.length))];
  return [value >= 1e5 ? compact(value) : short(value, 3), units.get(name) ?? figureName(name)];
}

/** The figure that decides, for a row. */
export function decidingFigure({ figures }: Pick<Verdict, 'figures'>): string {
  const [first] = Object.entries(figures);
  return first ? figureWords(...first).join(' ') : '';
}
