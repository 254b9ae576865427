// `export`: a run for other tools, as a file or a folder. An exported model comes with the proof that it predicts as the run does.

import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { certificateText } from '../../../engine/export/certificate.ts';
import { createExporter } from '../../../engine/export/exporter.ts';
import { lazyBackend } from '../../../engine/learners/lazy-backend.ts';
import { InputError, TrainyardError } from '../../../engine/protocol/errors.ts';
import {
  exportFormats,
  exportWords,
  type Certificate,
  type ExportedFile,
  type ExportFormat,
} from '../../../engine/protocol/exports.ts';
import { readAgain } from '../../../engine/runs/read-again.ts';
import { makeExport, type MadeExport } from '../../../engine/runs/export.ts';
import { modelFileWarnings } from '../../../engine/runs/model-files.ts';
import { residentBudget } from '../../hosts/surroundings.ts';
import { openCpu } from '../../hosts/trusted-cpu.ts';
import { about } from '../about.ts';
import { choiceOption, runNumber, textOption, type Command, type CommandContext } from '../command.ts';
import { checkpointChoice, checkpointOption } from '../transfer-options.ts';
import { withProgress } from '../import.ts';
import { checkOutput, checkOutputFolder, isStandardOutput, makeOutputFolder, writeOutput } from '../output-file.ts';
import { formatBytes, type Output } from '../output.ts';

const listed = exportFormats.map((format) => `${format}: ${exportWords[format].holds}`).join('; ');

export const exportCommand: Command = {
  ...about.export,
  positionals: [1, 1],
  options: {
    format: { type: 'string', value: exportFormats.join('|'), help: `default json; ${listed}` },
    checkpoint: { ...checkpointOption, help: `${checkpointOption.help} (default best)` },
    out: {
      type: 'string',
      path: true,
      value: 'PATH',
      help: 'where to write (default run-RUN.FORMAT, or a folder run-RUN-FORMAT); an old file is replaced when the new one is complete',
    },
    check: {
      type: 'string',
      path: true,
      value: 'FILE.onnx',
      help: 'write nothing: run this file on rows of the test split and compare it with the run',
    },
  },
  run: async (context) => {
    const { positionals, options, output, services } = context;
    const run = runNumber(positionals[0]);
    const checked = textOption(options, 'check');
    const store = await services.store;
    if (checked !== undefined) {
      const instead = await readModel(checked);
      const { certificate } = await make(context, run, 'onnx', 'model', instead);
      tell(output, run, checked, certificate);
      return;
    }
    const format = choiceOption(options, 'format', exportFormats) ?? 'json';
    const { folder } = exportWords[format];
    const out = placeOf(
      textOption(options, 'out') ?? (folder ? `run-${run}-${format}` : `run-${run}.${format}`),
      format,
    );
    await (folder ? checkOutputFolder(out) : checkOutput(out, output));
    const name = folder ? `run-${run}` : path.parse(out).name;
    const { files, certificate, proven } = await make(context, run, format, name);
    for (const { message } of await modelFileWarnings(store, run)) output.note(`! ${message}`);
    const failed = certificate !== null && !certificate.passed;
    const place = failed ? aside(out) : out;
    await (folder ? writeFolder(place, files, output) : writeFiles(place, files, output));
    const onDisk = isStandardOutput(place)
      ? []
      : [await readAgain(files, (file, index) => placeIn(place, file, folder, index))];
    const bytes = files.reduce((sum, { data }) => sum + data.length, 0);
    output.event({
      event: 'exported',
      run,
      format,
      out: place,
      bytes,
      certificate: certificate && briefly(certificate),
      checked: exportWords[format].proof,
      proven: [...proven, ...onDisk],
    });
    if (failed) {
      throw new TrainyardError(
        'run.export_differs',
        `The exported model does not predict as run ${run} does: ${certificateText(certificate)}. It was written to ${place}.`,
        'Please report it, with the model if you can.',
      );
    }
    output.line(`Run ${run} written to ${place} (${formatBytes(bytes)})`);
    for (const statement of [...proven, ...onDisk]) output.line(`  ${exportWords[format].proof}: ${statement}`);
  },
};

/** Whether a path can only be a folder's. */
const namesFolder = (out: string): boolean => /(^|[/\\])\.{0,2}$/.test(out);

/**
 * What lies beside such a file names it by its name and ending: another ending than the format's own gets that behind it. A folder
 * stays what it is, for the output to refuse.
 */
function placeOf(out: string, format: ExportFormat): string {
  if (namesFolder(out)) return out;
  const beside = format === 'onnx' || format === 'safetensors';
  if (!beside || isStandardOutput(out) || path.extname(out).toLowerCase() === `.${format}`) return out;
  return `${out}.${format}`;
}

async function readModel(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new InputError('input.no_file', `${file} cannot be read.`, 'Give the path of an ONNX file.', {
      cause: error,
    });
  }
}

async function make(
  context: CommandContext,
  run: number,
  format: ExportFormat,
  name: string,
  instead?: Uint8Array,
): Promise<MadeExport> {
  const { services, output } = context;
  const store = await services.store;
  const { data, home } = services;
  const checkpoint = checkpointChoice(context.options);
  const backend = lazyBackend(() => openCpu({ home }));
  const service = createExporter({
    readShard: (handle, shard) => data.readShard({ handle, shard }),
    rawRows: (request) => data.rawRows(request),
    backend: backend.open,
    dataBudget: residentBudget(),
  });
  const parts = {
    store,
    data,
    exporter: () => Promise.resolve({ service, kill: () => undefined }),
    onnx: () => services.startOnnx(),
  };
  try {
    return await withProgress(data, context, (job) =>
      makeExport(parts, {
        run,
        format,
        checkpoint,
        name,
        job,
        instead,
        onStage: (stage, share) => output.bar(share ?? 0, stage),
      }),
    );
  } finally {
    await backend.close();
  }
}

/** Where a file of the export lies: in its folder, or beside the first one, which has the name asked for. */
function placeIn(out: string, file: string, folder: boolean, index: number): string {
  if (folder) return path.join(out, ...file.split('/'));
  return index === 0 ? out : path.join(path.dirname(out), file);
}

/** The file itself, and beside it what belongs to it. */
async function writeFiles(out: string, [main, ...beside]: readonly ExportedFile[], output: Output): Promise<void> {
  await writeOutput(out, [main.data], output);
  if (isStandardOutput(out)) return;
  for (const [index, { path: name, data }] of beside.entries()) {
    await writeOutput(placeIn(out, name, false, index + 1), [data], output);
  }
}

/** A folder that was not there before is there as a whole or not at all. */
async function writeFolder(out: string, files: readonly ExportedFile[], output: Output): Promise<void> {
  const made = await makeOutputFolder(out);
  try {
    for (const { path: name, data } of files) {
      const file = placeIn(out, name, true, 0);
      await makeOutputFolder(path.dirname(file));
      await writeOutput(file, [data], output);
    }
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw error;
  }
}

/** Where a model goes that failed: nobody is to take it for the one asked for. */
function aside(out: string): string {
  const { dir, name, ext } = path.parse(out);
  return path.join(dir, `${name}.failed${ext}`);
}

function tell(output: Output, run: number, file: string, certificate: Certificate | null): void {
  if (certificate === null) return;
  output.event({ event: 'checked', run, file, certificate: briefly(certificate) });
  if (!certificate.passed) {
    throw new TrainyardError(
      'run.export_differs',
      `${file} does not predict as run ${run} does: ${certificateText(certificate)}.`,
      'Export the run again.',
    );
  }
  output.line(`${file} predicts as run ${run} does: ${certificateText(certificate)}`);
}

/** A certificate without its lists. */
function briefly({ differences: _, sources: __, ...certificate }: Certificate): object {
  return certificate;
}
