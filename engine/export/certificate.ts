// The proof that comes with an exported model: what another runtime answers to rows the run was not trained on, held against the run's
// own answers. Differences are relative: of probabilities to the largest of the row, of numbers to the value or, where that is
// smaller, to the deviation of the target.

import type { Answers, Certificate, ModelCheck } from '../protocol/exports.ts';

/** Largest relative difference of a certified model. */
export const allowedDifference = 1e-5;

/** What another runtime answers, in the order of the rows. */
export interface OtherAnswers {
  /** [rows, classes], or [rows] in the target's unit. */
  readonly values: ArrayLike<number>;
  readonly labels: readonly string[] | null;
}

/** Of each row. A value that is no number differs infinitely. */
export function relativeDifferences(expected: Answers, { values }: OtherAnswers): readonly number[] {
  const { rows, probabilities, scale } = expected;
  const own = probabilities ?? expected.values ?? new Float64Array(0);
  const width = own.length / Math.max(1, rows);
  return Array.from({ length: rows }, (_, row) => {
    let difference = 0;
    let largest = probabilities ? 0 : scale;
    for (let k = row * width; k < (row + 1) * width; k++) {
      difference = Math.max(difference, Math.abs(own[k] - (values[k] ?? NaN)));
      largest = Math.max(largest, Math.abs(own[k]));
      if (!Number.isFinite(values[k])) return Infinity;
    }
    return difference / largest;
  });
}

export function certify(
  { expected, split, sources, inputs, outputs, opset }: Omit<ModelCheck, 'model' | 'answers'>,
  answers: OtherAnswers,
  runtime: string,
): Certificate {
  const differences = relativeDifferences(expected, answers);
  const { labels } = expected;
  const equal = labels?.filter((label, row) => label === answers.labels?.[row]).length ?? null;
  const wrong = labels ? labels.findIndex((label, row) => label !== answers.labels?.[row]) : -1;
  const largest = differences.reduce((most, one) => Math.max(most, one), 0);
  return {
    version: 1,
    passed: largest <= allowedDifference && (labels === null || equal === labels.length) && expected.rows > 0,
    split,
    rows: expected.rows,
    sources,
    differences,
    largest,
    allowed: allowedDifference,
    labelsEqual: equal,
    worst: wrong >= 0 ? wrong : Math.max(0, differences.indexOf(largest)),
    inputs: inputs.map(({ name, type, shape }) => ({ name, type: typeText(type, ['N', ...shape.slice(1)]) })),
    outputs,
    runtime,
    opset,
  };
}

/** `double N × 1` */
export function typeText(type: string, shape: readonly (number | string)[]): string {
  return `${type} ${shape.join(' × ')}`;
}

/** What it says, in a line. */
export function certificateText({ rows, split, largest, allowed, labelsEqual, runtime }: Certificate): string {
  const whose = split === 'drawn' ? 'drawn by chance' : `of the ${split} split`;
  const labels = labelsEqual === null ? '' : `, labels equal in ${labelsEqual} of ${rows}`;
  return `largest relative difference ${largest.toPrecision(2)} (allowed ${allowed})${labels}, ${rows} rows ${whose}, ${runtime}`;
}
