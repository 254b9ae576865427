// Linear models in words: ridge regression, or logistic regression of two or more classes. Their settings, and how many columns
// they make of the rows.

import type { InputSpec, OutputSpec } from '../../model/spec.ts';
import { InputError } from '../../protocol/errors.ts';
import { exportFormats } from '../../protocol/exports.ts';
import { fieldsFor, type SettingsOf } from '../../settings/field.ts';
import { classWeightsField, type TrainedOn } from '../../settings/training.ts';
import { declare, type ConfigOf } from '../declared/declare.ts';
import { refuseManyScores } from '../declared/many-scores.ts';

export const linearFields = fieldsFor<Pick<TrainedOn, 'task'>>()({
  // Times half the sum of the squared weights, beside the sum of the rows' losses; for numbers times that sum, beside the sum
  // of squares: scikit-learn's `alpha` of Ridge and 1/C of LogisticRegression.
  penalty: {
    kind: 'number',
    label: 'Penalty',
    zero: 'the best found',
    help: 'penalty of a linear model on large weights, as alpha of scikit-learn, 1/C; 0 = the one that validates best',
    minimum: 0,
    maximum: 1e9,
    default: 0,
  },
  classWeights: { ...classWeightsField, advanced: false },
});

export type LinearSettings = SettingsOf<typeof linearFields>;
export type LinearConfig = ConfigOf<'linear', typeof linearFields>;

/** Columns that pictures become at most. */
const pictureColumns = 300;
/** Weights of a model at most: the solvers hold some ten times as many numbers. */
const mostWeights = 5_000_000;
/** Penalties that a search tries at most: up or down by powers of ten, then half a power beside the best. */
export const mostTried = 9;

/** Side of the grid of squares that pictures are averaged to; 0 = these are no pictures. */
export function gridOf(input: InputSpec): number {
  if (input.kind !== 'image') return 0;
  return Math.min(input.height, input.width, Math.floor(Math.sqrt(pictureColumns / input.channels)));
}

/** Columns of the rows: numbers, and one for each value of a category. */
export function columnsOf(input: InputSpec, grid: number): number {
  if (input.kind === 'image') return input.channels * grid * grid;
  if (input.kind === 'columns') return input.columns.length;
  return input.numeric + input.embeddings.reduce((sum, { vocabulary }) => sum + vocabulary, 0);
}

/** Scores of a row: one number, one logit for two classes, or one a class. */
export function outputsOf(output: OutputSpec): number {
  return output.kind === 'classes' && output.classes.length > 2 ? output.classes.length : 1;
}

export const declaration = declare({
  name: 'linear',
  title: 'Linear model',
  noun: 'a linear model',
  summary: 'The best weighted sum, at once: what the others have to beat',
  about: {
    title: ({ kind }) => (kind === 'classes' ? 'Logistic regression' : 'Ridge regression'),
    text: 'The best weighted sum of the columns, solved directly and at once: categories count as columns of their own, large weights are penalised. What any other model gains over it is what it has learnt beyond sums.',
  },
  fields: linearFields,
  forms: ['matrix', 'pixels'],
  texts: 'words',
  // It is solved at once: nothing of it is worth a cluster.
  formats: exportFormats.filter((format) => format !== 'pytorch-ddp'),
  unit: { one: 'penalty', many: 'penalties' },

  parameters: (input, output) => (columnsOf(input, gridOf(input)) + 1) * outputsOf(output),
  check(_config, data) {
    const { input, output } = data;
    refuseManyScores('a linear model', data);
    const columns = columnsOf(input, gridOf(input));
    if (columns * outputsOf(output) <= mostWeights) return;
    const [wide, scores] = [columns, outputsOf(output)].map((count) => count.toLocaleString('en'));
    throw new InputError(
      'model.too_large',
      `A linear model of ${wide} columns and ${scores} classes has too many weights.`,
      'Leave out category columns with very many values, or train a network.',
    );
  },
  units: ({ linear: { penalty } }) => (penalty > 0 ? 1 : mostTried),
  facts: ({ linear: { penalty, classWeights }, seed }, parameters) => [
    ['model', `linear, ${parameters.toLocaleString('en')} parameters`],
    [
      'training',
      `penalty ${penalty > 0 ? penalty : 'chosen by what validates best'}${classWeights === 'none' ? '' : `, class weights ${classWeights}`}, seed ${seed}`,
    ],
  ],
});
