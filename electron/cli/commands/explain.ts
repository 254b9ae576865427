// `explain`: which columns matter to a finished run, how its answer moves with them, what each did for one row, and what its curves say.

import { byImportance, usualShuffles } from '../../../engine/explanation/importance.ts';
import { judgedBy } from '../../../engine/explanation/explain.ts';
import { columnFindings, curveFindings, type Curve, type Finding } from '../../../engine/explanation/findings.ts';
import { cellText, explainedWords } from '../../../engine/explanation/words.ts';
import { scoreWords } from '../../../engine/evaluation/names.ts';
import type { Contributions, Dependence, Explanation } from '../../../engine/protocol/explanation.ts';
import type { OutputSpec } from '../../../engine/model/spec.ts';
import { CancelledError } from '../../../engine/protocol/errors.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import type { MetricPoint } from '../../../engine/protocol/runs.ts';
import { usualRowsOf } from '../../../engine/protocol/use.ts';
import { prepareExplanation } from '../../../engine/runs/explain.ts';
import { createExplainer } from '../../hosts/explainer.ts';
import { openCpu } from '../../hosts/trusted-cpu.ts';
import { choiceOption, numberOption, runNumber, textOption, type Command } from '../command.ts';
import { wantedClass } from '../wanted-class.ts';
import { withProgress } from '../import.ts';
import { formatCount, formatNumber, formatSeconds, type Column, type Output } from '../output.ts';

export const explain: Command = {
  name: 'explain',
  usage: 'RUN',
  summary:
    'Shows what a finished run goes by: which columns matter, how its answer moves with them, and why one row got its answer.',
  positionals: [1, 1],
  options: {
    split: {
      type: 'string',
      value: 'NAME',
      help: 'train, validation (default; test where the run has no validation rows) or test; each look at the test split is counted',
    },
    row: { type: 'string', value: 'N', help: 'row of the dataset, from 1, whose answer is explained column by column' },
    class: {
      type: 'string',
      value: 'NAME',
      help: 'class whose probability is explained (default the second of two, else the first)',
    },
    shuffles: { type: 'string', value: 'N', help: `times each column is shuffled (default ${usualShuffles})` },
  },
  run: async (context) => {
    const { positionals, options, output, services, interruption } = context;
    const run = runNumber(positionals[0]);
    const asked = choiceOption(options, 'split', ['train', 'validation', 'test']);
    const row = numberOption(options, 'row', { minimum: 1, whole: true });
    const shuffles = numberOption(options, 'shuffles', { minimum: 2, maximum: 1000, whole: true });
    const store = await services.store;
    const { name, config, data: prepared, result } = await store.run({ run });
    const split = asked ?? usualRowsOf(prepared);
    const points = await store.metrics({ run, series: ['train_loss', 'val_loss'] });
    const { data } = services;
    const explainer = createExplainer(Promise.resolve(data), () => openCpu({ home: services.home }));
    const { request, warnings } = await withProgress(data, context, (job) =>
      prepareExplanation({ store, data }, { job, run, split }),
    );
    for (const { message } of warnings) output.note(`! ${message}`);
    const wanted = wantedClass(request.data.output, textOption(options, 'class'));
    const stop = explainer.onProgress(({ progress: { stage, share, secondsLeft } }) => {
      output.bar(share ?? 0, `${stage}${secondsLeft === null ? '' : `, ${formatSeconds(secondsLeft)} left`}`);
    });
    const deafen = interruption.listen(() => void explainer.cancel({ job: request.job }));
    try {
      const found = await explainer.explain({ ...request, wanted, shuffles });
      const why = row === undefined ? null : await unlessCancelled(explainer.row({ ...request, wanted, row: row - 1 }));
      output.clearBar();
      output.line(
        `Run ${run}: ${name}, ${split} split, ${formatCount(found.importance.of)} rows, in ${formatSeconds(found.seconds)}`,
      );
      printImportance(output, found, request.data.output);
      for (const dependence of found.dependence) printDependence(output, found, dependence, request.data.output);
      if (why) printRow(output, found, why, request.data.output);
      const score = judgedBy(request.data, found.importance.scores);
      const findings = [
        ...curveFindings({
          config,
          result,
          train: curveOf(points, 'train_loss'),
          validation: curveOf(points, 'val_loss'),
        }),
        ...columnFindings(config, found.columns, found.importance, score),
      ];
      printFindings(output, findings);
      output.event({
        event: 'explanation',
        run,
        split,
        ...eventOf(found, request.data.output),
        findings: findings.map(({ action, ...finding }) => ({ ...finding, try: action?.label ?? null })),
        ...(why ? { row: rowEvent(found, why) } : {}),
      });
    } finally {
      stop();
      deafen();
      await data.release({ handle: request.data.handle });
    }
    interruption.check();
  },
};

/** What was found before is printed still. */
const unlessCancelled = (row: Promise<Contributions>): Promise<Contributions | null> =>
  row.catch((error: unknown) => {
    if (error instanceof CancelledError) return null;
    throw error;
  });

const curveOf = (points: readonly MetricPoint[], series: string): Curve => {
  const own = points.filter((point) => point.series === series);
  return { epoch: own.map(({ epoch }) => epoch), value: own.map(({ value }) => value) };
};

function printFindings(output: Output, findings: readonly Finding[]): void {
  if (findings.length > 0) output.line();
  for (const { kind, title, figure, text, action } of findings) {
    output.line(`${kind === 'fine' ? '✓' : '!'} ${title}: ${figure}`);
    output.line(`  ${text}${action ? ` ${action.label}.` : ''}`);
  }
}

const answerWords = (output: OutputSpec, wanted: number | null): string =>
  output.kind === 'classes' ? `p(${output.classes[wanted ?? 0]})` : output.name;

/** `31.2 %` */
const formatShare = (gains: Float64Array, column: number): string => {
  const all = gains.reduce((sum, gain) => sum + gain, 0);
  return `${(all > 0 ? (100 * gains[column]) / all : 0).toFixed(1)} %`;
};

function printImportance(output: Output, { columns, importance, gains }: Explanation, spec: OutputSpec): void {
  const score = judgedBy({ output: spec }, importance.scores);
  output.line();
  output.table(byImportance(importance, score), [
    { title: 'column', value: ({ column }) => columns[column].name },
    {
      title: `loss of ${scoreWords(score, spec.kind === 'classes' ? spec.classes : null)} when shuffled`,
      value: ({ spread }) => formatNumber(spread.mean),
      right: true,
    },
    { title: '±', value: ({ spread }) => formatNumber(spread.deviation), right: true },
    ...(gains
      ? ([
          { title: 'gain of splits', value: ({ column }) => formatShare(gains.gain, column), right: true },
          { title: 'splits', value: ({ column }) => formatCount(gains.splits[column]), right: true },
        ] satisfies readonly Column<ReturnType<typeof byImportance>[number]>[])
      : []),
    { title: '', value: ({ spread }) => (spread.noise ? 'no more than chance' : '') },
  ]);
  output.line(
    `${formatCount(importance.shuffles)} shuffles of ${formatCount(importance.rows)} rows; unshuffled ${formatNumber(ownValue(importance.scores, score))}`,
  );
  for (const {
    columns: [a, b],
    r,
  } of importance.correlated) {
    output.line(
      `! ${columns[a].name} and ${columns[b].name} say nearly the same (r = ${r.toFixed(2)}): read them as one.`,
    );
  }
}

function printDependence(
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

function printRow(output: Output, { columns, wanted }: Explanation, why: Contributions, spec: OutputSpec): void {
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

function eventOf({ columns, importance, gains, dependence, wanted, seconds }: Explanation, spec: OutputSpec): object {
  const score = judgedBy({ output: spec }, importance.scores);
  return {
    explained: answerWords(spec, wanted),
    rows: importance.rows,
    shuffles: importance.shuffles,
    score,
    scores: importance.scores,
    importance: byImportance(importance, score).map(({ column, spread }) => ({
      column: columns[column].name,
      ...spread,
      drops: importance.columns[column].drops,
      ...(gains ? { gain: gains.gain[column], splits: gains.splits[column] } : {}),
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

const rowEvent = ({ columns }: Explanation, why: Contributions): object => ({
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
