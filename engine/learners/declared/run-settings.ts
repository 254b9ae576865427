// All settings of a run as names and words, in reading order: what its page lists, Compare sets side by side and a report holds.

import { beginningWords } from '../../protocol/family.ts';
import { isPretrained } from '../../protocol/pretrained.ts';
import { leftOutText, splitOrigin, splitRule, usualSplit } from '../../protocol/use.ts';
import type { RunConfig, RunRecord } from '../../protocol/runs.ts';
import { runFields } from '../../settings/run.ts';
import { trainingFields } from '../../settings/training.ts';
import { settingFacts, type SettingFact } from '../../settings/values.ts';
import { declarationOf, settingGroups, type SettingGroup } from './registry.ts';

export type Setting = readonly [name: string, value: string];

/** How numbers and times are written where they are read. */
export interface Writing {
  readonly whole: (value: number) => string;
  readonly number: (value: number) => string;
  /** From 0 to 1. */
  readonly share: (value: number) => string;
  /** Milliseconds since 1970; null: none. */
  readonly time: (value: number | null) => string;
}

/** Also those that another run has to be compared with. `model`: what stands for it. */
export function everySetting(run: RunRecord, model: readonly Setting[], write: Writing): readonly SettingFact[] {
  const { config } = run;
  const number = (value: number, whole: boolean): string => (whole ? write.whole : write.number)(value);
  const parameters: Setting = ['Parameters', run.parameters > 0 ? write.whole(run.parameters) : '–'];
  // By which settings others have trained their model nobody knows: those it has here are where a run would begin.
  if (isPretrained(config)) return facts([['Read from', run.datasetName], ...model, parameters]);
  return [
    ...facts([
      ['Dataset', run.datasetName],
      ['Target', config.settings.target ?? 'found'],
      ['Split', splitText(run, write)],
      ['Left out', leftOut(run)],
      ...pixelFacts(config, write),
      ...model,
      parameters,
    ]),
    beginningFact(run),
    doneByFact(config, write),
    ...[
      ...settingGroups(config).flatMap((group) => groupFacts(group, number)),
      ...settingFacts(runFields, config, number),
    ].map((fact) => ({ ...fact, value: usedValue(run, fact, write) })),
  ];
}

/** Of a run that reads pixels as the one does that it begins with. */
function pixelFacts({ settings: { normalization } }: RunConfig, { number }: Writing): readonly Setting[] {
  if (normalization === undefined) return [];
  return (['mean', 'deviation'] as const).map((name) => [
    `Pixel ${name}`,
    normalization[name].map((value) => number(value)).join(', '),
  ]);
}

function facts(list: readonly Setting[]): readonly SettingFact[] {
  return list.map(([label, value]) => ({ label, value, quiet: false }));
}

/** Of a run that began with what another one had learned. */
function beginningFact(run: RunRecord): SettingFact {
  const words = beginningWords(run);
  return { label: 'Beginning', value: words ?? '–', quiet: words === null };
}

/** The time that a run was to be done by: it decides, and not the number of epochs. */
function doneByFact({ until }: RunConfig, { time }: Writing): SettingFact {
  return { label: 'Done by', value: time(until ?? null), quiet: until === undefined };
}

function groupFacts(
  { table, settings, of }: SettingGroup,
  number: (value: number, whole: boolean) => string,
): readonly SettingFact[] {
  return settingFacts(table, settings, number).map((fact) => ({
    ...fact,
    label: of === undefined ? fact.label : `${of}: ${fact.label.toLowerCase()}`,
  }));
}

/** What became of a setting in a run: the device found, threads that pay, a batch that is larger than the split. */
function usedValue(run: RunRecord, { label, value }: SettingFact, { whole }: Writing): string {
  const { device, threads, data, config } = run;
  switch (label) {
    case runFields.device.label:
      return device === '' ? value : device.replace(/^(cpu|gpu)/, (kind) => kind.toUpperCase());
    case runFields.threads.label:
      return threads > 0 ? whole(threads) : config.threads > 0 ? value : '–';
    case trainingFields.batch.label: {
      const { batch = 0 } = declarationOf(config).listed(config);
      const used = Math.min(batch, data?.counts.train ?? batch);
      return used < batch ? `${whole(used)} (all rows; ${value} asked for)` : value;
    }
    case trainingFields.epochs.label:
      return config.until === undefined ? value : 'as many as there is time for';
    default:
      return value;
  }
}

/** The split that was used, in rows; until the data is prepared, the shares asked for. */
function splitText({ data, config }: RunRecord, { whole, share }: Writing): string {
  const way = splitRule(config.settings);
  const rule = way === '' ? '' : `; ${way}`;
  if (data === null)
    return `${(config.settings.split ?? usualSplit).map((part) => share(part)).join(' / ')} asked for${rule}`;
  const { train, validation, test } = data.counts;
  const rows = `${whole(train)} train / ${whole(validation)} validation / ${whole(test)} test`;
  const origin = splitOrigin(data);
  const parted = declarationOf(config).parts !== undefined;
  const without = parted ? '; rows to learn from validate in turn' : '; nothing validates';
  return `${rows}${rule}${origin === '' ? '' : `; ${origin}`}${validation === 0 ? without : ''}`;
}

function leftOut({ data, config }: RunRecord): string {
  if (data !== null) return leftOutText(data.leftOut);
  return leftOutText((config.settings.ignored ?? []).map((column) => ({ column, reason: 'ignored' })));
}
