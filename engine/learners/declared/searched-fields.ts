// The settings that a search may choose, by the learner it trains: the tables of those learners, of a network its layers beside its training.

import { modelFields } from '../../search/model-fields.ts';
import type { searched } from '../../search/ready.ts';
import type { FieldTable } from '../../settings/field.ts';
import { trainingFields, type TrainedOn } from '../../settings/training.ts';
import { boostedFields } from '../boosted/declaration.ts';
import { linearFields } from '../linear/declaration.ts';
import { extraFields, forestFields } from './forest-fields.ts';

export type Searched = (typeof searched)[number];

export const searchedFields: Readonly<Record<Searched, FieldTable<TrainedOn>>> = {
  boosted: boostedFields,
  linear: linearFields,
  forest: forestFields,
  extra: extraFields,
  network: { ...trainingFields, ...modelFields },
} as Readonly<Record<Searched, FieldTable<TrainedOn>>>;
