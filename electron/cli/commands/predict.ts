// `predict`: applies a finished run to another file.

import path from 'node:path';
import { parseRunJson } from '../../../engine/protocol/model-file.ts';
import { lazyBackend } from '../../../engine/learners/lazy-backend.ts';
import { predictRows, readTrained } from '../../../engine/learners/predict.ts';
import { residentBudget } from '../../hosts/surroundings.ts';
import { openCpu } from '../../hosts/trusted-cpu.ts';
import { modelFileWarnings, readModelFiles } from '../../../engine/runs/model-files.ts';
import { runNumber, textOption, type Command } from '../command.ts';
import { withProgress } from '../import.ts';
import type { ColumnUse } from '../../../engine/protocol/data.ts';
import { checkOutput, refuseInput, writeOutput } from '../output-file.ts';
import { counted, formatNumber, type Output } from '../output.ts';
import { predictionTable, type PredictionTable } from '../../../engine/learners/prediction-table.ts';
import { ownValue } from '../../../engine/protocol/own.ts';

export const predict: Command = {
  name: 'predict',
  usage: 'RUN PATH',
  summary: 'Predicts every row of a file with a finished run.',
  positionals: [2, 2],
  options: {
    out: {
      type: 'string',
      path: true,
      value: 'FILE.csv',
      help: 'write the predictions there; an old file is replaced when the new one is complete',
    },
    force: {
      type: 'boolean',
      help: 'go on although (nearly) nothing of a column can be used; it counts as missing',
    },
    'escape-formulas': {
      type: 'boolean',
      help: 'put an apostrophe before cells of the file that a spreadsheet would run as formulas (= + - @)',
    },
  },
  run: async (context) => {
    const { positionals, options, output, services } = context;
    const out = textOption(options, 'out');
    const file = path.resolve(positionals[1]);
    if (out) await refuseInput(out, file);
    if (out) await checkOutput(out, output);
    const run = runNumber(positionals[0]);
    const store = await services.store;
    await store.run({ run });
    const files = await readModelFiles(store, run);
    const trained = readTrained(files.model, files.weights, run);
    const preprocessing = parseRunJson(files.preprocessing, run, 'preprocessing.json');
    const prepared = await withProgress(services.data, context, (job) =>
      services.data.transform({ job, path: file, preprocessing, force: options.force === true }),
    );
    const backend = lazyBackend(async () => {
      const cpu = await openCpu({ home: services.home });
      if (cpu.device.warning) output.note(`! ${cpu.device.warning}`);
      return cpu;
    });
    try {
      const predictions = await predictRows(trained, {
        data: prepared,
        readShard: (shard) => services.data.readShard({ handle: prepared.handle, shard }),
        dataBudget: residentBudget(),
        backend: backend.open,
      });
      const metrics = predictions.evaluation?.metrics ?? null;
      const table = predictionTable(trained.file.output, predictions, prepared.files);
      if (out) await writeOutput(out, table.csv(options['escape-formulas'] === true), output);
      else await output.events(predictionEvents(table));
      const { columns } = prepared;
      const warnings = [...(await modelFileWarnings(store, run)), ...prepared.warnings];
      const said = warnings.map(({ code, message }) => ({ code, message }));
      output.event({
        event: 'finished',
        run,
        rows: predictions.rows,
        out: out ?? null,
        metrics,
        columns,
        warnings: said,
      });
      if (output.json) return;
      for (const warning of warnings) output.line(`! ${warning.message}`);
      for (const column of columns ?? []) printUse(output, column);
      output.line(`${counted(predictions.rows, 'row')} predicted${out ? `, written to ${out}` : ''}`);
      if (!out) {
        const shown = [...table.rows(10)];
        output.table(
          shown,
          table.columns.map((name) => ({ title: name, value: (row) => cell(ownValue(row, name) ?? ''), right: true })),
        );
        if (predictions.rows > shown.length) output.line('… all of them with --out FILE.csv');
      }
      for (const [name, value] of Object.entries(metrics ?? {})) output.line(`  ${name} ${formatNumber(value)}`);
    } finally {
      await backend.close();
      await services.data.release({ handle: prepared.handle });
    }
  },
};

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
