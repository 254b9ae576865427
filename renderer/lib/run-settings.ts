// All settings of a run as names and words, in reading order: what Compare sets side by side and a run's page lists.

import { layerText } from '../../engine/model/layer-words.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { declarationOf, settingGroups, type SettingGroup } from '../../engine/learners/declared/registry.ts';
import { runFields } from '../../engine/settings/run.ts';
import { trainingFields } from '../../engine/settings/training.ts';
import { settingFacts, type SettingFact } from '../../engine/settings/values.ts';
import { leftOutText, splitOrigin, splitRule, usualSplit } from '../../engine/protocol/use.ts';
import { fixed, fullTime, missing, percent, short } from './format.ts';
import { modelName } from './run-words.ts';

export type Setting = readonly [name: string, value: string];

/** The settings of a run that say something: those of which nothing was asked are left out. */
export function settingsOf(run: RunRecord): Setting[] {
  return everySettingOf(run).flatMap(({ label, value, quiet }) => (quiet ? [] : [[label, value] as const]));
}

/** All settings of a run, also those that another run has to be compared with. */
export function everySettingOf(run: RunRecord): readonly SettingFact[] {
  const { config } = run;
  return [
    ...facts([
      ['Dataset', run.datasetName],
      ['Target', config.settings.target ?? 'found'],
      ['Split', splitText(run)],
      ['Left out', leftOut(run)],
      ['Model', modelName(run)],
      ...layerFacts(config),
      ['Parameters', run.parameters > 0 ? fixed(run.parameters) : '–'],
    ]),
    doneByFact(config),
    ...settingGroups(config).flatMap((group) => groupFacts(run, group)),
    ...settingFacts(runFields, config, numberText).map((fact) => ({ ...fact, value: usedValue(run, fact) })),
  ];
}

/** The time that a run was to be done by: it decides, and not the number of epochs. */
function doneByFact({ until }: RunRecord['config']): SettingFact {
  return { label: 'Done by', value: fullTime(until ?? null), quiet: until === undefined };
}

function layerFacts(config: RunRecord['config']): readonly Setting[] {
  const layers = declarationOf(config).layers?.(config);
  return layers ? [['Layers', layers.map((layer) => layerText(layer, short)).join(' → ')]] : [];
}

function groupFacts(run: RunRecord, { table, settings, of }: SettingGroup): readonly SettingFact[] {
  return settingFacts(table, settings, numberText).map((fact) => ({
    ...fact,
    label: of === undefined ? fact.label : `${of}: ${fact.label.toLowerCase()}`,
    value: usedValue(run, fact),
  }));
}

/** What became of a setting in a run: the device found, threads that pay, a batch that is larger than the split. */
function usedValue(run: RunRecord, { label, value }: SettingFact): string {
  const { device, threads, data, config } = run;
  switch (label) {
    case runFields.device.label:
      return device === '' ? value : device.replace(/^(cpu|gpu)/, (kind) => kind.toUpperCase());
    case runFields.threads.label:
      return threads > 0 ? fixed(threads) : config.threads > 0 ? value : missing;
    case trainingFields.batch.label: {
      const { batch = 0 } = declarationOf(config).listed(config);
      const used = Math.min(batch, data?.counts.train ?? batch);
      return used < batch ? `${fixed(used)} (all rows; ${value} asked for)` : value;
    }
    case trainingFields.epochs.label:
      return config.until === undefined ? value : 'as many as there is time for';
    default:
      return value;
  }
}

function facts(list: readonly Setting[]): readonly SettingFact[] {
  return list.map(([label, value]) => ({ label, value, quiet: false }));
}

function numberText(value: number, whole: boolean): string {
  return whole ? fixed(value) : short(value);
}

/** The split that was used, in rows; until the data is prepared, the shares asked for. */
function splitText({ data, config }: RunRecord): string {
  const way = splitRule(config.settings);
  const rule = way === '' ? '' : `; ${way}`;
  if (data === null)
    return `${(config.settings.split ?? usualSplit).map((share) => percent(share)).join(' / ')} asked for${rule}`;
  const { train, validation, test } = data.counts;
  const rows = `${fixed(train)} train / ${fixed(validation)} validation / ${fixed(test)} test`;
  const origin = splitOrigin(data);
  const parted = declarationOf(config).parts !== undefined;
  const without = parted ? '; rows to learn from validate in turn' : '; nothing validates';
  return `${rows}${rule}${origin === '' ? '' : `; ${origin}`}${validation === 0 ? without : ''}`;
}

function leftOut({ data, config }: RunRecord): string {
  if (data !== null) return leftOutText(data.leftOut);
  return leftOutText((config.settings.ignored ?? []).map((column) => ({ column, reason: 'ignored' })));
}
