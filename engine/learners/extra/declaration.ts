// Extremely randomised trees in words.

import type { SettingsOf } from '../../settings/field.ts';
import { declare, type ConfigOf } from '../declared/declare.ts';
import { refuseManyScores } from '../declared/many-scores.ts';
import { extraFields, forestFacts, goOnAsBefore, treeFormats } from '../declared/forest-fields.ts';

export type ExtraSettings = SettingsOf<typeof extraFields>;
export type ExtraConfig = ConfigOf<'extra', typeof extraFields>;

export const declaration = declare({
  name: 'extra',
  title: 'Extra trees',
  noun: 'extra trees',
  summary: 'A forest whose cuts are drawn by chance: faster, and often as good',
  about: {
    title: () => 'Extremely randomised trees',
    text: 'A forest whose trees choose among cuts drawn by chance, one a column, instead of the best cuts: less alike, and faster. The forest answers with the mean of its trees.',
  },
  fields: extraFields,
  forms: ['columns'],
  formats: treeFormats,
  trees: true,
  unit: { one: 'tree', many: 'trees' },
  curves: true,
  doneBy: 'All its trees, or as many as there is time for.',
  check: (_config, data) => refuseManyScores('a forest', data),
  units: ({ extra }) => extra.trees,
  extended: (config, trees) => ({ ...config, extra: { ...config.extra, trees } }),
  goesOn: (before, after) => goOnAsBefore(before.extra, after.extra, ['trees']),
  goesOnWith: ['trees'],
  facts: ({ extra, seed }) => forestFacts('extra', extra, seed),
});
