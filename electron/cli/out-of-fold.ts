// Cross-validations in the terminal: every row out of fold, as scores and as a CSV file, and what the folds came to.

import { scoreNames, scoreWords } from '../../engine/evaluation/names.ts';
import { predictedClass } from '../../engine/evaluation/class-scores.ts';
import { csvField } from '../../engine/learners/prediction-table.ts';
import { leadingMetrics, metricWords } from '../../engine/model/metrics.ts';
import type {
  FoldScores,
  FoldsShare,
  PredictionTable,
  ScoreName,
  ValueRows,
} from '../../engine/protocol/evaluated-rows.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { FoldsResult } from '../../engine/protocol/runs.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import { evaluateOutOfFold, type OutOfFold, type OutOfFoldParts } from '../../engine/runs/out-of-fold.ts';
import { createEvaluator } from '../hosts/evaluator.ts';
import { openCpu } from '../hosts/trusted-cpu.ts';
import { runNumber, textOption, type CommandContext } from './command.ts';
import { withProgress } from './import.ts';
import { checkOutput, writeOutput } from './output-file.ts';
import { counted, formatCount, formatNumber, type Column, type Output } from './output.ts';

async function partsOf({ services }: CommandContext): Promise<OutOfFoldParts> {
  const { data, home } = services;
  return {
    store: await services.store,
    data,
    evaluator: createEvaluator(Promise.resolve(data), () => openCpu({ home })),
  };
}

/** The prediction table of a cross-validation, with the columns of its rows. */
export async function outOfFoldTable(context: CommandContext, run: number): Promise<OutOfFold> {
  const parts = await partsOf(context);
  return withProgress(context.services.data, context, (job) => evaluateOutOfFold(parts, { job, run }));
}

/** `predict RUN --out-of-fold`: each row with the prediction of the fold that did not learn from it. */
export async function predictOutOfFold(context: CommandContext): Promise<void> {
  const { positionals, options, output } = context;
  const out = textOption(options, 'out');
  if (out === undefined || !/\.csv$/i.test(out) || positionals.length !== 1) {
    throw new InputError(
      'usage.predict',
      '--out-of-fold writes the rows that the run knows to a CSV file.',
      'For example: trainyard predict 12 --out-of-fold --out folds.csv',
    );
  }
  await checkOutput(out, output);
  const run = runNumber(positionals[0]);
  const { table, share, warnings } = await outOfFoldTable(context, run);
  const { config } = await (await context.services.store).run({ run });
  const truth =
    table.rows.kind === 'values' ? await readTruth(context.services.data, config.dataset, table.rows) : null;
  await writeOutput(out, linesOf(table, truth, options['escape-formulas'] === true), output);
  const rows = table.rows.truth.length;
  output.event({
    event: 'finished',
    run,
    rows,
    ...shareEvent(share),
    out,
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  });
  for (const { message } of warnings) output.line(`! ${message}`);
  output.line(`${shareText(share, rows)}, each predicted by the fold that did not learn from it, written to ${out}`);
}

/** Rows of the dataset that are read at a time. */
const pageRows = 5000;

/** [N] what the dataset says of the target: the rows of a model are rounded to what it computes with. */
async function readTruth(
  data: Pick<DataService, 'list' | 'rows'>,
  dataset: string,
  rows: ValueRows,
): Promise<Float64Array> {
  const truth = Float64Array.from(rows.truth);
  const info = (await data.list()).find(({ id }) => id === dataset);
  const column = info?.columns.findIndex(({ name }) => name === rows.target) ?? -1;
  if (column < 0) return truth;
  const places = new Map(Array.from(rows.sources, (source, place) => [source, place]));
  const end = rows.sources.reduce((most, source) => Math.max(most, source + 1), 0);
  for (let offset = 0; offset < end; offset += pageRows) {
    const page = await data.rows({ dataset, offset, limit: pageRows });
    page.rows.forEach((cells, at) => {
      const place = places.get(offset + at);
      const cell = cells[column];
      if (place !== undefined && typeof cell === 'number') truth[place] = cell;
    });
  }
  return truth;
}

/** `320 of 400 rows (4 of 5 folds)`; `400 rows` where that is all. */
export function shareText({ folds, ofFolds, ofRows }: FoldsShare, rows: number): string {
  const some = rows < ofRows ? `${formatCount(rows)} of ${counted(ofRows, 'row')}` : counted(rows, 'row');
  return folds < ofFolds ? `${some} (${folds} of ${counted(ofFolds, 'fold')})` : some;
}

export const shareEvent = ({ folds, ofFolds, ofRows }: FoldsShare): object => ({
  of_rows: ofRows,
  folds_standing: folds,
  of_folds: ofFolds,
});

/** `truth`: of values, as it is to be written. */
function* linesOf(
  { rows, folds }: PredictionTable,
  truth: Float64Array | null,
  escapeFormulas: boolean,
): Iterable<string> {
  const line = (cells: readonly (string | number)[]): string =>
    `${cells.map((cell) => csvField(cell, escapeFormulas)).join(',')}\n`;
  const numbers = folds?.numbers ?? new Uint8Array();
  const classes = rows.kind === 'classes' ? rows.classes : [];
  yield line(['row', 'fold', 'truth', 'prediction', ...classes.map((name) => `p(${name})`)]);
  for (let place = 0; place < rows.truth.length; place++) {
    const first = [rows.sources[place] + 1, numbers[place]];
    if (rows.kind === 'values') yield line([...first, (truth ?? rows.truth)[place], rows.predicted[place]]);
    else {
      const K = rows.classes.length;
      const predicted = predictedClass(rows.probabilities, place, K);
      const p = rows.probabilities.subarray(place * K, (place + 1) * K);
      yield line([...first, rows.classes[rows.truth[place]], rows.classes[predicted], ...p]);
    }
  }
}

/** What `evaluate` prints and says of the folds. */
export function foldsEvent({ folds, spread }: FoldScores): object {
  return { folds: folds.map(({ fold, rows, scores }) => ({ fold, rows, scores })), spread };
}

export function printFoldScores(
  output: Output,
  { folds, spread }: FoldScores,
  classes: readonly string[] | null,
): void {
  const names = Object.keys(spread) as ScoreName[];
  const write = (name: ScoreName, value: number | undefined): string =>
    scoreNames[name].unit === 'share' && value !== undefined ? `${(100 * value).toFixed(1)} %` : formatNumber(value);
  output.line();
  output.table(names, [
    { title: 'score by fold', value: (name) => scoreWords(name, classes) },
    { title: 'mean', value: (name) => write(name, spread[name]?.mean), right: true },
    { title: 'deviation', value: (name) => write(name, spread[name]?.deviation), right: true },
    ...folds.slice(0, 10).map(({ fold, scores }): Column<ScoreName> => ({
      title: `fold ${fold}`,
      value: (name) => write(name, scores[name]),
      right: true,
    })),
  ]);
}

/** The folds of a run that has ended: the scores of each on its own part of the rows, with mean and deviation. `runs`: the run of each fold. */
export function printFolds(
  output: Output,
  { folds, mean, deviation }: FoldsResult,
  runs: ReadonlyMap<number, number>,
): void {
  const names = ['loss', ...leadingMetrics]
    .map((name) => `test_${name}`)
    .filter((name) => ownValue(mean, name) !== undefined);
  const lines = [
    ...folds.map(({ fold, metrics, problem }) => ({ words: `fold ${fold}`, run: runs.get(fold), metrics, problem })),
    { words: 'mean', run: undefined, metrics: mean, problem: null },
    { words: 'deviation', run: undefined, metrics: deviation, problem: null },
  ];
  output.table(lines, [
    { title: '  tested on', value: ({ words }) => `  ${words}` },
    { title: 'run', value: ({ run }) => (run === undefined ? '' : formatCount(run)), right: true },
    ...names.map((name): Column<(typeof lines)[number]> => ({
      title: metricWords(name.replace('test_', '')),
      value: ({ metrics }) => formatNumber(ownValue(metrics, name)),
      right: true,
    })),
    ...(lines.some(({ problem }) => problem !== null)
      ? [{ title: '', value: ({ problem }: (typeof lines)[number]) => problem ?? '' }]
      : []),
  ]);
}
