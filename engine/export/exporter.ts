// Makes the files of an export: the list of formats, each with what it needs. No file is written here, and nothing is read but what
// the run keeps and, where a model has to be tried, its rows.

import { cutsTextsApart } from '../learners/auto/file.ts';
import { readModelFile } from '../learners/model-file.ts';
import { decodeWeights } from '../learners/predict.ts';
import type { ExportDraft, ExportedFile, ExporterService, ExportFormat } from '../protocol/exports.ts';
import { parseRunJson } from '../protocol/model-file.ts';
import type { PreparedData } from '../protocol/data.ts';
import { isPretrained } from '../protocol/pretrained.ts';
import { makeCheck, type CheckParts } from './checking.ts';
import { drawRows } from './drawn.ts';
import { exportFolds } from './folds.ts';
import { exportHtml } from './html/report.ts';
import { exportJson } from './json.ts';
import { exportMlflow } from './logs/mlflow.ts';
import { exportTensorboard } from './logs/tensorboard.ts';
import type { OpenedRun } from './opened.ts';
import { readBack } from './reading/read-back.ts';
import { exportOnnx } from './onnx/model.ts';
import { cannotExport, noTexts } from './refusal.ts';
import { readsTexts } from '../model/spec.ts';
import { exportSafetensors } from './safetensors.ts';
import { tokenFilesOf } from './texts/tokens.ts';
import { exportCluster } from './torch/cluster/project.ts';
import { exportProject } from './torch/project.ts';

/** Begins the names of the files. */
interface Request {
  readonly name: string;
  readonly run: OpenedRun;
  readonly data: PreparedData | null;
}

/** Formats that need words for how texts are read. */
const wordsFor: ReadonlySet<ExportFormat> = new Set<ExportFormat>(['onnx', 'pytorch', 'pytorch-ddp']);

type Made = Omit<ExportDraft, 'proven'> | readonly ExportedFile[];
type Maker = (request: Request, parts: ExporterParts) => Made | Promise<Made>;

export type ExporterParts = Omit<CheckParts, 'data' | 'readShard'> & {
  readonly readShard: (handle: string, shard: number) => ReturnType<CheckParts['readShard']>;
};

const makers: Readonly<Record<ExportFormat, Maker>> = {
  async onnx({ name, run, data }, parts) {
    const made = exportOnnx({ name: run.record.name, file: run.file, weights: run.tensors, preprocessing: run.recipe });
    const files = [{ path: `${name}.onnx`, data: made.bytes }, ...tokenFilesOf(run, `${name}.`, `${name}.onnx`)];
    const rows =
      data === null
        ? isPretrained(run.record.config) && drawRows(run.file, run.recipe)
        : { data, readShard: (shard: number) => parts.readShard(data.handle, shard) };
    return { files, check: rows ? await makeCheck(run, made, { ...parts, ...rows }) : null };
  },
  pytorch: (request, parts) => exportProject(...trainedAgain(request, parts)),
  'pytorch-ddp': (request, parts) => exportCluster(...trainedAgain(request, parts)),
  html: ({ name, run }) => [exportHtml(name, run)],
  tensorboard: ({ name, run }) => exportTensorboard(name, run),
  mlflow: ({ name, run }) => exportMlflow(name, run),
  safetensors: ({ name, run }) => exportSafetensors(name, run),
  json: ({ name, run }) => [exportJson(name, run)],
};

/** Run, rows and how they are read, of a project that trains. Throws `run.export` where the rows are not there. */
function trainedAgain({ run, data }: Request, { readShard }: ExporterParts): Parameters<typeof exportProject> {
  if (data === null) throw cannotExport('The rows of the run are not there.', 'Import the dataset again.');
  return [run, data, (shard) => readShard(data.handle, shard)];
}

/** Throws `run.export` for a model that reads texts and has no words in that format. */
function refuseTexts({ file }: OpenedRun, format: ExportFormat): void {
  const { input, learner } = file;
  if (cutsTextsApart(file) || (learner === 'linear' && readsTexts(input) && format !== 'onnx')) throw noTexts(file);
}

export function createExporter(parts: ExporterParts): ExporterService {
  return {
    async make({ format, name, source, data }) {
      if ('folds' in source) return exportFolds({ format, name, source });
      const { id } = source.record;
      const run: OpenedRun = {
        ...source,
        file: readModelFile(source.model, id),
        tensors: decodeWeights(source.weights, id),
        recipe: parseRunJson(source.preprocessing, id, 'preprocessing.json'),
      };
      if (wordsFor.has(format)) refuseTexts(run, format);
      const made = await makers[format]({ name, run, data }, parts);
      if (format === 'onnx' || 'files' in made)
        return { proven: [], ...('files' in made ? made : { files: made, check: null }) };
      return { files: made, check: null, proven: readBack(format, made, run) };
    },
  };
}
