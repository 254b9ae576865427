// An explanation in words and as an event: which columns matter, how the answer moves with them, one row, what the curves say.

import { byImportance } from '../../engine/explanation/importance.ts';
import { judgedBy } from '../../engine/explanation/explain.ts';
import type { Finding } from '../../engine/explanation/findings.ts';
import { cellText, explainedWords } from '../../engine/explanation/words.ts';
import { scoreWords } from '../../engine/evaluation/names.ts';
import type { Contributions, Dependence, Explanation } from '../../engine/protocol/explanation.ts';
import type { OutputSpec } from '../../engine/model/spec.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import { formatCount, formatNumber, type Column, type Output } from './output.ts';

export function printFindings(output: Output, findings: readonly Finding[]): void {
  if (findings.length > 0) output.line();
  for (const { kind, title, figure, text, action } of findings) {
    output.line(`${kind === 'fine' ? '✓' : '!'} ${title}: ${figure}`);
    output.line(`  ${text}${action ? ` ${action.label}.` : ''}`);
  }
}

export const answerWords = (output: OutputSpec, wanted: number | null): string =>
  output.kind === 'classes' ? `p(${output.classes[wanted ?? 0]})` : output.name;

const namesOf = (columns: Explanation['columns'], { column, together }: Ranked): readonly string[] =>
  [column, ...together].map((place) => columns[place].name);

/** Of a column, or of all that were shuffled as one. */
const sumOf = (values: Float64Array, { column, together }: Ranked): number =>
  [column, ...together].reduce((sum, place) => sum + values[place], 0);

type Ranked = ReturnType<typeof byImportance>[number];

/** `31.2 %` */
const formatShare = (gains: Float64Array, row: Ranked): string => {
  const all = gains.reduce((sum, gain) => sum + gain, 0);
  return `${(all > 0 ? (100 * sumOf(gains, row)) / all : 0).toFixed(1)} %`;
};

export function printImportance(output: Output, explanation: Explanation, spec: OutputSpec): void {
  const { columns, importance, gains, contributions } = explanation;
  const score = judgedBy({ output: spec }, importance.scores);
  output.line();
  output.table(byImportance(importance, score), [
    { title: 'column', value: (row) => namesOf(columns, row).join(' + ') },
    {
      title: `loss of ${scoreWords(score, spec.kind === 'classes' ? spec.classes : null)} when shuffled`,
      value: ({ spread }) => formatNumber(spread.mean),
      right: true,
    },
    { title: '±', value: ({ spread }) => formatNumber(spread.deviation), right: true },
    ...(gains
      ? ([
          { title: 'gain of splits', value: (row) => formatShare(gains.gain, row), right: true },
          { title: 'splits', value: (row) => formatCount(sumOf(gains.splits, row)), right: true },
          ...(contributions
            ? [
                {
                  title: 'mean |SHAP|',
                  value: (row: Ranked) => formatNumber(sumOf(contributions.mean, row)),
                  right: true,
                },
              ]
            : []),
        ] satisfies readonly Column<Ranked>[])
      : []),
    { title: '', value: ({ spread }) => (spread.noise ? 'no more than chance' : '') },
  ]);
  output.line(
    `${formatCount(importance.shuffles)} shuffles of ${formatCount(importance.rows)} rows; unshuffled ${formatNumber(ownValue(importance.scores, score))}`,
  );
  if (contributions) {
    const { scale, rows } = contributions;
    const words = explainedWords(answerWords(spec, explanation.wanted), { exact: { scale, answer: NaN } });
    output.line(`mean |SHAP|: what a column moves the ${words} by, exactly, over ${formatCount(rows)} rows`);
  }
  const grouped = importance.columns.some(({ together }) => together !== undefined);
  for (const {
    columns: [a, b],
    r,
  } of importance.correlated) {
    output.line(
      `! ${columns[a].name} and ${columns[b].name} say nearly the same (r = ${r.toFixed(2)}): ${grouped ? 'they were shuffled as one' : 'read them as one, or shuffle them as one with --group'}.`,
    );
  }
}

export function printDependence(
  output: Output,
  { columns, wanted }: Explanation,
  { column, values, mean }: Dependence,
  spec: OutputSpec,
): void {
  output.line();
  const every = Math.max(1, Math.ceil(values.length / 8));
  const shown = [...values.keys()].filter((at) => at % every === 0 || at === values.length - 1);
  output.table(shown, [
    {
      title: columns[column].name,
      value: (at) => cellText(columns[column], values[at]),
      right: columns[column].kind !== 'category',
    },
    { title: `mean ${answerWords(spec, wanted)}`, value: (at) => formatNumber(mean[at]), right: true },
  ]);
}

export function printRow(output: Output, { columns, wanted }: Explanation, why: Contributions, spec: OutputSpec): void {
  const order = [...why.shares.keys()].sort((a, b) => Math.abs(why.shares[b]) - Math.abs(why.shares[a]));
  output.line();
  output.line(
    `Row ${why.source + 1}: ${explainedWords(answerWords(spec, wanted), why)} is ${formatNumber(why.prediction)}, on average over ${why.exact ? 'the rows the trees were grown on' : `${formatCount(why.background)} rows`} ${formatNumber(why.average)}`,
  );
  if (why.exact && why.exact.scale !== 'answer') {
    output.line(`${answerWords(spec, wanted)} itself is ${formatNumber(why.exact.answer)}`);
  }
  output.table(order, [
    { title: 'column', value: (column) => columns[column].name },
    { title: 'in this row', value: (column) => cellText(columns[column], why.values[column]) },
    {
      title: 'moves it by',
      value: (column) => `${why.shares[column] < 0 ? '' : '+'}${formatNumber(why.shares[column])}`,
      right: true,
    },
    ...(why.exact
      ? []
      : [{ title: '±', value: (column: number) => formatNumber(why.errors[column]), right: true } as const]),
  ]);
  if (why.exact) output.line('exact (TreeSHAP): the columns add up to the difference');
}

export function eventOf(
  { columns, importance, gains, contributions, dependence, wanted, seconds }: Explanation,
  spec: OutputSpec,
): object {
  const score = judgedBy({ output: spec }, importance.scores);
  return {
    explained: answerWords(spec, wanted),
    rows: importance.rows,
    shuffles: importance.shuffles,
    score,
    scores: importance.scores,
    importance: byImportance(importance, score).map((row) => ({
      column: columns[row.column].name,
      ...(row.together.length > 0 ? { together: namesOf(columns, row).slice(1) } : {}),
      ...row.spread,
      drops: importance.columns.find(({ column }) => column === row.column)?.drops,
      ...(gains ? { gain: sumOf(gains.gain, row), splits: sumOf(gains.splits, row) } : {}),
      ...(contributions ? { contribution: sumOf(contributions.mean, row) } : {}),
    })),
    correlated: importance.correlated.map(({ columns: [a, b], r }) => ({
      columns: [columns[a].name, columns[b].name],
      r,
    })),
    dependence: dependence.map(({ column, values, mean }) => ({
      column: columns[column].name,
      values: [...values].map((value) =>
        columns[column].kind === 'category' ? cellText(columns[column], value) : value,
      ),
      mean: [...mean],
    })),
    seconds,
  };
}

export const rowEvent = ({ columns }: Explanation, why: Contributions): object => ({
  row: why.source + 1,
  method: why.exact ? 'exact' : 'sampled',
  ...why.exact,
  average: why.average,
  background: why.background,
  prediction: why.prediction,
  contributions: columns.map(({ name }, column) => ({
    column: name,
    value: cellText(columns[column], why.values[column]),
    share: why.shares[column],
    error: why.errors[column],
  })),
});
