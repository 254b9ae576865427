// What is said of a learner that this version does not know: a run of a later version stays a row that says so, with all that stands
// beside its settings; it is neither trained on nor begun anew here.

import { TrainyardError } from '../../protocol/errors.ts';
import type { Declaration } from './declare.ts';

/** Names are a person's or a later version's: only so much of one is shown. */
const longestName = 60;

/** TrainyardError `run.learner`. */
export function noLearner(learner: string): TrainyardError {
  return new TrainyardError(
    'run.learner',
    `This version has no learner “${learner.slice(0, longestName)}”.`,
    'The run may come from a later version: update Trainyard.',
  );
}

export function foreignDeclaration(learner: string): Declaration {
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
    free: {},
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
