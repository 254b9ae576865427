// What is said of a learner that this version does not know: a run of a later version stays a row that says so, with all that stands
// beside its settings; it is neither trained on nor begun anew here.

import { exportFormats } from '../../protocol/exports.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import type { Declaration } from './declare.ts';

/** Names are a person's or a later version's: only so much of one is shown. */
const longestName = 60;

const unreadableError = (): TrainyardError =>
  new TrainyardError(
    'run.learner',
    'The settings of this run cannot be read.',
    'Train again with settings of your own.',
  );

/** TrainyardError `run.learner`. */
export function noLearner(learner: string): TrainyardError {
  if (learner === unreadableLearner) return unreadableError();
  return new TrainyardError(
    'run.learner',
    `This version has no learner “${learner.slice(0, longestName)}”.`,
    'The run may come from a later version: update Trainyard.',
  );
}

/** Stands for the learner of a run whose settings cannot be read. */
export const unreadableLearner = '?';

const unreadableTitle = 'Settings that cannot be read';

export function foreignDeclaration(learner: string): Declaration {
  if (learner === unreadableLearner) {
    return {
      ...foreignDeclaration('unreadable'),
      name: learner,
      own: learner,
      title: unreadableTitle,
      noun: 'a model whose settings cannot be read',
      summary: 'A model whose settings cannot be read.',
      preset: () => null,
      modelTitle: () => unreadableTitle,
      label: () => 'unreadable',
      facts: () => [['settings', 'cannot be read']],
      check: () => {
        throw unreadableError();
      },
    };
  }
  const name = learner.slice(0, longestName);
  const title = `“${name}”, not known to this version`;
  const said = `of a learner that this version does not know: “${name}”`;
  return {
    name,
    title,
    noun: `a model ${said}`,
    summary: `A model ${said}.`,
    fields: {},
    own: learner,
    doneBy: '',
    free: {},
    formats: exportFormats,
    trees: false,
    forms: [],
    devices: ['cpu', 'gpu', 'reference'],
    unit: { one: 'step', many: 'steps' },
    curves: true,
    complete: (config) => config,
    check: () => {
      throw noLearner(learner);
    },
    // Nobody here knows how many there are.
    units: () => 1,
    preset: () => name,
    modelTitle: () => title,
    label: () => name,
    listed: () => ({}),
    ofPictures: () => false,
    facts: (_, parameters) => [
      ['model', `${name}, ${parameters.toLocaleString('en')} parameters`],
      ['learner', 'not known to this version: update Trainyard'],
    ],
    settings: () => ({ model: { preset: name } }),
    speed: (config) => config,
  };
}
