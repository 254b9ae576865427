// The settings of a trial as those of a run: what its learner starts from with this data, and what the search has chosen.

import { mlp, presetNamed, specOf, trainedOn } from '../../model/presets.ts';
import type { ModelSpec } from '../../model/spec.ts';
import type { PreparedData } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';
import type { RunConfig } from '../../protocol/runs.ts';
import type { TrialSettings } from '../../protocol/search.ts';
import { modelFields } from '../../search/model-fields.ts';
import { usualTraining } from '../../settings/network.ts';
import { defaultsOf, withChosen } from '../../settings/values.ts';
import { boostedFields, declaration as boosted } from '../boosted/declaration.ts';
import { configWith } from './registry.ts';
import type { Searched } from './searched-fields.ts';
import { extraFields, forestFields } from './forest-fields.ts';
import { declaration as extra } from '../extra/declaration.ts';
import { declaration as forest } from '../forest/declaration.ts';
import { declaration as linear, linearFields } from '../linear/declaration.ts';
import { networkConfig } from '../network/declaration.ts';
import type { SearchConfig } from '../search/declaration.ts';

/** What the defaults of a trial depend on. */
export interface TrialData {
  readonly data: Pick<PreparedData, 'task' | 'output'>;
  /** Rows that it learns from. */
  readonly rows: number;
}

/** `settings`: what is fixed in the space and what was chosen. */
export function configOfTrial(config: SearchConfig, settings: TrialSettings, about: TrialData): RunConfig {
  const { search, learner: _, until: __, ...rest } = config;
  return configOfChosen(search.of, { ...rest, device: 'cpu' }, settings, about);
}

/** The settings of a run of a learner: its own as chosen, the others what it starts from with this data. */
export function configOfChosen(
  learner: Searched,
  common: Omit<RunConfig, 'learner'>,
  settings: TrialSettings,
  { data, rows }: TrialData,
): RunConfig {
  const classes = data.output.kind === 'classes' ? data.output.classes.length : 0;
  const about = trainedOn(rows, data.task, { classes });
  switch (learner) {
    case 'boosted':
      return configWith(boosted, common, withChosen(defaultsOf(boostedFields, about), settings));
    case 'forest':
      return configWith(forest, common, withChosen(defaultsOf(forestFields, about), settings));
    case 'extra':
      return configWith(extra, common, withChosen(defaultsOf(extraFields, about), settings));
    case 'linear':
      return configWith(linear, common, withChosen(defaultsOf(linearFields, about), settings));
    case 'network': {
      const [ofModel, ofTraining] = parted(settings);
      const model = modelOfTrial(ofModel);
      const usual = usualTraining(trainedOn(rows, data.task, { model, classes }));
      return networkConfig(common, model, { ...withChosen(usual, ofTraining), seed: common.seed });
    }
  }
  learner satisfies never;
}

function parted(settings: TrialSettings): readonly [ofModel: TrialSettings, ofTraining: TrialSettings] {
  const entries = Object.entries(settings);
  const isOfModel = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(modelFields, name);
  return [
    Object.fromEntries(entries.filter(isOfModel)),
    Object.fromEntries(entries.filter((entry) => !isOfModel(entry))),
  ];
}

/** Throws InputError `input.space` for a preset that there is not. */
function modelOfTrial(chosen: TrialSettings): ModelSpec {
  const { preset, depth, width, dropout, activation } = withChosen(defaultsOf(modelFields, undefined), chosen).model;
  if (preset !== undefined) {
    const found = presetNamed(preset);
    if (found?.input === 'table') return specOf(found, { kind: 'table', width: 0, numeric: 0, embeddings: [] });
    throw new InputError(
      'input.space',
      `The space of the search cannot be used: there is no preset “${preset}” for tables.`,
      'Take small, medium, tabular or another that `train --help` lists.',
    );
  }
  const plain = mlp(new Array<number>(depth).fill(width), { dropout });
  const layers = plain.layers.map((layer) => (layer.type === 'dense' ? { ...layer, activation } : layer));
  return { ...plain, layers };
}
