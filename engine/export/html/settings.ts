// The settings of a run in words, as its page lists them: what a report has of them, and is read back by.

import { declarationOf } from '../../learners/declared/registry.ts';
import { everySetting, type Setting } from '../../learners/declared/run-settings.ts';
import { layerText } from '../../model/layer-words.ts';
import type { RunRecord } from '../../protocol/runs.ts';

/** A layer a row; of settings that ask for nothing none. */
export function settingRows(run: RunRecord): readonly Setting[] {
  const layers = declarationOf(run.config).layers?.(run.config) ?? [];
  const model = layers.map((layer, at): Setting => [`Layer ${at + 1}`, layerText(layer, spelled)]);
  return everySetting(run, model, { whole: spelled, number: spelled, share: percent, time: moment }).flatMap(
    ({ label, value, quiet }) => (quiet ? [] : [[label, value] as const]),
  );
}

const spelled = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 15 });
const percent = (share: number): string => `${spelled(100 * share)} %`;
const moment = (time: number | null): string => (time === null ? '–' : new Date(time).toISOString());
