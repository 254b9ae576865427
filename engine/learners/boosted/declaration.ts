// Gradient-boosted trees in words: many small trees, each grown on what those before it got wrong. Settings have LightGBM's names.

import type { PreparedData } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';
import type { RunResult } from '../../protocol/runs.ts';
import { fieldsFor, type SettingsOf } from '../../settings/field.ts';
import { classWeightsField, type TrainedOn } from '../../settings/training.ts';
import { declare, type ConfigOf } from '../declared/declare.ts';
import { refuseManyScores } from '../declared/many-scores.ts';
import { depthField, goOnAsBefore, treeFormats } from '../declared/forest-fields.ts';

const numbers = ({ task }: TrainedOn): boolean => task === 'regression';

export const boostedFields = fieldsFor<TrainedOn>()({
  trees: {
    kind: 'number',
    whole: true,
    label: 'Trees',
    help: 'trees at most (boosting: rounds, of a tree for each of several classes)',
    minimum: 1,
    maximum: 100_000,
    default: 1000,
  },
  learningRate: {
    kind: 'number',
    label: 'Learning rate',
    help: 'learning rate',
    flag: 'lr',
    minimum: 1e-9,
    maximum: 100,
    default: 0.05,
  },
  leaves: {
    kind: 'number',
    whole: true,
    label: 'Leaves',
    help: 'leaves of a tree at most',
    minimum: 2,
    maximum: 65_536,
    default: 31,
  },
  minRows: {
    kind: 'number',
    whole: true,
    label: 'Rows a leaf',
    help: 'rows of a leaf at least',
    minimum: 1,
    maximum: 1_000_000,
    default: 20,
  },
  patience: {
    kind: 'number',
    whole: true,
    label: 'Trees without gain',
    help: 'epochs, or trees of boosting, without improvement before stopping; 0 = never stop early',
    zero: 'never stop early',
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
  },
  depth: depthField,
  rowFraction: {
    kind: 'number',
    label: 'Rows a tree',
    help: 'share of the rows that each tree is grown on',
    minimum: 0.001,
    maximum: 1,
    advanced: true,
    default: 0.8,
  },
  featureFraction: {
    kind: 'number',
    label: 'Columns a tree',
    help: 'share of the columns that each tree looks at',
    minimum: 0.001,
    maximum: 1,
    advanced: true,
    default: 0.8,
  },
  l1: {
    kind: 'number',
    label: 'L1',
    help: 'penalty on the sizes of leaf values',
    minimum: 0,
    maximum: 1e9,
    advanced: true,
    default: 0,
  },
  l2: {
    kind: 'number',
    label: 'L2',
    help: 'penalty on the squares of leaf values',
    minimum: 0,
    maximum: 1e9,
    advanced: true,
    default: 0,
  },
  minGain: {
    kind: 'number',
    label: 'Least gain',
    help: 'gain of a split at least',
    minimum: 0,
    maximum: 1e9,
    advanced: true,
    default: 0,
  },
  minHessian: {
    kind: 'number',
    label: 'Least hessian',
    help: 'sum of the hessians of a leaf at least',
    minimum: 0,
    maximum: 1e9,
    advanced: true,
    default: 1e-3,
  },
  objective: {
    kind: 'choice',
    label: 'Loss',
    help: 'what boosting makes small, of numbers',
    advanced: true,
    fits: numbers,
    choices: {
      auto: 'By the task',
      squared: 'Squared error',
      absolute: 'Absolute error',
      huber: 'Huber',
      quantile: 'Quantile',
      poisson: 'Poisson',
    },
    default: 'auto',
  },
  huberDelta: {
    kind: 'number',
    label: 'Huber delta',
    help: 'error from which huber grows linearly',
    minimum: 1e-6,
    maximum: 1e6,
    advanced: true,
    fits: numbers,
    when: { objective: ['huber'] },
    default: 1,
  },
  quantile: {
    kind: 'number',
    label: 'Quantile',
    help: 'which quantile is predicted',
    minimum: 0.001,
    maximum: 0.999,
    advanced: true,
    fits: numbers,
    when: { objective: ['quantile'] },
    default: 0.5,
  },
  monotone: {
    kind: 'text',
    label: 'Monotone columns',
    help: 'columns of numbers along which predictions may only rise or fall, such as age=+,price=-',
    longest: 10_000,
    advanced: true,
    quiet: 'none',
    default: 'none',
  },
  classWeights: classWeightsField,
});

export type BoostedSettings = SettingsOf<typeof boostedFields>;
export type BoostedConfig = ConfigOf<'boosted', typeof boostedFields>;

export const declaration = declare({
  name: 'boosted',
  title: 'Boosted trees',
  noun: 'boosted trees',
  summary: 'Many small trees, each mending what those before it got wrong: often the best for a table',
  about: {
    title: () => 'Gradient boosting',
    text: 'Small trees are grown one after another, each on what those before it got wrong. Columns are taken as they are: no scaling, categories as such, missing values on the side where they fit. It stops when the validation rows gain no more.',
  },
  fields: boostedFields,
  forms: ['columns'],
  formats: treeFormats,
  trees: true,
  unit: { one: 'tree', many: 'trees' },
  curves: true,
  doneBy: 'As many trees as there is time for; it stops before where more bring nothing.',

  check: ({ boosted }, data) => {
    monotoneOf(boosted, data.input, data.output);
    refuseManyScores('gradient boosting', data);
  },
  units: ({ boosted }) => boosted.trees,
  extended: (config, trees) => ({ ...config, boosted: { ...config.boosted, trees } }),
  goesOn,
  goesOnWith: ['trees', 'patience'],
  listed: ({ boosted }) => ({ learningRate: boosted.learningRate }),
  facts: ({ boosted, seed }) => [
    ['model', `boosted, up to ${boosted.trees.toLocaleString('en')} trees of ${boosted.leaves} leaves`],
    ['training', `learning rate ${boosted.learningRate}, at least ${boosted.minRows} rows a leaf, seed ${seed}`],
  ],
});

function goesOn(
  { boosted: before }: BoostedConfig,
  { boosted: after }: BoostedConfig,
  ended?: RunResult['reason'],
): Record<string, never> {
  if (ended === 'diverged') {
    throw new InputError(
      'input.continue',
      `It diverged at a learning rate of ${before.learningRate}: with more trees it would do so again.`,
      'Train it again with a lower learning rate.',
    );
  }
  if (ended === 'early_stopped' && after.patience > 0 && after.patience <= before.patience) {
    throw new InputError(
      'input.continue',
      `It stopped early, after ${before.patience.toLocaleString('en')} trees without gain: it would stop again at once.`,
      'Give it more patience: --patience 0 grows all its trees.',
    );
  }
  return goOnAsBefore(before, after, ['trees', 'patience']);
}

/** Losses whose leaves take a quantile of their rows: it keeps to no bounds. */
const unbounded: ReadonlySet<string> = new Set(['absolute', 'quantile']);

/** [columns]: +1 = may only rise, −1 = may only fall; null: all are free. Throws InputError `usage.monotone`. */
export function monotoneOf(
  { monotone: text, objective }: Pick<BoostedSettings, 'monotone' | 'objective'>,
  input: PreparedData['input'],
  output: PreparedData['output'],
): Int8Array | null {
  if (text.trim() === 'none' || input.kind !== 'columns') return null;
  if (output.kind === 'classes' && output.classes.length > 2) {
    throw new InputError('usage.monotone', 'Of several classes none rises alone.', 'Leave the monotone columns out.');
  }
  if (output.kind === 'value' && unbounded.has(objective)) {
    throw new InputError(
      'usage.monotone',
      `With the ${objective} loss predictions cannot be kept from falling or rising along a column.`,
      'Choose another loss, such as huber, or leave the monotone columns out.',
    );
  }
  const directions = new Int8Array(input.columns.length);
  for (const part of text.split(',')) {
    const at = part.lastIndexOf('=');
    const [name, sign] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    const index = input.columns.findIndex((column) => column.name === name);
    if (at <= 0 || (sign !== '+' && sign !== '-') || index < 0 || input.columns[index].kind === 'category') {
      throw new InputError(
        'usage.monotone',
        `The monotone columns have “${part.trim()}”.`,
        'Write COLUMN=+ or COLUMN=- with columns of numbers that the model sees.',
      );
    }
    directions[index] = sign === '+' ? 1 : -1;
  }
  return directions;
}
