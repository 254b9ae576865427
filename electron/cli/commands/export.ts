// `export`: a run's model as one file for other tools.

import { exportRun, exportFormats } from '../../../engine/runs/export.ts';
import { modelFileWarnings } from '../../../engine/runs/model-files.ts';
import { choiceOption, runNumber, textOption, type Command } from '../command.ts';
import { checkOutput, writeOutput } from '../output-file.ts';
import { formatBytes } from '../output.ts';

export const exportCommand: Command = {
  name: 'export',
  usage: 'RUN',
  summary: 'Writes a run’s model, with its preprocessing, to one file.',
  positionals: [1, 1],
  options: {
    format: {
      type: 'string',
      value: exportFormats.join('|'),
      help: 'json: everything as text; safetensors: weights as PyTorch names them',
    },
    out: {
      type: 'string',
      path: true,
      value: 'FILE',
      help: 'where to write (default run-RUN.FORMAT); an old file is replaced when the new one is complete',
    },
  },
  run: async ({ positionals, options, output, services }) => {
    const run = runNumber(positionals[0]);
    const format = choiceOption(options, 'format', exportFormats) ?? 'json';
    const out = textOption(options, 'out') ?? `run-${run}.${format}`;
    await checkOutput(out, output);
    const store = await services.store;
    const bytes = await exportRun(store, run, format);
    for (const { message } of await modelFileWarnings(store, run)) output.note(`! ${message}`);
    await writeOutput(out, [bytes], output);
    output.event({ event: 'exported', run, format, out, bytes: bytes.length });
    output.line(`Run ${run} written to ${out} (${formatBytes(bytes.length)})`);
  },
};
