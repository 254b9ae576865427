// Random forests in words.

import type { SettingsOf } from '../../settings/field.ts';
import { declare, type ConfigOf } from '../declared/declare.ts';
import { refuseManyScores } from '../declared/many-scores.ts';
import { forestFacts, goOnAsBefore, forestFields, treeFormats } from '../declared/forest-fields.ts';

export type ForestSettings = SettingsOf<typeof forestFields>;
export type ForestConfig = ConfigOf<'forest', typeof forestFields>;

export const declaration = declare({
  name: 'forest',
  title: 'Random forest',
  noun: 'a random forest',
  summary: 'Many large trees that vote: good with no tuning, and hard to overfit',
  about: {
    title: () => 'Random forest',
    text: 'Each tree is grown to the end on rows drawn by chance, each of its nodes looking at a few columns; the forest answers with the mean of its trees. The rows that a tree was not grown on score it: the loss out of bag.',
  },
  fields: forestFields,
  forms: ['columns'],
  formats: treeFormats,
  trees: true,
  unit: { one: 'tree', many: 'trees' },
  curves: true,
  doneBy: 'All its trees, or as many as there is time for.',
  check: (_config, data) => refuseManyScores('a forest', data),
  units: ({ forest }) => forest.trees,
  extended: (config, trees) => ({ ...config, forest: { ...config.forest, trees } }),
  goesOn: (before, after) => goOnAsBefore(before.forest, after.forest, ['trees']),
  goesOnWith: ['trees'],
  facts: ({ forest, seed }) => forestFacts('forest', forest, seed),
});
