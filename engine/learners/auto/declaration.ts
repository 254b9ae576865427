// Best of all in words: many models of several kinds on the same parts of the rows for a time that is given, and the mix of them that is
// best on rows they did not learn from.

import { momentText } from '../../protocol/words.ts';
import { fieldsFor, type SettingsOf } from '../../settings/field.ts';
import type { TrainedOn } from '../../settings/training.ts';
import { declare, type ConfigOf } from '../declared/declare.ts';
import { chosenMembers, countChosen, everyKind } from '../declared/chosen-members.ts';
import { refuseManyScores } from '../declared/many-scores.ts';

export const autoFields = fieldsFor<TrainedOn>()({
  minutes: {
    kind: 'number',
    label: 'Minutes',
    unit: 'min',
    help: 'minutes to look for the best',
    minimum: 0.02,
    when: { members: [everyKind] },
    maximum: 10_000,
    default: 1,
  },
  curve: {
    kind: 'switch',
    label: 'Learning curve',
    help: 'also score the best model with 10, 20, 40 and 80 % of the rows, and say what twice the data would bring; takes a fifth of the time',
    default: false,
  },
  parts: {
    kind: 'number',
    whole: true,
    label: 'Folds',
    flag: null,
    zero: 'as many as pay: 5 of few rows, one part held out of many',
    help: 'parts of the training rows that validate in turn; 0 = as many as pay',
    minimum: 0,
    maximum: 20,
    advanced: true,
    default: 0,
  },
  members: {
    kind: 'text',
    label: 'Members',
    flag: null,
    help: 'the models to train, as JSON, instead of those of every kind',
    hint: 'JSON of learners with settings: [{"title": "Deep", "learner": "boosted", "settings": {"leaves": 63}}].',
    longest: 200_000,
    advanced: true,
    quiet: everyKind,
    default: everyKind,
  },
});

export type AutoSettings = SettingsOf<typeof autoFields>;
export type AutoConfig = ConfigOf<'auto', typeof autoFields>;

/** Of a member: 256 MiB of them. */
const mostScores = 2 ** 25;

export const declaration = declare({
  name: 'auto',
  title: 'Best of all',
  noun: 'the best of all',
  summary: 'Linear models, trees, forests and networks for as long as you say, and the mix of them that predicts best',
  about: {
    title: () => 'The best of all within a time',
    text: 'Models of every kind are trained on the same folds, the quick ones first, so that there is an answer at any time. Those that make the best mean on rows they did not learn from predict together. The test rows are kept for the last figure.',
  },
  fields: autoFields,
  forms: ['columns'],
  texts: 'tokens',
  unit: { one: 'model', many: 'models' },
  curves: true,
  doneBy: 'It looks until then, not for its minutes.',

  // What each member says of each row is kept until the mix is chosen.
  check: ({ auto }, data) => {
    chosenMembers(auto);
    refuseManyScores('the best of all', data, mostScores);
  },
  parts: ({ auto }) => auto.parts,
  // All rows that are not tested are trained on, and each of them validates in turn.
  settled: (config) => ({ ...config, settings: { ...config.settings, joined: true } }),
  // Its members are of several kinds: PyTorch has no words for all of them.
  formats: ['onnx', 'html', 'tensorboard', 'mlflow', 'json'],
  units: () => 1,
  modelTitle: ({ auto }) => ofChosen(auto) ?? 'Best of all',
  label: ({ auto }) => ofChosen(auto)?.toLowerCase() ?? 'auto',
  facts: ({ auto, seed, until }) => [
    ['model', ofChosen(auto)?.toLowerCase() ?? 'the best of all'],
    [
      'training',
      [
        ...(until === undefined ? (countChosen(auto) > 0 ? [] : [minutesText(auto)]) : [`until ${momentText(until)}`]),
        auto.parts === 0 ? 'folds as pay' : `${auto.parts} folds`,
        `seed ${seed}`,
      ].join(', '),
    ],
  ],
});

const minutesText = ({ minutes }: AutoSettings): string => `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;

/** What it is called where its members were chosen. */
function ofChosen(auto: AutoSettings): string | null {
  const count = countChosen(auto);
  return count === 0 ? null : `Ensemble of ${count}`;
}
