// `predict`: applies a finished run to another file, window by window: the file may be larger than memory.

import { createReadStream } from 'node:fs';
import path from 'node:path';
import { InputError } from '../../../engine/protocol/errors.ts';
import type { FileMatching, PreparedData } from '../../../engine/protocol/data.ts';
import { lazyBackend } from '../../../engine/learners/lazy-backend.ts';
import type { Trained } from '../../../engine/learners/learner.ts';
import {
  readTrained,
  WindowedPredictions,
  type PredictedAll,
  type Predictions,
} from '../../../engine/learners/predict.ts';
import { residentBudget } from '../../hosts/surroundings.ts';
import { openCpu } from '../../hosts/trusted-cpu.ts';
import { fileRecipe, modelFileWarnings, readModelFilesOf } from '../../../engine/runs/model-files.ts';
import { about } from '../about.ts';
import {
  choiceOption,
  runNumber,
  textOption,
  type Command,
  type CommandContext,
  type OptionValues,
} from '../command.ts';
import { checkpointChoice, checkpointOption } from '../transfer-options.ts';
import { withProgress } from '../import.ts';
import { predictOutOfFold } from '../out-of-fold.ts';
import type { ColumnUse } from '../../../engine/protocol/data.ts';
import { checkOutput, refuseInput, writeOutput } from '../output-file.ts';
import { counted, formatNumber, type Output } from '../output.ts';
import { predictionTable, type PredictionTable } from '../../../engine/learners/prediction-table.ts';
import { ownValue } from '../../../engine/protocol/own.ts';

/** Rows shown to people who ask for no file. */
const shownRows = 10;

export const predict: Command = {
  ...about.predict,
  positionals: [1, 2],
  options: {
    out: {
      type: 'string',
      path: true,
      value: 'FILE.csv|FILE.parquet',
      help: 'write the predictions there; an old file is replaced when the new one is complete',
    },
    checkpoint: { ...checkpointOption, help: `${checkpointOption.help} (default best)` },
    columns: {
      type: 'string',
      value: 'all|none',
      help: "all: the file's own columns, the predictions and what could not be used of each row; none (default): the predictions alone",
    },
    match: {
      type: 'string',
      value: 'COL=FILECOL,…',
      help: "the file's column for one of the model's, where names differ by more than case and marks",
    },
    without: {
      type: 'string',
      value: 'COL,…',
      help: 'go without these columns of the model: they count as missing',
    },
    force: {
      type: 'boolean',
      help: 'go on although (nearly) nothing of a column can be used; it counts as missing',
    },
    'out-of-fold': {
      type: 'boolean',
      help: 'of a cross-validation, instead of a file: its own rows, each predicted by the fold that did not learn from it',
    },
    'escape-formulas': {
      type: 'boolean',
      help: 'put an apostrophe before cells of the file that a spreadsheet would run as formulas (= + - @)',
    },
  },
  run: async (context) => {
    const { positionals, options, output, services } = context;
    if (options['out-of-fold'] === true) return predictOutOfFold(context);
    if (positionals.length < 2) {
      throw new InputError('usage.arguments', 'predict needs a run and a file.', 'trainyard predict 12 new.csv');
    }
    const out = textOption(options, 'out');
    const way = wayOfWriting(options, out);
    const file = path.resolve(positionals[1]);
    if (out) await refuseInput(out, file);
    if (out) await checkOutput(out, output);
    const run = runNumber(positionals[0]);
    const store = await services.store;
    await store.run({ run });
    const files = await readModelFilesOf(store, run, checkpointChoice(options));
    const trained = readTrained(files.model, files.weights, run);
    const preprocessing = fileRecipe(files, run);
    const force = options.force === true;
    const match = matchingOf(options);
    const prepared = await withProgress(services.data, context, (job) =>
      services.data.transform({ job, path: file, preprocessing, force, match, keep: way === 'kept' }),
    );
    const backend = lazyBackend(async () => {
      const cpu = await openCpu({ home: services.home });
      if (cpu.device.warning) output.note(`! ${cpu.device.warning}`);
      return cpu;
    });
    try {
      if (way === 'kept' && prepared.files) {
        throw new InputError(
          'usage.option',
          'Pictures have no columns of their own.',
          'Leave out --columns and write a CSV file.',
        );
      }
      const windows = new WindowedPredictions(trained, {
        data: prepared,
        readShard: (shard) => services.data.readShard({ handle: prepared.handle, shard }),
        dataBudget: residentBudget(),
        backend: backend.open,
      });
      let head: Predictions | null = null;
      async function* parts(): AsyncIterable<Part> {
        for await (const { start, predictions } of windows) {
          context.interruption.check();
          output.bar(start / prepared.counts.test, `Predicting, ${counted(start, 'row')} done`);
          head ??= predictions;
          yield { predictions, table: predictionTable(trained.file.output, predictions, prepared.files, start) };
        }
      }
      if (out && way === 'kept') await writeKept(context, prepared, out, parts());
      else if (out) await writeOutput(out, lines(parts(), options['escape-formulas'] === true), output);
      else for await (const { table } of parts()) await output.events(predictionEvents(table));
      const predicted = windows.summary();
      output.clearBar();
      const metrics = predicted.evaluation?.metrics ?? null;
      const { columns } = prepared;
      const warnings = [...(await modelFileWarnings(store, run)), ...prepared.warnings, ...unscored(predicted)];
      const said = warnings.map(({ code, message }) => ({ code, message }));
      const finished = { rows: predicted.rows, out: out ?? null, metrics, columns, warnings: said };
      output.event({ event: 'finished', run, ...finished });
      if (output.json) return;
      for (const warning of warnings) output.line(`! ${warning.message}`);
      for (const column of columns ?? []) printUse(output, column);
      output.line(`${counted(predicted.rows, 'row')} predicted${out ? `, written to ${out}` : ''}`);
      if (!out && head) printHead(output, trained, prepared, head);
      for (const [name, value] of Object.entries(metrics ?? {})) output.line(`  ${name} ${formatNumber(value)}`);
    } finally {
      await backend.close();
      await services.data.release({ handle: prepared.handle });
    }
  },
};

/** `lines`: the predictions alone, as CSV, made here; `kept`: with the file's own columns or as Parquet, by the data service. */
function wayOfWriting(options: OptionValues, out: string | undefined): 'lines' | 'kept' {
  const columns = choiceOption(options, 'columns', ['all', 'none']);
  if (columns !== undefined && out === undefined) {
    throw new InputError(
      'usage.option',
      '--columns says what is written to a file, and there is none.',
      'Give --out as well.',
    );
  }
  return columns === 'all' || isParquet(out) ? 'kept' : 'lines';
}

const isParquet = (out: string | undefined): boolean => out !== undefined && /\.parquet$/i.test(out);

/** Throws InputError `usage.option` where `--match` is no list of pairs. */
function matchingOf(options: OptionValues): FileMatching {
  const pairs = (textOption(options, 'match') ?? '').split(',').filter((pair) => pair !== '');
  const matched = pairs.map((pair): [string, string | null] => {
    const at = pair.indexOf('=');
    if (at > 0 && at < pair.length - 1) return [pair.slice(0, at), pair.slice(at + 1)];
    throw new InputError(
      'usage.option',
      `--match holds “${pair}”.`,
      "Write the model's column, =, and the file's column.",
    );
  });
  const without = (textOption(options, 'without') ?? '').split(',').filter((name) => name !== '');
  return { columns: Object.fromEntries([...matched, ...without.map((name) => [name, null] as const)]) };
}

/** Some consecutive rows. */
interface Part {
  readonly predictions: Predictions;
  readonly table: PredictionTable;
}

async function* lines(parts: AsyncIterable<Part>, escapeFormulas: boolean): AsyncIterable<string> {
  for await (const { table } of parts) yield* table.csv(escapeFormulas);
}

/** With the file's own columns, or as Parquet. */
async function writeKept(
  context: CommandContext,
  { handle }: PreparedData,
  out: string,
  parts: AsyncIterable<Part>,
): Promise<void> {
  const { output, options, services } = context;
  for await (const { predictions } of parts) {
    const { values, probabilities } = predictions;
    await services.data.keepPredictions({ handle, values, probabilities });
  }
  const original = options.columns === 'all';
  const { path: written } = await withProgress(services.data, context, (job) =>
    services.data.writePredictions({
      job,
      handle,
      format: isParquet(out) ? 'parquet' : 'csv',
      original,
      probabilities: true,
      reasons: original,
      escapeFormulas: options['escape-formulas'] === true,
    }),
  );
  await writeOutput(out, createReadStream(written), output);
}

function unscored({ tooMany }: PredictedAll): { code: string; message: string }[] {
  const message = 'There are too many rows to score them at once: how good the predictions are is not measured.';
  return tooMany ? [{ code: 'unscored', message }] : [];
}

function printHead(output: Output, trained: Trained, { files }: PreparedData, predictions: Predictions): void {
  const table = predictionTable(trained.file.output, predictions, files);
  const shown = [...table.rows(shownRows)];
  output.table(
    shown,
    table.columns.map((name) => ({ title: name, value: (row) => cell(ownValue(row, name) ?? ''), right: true })),
  );
  if (predictions.rows > shown.length) output.line('… all of them with --out FILE.csv');
}

/** What could not be used of a column; nothing where all could. */
function printUse(output: Output, { name, missing, unknown, trainingMissing }: ColumnUse): void {
  if (missing + unknown === 0) return;
  const usual = trainingMissing === null ? '' : `; in training ${formatShare(trainingMissing)}`;
  output.line(`  ${name}: ${formatShare(missing)} missing, ${formatShare(unknown)} unknown${usual}`);
}

const formatShare = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

const cell = (value: string | number): string =>
  typeof value === 'number' && !Number.isInteger(value) ? formatNumber(value) : String(value);

function* predictionEvents(table: PredictionTable): Iterable<object> {
  for (const row of table.rows()) yield { event: 'prediction', ...row };
}
