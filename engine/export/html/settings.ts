// The settings of a run in words, as its page lists them: what a report has of them, and is read back by.

import { declarationOf, settingGroups } from '../../learners/declared/registry.ts';
import { layerText } from '../../model/layer-words.ts';
import type { RunRecord } from '../../protocol/runs.ts';
import { runFields } from '../../settings/run.ts';
import { trainingFields } from '../../settings/training.ts';
import { settingFacts } from '../../settings/values.ts';

/** Of those that ask for nothing none. */
export function settingRows(record: RunRecord): readonly (readonly [label: string, value: string])[] {
  const { config, datasetName, device, threads } = record;
  const layers = declarationOf(config).layers?.(config) ?? [];
  const facts = [
    ...settingGroups(config).flatMap(({ table, settings, of }) =>
      settingFacts(table, settings, spelled).map((fact) => ({
        ...fact,
        label: of === undefined ? fact.label : `${of}: ${fact.label.toLowerCase()}`,
      })),
    ),
    ...settingFacts(runFields, config, spelled),
  ];
  // What became of what was left open.
  const used = new Map<string, string>([
    ...(device === '' ? [] : [[runFields.device.label, device] as const]),
    ...(threads > 0 ? [[runFields.threads.label, String(threads)] as const] : []),
  ]);
  // How many epochs a run has that is to be done by a time, the time decides.
  const decided = new Set<string>(config.until === undefined ? [] : [trainingFields.epochs.label]);
  return [
    ['Dataset', datasetName],
    ['Target', config.settings.target ?? 'found'],
    ...layers.map((layer, at) => [`Layer ${at + 1}`, layerText(layer, spelled)] as const),
    ...(config.until === undefined ? [] : [['Done by', new Date(config.until).toISOString()] as const]),
    ...facts.flatMap(({ label, value, quiet }) =>
      quiet || decided.has(label) ? [] : [[label, used.get(label) ?? value] as const],
    ),
  ];
}

const spelled = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 15 });
