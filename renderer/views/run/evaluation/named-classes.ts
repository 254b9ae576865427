// Which classes have a name and a colour among the curves of many: few enough to be told apart.

import type { DrawnCurves } from '../../../../engine/evaluation/curves.ts';

/** Colours that are told apart: those of compared runs. */
export const mostNamed = 6;
const letters = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

/** The colour and dash of the n-th named curve. */
export const nameMark = (n: number): string => `run-${letters[n]}`;

/** Those with the least area under ROC, the weakest first: what a person will ask about. */
export function weakestClasses(curves: readonly (DrawnCurves | null)[]): readonly number[] {
  return [...curves.keys()]
    .filter((k) => curves[k] !== null)
    .sort((a, b) => (curves[a]?.areas.roc ?? 0) - (curves[b]?.areas.roc ?? 0) || a - b)
    .slice(0, mostNamed);
}

/** With one more or one less; of too many the one that was named first goes. */
export function toggled(named: readonly number[], k: number): readonly number[] {
  return named.includes(k) ? named.filter((other) => other !== k) : [...named, k].slice(-mostNamed);
}
