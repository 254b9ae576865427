// The settings of a run that goes on, as the person changes them.

import type { Declaration } from '../../../../engine/learners/declared/declare.ts';
import { declarationOf, ownSettings } from '../../../../engine/learners/declared/registry.ts';
import { InputError } from '../../../../engine/protocol/errors.ts';
import { isCrossValidation } from '../../../../engine/protocol/folds.ts';
import { isPretrained } from '../../../../engine/protocol/pretrained.ts';
import type { RunConfig, RunRecord } from '../../../../engine/protocol/runs.ts';
import type { Field, Value } from '../../../../engine/settings/field.ts';
import type { TrainedOn } from '../../../../engine/settings/training.ts';
import { fieldsOf, valueAt, withChosen } from '../../../../engine/settings/values.ts';
import { fixed } from '../../../lib/format.ts';
import { isLive } from '../../../lib/run-words.ts';
import type { Series } from '../run.svelte.ts';

/** What was changed, by the names of the settings. */
export type Changes = Readonly<Record<string, Value | undefined>>;

/** Settings that are offered here: those that everybody sees, but for the length and for what follows from it. */
export function changeable({ fields }: Declaration): readonly (readonly [string, Field<TrainedOn>])[] {
  return fieldsOf(fields).filter(([name, { advanced }]) => !advanced && name !== 'epochs' && !name.startsWith('early'));
}

/** The settings of a run for so many epochs in all, with what was changed; with `name`, that setting alone. */
export function continued(run: Pick<RunRecord, 'config'>, epochs: number, changes: Changes): RunConfig;
export function continued(
  run: Pick<RunRecord, 'config'>,
  epochs: number,
  changes: Changes,
  name: string,
): Value | undefined;
export function continued(
  { config }: Pick<RunRecord, 'config'>,
  epochs: number,
  changes: Changes,
  name?: string,
): RunConfig | Value | undefined {
  const { extended, own } = declarationOf(config);
  const longer = extended ? extended(config, epochs) : config;
  const settings = withChosen(ownSettings(longer), changes);
  return name === undefined ? { ...longer, ...{ [own]: settings } } : valueAt(settings, name);
}

/** Why nothing can go on from a run, neither it nor another one with what it kept; undefined: something can. */
export function noWayOn(run: RunRecord, kept: number): string | undefined {
  const { title, extended } = declarationOf(run.config);
  if (isLive(run)) return 'It is still going on.';
  if (isPretrained(run.config)) {
    return 'A model that others have trained: the rows it learned from are not here. Begin a run on your own data with it, above.';
  }
  if (run.relation === 'member') {
    return `It is a member of run ${run.parent}: it has a model for each fold, none that could go on.`;
  }
  if (isCrossValidation(run.config)) {
    return 'A cross-validation predicts as the mean of its folds. Each of them can go on by itself; none begins with what they have learned together.';
  }
  if (!extended) return `${title}: it is solved to its end, and nothing is left to go on with.`;
  return kept === 0 ? 'It has kept nothing to go on with.' : undefined;
}

/** Why a run cannot go on with these settings; undefined: it can. */
export function refusal(
  { config, result }: Pick<RunRecord, 'config' | 'result'>,
  after: RunConfig,
): string | undefined {
  try {
    declarationOf(config).goesOn?.(config, after, result?.reason);
    return undefined;
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
}

/** What the last epochs, or trees, brought: how much lower the validation loss got. */
export function gains(
  series: ReadonlyMap<string, Series>,
  last: number,
  units: string,
): readonly (readonly [string, string])[] {
  const losses = series.get('val_loss')?.value ?? [];
  if (losses.length <= last) return [];
  const before = Math.min(...losses.slice(0, -last));
  const gained = before - Math.min(...losses);
  return [[`Last ${last} ${units} gained`, gained > 0 ? `${fixed(gained, 4)} of loss` : 'nothing']];
}
