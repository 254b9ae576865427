// Settings that all forests have.

import { fieldsFor } from '../../settings/field.ts';
import { classWeightsField, type TrainedOn } from '../../settings/training.ts';
import { InputError } from '../../protocol/errors.ts';
import type { ExportFormat } from '../../protocol/exports.ts';
import type { Fact } from './declare.ts';

/** Trees leave in these formats: they hold no tensors that PyTorch would load. */
export const treeFormats: readonly ExportFormat[] = ['onnx', 'html', 'tensorboard', 'mlflow', 'json'];

/** Of any tree. */
export const depthField = {
  kind: 'number',
  whole: true,
  label: 'Depth',
  help: 'depth of a tree at most; 0 = any',
  zero: 'any',
  minimum: 0,
  maximum: 1000,
  advanced: true,
  default: 0,
} as const;

const common = fieldsFor<TrainedOn>()({
  trees: {
    kind: 'number',
    whole: true,
    label: 'Trees',
    help: 'trees (of boosting at most; one for each of several classes)',
    minimum: 1,
    maximum: 100_000,
    default: 300,
  },
  minRows: {
    kind: 'number',
    whole: true,
    label: 'Rows a leaf',
    help: 'rows of a leaf at least',
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
  },
  depth: depthField,
  nodeFraction: {
    kind: 'number',
    label: 'Columns a node',
    help: 'share of the columns that each node looks at; 0 = the root of their number for classes, a third for numbers',
    zero: 'the usual',
    minimum: 0,
    maximum: 1,
    advanced: true,
    default: 0,
  },
  classWeights: classWeightsField,
});

const bootstrap = {
  kind: 'choice',
  label: 'Rows a tree',
  help: 'whether a tree of a forest is grown on rows drawn with replacement, and scored on the others',
  choices: { yes: 'Drawn with replacement', no: 'All' },
  advanced: true,
} as const;

/** Best cuts, rows drawn with replacement. */
export const forestFields = fieldsFor<TrainedOn>()({
  ...common,
  bootstrap: { ...bootstrap, default: 'yes' },
});

/** Cuts by chance, all rows. */
export const extraFields = fieldsFor<TrainedOn>()({
  ...common,
  bootstrap: { ...bootstrap, default: 'no' },
});

/** More trees are grown as those before them were. Throws InputError `input.continue` for other settings than `free`. */
export function goOnAsBefore(before: object, after: object, free: readonly string[]): Record<string, never> {
  const settings = Object.entries(before) as readonly (readonly [string, unknown])[];
  const now = new Map<string, unknown>(Object.entries(after));
  const other = settings.filter(([name, value]) => !free.includes(name) && now.get(name) !== value);
  if (other.length === 0) return {};
  throw new InputError(
    'input.continue',
    `Trees go on as they began: with another ${other.map(([name]) => name).join(', ')} they would be others.`,
    'Train them again with these settings.',
  );
}

/** What `show` says of a forest. */
export function forestFacts(
  name: string,
  { trees, minRows }: { readonly trees: number; readonly minRows: number },
  seed: number,
): readonly Fact[] {
  return [
    ['model', `${name}, ${trees.toLocaleString('en')} trees`],
    ['training', `at least ${minRows} ${minRows === 1 ? 'row' : 'rows'} a leaf, seed ${seed}`],
  ];
}
