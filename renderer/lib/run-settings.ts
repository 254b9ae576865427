// All settings of a run as Compare sets them side by side and a run's page lists them.

import { declarationOf } from '../../engine/learners/declared/registry.ts';
import { everySetting, type Setting } from '../../engine/learners/declared/run-settings.ts';
import { layerText } from '../../engine/model/layer-words.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import type { SettingFact } from '../../engine/settings/values.ts';
import { fixed, fullTime, percent, short } from './format.ts';
import { modelName } from './run-words.ts';

/** The settings of a run that say something: those of which nothing was asked are left out. */
export function settingsOf(run: RunRecord): Setting[] {
  return everySettingOf(run).flatMap(({ label, value, quiet }) => (quiet ? [] : [[label, value] as const]));
}

/** All settings of a run, also those that another run has to be compared with. */
export function everySettingOf(run: RunRecord): readonly SettingFact[] {
  const layers = declarationOf(run.config).layers?.(run.config);
  const model: readonly Setting[] = [
    ['Model', modelName(run)],
    ...(layers ? [['Layers', layers.map((layer) => layerText(layer, short)).join(' → ')] as const] : []),
  ];
  return everySetting(run, model, { whole: fixed, number: short, share: percent, time: fullTime });
}
