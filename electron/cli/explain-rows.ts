// `explain RUN FILE`: what each column did for the answer of every row of a file, written beside its rows or summed up.

import { createReadStream } from 'node:fs';
import path from 'node:path';
import { usualRows } from '../../engine/learners/declared/compared-rows.ts';
import { usualTableDraws } from '../../engine/explanation/whole-tables.ts';
import { explainedWords } from '../../engine/explanation/words.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { TableContributions } from '../../engine/protocol/explanation.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import { prepareTable } from '../../engine/runs/explain.ts';
import { createExplainer } from '../hosts/explainer.ts';
import { openCpu } from '../hosts/trusted-cpu.ts';
import {
  choiceOption,
  numberOption,
  runNumber,
  textOption,
  type CommandContext,
  type OptionDef,
  type OptionValues,
} from './command.ts';
import { answerWords } from './explanation.ts';
import { withProgress } from './import.ts';
import { checkOutput, refuseInput, writeOutput } from './output-file.ts';
import { counted, formatCount, formatNumber, formatSeconds } from './output.ts';
import { wantedClass } from './wanted-class.ts';

export const rowOptions = {
  out: {
    type: 'string',
    path: true,
    value: 'FILE.csv|FILE.parquet|FOLDER',
    help: 'write there what each column did for each row of the file PATH, with the expected value and the prediction; of pictures, into a folder, what explains each, as PNG',
  },
  columns: {
    type: 'string',
    value: 'all|none',
    help: "all: the file's own columns stand before them; none (default): they stand alone",
  },
  draws: {
    type: 'string',
    value: 'N',
    help: `ways through the columns that are tried of each row of PATH where a model is not made of trees (default ${usualTableDraws}); twice as many cost twice the time and bring errors down by 30 %`,
  },
  force: {
    type: 'boolean',
    help: 'go on although (nearly) nothing of a column of PATH can be used; it counts as missing',
  },
} as const satisfies Readonly<Record<string, OptionDef>>;

/** Throws InputError `usage.option` where there is no file whose rows they speak of. */
export function refuseRowOptions(options: OptionValues): void {
  const named = Object.keys(rowOptions).find((name) => ownValue(options, name) !== undefined);
  if (named === undefined) return;
  throw new InputError(
    'usage.option',
    `--${named} is about the rows of a file, and none is named.`,
    'trainyard explain 12 rows.csv --out why.csv',
  );
}

/** Throws InputError `usage.option` where an option is about the run's own rows. */
function refuseOwnOptions(options: OptionValues): void {
  for (const name of ['row', 'shuffles']) {
    if (ownValue(options, name) === undefined) continue;
    throw new InputError(
      'usage.option',
      `--${name} is about rows of the run’s own data, PATH another file.`,
      'Give one of them.',
    );
  }
}

export async function explainRows(context: CommandContext): Promise<void> {
  const { positionals, options, output, services, interruption } = context;
  refuseOwnOptions(options);
  const run = runNumber(positionals[0]);
  const asked = choiceOption(options, 'split', ['train', 'validation', 'test', 'out-of-fold']);
  const draws = numberOption(options, 'draws', { minimum: 2, maximum: 100_000, whole: true });
  const original = choiceOption(options, 'columns', ['all', 'none']) === 'all';
  const file = path.resolve(positionals[1]);
  const out = textOption(options, 'out');
  if (original && out === undefined) {
    throw new InputError('usage.option', '--columns says what is written to a file.', 'Give --out as well.');
  }
  if (out !== undefined) await refuseInput(out, file);
  if (out !== undefined) await checkOutput(out, output);
  const { data } = services;
  const store = await services.store;
  const record = await store.run({ run });
  const { name } = record;
  const split = asked === 'out-of-fold' ? 'out of fold' : (asked ?? usualRows(record));
  const { request, warnings } = await withProgress(data, context, (job) =>
    prepareTable({ store, data }, { job, run, split, path: file, force: options.force === true }),
  );
  const spec = request.file.output;
  const explainer = createExplainer(Promise.resolve(data), () => openCpu({ home: services.home }));
  const stops = [
    explainer.onProgress(({ progress: { share, secondsLeft } }) =>
      output.bar(share ?? 0, `Explaining${secondsLeft === null ? '' : `, ${formatSeconds(secondsLeft)} left`}`),
    ),
    interruption.listen(() => void explainer.cancel({ job: request.job })),
  ];
  try {
    const wanted = wantedClass(spec, textOption(options, 'class'));
    const found = await explainer.table({ ...request, wanted, draws });
    if (out !== undefined) {
      const format = /\.parquet$/i.test(out) ? 'parquet' : 'csv';
      const { handle } = request.file;
      const { path: written } = await withProgress(data, context, (job) =>
        data.writePredictions({ job, handle, format, original, probabilities: false, reasons: false }),
      );
      await writeOutput(out, createReadStream(written), output);
    }
    output.clearBar();
    for (const { message } of warnings) output.line(`! ${message}`);
    const answer = answerWords(spec, found.wanted);
    output.event({
      event: 'contributions',
      run,
      file: path.basename(file),
      out: out ?? null,
      ...eventOf(found, answer),
    });
    if (output.json) return;
    output.line(
      `Run ${run}: ${name}, ${path.basename(file)}, ${counted(found.rows, 'row')}, in ${formatSeconds(found.seconds)}`,
    );
    print(context, found, answer);
    if (out !== undefined) output.line(`Written to ${out}`);
  } finally {
    for (const stop of stops) stop();
    await data.release({ handle: request.file.handle });
    if (request.data) await data.release({ handle: request.data.handle });
  }
}

function print({ output }: CommandContext, found: TableContributions, answer: string): void {
  const { columns, mean, errors, average, scale, draws, background, rows } = found;
  const order = [...mean.keys()].sort((a, b) => mean[b] - mean[a]);
  const words = explainedWords(answer, scale === null ? {} : { exact: { scale, answer: NaN } });
  output.line();
  output.table(order, [
    { title: 'column', value: (column) => columns[column].name },
    { title: `moves ${words} by, on average`, value: (column) => formatNumber(mean[column]), right: true },
    ...(scale === null
      ? [{ title: '± a row', value: (column: number) => formatNumber(errors[column]), right: true } as const]
      : []),
  ]);
  output.line(`expected value ${formatNumber(average)}; a row’s contributions add up to its prediction − that`);
  output.line(
    scale === null
      ? `sampled: ${formatCount(draws)} draws a row, compared with ${formatCount(background)} rows of the run`
      : `exact (TreeSHAP), ${formatCount(rows)} rows`,
  );
}

const eventOf = (found: TableContributions, answer: string): object => ({
  explained: answer,
  method: found.scale === null ? 'sampled' : 'exact',
  scale: found.scale ?? 'answer',
  rows: found.rows,
  expected: found.average,
  draws: found.draws,
  background: found.background,
  columns: found.columns.map(({ name }, column) => ({
    column: name,
    mean: found.mean[column],
    error: found.errors[column],
  })),
  seconds: found.seconds,
});
