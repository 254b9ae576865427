// Claims in words: verdicts, what they say in numbers, how they are decided.

import type { Claim } from '../../../../engine/hardware/claims/claim.ts';
import { longTime } from '../../../../engine/hardware/claims/claim-test.ts';
import { meant } from '../../../../engine/hardware/claims/by-formula.ts';
import type { Verdict } from '../../../../engine/hardware/claims/verdict.ts';
import { deviceFigures, deviceFigureNames } from '../../../../engine/hardware/catalogue/schema.ts';
import { time } from '../../../../engine/hardware/lessons/lesson.ts';
import { compact, percent, regional, short } from '../../../lib/format.ts';
import { usd } from '../money.ts';

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
  ['leastOfSteps', '× as fast, the training step that gains least'],
  ['throughput', '× the rate of the CPU'],
  ['inner', 'values summed'],
  ['megabytes', 'MB'],
  ['activations', 'MB of activations'],
  ['weights', 'bytes a weight'],
  ['gradients', 'bytes a gradient'],
  ['optimizer', 'bytes for the optimizer'],
  ['cpu', 'GB/s on the CPU'],
  ['gpu', 'GB/s on the GPU'],
  ['memory', 'GB here'],
  ['larger', 'cards with more'],
  ['cards', 'cards compared'],
  ['plain', 'h by the plain sum'],
  ['whole', 'h with machine and electricity'],
  ['today', 'h against a rent of today'],
  ['low', 'at least'],
  ['high', 'at most'],
]);

/** What amounts of money pay. */
const prices: ReadonlyMap<string, string> = new Map([
  ['card', 'a card'],
  ['rent', 'an hour'],
  ['onDemand', 'an hour'],
  ['spot', 'an hour on spot'],
]);

/** The unit of `a100_memory`, `tpu_memory`, `most_fp32` or `fp32`, and whose it is; undefined: no figure of a device. */
function deviceUnit(name: string): string | undefined {
  const field = deviceFigureNames.find((figure) => name === figure || name.endsWith(`_${figure}`));
  if (field === undefined) return undefined;
  const unit = deviceFigures[field].unit || field;
  const owner = name.slice(0, -field.length - 1);
  if (owner === 'most') return `${unit} at most`;
  const device = owner === 'tpu' ? 'a TPU' : meant.get(owner)?.name;
  return device === undefined ? unit : `${unit}, ${device}`;
}

/** `24.5 GFLOP`, `315 ZFLOP` */
function flop(gigas: number): string {
  const prefixes = ['G', 'T', 'P', 'E', 'Z', 'Y'];
  const place = Math.min(prefixes.length - 1, Math.max(0, Math.floor(Math.log10(gigas) / 3)));
  return `${short(gigas / 1000 ** place, 3)} ${prefixes[place]}FLOP`;
}

/** `13.4 values per cycle`, `20.6 ms`, `537 M multiply adds`. */
export function figureWords(name: string, value: number): readonly [value: string, unit: string] {
  if (name === 'seconds') return [regional(time(value)), ''];
  if (name === 'saving') return [percent(value), 'saved'];
  const price = prices.get(name);
  if (price !== undefined) return [usd(value), price];
  if (/hours$/i.test(name)) return [regional(longTime(value)), unitOf(name.replace(/hours$/i, ''))];
  if (name === 'gflopsPerExample') return [flop(value), 'an example'];
  if (name.endsWith('Seconds')) return [regional(time(value)), figureName(name.slice(0, -'Seconds'.length))];
  return [value >= 1e5 ? compact(value) : short(value, 3), unitOf(name)];
}

const unitOf = (name: string): string => units.get(name) ?? deviceUnit(name) ?? figureName(name);

/** The figure that decides, for a row. */
export function decidingFigure({ figures }: Pick<Verdict, 'figures'>): string {
  const [first] = Object.entries(figures);
  return first ? figureWords(...first).join(' ') : '';
}
