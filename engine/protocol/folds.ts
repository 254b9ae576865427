// Cross-validation as a run: its folds are runs of their own, and it has what they come to.

import { ownValue } from './own.ts';
import type { Fold } from './data.ts';
import type { FoldsResult, Metrics, RunConfig } from './runs.ts';

export const isCrossValidation = ({ folds }: Pick<RunConfig, 'folds'>): boolean => folds !== undefined;

/** The settings of one of its folds. `begun`: those of one that it has already: all rows are divided as they were for that. */
export function foldConfig({ folds: of = 1, ...config }: RunConfig, number: number, begun?: RunConfig): RunConfig {
  const { settings } = config;
  const dealt = begun ? begun.settings.fold?.dealt : settings.splitBy?.kind === 'group' ? 'by class' : undefined;
  const fold: Fold = { number, of, ...(dealt && { dealt }) };
  return { ...config, settings: { ...settings, fold } };
}

/** `4 of 5 folds stand: fold 3 diverged.`; null where all do. */
export function missingFolds({ of, folds }: Pick<FoldsResult, 'of' | 'folds'>): string | null {
  const missing = folds.filter(({ problem }) => problem !== null);
  const standing = folds.length - missing.length;
  if (standing === of) return null;
  const problems = missing.map(({ fold, problem }) => `fold ${fold}: ${problem}`);
  const never = of - folds.length;
  if (never > 0) problems.push(`${never} ${never === 1 ? 'was' : 'were'} not begun`);
  return `${standing} of ${of} folds ${standing === 1 ? 'stands' : 'stand'} (${problems.join('; ')}).`;
}

/** Mean and standard deviation of some values, squares divided by their number. */
export function spreadOf(values: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / values.length) };
}

/** The same of every score that all folds have. */
export function spreadOfFolds(folds: readonly Metrics[]): Pick<FoldsResult, 'mean' | 'deviation'> {
  const [first = {}, ...others] = folds;
  const names = Object.keys(first).filter((name) => others.every((other) => Object.hasOwn(other, name)));
  const spreads = names.map(
    (name) => [name, spreadOf(folds.map((metrics) => ownValue(metrics, name) ?? NaN))] as const,
  );
  return {
    mean: Object.fromEntries(spreads.map(([name, { mean }]) => [name, mean])),
    deviation: Object.fromEntries(spreads.map(([name, { deviation }]) => [name, deviation])),
  };
}
