// Boosted trees as a learner: the CPU's kernels grow them, the host says in slices what is next.

import { InputError } from '../../protocol/errors.ts';
import type { OutputSpec } from '../../model/spec.ts';
import type { EvaluationSpec } from '../../train/metrics.ts';
import type { Divergence } from '../../train/outcome.ts';
import { classWeights } from '../../train/session-sizes.ts';
import type { Weights } from '../../train/weights.ts';
import type { Learner, LearnerJob, Trained, Training } from '../learner.ts';
import { plainLoss } from '../scoring.ts';
import { boost, keptRounds, startOf, type Boosted, type BoostProblem } from '../trees/boosting.ts';
import { decodeTrees, encodeTrees, placeOfTrees, treesBefore } from '../trees/checkpoint.ts';
import type { ExplainedSum } from '../trees/explained.ts';
import { objectiveOf, type Objective } from '../trees/objectives.ts';
import { addEverywhere } from '../trees/predictor.ts';
import { columnBins, readBinned } from '../trees/rows.ts';
import { trainedTrees } from '../trees/trained.ts';
import { TreeTraining, type Grove } from '../trees/training.ts';
import { columnFile, columnOf, treeFile, treeOf } from '../trees/tree-files.ts';
import { boostedFields, monotoneOf, type BoostedConfig, type BoostedSettings } from './declaration.ts';
import type { BoostedModelFile } from './file.ts';

export const learner: Learner<BoostedConfig, BoostedModelFile> = {
  open: openBoosted,
  read: readBoosted,
  checkCheckpoint: decodeTrees,
  placeOf: (file) => placeOfTrees(file, ({ trainLoss }) => trainLoss.length),
};

/** Where it is to be done by a time and stops by itself once more trees bring nothing, the time decides. */
function mostTrees({ config: { boosted, until }, data }: LearnerJob<BoostedConfig>): number {
  const stops = boosted.patience > 0 && data.counts.validation > 0;
  return until !== undefined && stops ? boostedFields.trees.maximum : boosted.trees;
}

/** Scoring as a share of growing: 0.13 to 0.35 were measured, the most with few columns. */
const scoringShare = 0.4;

/** LightGBM's `cat_smooth` and `cat_l2`. */
const categories = { catSmooth: 10, catL2: 10 } as const;

async function openBoosted(job: LearnerJob<BoostedConfig>): Promise<Training> {
  const { config, data, surroundings, events } = job;
  const { boosted: settings, seed } = config;
  const { output, counts } = data;
  const columns = await columnBins(job, surroundings.breathe);
  const rows = await readBinned(job, columns, surroundings.breathe);
  const monotone = monotoneOf(settings, data.input, output);
  const outputs = output.kind === 'classes' && output.classes.length > 2 ? output.classes.length : 1;
  const weights = classWeights(settings, data.classCounts, outputs);
  const objective = objectiveOf(settings, output, weights);
  if (settings.objective === 'poisson') checkCounts(rows.targets, output);
  const problem: BoostProblem = {
    ...{ rows, columns, objective, train: counts.train, validation: counts.validation, backend: job.backend },
    settings: {
      ...settings,
      trees: mostTrees(job),
      ...categories,
      columnFraction: settings.featureFraction,
      monotone,
      seed,
    },
  };
  const before = treesBefore(job);
  const state: Boosted = before
    ? {
        first: Float32Array.from(before.first),
        trees: before.trees.map((tree) => treeOf(tree, columns, 1)),
        trainLoss: [...before.trainLoss],
        validationLoss: [...before.validationLoss],
      }
    : startOf(problem);
  const { device } = await job.backend();
  const threads = device.threads === 1 ? 'one thread' : `up to ${device.threads} threads`;
  events.onStarted({
    device,
    sentence: `Boosted trees are grown on the CPU, on ${threads}.`,
    parameters: 0,
    bytes: rows.bins.byteLength + rows.targets.byteLength,
    step: state.trainLoss.length,
  });
  const evaluation = evaluationOf(settings, output, weights, objective);
  return new TreeTraining(job, { ...groveOf(config, problem, state, evaluation), threads: device.threads }, before);
}

function groveOf(
  config: BoostedConfig,
  problem: BoostProblem,
  state: Boosted,
  evaluation: EvaluationSpec,
): Omit<Grove, 'threads'> {
  const { columns, rows, objective, settings } = problem;
  const { first, trees, trainLoss, validationLoss } = state;
  const kept = (): number => keptRounds(state, settings.patience);
  const keptTrees = (): Boosted['trees'] => trees.slice(0, kept() * objective.outputs);
  const own = { learner: 'boosted', boosted: config.boosted, seed: config.seed, columns: columns.map(columnFile) };
  return {
    name: 'Gradient boosting',
    rows,
    rounds: settings.trees,
    work: boost(problem, state),
    done: () => trainLoss.length,
    losses: { train_loss: trainLoss, val_loss: validationLoss },
    kept,
    stoppedEarly: () => kept() < trainLoss.length && trainLoss.length < settings.trees,
    divergence: () => (state.divergence ? describe(state.divergence, kept(), settings) : null),
    snapshot: (spent) =>
      encodeTrees({ first: [...first], trees: trees.map(treeFile), trainLoss, validationLoss, ...spent }),
    evaluation,
    scoringShare,
    async *outputs() {
      const scores = firstScores(first, rows.rows);
      yield* addEverywhere(problem.backend, scores, objective.outputs, keptTrees(), columns, rows);
      return objective.raw(scores);
    },
    model: () => ({
      own: { ...own, trees: keptTrees().map(treeFile) },
      tensors: { first: { shape: [first.length], data: first } },
    }),
    remark() {
      const rounds = trainLoss.length;
      const best = kept();
      const by = validationLoss.length > 0 ? 'validation' : 'training';
      const of = best < rounds ? `, the best of ${rounds.toLocaleString('en')} by the ${by} rows` : '';
      return `${best.toLocaleString('en')} ${best === 1 ? 'tree' : 'trees'}${objective.outputs > 1 ? ' a class' : ''}${of}`;
    },
  };
}

function describe({ step, loss }: Divergence, kept: number, { learningRate }: BoostProblem['settings']) {
  const keeps = kept > 0 ? `What it was after tree ${kept} is kept.` : 'There are no trees worth keeping.';
  return {
    step,
    message: `The loss became ${loss} at tree ${step}. ${keeps}`,
    hint: `Train again with a lower learning rate (it is ${learningRate}).`,
  };
}

function firstScores(first: Float32Array, rows: number): Float64Array {
  const scores = new Float64Array(rows * first.length);
  for (let i = 0; i < scores.length; i++) scores[i] = first[i % first.length];
  return scores;
}

/** The loss that a model is scored by is the one it was boosted with. */
function evaluationOf(
  { objective: name, huberDelta }: BoostedSettings,
  output: BoostedModelFile['output'],
  weights: Float32Array | null,
  objective: Objective,
): EvaluationSpec {
  const training = { ...plainLoss, huberDelta };
  const { loss } = objective;
  if (output.kind === 'classes') return { output, training, weights };
  if (name === 'absolute') return { output, training: { ...training, loss: 'mae' }, weights };
  if (name === 'huber') return { output, training: { ...training, loss: 'huber' }, weights };
  if (!loss) return { output, training, weights };
  const scores = (outputs: Float32Array): Float64Array =>
    name === 'quantile'
      ? Float64Array.from(outputs)
      : Float64Array.from(outputs, (value) => Math.log(Math.max(value * output.scale + output.offset, 1e-12)));
  return { output, training, weights, ownLoss: (o, t) => loss(scores(o), t) };
}

/** Throws InputError `input.objective` for targets that are no counts. */
function checkCounts(targets: Float32Array, output: BoostedModelFile['output']): void {
  if (output.kind !== 'value') return;
  const lowest = targets.reduce((least, target) => (target < least ? target : least), Infinity);
  const value = lowest * output.scale + output.offset;
  if (value >= -1e-6 * output.scale) return;
  throw new InputError(
    'input.objective',
    `The Poisson loss is for counts, but ${output.name} goes down to ${Number(value.toPrecision(4))}.`,
    'Choose another loss.',
  );
}

/** Numbers are explained in their unit, classes and counts by what the trees add up to. */
function scoreOf({ objective }: BoostedSettings, output: OutputSpec, wanted: number | null): ExplainedSum {
  if (output.kind === 'value') {
    if (objective === 'poisson') return { output: 0, factor: 1, offset: 0, scale: 'logarithm' };
    return { output: 0, factor: output.scale, offset: output.offset, scale: 'answer' };
  }
  if (output.classes.length > 2) return { output: wanted ?? 0, factor: 1, offset: 0, scale: 'score' };
  return { output: 0, factor: wanted === 0 ? -1 : 1, offset: 0, scale: 'log odds' };
}

function readBoosted(file: BoostedModelFile, tensors: Weights): Trained {
  const { output, boosted } = file;
  const columns = file.columns.map(columnOf);
  const trees = file.trees.map((tree) => treeOf(tree, columns, 1));
  const objective = objectiveOf(boosted, output, null);
  const first = (tensors as Partial<Weights>).first?.data;
  const width = file.input.kind === 'columns' ? file.input.columns.length : -1;
  if (first?.length !== objective.outputs || trees.length % objective.outputs !== 0 || columns.length !== width) {
    throw new InputError(
      'model.weights',
      'The trees do not fit the model: their columns, outputs or first scores are of another one.',
      'Use the files of one run together.',
    );
  }
  const evaluation = evaluationOf(boosted, output, null, objective);
  const sumOf = (wanted: number | null): ExplainedSum => scoreOf(boosted, output, wanted);
  const alone = (wanted: number | null) => ({ factor: sumOf(wanted).factor, offset: 0 });
  return trainedTrees(file, evaluation, { columns, trees, first, raw: objective.raw, sumOf, alone, adds: true });
}
