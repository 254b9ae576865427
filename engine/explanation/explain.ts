// What the tab and the command line begin with: which columns matter, and how the answer moves with those that matter most.

import { isText } from '../model/spec.ts';
import type { ScoreName } from '../protocol/evaluated-rows.ts';
import type { Dependence, Explanation } from '../protocol/explanation.ts';
import { partialDependence } from './dependence.ts';
import { byImportance, permutationImportance, type ImportanceOptions } from './importance.ts';
import { scoresFor, usualClass, type Answer, type Subject } from './subject.ts';

/** Columns whose dependence is drawn at once. */
export const firstColumns = 3;

export interface ExplainOptions extends ImportanceOptions {
  /** Class whose probability is explained; default: see `usualClass`. */
  readonly wanted?: number | null;
  /** Milliseconds. */
  readonly clock: () => number;
}

/** The score importance is told in: the first that these rows have. */
export function judgedBy({ output }: Pick<Subject, 'output'>, scores: Readonly<Record<string, number>>): ScoreName {
  return scoresFor(output).find((name) => scores[name] !== undefined) ?? scoresFor(output)[0];
}

/** Stopped, it still tells how the answer moves with the columns that matter most as far as is known. */
export async function explain(subject: Subject, answer: Answer, options: ExplainOptions): Promise<Explanation> {
  const { clock, onProgress } = options;
  const start = clock();
  const wanted = options.wanted === undefined ? usualClass(subject.output) : options.wanted;
  const importance = await permutationImportance(subject, answer, {
    ...options,
    onProgress: (share) => onProgress?.(0.9 * share),
  });
  const name = judgedBy(subject, importance.scores);
  const dependence: Dependence[] = [];
  const told = byImportance(importance, name).filter(({ column }) => !isText(subject.columns[column]));
  for (const { column } of told.slice(0, firstColumns)) {
    dependence.push(await partialDependence(subject, answer, column, wanted));
  }
  onProgress?.(1);
  const { columns, output } = subject;
  const classes = output.kind === 'classes' ? output.classes : null;
  return { columns, wanted, classes, importance, dependence, seconds: (clock() - start) / 1000 };
}
