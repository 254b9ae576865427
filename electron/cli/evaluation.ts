// What `evaluate` says of a prediction table, as an event and as tables: of classes, and of numbers.

import { calibrationOf } from '../../engine/evaluation/calibration.ts';
import { classScores, confusionOf } from '../../engine/evaluation/class-scores.ts';
import { accuracyWithForeign, reportClasses } from '../../engine/evaluation/classes.ts';
import { scoreNames, scoreWords } from '../../engine/evaluation/names.ts';
import { coverageOf, errorsAlong, errorsOf, usualUnit } from '../../engine/evaluation/residuals.ts';
import { findSlices, sliceText, type Slice } from '../../engine/evaluation/slices.ts';
import { cheapestThreshold, costOf, outcomeAt, outcomesByThreshold } from '../../engine/evaluation/threshold.ts';
import { valueScores } from '../../engine/evaluation/value-scores.ts';
import { mistakesOf, worstClasses, worstValues } from '../../engine/evaluation/worst.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type {
  ClassRows,
  EvaluatedRows,
  PredictionTable,
  Score,
  SlicedColumns,
  ValueRows,
} from '../../engine/protocol/evaluated-rows.ts';
import { formatCount, formatNumber, type Output } from './output.ts';

/** Slices and rows that are listed. */
const listed = 10;

export interface About {
  readonly event: object;
  readonly print: (output: Output) => void;
}

export function aboutClasses(
  { rows, baselines, folds, foreign = 0 }: PredictionTable & { readonly rows: ClassRows },
  validation: EvaluatedRows | null,
  columns: SlicedColumns | null,
  asked: number | undefined,
  costs: { readonly missed: number; readonly needless: number } | null,
): About {
  const two = rows.classes.length === 2;
  if (!two && (costs !== null || asked !== undefined)) {
    throw new InputError(
      'usage.evaluate',
      `A threshold is between two classes; there are ${rows.classes.length}.`,
      'Leave --threshold and the costs out: the likeliest class counts.',
    );
  }
  const judged = validation?.kind === 'classes' ? validation : rows;
  // Rows out of fold are test rows: none of them may choose what it is judged at.
  const cheapest = costs && !folds ? cheapestThreshold(outcomesByThreshold(judged), costs) : null;
  const threshold = asked ?? cheapest ?? 0.5;
  const scores = classScores(rows, baselines, threshold);
  const confusion = confusionOf(rows, threshold);
  const classes = reportClasses(confusion, rows.classes);
  const calibration = calibrationOf(rows);
  const K = rows.classes.length;
  const matrix = rows.classes.map((_, k) => [...confusion.subarray(k * K, (k + 1) * K)]);
  const accuracy = accuracyWithForeign(confusion, K, foreign);
  const worst = worstClasses(rows, listed, threshold);
  const { wrong } = mistakesOf(rows, threshold);
  const slices = columns ? findSlices(columns.cut, { errors: wrong, shares: true }) : [];
  const cost = costs && {
    ...costs,
    threshold,
    chosen_on: asked !== undefined ? 'asked for' : folds ? null : validation ? 'validation' : 'these rows',
    a_row: costOf({ left: confusion[0], needless: confusion[1], missed: confusion[2], found: confusion[3] }, costs),
    a_row_at_half: costOf(outcomeAt(outcomesByThreshold(rows), 0.5), costs),
  };
  const constant = rows.classes[baselines.constant.indexOf(Math.max(...baselines.constant))];
  return {
    event: {
      classes: classes.map(({ takenFor, recallInterval, f1Interval, ...score }) => ({
        ...score,
        recall_interval: recallInterval,
        f1_interval: f1Interval,
        taken_for: takenFor && { class: rows.classes[takenFor.class], rows: takenFor.rows },
      })),
      scores,
      ...(foreign > 0 ? { unknown_classes: { rows: foreign, accuracy } } : {}),
      ...(two ? { threshold } : {}),
      ...(cost ? { cost } : {}),
      confusion: matrix,
      calibration,
      slices: slices.slice(0, listed).map(sliceEvent),
      worst: worst.map(({ place, truth, predicted, ofTruth }) => ({
        row: rows.sources[place] + 1,
        truth: rows.classes[truth],
        predicted: rows.classes[predicted],
        probability: ofTruth,
      })),
    },
    print(output) {
      if (foreign > 0) {
        output.line(
          `${formatCount(foreign)} more of classes it does not know, wrong whatever it says: accuracy with them ${formatNumber(accuracy)}`,
        );
      }
      printScores(output, scores, `always “${constant}”`, rows.classes);
      if (cost) {
        output.line(
          `threshold ${threshold} (${chosenWords(cost.chosen_on)}): ${formatNumber(cost.a_row)} a row, ${formatNumber(cost.a_row_at_half)} at 0.5`,
        );
      }
      output.line();
      output.table(matrix, [
        { title: 'is, taken for →', value: (counts) => rows.classes[matrix.indexOf(counts)] },
        ...rows.classes.slice(0, 12).map((title, k) => ({
          title,
          value: (counts: readonly number[]) => formatCount(counts[k]),
          right: true,
        })),
      ]);
      output.line();
      output.table(classes, [
        { title: 'class', value: ({ name }) => name },
        { title: 'rows', value: (one) => formatCount(one.rows), right: true },
        { title: 'precision', value: ({ precision }) => formatNumber(precision), right: true },
        { title: 'recall', value: ({ recall }) => formatNumber(recall), right: true },
        { title: 'F1', value: ({ f1 }) => formatNumber(f1), right: true },
        {
          title: '95 % interval',
          value: ({ f1Interval: f1 }) =>
            f1 && !Number.isNaN(f1.low) ? `${formatNumber(f1.low)} – ${formatNumber(f1.high)}` : '–',
          right: true,
        },
        {
          title: 'most often taken for',
          value: ({ takenFor }) => (takenFor ? `${rows.classes[takenFor.class]} ${formatCount(takenFor.rows)}` : '–'),
        },
      ]);
      printSlices(output, slices, 'wrong', (error) => `${(100 * error).toFixed(1)} %`);
      if (worst.length === 0) return;
      output.line();
      output.table(worst, [
        { title: 'row, surest and wrong', value: ({ place }) => formatCount(rows.sources[place] + 1), right: true },
        { title: 'is', value: ({ truth }) => rows.classes[truth] },
        { title: 'taken for', value: ({ predicted }) => rows.classes[predicted] },
        { title: 'p of what it is', value: ({ ofTruth }) => formatNumber(ofTruth), right: true },
      ]);
    },
  };
}

function chosenWords(on: string | null): string {
  if (on === null)
    return 'none is looked for on test rows, which these are; the run of a fold has validation rows for it';
  return on === 'validation' ? 'the cheapest on the validation split' : on;
}

export function aboutValues(
  { rows, baselines }: PredictionTable & { readonly rows: ValueRows },
  validation: EvaluatedRows | null,
  columns: SlicedColumns | null,
): About {
  const scores = valueScores(rows, baselines);
  const unit = usualUnit(rows);
  const errors = errorsOf(rows, unit);
  const ranges = errorsAlong(rows.truth, errors);
  const coverage = validation?.kind === 'values' ? coverageOf(validation, rows) : null;
  const slices = columns ? findSlices(columns.cut, { errors: errors.map(Math.abs), shares: false }) : [];
  const worst = worstValues(rows, listed, unit);
  const text = (value: number): string => (unit === 'share' ? `${(100 * value).toFixed(1)} %` : formatNumber(value));
  return {
    event: {
      target: rows.target,
      scores,
      error_unit: unit,
      ranges,
      coverage,
      slices: slices.slice(0, listed).map(sliceEvent),
      worst: worst.map(({ place, ...one }) => ({ row: rows.sources[place] + 1, ...one })),
    },
    print(output) {
      printScores(output, scores, 'always the mean');
      if (coverage) {
        output.line(
          `an interval that holds ${100 * coverage.promised} % of the validation rows held ${(100 * coverage.held).toFixed(1)} % of these (${formatCount(coverage.hits)} of ${formatCount(coverage.rows)})`,
        );
      }
      output.line();
      output.table(ranges, [
        {
          title: `true ${rows.target}`,
          value: ({ from, to }) => `${formatNumber(from)} – ${formatNumber(to)}`,
          right: true,
        },
        { title: 'rows', value: (one) => formatCount(one.rows), right: true },
        { title: 'median off by', value: ({ off }) => text(off), right: true },
        {
          title: '95 % interval',
          value: ({ interval }) => `${text(interval.low)} – ${text(interval.high)}`,
          right: true,
        },
        { title: 'bias', value: ({ bias }) => text(bias), right: true },
      ]);
      printSlices(output, slices, 'off by', text);
      output.line();
      output.table(worst, [
        { title: 'row, farthest off', value: ({ place }) => formatCount(rows.sources[place] + 1), right: true },
        { title: 'true', value: ({ truth }) => formatNumber(truth), right: true },
        { title: 'predicted', value: ({ predicted }) => formatNumber(predicted), right: true },
        {
          title: 'off by',
          value: ({ error, share }) => text(unit === 'share' ? (share ?? NaN) : error),
          right: true,
        },
      ]);
    },
  };
}

function printScores(
  output: Output,
  scores: readonly Score[],
  constant: string,
  classes: readonly string[] | null = null,
): void {
  const write = ({ name }: Score, value: number | null): string =>
    scoreNames[name].unit === 'share' && value !== null ? `${(100 * value).toFixed(1)} %` : formatNumber(value);
  output.table(scores, [
    { title: 'score', value: ({ name }) => scoreWords(name, classes) },
    { title: 'value', value: (score) => write(score, score.value), right: true },
    {
      title: '95 % interval',
      value: (score) => (Number.isNaN(score.low) ? '–' : `${write(score, score.low)} – ${write(score, score.high)}`),
      right: true,
    },
    { title: 'linear', value: (score) => write(score, score.linear), right: true },
    { title: constant, value: (score) => write(score, score.constant), right: true },
  ]);
}

function printSlices(output: Output, slices: readonly Slice[], title: string, text: (error: number) => string): void {
  if (slices.length === 0) return;
  output.line();
  output.table(slices.slice(0, listed), [
    { title: 'where errors gather', value: sliceText },
    { title: 'rows', value: ({ rows }) => formatCount(rows), right: true },
    { title, value: ({ error }) => text(error), right: true },
    { title: '95 % interval', value: ({ low, high }) => `${text(low)} – ${text(high)}`, right: true },
  ]);
}

const sliceEvent = (slice: Slice): object => ({
  slice: sliceText(slice),
  rows: slice.rows,
  error: slice.error,
  low: slice.low,
  high: slice.high,
});
