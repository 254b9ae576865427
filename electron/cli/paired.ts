// Two runs on the same rows, for `compare --paired`: both predict them, and a test says whether chance can have made the difference.

import { holm, pairedTest, type PairedTest } from '../../engine/evaluation/paired.ts';
import type { SplitName } from '../../engine/protocol/data.ts';
import { comparedRows } from '../../engine/learners/declared/compared-rows.ts';
import type { EvaluatedRows } from '../../engine/protocol/evaluated-rows.ts';
import { isCrossValidation } from '../../engine/protocol/folds.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { countOpening, prepareEvaluation } from '../../engine/runs/evaluate.ts';
import { createEvaluator } from '../hosts/evaluator.ts';
import { openCpu } from '../hosts/trusted-cpu.ts';
import type { CommandContext } from './command.ts';
import { withProgress } from './import.ts';
import { outOfFoldTable } from './out-of-fold.ts';
import { formatCount, formatNumber } from './output.ts';

/** Out of fold: of a run without folds its validation split. */
export type PairedSplit = SplitName | 'out-of-fold';

export interface Pair {
  readonly first: RunRecord;
  readonly second: RunRecord;
  /** Null: they share no rows, or predict different things. */
  readonly test: PairedTest | null;
  /** Its p as it counts among all that were tested (Holm); null without a test. */
  readonly corrected: number | null;
}

/** Each of the other runs against the first. */
export async function pairedTests(
  context: CommandContext,
  [first, ...others]: readonly RunRecord[],
  split: PairedSplit,
): Promise<readonly Pair[]> {
  const own = await rowsOf(context, first, split);
  const pairs: Omit<Pair, 'corrected'>[] = [];
  for (const second of others) {
    const same = second.dataset === first.dataset;
    pairs.push({ first, second, test: same ? pairedTest(own, await rowsOf(context, second, split)) : null });
  }
  const corrected = holm(pairs.flatMap(({ test }) => test?.p ?? []))[Symbol.iterator]();
  return pairs.map((pair) => ({ ...pair, corrected: pair.test === null ? null : (corrected.next().value ?? null) }));
}

async function rowsOf(context: CommandContext, record: RunRecord, asked: PairedSplit): Promise<EvaluatedRows> {
  const { id: run, config } = record;
  if (isCrossValidation(config)) return (await outOfFoldTable(context, run)).table.rows;
  const split = asked === 'out-of-fold' ? comparedRows(record) : asked;
  const { services } = context;
  const { data, home } = services;
  const store = await services.store;
  const { request } = await withProgress(data, context, (job) =>
    prepareEvaluation({ store, data }, { job, run, source: { split } }),
  );
  try {
    const { rows } = await createEvaluator(Promise.resolve(data), () => openCpu({ home })).table(request);
    await countOpening(store, run, { split });
    return rows;
  } finally {
    await data.release({ handle: request.data.handle });
  }
}

/** `2 is better than 1 on 31 of 412 rows, worse on 12: p = 0.005 (McNemar, exact)` */
export function pairText({ first, second, test, corrected }: Pair): string {
  const names = [`run ${second.id}`, `run ${first.id}`];
  if (test === null || corrected === null) return `${names[0]} and ${names[1]} share no rows that both predict`;
  const written = (value: number): string => (value < 0.0005 ? '< 0.001' : `${Number(value.toPrecision(2))}`);
  const own = `p ${test.p < 0.0005 ? '' : '= '}${written(test.p)}`;
  const p = corrected === test.p ? own : `${own}, ${written(corrected)} after Holm's correction`;
  const call = corrected < 0.05 ? '' : ': cannot tell them apart';
  const rows = `${formatCount(test.better)} of ${formatCount(test.rows)} rows, worse on ${formatCount(test.worse)}`;
  return `${names[0]} is better than ${names[1]} on ${rows}: ${p} (${test.test}), mean difference ${formatNumber(test.difference.value)}${call}`;
}
