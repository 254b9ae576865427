// What a test of a claim is, and what all of them share.

import type { Claim } from './claim.ts';
import type { Evidence } from './evidence.ts';

export interface Verdict {
  readonly verdict: 'holds' | 'too simple' | 'wrong here' | 'cannot tell' | 'not tested';
  /** By how much it is off: above 1 it says too much, below 1 too little. */
  readonly factor?: number;
  readonly sentence: string;
  /** The numbers that decide, by name. */
  readonly figures: Readonly<Record<string, number>>;
}

export type Test = (claim: Claim, evidence: Evidence) => Verdict;

export const notTested = (sentence: string): Verdict => ({ verdict: 'not tested', sentence, figures: {} });
export const noLab = notTested('Measure this machine first.');
export const noGpu = notTested('No GPU was measured here.');

/** Three or four digits that count, for sentences: `0.566`, `1,234`, `135,400`. */
export const short = (value: number): string =>
  Number(value.toPrecision(value >= 1000 ? 4 : 3)).toLocaleString('en', { maximumFractionDigits: 20 });

/** A number said against the one found: within a fifth it holds, within a factor 3 it is too simple. */
export function against(said: number, found: number, sentence: string, figures: Verdict['figures']): Verdict {
  const factor = said / found;
  const off = Math.max(factor, 1 / factor);
  if (off <= 1.2) return { verdict: 'holds', sentence, figures };
  return { verdict: off <= 3 ? 'too simple' : 'wrong here', factor, sentence, figures };
}

export const says = (claim: Claim, name: string): number => {
  const value = claim.saysWhat[name];
  if (value === undefined) throw new Error(`Claim ${claim.id} says nothing of ${name}.`);
  return value;
};

export const byWords: Readonly<Record<Claim['verdictInPrinciple'], Verdict['verdict']>> = {
  true: 'holds',
  outdated: 'too simple',
  simple: 'too simple',
  unsourced: 'too simple',
  wrong: 'wrong here',
};

const hoursOfYear = 8760;

/** `5.2 h`, `41 to 60 days`, `135,000 to 217,000 years`: hours, with those up to which it reaches. */
export function longTime(hours: number, to?: number): string {
  const [unit, each] =
    hours < 48
      ? (['h', 1] as const)
      : hours < 2 * hoursOfYear
        ? (['days', 24] as const)
        : (['years', hoursOfYear] as const);
  return `${short(hours / each)}${to === undefined ? '' : ` to ${short(to / each)}`} ${unit}`;
}
