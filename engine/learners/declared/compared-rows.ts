// Which of its rows a run did not learn from, for whoever looks at it or holds it against another.

import type { EvaluatedSplit } from '../../protocol/evaluated-rows.ts';
import { isCrossValidation } from '../../protocol/folds.ts';
import type { RunRecord } from '../../protocol/runs.ts';
import { usualRowsOf } from '../../protocol/use.ts';
import { declarationOf } from './registry.ts';

type Asked = Pick<RunRecord, 'config' | 'relation'>;

/** Whether parts of its training rows validated in turn: of an ensemble and its members. */
export const hasParts = ({ config, relation }: Asked): boolean =>
  relation === 'member' || declarationOf(config).parts !== undefined;

/** The rows it is looked at on unless others are asked for; a cross-validation has no splits, its folds have. */
export const usualRows = (run: Pick<RunRecord, 'config' | 'data'>): EvaluatedSplit =>
  isCrossValidation(run.config) ? 'out of fold' : usualRowsOf(run.data);

/** All that it can be looked at on, where they have rows. */
export const rowsOffered = (run: Asked & Pick<RunRecord, 'data'>): readonly EvaluatedSplit[] =>
  isCrossValidation(run.config)
    ? ['out of fold']
    : (['train', 'out of fold', 'validation', 'test'] as const).filter((split) =>
        split === 'out of fold' ? hasParts(run) : (run.data?.counts[split] ?? 1) > 0,
      );

/** The rows on which it is held against others: all that its folds did not learn from, or those that validated. */
export const comparedRows = (run: Asked): EvaluatedSplit =>
  isCrossValidation(run.config) || hasParts(run) ? 'out of fold' : 'validation';
