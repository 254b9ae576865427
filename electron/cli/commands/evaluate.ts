// `evaluate`: how good a finished run is on a split of its data or on another file, each score with its interval and beside what it has to
// beat.

import path from 'node:path';
import { InputError, TrainyardError } from '../../../engine/protocol/errors.ts';
import type {
  ClassRows,
  EvaluatedRows,
  FoldsShare,
  Openings,
  PredictionTable,
  SlicedColumns,
  ValueRows,
} from '../../../engine/protocol/evaluated-rows.ts';
import { isCrossValidation } from '../../../engine/protocol/folds.ts';
import { usualRowsOf } from '../../../engine/protocol/use.ts';
import {
  countOpening,
  onlyOutOfFold,
  prepareEvaluation,
  type EvaluationSource,
} from '../../../engine/runs/evaluate.ts';
import { createEvaluator } from '../../hosts/evaluator.ts';
import { openCpu } from '../../hosts/trusted-cpu.ts';
import { about } from '../about.ts';
import { choiceOption, numberOption, runNumber, type Command, type CommandContext } from '../command.ts';
import { aboutClasses, aboutValues } from '../evaluation.ts';
import { withProgress } from '../import.ts';
import { foldsEvent, outOfFoldTable, printFoldScores, shareEvent, shareText } from '../out-of-fold.ts';
import { counted, formatCount, formatTime } from '../output.ts';

export const evaluate: Command = {
  ...about.evaluate,
  positionals: [1, 2],
  options: {
    split: {
      type: 'string',
      value: 'NAME',
      help: 'train, validation, test or, of the best of all, out-of-fold; each look at the test split is counted',
    },
    threshold: {
      type: 'string',
      value: 'P',
      help: 'of two classes: from which probability on a row counts as the second (default 0.5)',
    },
    'cost-missed': {
      type: 'string',
      value: 'X',
      help: 'what a row costs that is of the second class and was not found; with --cost-needless the cheapest threshold is looked for',
    },
    'cost-needless': {
      type: 'string',
      value: 'X',
      help: 'what a row costs that was taken for the second class by mistake',
    },
    force: {
      type: 'boolean',
      help: 'go on although (nearly) nothing of a column of the file can be used; it counts as missing',
    },
  },
  run: async (context) => {
    const { positionals, options, output, services } = context;
    const run = runNumber(positionals[0]);
    const split = choiceOption(options, 'split', ['train', 'validation', 'test', 'out-of-fold']);
    if (split !== undefined && positionals.length > 1) {
      throw new InputError(
        'usage.evaluate',
        '--split names rows of the run’s own data, PATH another file.',
        'Give one of them.',
      );
    }
    const [missed, needless] = ['cost-missed', 'cost-needless'].map((name) =>
      numberOption(options, name, { minimum: 0 }),
    );
    if ((missed === undefined) !== (needless === undefined)) {
      throw new InputError('usage.evaluate', '--cost-missed and --cost-needless go together.', 'Give both.');
    }
    const costs = missed === undefined || needless === undefined ? null : { missed, needless };
    const threshold = numberOption(options, 'threshold', { minimum: 0, maximum: 1 });
    const store = await services.store;
    const { name, config, data } = await store.run({ run });
    const source: EvaluationSource =
      positionals.length > 1
        ? { path: path.resolve(positionals[1]), force: options.force === true }
        : { split: split === 'out-of-fold' ? 'out of fold' : (split ?? usualRowsOf(data)) };
    const crossed = isCrossValidation(config);
    if (crossed && split !== undefined && split !== 'out-of-fold') throw onlyOutOfFold(run);
    const own = crossed && positionals.length === 1;
    const { table, validation, columns, share, warnings }: Tables = own
      ? await outOfFold(context, run)
      : await readTables(context, run, source, costs !== null && !crossed);
    const { rows } = table;
    const about =
      rows.kind === 'classes'
        ? aboutClasses(table as PredictionTable & { readonly rows: ClassRows }, validation, columns, threshold, costs)
        : aboutValues(table as PredictionTable & { readonly rows: ValueRows }, validation, columns);
    const opened = await countOpening(store, run, source);
    const part = own ? 'out of fold' : 'split' in source ? source.split : null;
    for (const { message } of warnings) output.line(`! ${message}`);
    if (!output.json) {
      const where =
        part === null
          ? path.basename((source as { path: string }).path)
          : part === 'out of fold'
            ? part
            : `${part} split`;
      const size = share ? shareText(share, rows.truth.length) : counted(rows.truth.length, 'row');
      output.line(`Run ${run}: ${name}, ${where}, ${size}${openedText(source, opened)}`);
      if (table.untold > 0) output.line(`${counted(table.untold, 'row')} without a truth to compare with are left out`);
      about.print(output);
      if (table.folds) printFoldScores(output, table.folds, rows.kind === 'classes' ? rows.classes : null);
    }
    output.event({
      event: 'evaluation',
      run,
      split: part,
      file: 'split' in source ? null : path.basename(source.path),
      rows: rows.truth.length,
      ...(share ? shareEvent(share) : {}),
      left_out: table.untold,
      opened_before: opened.count,
      ...about.event,
      ...(table.folds ? foldsEvent(table.folds) : {}),
      warnings: warnings.map(({ code, message }) => ({ code, message })),
    });
  },
};

async function outOfFold(context: CommandContext, run: number): Promise<Tables> {
  const { table, share, warnings } = await outOfFoldTable(context, run);
  return { table, validation: null, columns: table.columns, share, warnings };
}

interface Tables {
  readonly table: PredictionTable;
  /** Of the validation split, where that is another one and has rows. */
  readonly validation: EvaluatedRows | null;
  readonly columns: SlicedColumns | null;
  /** Of a cross-validation. */
  readonly share?: FoldsShare;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** `judged`: a threshold is looked for, on the validation split also where the rows are another file's. */
async function readTables(
  context: CommandContext,
  run: number,
  source: EvaluationSource,
  judged: boolean,
): Promise<Tables> {
  const { services, output } = context;
  const store = await services.store;
  const { data } = services;
  const evaluator = createEvaluator(Promise.resolve(data), async () => {
    const cpu = await openCpu({ home: services.home });
    if (cpu.device.warning) output.note(`! ${cpu.device.warning}`);
    return cpu;
  });
  const { request, warnings } = await withProgress(data, context, (job) =>
    prepareEvaluation({ store, data }, { job, run, source, splits: ['validation'] }),
  );
  const validationOf = async (): Promise<EvaluatedRows | null> => {
    const own = await withProgress(data, context, (job) =>
      prepareEvaluation({ store, data }, { job, run, source: { split: 'validation' } }),
    );
    try {
      return own.request.data.counts.validation > 0 ? (await evaluator.table(own.request)).rows : null;
    } finally {
      await data.release({ handle: own.request.data.handle });
    }
  };
  try {
    if (request.split === 'out of fold') {
      const table = await evaluator.scored(request);
      return { table, validation: null, columns: table.columns, warnings };
    }
    const table = await evaluator.table(request);
    const other = 'split' in source && source.split !== 'validation' && request.data.counts.validation > 0;
    const validation =
      'path' in source && judged
        ? await validationOf().catch(unlessGone)
        : other
          ? (await evaluator.table({ ...request, split: 'validation' })).rows
          : null;
    return { table, validation, columns: await evaluator.columns({ ...request, split: request.split }), warnings };
  } finally {
    await data.release({ handle: request.data.handle });
  }
}

/** Without the dataset the file's own rows judge, and the line of the threshold says so. */
function unlessGone(error: unknown): null {
  if (error instanceof TrainyardError && error.code === 'run.dataset_gone') return null;
  throw error;
}

function openedText(source: EvaluationSource, { count, last }: Openings): string {
  if (!('split' in source) || source.split !== 'test') return '';
  if (count === 0 || last === null) return ', opened for the first time';
  return `, opened ${count === 1 ? 'once' : `${formatCount(count)} times`} before, last ${formatTime(last)}`;
}
