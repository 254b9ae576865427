// Linear models in words; and how many columns they make of the rows.

import type { InputSpec, OutputSpec } from '../../model/spec.ts';
import { InputError } from '../../protocol/errors.ts';
import type { LinearConfig } from '../../protocol/runs.ts';
import { linearFields, usualLinear, type LinearSettings } from '../../settings/linear.ts';
import { completed } from '../../settings/values.ts';
import type { Declaration } from './declaration.ts';

/** Columns that pictures become at most. */
const pictureColumns = 300;
/** Weights of a model at most: the solvers hold some thirty times as many numbers. */
const mostWeights = 5_000_000;
/** Penalties that a search tries at most: up or down by powers of ten, then half a power beside the best. */
export const mostTried = 9;

/** Side of the grid of squares that pictures are averaged to; 0 = these are no pictures. */
export function gridOf(input: InputSpec): number {
  if (input.kind === 'table') return 0;
  return Math.min(input.height, input.width, Math.floor(Math.sqrt(pictureColumns / input.channels)));
}

/** Columns of the rows: numbers, and one for each value of a category. */
export function columnsOf(input: InputSpec, grid: number): number {
  if (input.kind === 'image') return input.channels * grid * grid;
  return input.numeric + input.embeddings.reduce((sum, { vocabulary }) => sum + vocabulary, 0);
}

/** Scores of a row: one number, one logit for two classes, or one a class. */
export function outputsOf(output: OutputSpec): number {
  return output.kind === 'classes' && output.classes.length > 2 ? output.classes.length : 1;
}

export function linearConfig(
  common: Omit<LinearConfig, 'learner' | 'linear'>,
  linear: LinearSettings = usualLinear,
): LinearConfig {
  return { ...common, learner: 'linear', linear };
}

export const linear: Declaration<LinearConfig> = {
  name: 'linear',
  forms: ['matrix', 'pixels'],
  devices: ['cpu'],
  unit: { one: 'penalty', many: 'penalties' },
  curves: false,

  complete: (config) => ({ ...config, linear: completed(linearFields, config.linear) }),
  check(_config, { input, output }) {
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
  preset: () => 'linear',
  title: () => 'Linear model',
  label: () => 'linear',
  listed: () => ({}),
  ofPictures: () => false,
  facts: ({ linear: { penalty, classWeights }, seed }, parameters) => [
    ['model', `linear, ${parameters.toLocaleString('en')} parameters`],
    [
      'training',
      `penalty ${penalty > 0 ? penalty : 'chosen by what validates best'}${classWeights === 'none' ? '' : `, class weights ${classWeights}`}, seed ${seed}`,
    ],
  ],
  groups: (config) => [{ table: linearFields, settings: config.linear }],
  settings: (config) => ({ model: { preset: 'linear' }, ...config.linear }),
  speed: (config) => config.linear,
};
