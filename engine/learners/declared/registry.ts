// The declarations of all learners: what others know of the learner of a run.

import type { DatasetInfo } from '../../protocol/data.ts';
import type { ExportFormat } from '../../protocol/exports.ts';
import { isCrossValidation } from '../../protocol/folds.ts';
import { ownValue } from '../../protocol/own.ts';
import { isPretrained } from '../../protocol/pretrained.ts';
import { formsOf } from '../../protocol/use.ts';
import type { RunConfig } from '../../protocol/runs.ts';
import type { FieldTable } from '../../settings/field.ts';
import { defaultsOf } from '../../settings/values.ts';
import type { TrainedOn } from '../../settings/training.ts';
import type { Declaration } from './declare.ts';
import { foreignDeclaration, noLearner } from './foreign.ts';
import { declarations as listed } from './list.ts';

const byName: Readonly<Record<string, Declaration>> = listed;

/** The one that trains where nothing else is asked for stands first. */
export const declarations: readonly Declaration[] = Object.values(byName).toSorted(
  (one, other) => Number(other.layers !== undefined) - Number(one.layers !== undefined),
);

/** The learners without layers of their own that learn from such a dataset: what a run starts from, beside networks. */
export function offered(kind: DatasetInfo['kind']): readonly Declaration[] {
  const there = kind === 'table' ? formsOf.table : formsOf.images;
  return declarations.filter(({ layers, forms }) => !layers && forms.some((form) => there.includes(form)));
}

/** What the learner of a run says of itself; of one that this version does not know, that it is none. */
export function declarationOf({ learner }: { readonly learner: string }): Declaration {
  return ownValue(byName, learner) ?? foreignDeclaration(learner);
}

/** What is of several models at once; those of its folds leave as one graph of them. */
const ofFolds: ReadonlySet<ExportFormat> = new Set<ExportFormat>(['onnx', 'html', 'tensorboard', 'json']);

/** Formats that train a run again. */
export const trainsAgain: ReadonlySet<ExportFormat> = new Set<ExportFormat>(['pytorch', 'pytorch-ddp']);

/** Formats that a run can leave in: the rows of a model of others are not here, and a language model has no project for a cluster. */
export function formatsOf(config: RunConfig): readonly ExportFormat[] {
  const { formats } = declarationOf(config);
  if (isCrossValidation(config)) return formats.filter((format) => ofFolds.has(format));
  if (isPretrained(config)) return formats.filter((format) => !trainsAgain.has(format));
  return config.settings.task === 'language' ? formats.filter((format) => format !== 'pytorch-ddp') : formats;
}

/** Throws TrainyardError `run.learner` where this version has no such learner: a run of it can be looked at, not trained. */
export function checkLearner({ learner }: { readonly learner: string }): void {
  named(byName, learner);
}

/** One of a list of learners. Throws TrainyardError `run.learner` where there is none of that name. */
export function named<T>(list: Readonly<Record<string, T>>, learner: string): T {
  const found = ownValue(list, learner);
  if (found !== undefined) return found;
  throw noLearner(learner);
}

export interface SettingGroup {
  readonly table: FieldTable;
  readonly settings: object;
  /** What stands before the names of its settings where those of all groups are listed. */
  readonly of?: string;
}

/** The settings of a run's learner as their tables say them, in reading order. */
export function settingGroups(config: RunConfig): readonly SettingGroup[] {
  const { fields, free } = declarationOf(config);
  const settings: Readonly<Record<string, unknown>> = { ...ownSettings(config) };
  return [
    { table: fields, settings },
    ...Object.entries(free).map(([name, { table, none, of }]) => ({
      table,
      settings: (ownValue(settings, name) as object | undefined) ?? none,
      of,
    })),
  ];
}

/** The settings of a run's learner. */
export function ownSettings(config: RunConfig): object {
  const all: Readonly<Record<string, unknown>> = { ...config };
  return ownValue(all, declarationOf(config).own) as object;
}

/** The settings that a learner starts from with this data. */
export function usualSettings({ fields }: Declaration, about: TrainedOn): object {
  return defaultsOf(fields, about);
}

/** The settings of a run of a learner whose own are those of one table. */
export function configWith(
  { name, own }: Declaration,
  common: Omit<RunConfig, 'learner'>,
  settings: object,
): RunConfig {
  return { ...common, learner: name, ...{ [own]: settings } };
}
