// Every format but ONNX, which another runtime proves (certificate.ts), is read back by means of its own before anyone gets it: a line a
// format, typed by the list of all. What was equal is told in statements; what is not equal is refused.

import type { ExportedFile, ExportFormat } from '../../protocol/exports.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import type { OpenedRun } from '../opened.ts';
import { differs } from './differs.ts';
import { readMlflow, readTensorboard } from './logs.ts';
import { readProject } from './project.ts';
import { readHtml, readSpecification } from './texts.ts';
import { readSafetensors } from './weights.ts';

type Reader = (files: ReadonlyMap<string, Uint8Array>, run: OpenedRun) => readonly string[];

const readers: Readonly<Record<Exclude<ExportFormat, 'onnx'>, Reader>> = {
  safetensors: readSafetensors,
  pytorch: readProject,
  'pytorch-ddp': readProject,
  html: readHtml,
  tensorboard: readTensorboard,
  mlflow: readMlflow,
  json: readSpecification,
};

/** Throws `run.export_differs` where the files do not hold what the run has. */
export function readBack(
  format: Exclude<ExportFormat, 'onnx'>,
  files: readonly ExportedFile[],
  run: OpenedRun,
): readonly string[] {
  const byPath = new Map(files.map(({ path, data }) => [path, data]));
  if (byPath.size !== files.length) differs('two of its files have one name');
  try {
    return readers[format](byPath, run);
  } catch (error) {
    if (error instanceof TrainyardError && error.code === 'run.export_differs') throw error;
    return differs(error instanceof Error ? error.message.replace(/\.$/, '') : String(error));
  }
}
