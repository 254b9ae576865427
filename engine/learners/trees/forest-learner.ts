// Forests as learners: what `forest` and `extra` share. They differ in how a cut is chosen, and in what they are called.

import { InputError } from '../../protocol/errors.ts';
import type { OutputSpec } from '../../model/spec.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { RunConfig } from '../../protocol/runs.ts';
import { lossRules, resolveLoss } from '../../model/losses.ts';
import type { EvaluationSpec } from '../../train/metrics.ts';
import { classWeights } from '../../train/session-sizes.ts';
import type { Learner, LearnerJob, Trained, Training } from '../learner.ts';
import { plainLoss } from '../scoring.ts';
import { decodeTrees, encodeTrees, placeOfTrees, treesBefore } from './checkpoint.ts';
import { addTrees } from './ensemble.ts';
import type { ExplainedSum } from './explained.ts';
import { firstShares, forestOutputs, forestRaw, growForest, type Forest } from './forest.ts';
import type { ForestSetup } from './forest-setup.ts';
import type { ColumnFile, TreeFile } from './model-schema.ts';
import { columnBins, readBinned } from './rows.ts';
import { trainedTrees } from './trained.ts';
import { TreeTraining, type Grove } from './training.ts';
import { columnFile, columnOf, treeFile, treeOf } from './tree-files.ts';

/** Settings of a forest, whichever. */
export interface CommonForest {
  readonly trees: number;
  readonly minRows: number;
  readonly depth: number;
  /** Share of the columns that a node looks at; 0 = the usual. */
  readonly nodeFraction: number;
  readonly bootstrap: 'yes' | 'no';
  readonly classWeights: 'none' | 'balanced';
}

export interface ForestKind {
  readonly learner: string;
  /** "Random forest" */
  readonly name: string;
  readonly randomCuts: boolean;
}

export type ForestModelFile = ModelFile & {
  readonly seed: number;
  readonly columns: readonly ColumnFile[];
  readonly trees: readonly TreeFile[];
};

/** `settingsOf`: a run's own settings. */
export function forestLearner<C extends RunConfig>(
  kind: ForestKind,
  settingsOf: (config: C) => CommonForest,
): Learner<C, ForestModelFile> {
  return {
    open: (job) => openForest(kind, settingsOf(job.config), job),
    read: (file, tensors) => readForest(file, (tensors as Partial<typeof tensors>).first?.data),
    checkCheckpoint: decodeTrees,
    placeOf: (file) => placeOfTrees(file, ({ trees }) => trees.length),
  };
}

/** Columns a node looks at: of classes the root of their number, of numbers a third. */
function nodeColumns(share: number, columns: number, classes: boolean): number {
  const usual = classes ? Math.sqrt(columns) : columns / 3;
  return Math.max(1, Math.min(columns, Math.round(share > 0 ? share * columns : usual)));
}

async function openForest(kind: ForestKind, settings: CommonForest, job: LearnerJob): Promise<Training> {
  const { config, data, surroundings, events } = job;
  const { output, counts } = data;
  const columns = await columnBins(job, surroundings.breathe);
  const rows = await readBinned(job, columns, surroundings.breathe);
  const weights = classWeights(settings, data.classCounts, forestOutputs(output));
  const { trees, minRows, depth } = settings;
  const bootstrap = settings.bootstrap === 'yes';
  const looked = nodeColumns(settings.nodeFraction, columns.length, output.kind === 'classes');
  const rules = { trees, minRows, depth, bootstrap, columns: looked, randomCuts: kind.randomCuts, seed: config.seed };
  const setup: ForestSetup = {
    ...{ rows, columns, train: counts.train, validation: counts.validation, output },
    ...{ classWeights: weights, settings: rules, backend: job.backend },
  };
  const before = treesBefore(job);
  const forest: Forest = {
    first: before ? Float32Array.from(before.first) : firstShares(setup),
    trees: (before?.trees ?? []).map((tree) => treeOf(tree, columns, forestOutputs(output))),
    validationLoss: [...(before?.validationLoss ?? [])],
    outOfBagLoss: [...(before?.trainLoss ?? [])],
  };
  const { device } = await job.backend();
  const threads = device.threads === 1 ? 'one thread' : `up to ${device.threads} threads`;
  events.onStarted({
    device,
    sentence: `${kind.name}: trees are grown on the CPU, on ${threads}.`,
    parameters: 0,
    bytes: rows.bins.byteLength + rows.targets.byteLength,
    step: forest.trees.length,
  });
  return new TreeTraining(job, { ...groveOf(kind, setup, forest, config), threads: device.threads }, before);
}

function groveOf(kind: ForestKind, setup: ForestSetup, forest: Forest, config: RunConfig): Omit<Grove, 'threads'> {
  const { columns, rows, output, settings } = setup;
  const evaluation: EvaluationSpec = {
    output,
    training: plainLoss,
    weights: setup.classWeights as Float32Array | null,
  };
  const rule = lossRules[resolveLoss('auto', output)];
  const loss = (outputs: Float32Array, targets: Float32Array): number =>
    rule.value(outputs, targets, plainLoss, evaluation.weights);
  const { learner } = kind;
  const own = {
    ...{ learner, [learner]: config[learner as keyof RunConfig], seed: config.seed },
    columns: columns.map(columnFile),
  };
  const { first, trees, validationLoss, outOfBagLoss } = forest;
  return {
    name: kind.name,
    rows,
    rounds: settings.trees,
    work: growForest(setup, forest, loss),
    done: () => trees.length,
    losses: { oob_loss: outOfBagLoss, val_loss: validationLoss },
    kept: () => trees.length,
    stoppedEarly: () => false,
    snapshot: (spent) =>
      encodeTrees({
        ...{ first: [...first], trees: trees.map(treeFile), ...spent },
        ...{ trainLoss: outOfBagLoss, validationLoss },
      }),
    evaluation,
    *outputs() {
      const scores = new Float64Array(rows.rows * first.length);
      for (let i = 0; i < scores.length; i++) scores[i] = first[i % first.length];
      yield* addTrees(scores, first.length, trees, columns, rows, 0, rows.rows);
      return forestRaw(scores, trees.length, output);
    },
    model: () => ({
      own: { ...own, trees: trees.map(treeFile) },
      tensors: { first: { shape: [first.length], data: first } },
    }),
    remark() {
      const count = `${trees.length.toLocaleString('en')} ${trees.length === 1 ? 'tree' : 'trees'}`;
      const outside = outOfBagLoss.at(-1);
      return outside === undefined ? count : `${count}, loss out of bag ${Number(outside.toPrecision(4))}`;
    },
  };
}

/** Votes are shares of classes, or means of values: what is explained is the answer itself. */
export function votesOf(output: OutputSpec, trees: number, wanted: number | null): ExplainedSum {
  const scale = 'answer';
  if (output.kind === 'value') {
    return { output: 0, factor: output.scale / Math.max(1, trees), offset: output.offset, scale };
  }
  const factor = 1 / (trees + 1);
  if (output.classes.length > 2) return { output: wanted ?? 0, factor, offset: 0, scale };
  return wanted === 0 ? { output: 0, factor: -factor, offset: 1, scale } : { output: 0, factor, offset: 0, scale };
}

function readForest(file: ForestModelFile, first: Float32Array | undefined): Trained {
  const { output, input } = file;
  const outputs = forestOutputs(output);
  const columns = file.columns.map(columnOf);
  const trees = file.trees.map((tree) => treeOf(tree, columns, outputs));
  const width = input.kind === 'columns' ? input.columns.length : -1;
  if (first?.length !== outputs || columns.length !== width) {
    throw new InputError(
      'model.weights',
      'The trees do not fit the model: their columns or first scores are of another one.',
      'Use the files of one run together.',
    );
  }
  const raw = (scores: Float64Array): Float32Array => forestRaw(scores, trees.length, output);
  return trainedTrees(
    file,
    { output, training: plainLoss, weights: null },
    {
      ...{ columns, trees, first, raw },
      adds: false,
      sumOf: (wanted) => votesOf(output, trees.length, wanted),
      alone(wanted) {
        const { factor, offset } = votesOf(output, trees.length, wanted);
        return { factor: factor * (output.kind === 'value' ? Math.max(1, trees.length) : trees.length + 1), offset };
      },
    },
  );
}
