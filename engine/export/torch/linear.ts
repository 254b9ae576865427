// A linear model as a project of PyTorch that solves it from scratch: the rows as the run saw them, the penalty it chose, and the
// solution of the run to compare with.

import { outputsOf } from '../../learners/linear/declaration.ts';
import type { LinearModelFile } from '../../learners/linear/file.ts';
import type { PreparedData, Shard } from '../../protocol/data.ts';
import type { ExportedFile } from '../../protocol/exports.ts';
import { classWeights } from '../../train/session-sizes.ts';
import type { OpenedRun } from '../opened.ts';
import { torchWeights } from '../safetensors.ts';
import { linearReadme, solveSource } from './linear-sources.ts';
import { loaderSource, modelSource } from './model.ts';
import { rowFiles } from './rows.ts';
import { dataSource, requirements, text } from './sources.ts';

export async function linearProject(
  { record, tensors }: OpenedRun,
  file: LinearModelFile,
  data: PreparedData,
  readShard: (shard: number) => Promise<Shard>,
): Promise<readonly ExportedFile[]> {
  const { counts, classCounts, normalization } = data;
  const config = {
    name: record.name,
    task: file.task,
    output: file.output,
    counts,
    // 0: no penalty was solved, the answer is always the same.
    penalty: file.penalty,
    classWeights: [...(classWeights(file.linear, classCounts, outputsOf(file.output)) ?? [])],
    normalization: normalization ?? null,
    solved: record.result?.reason === 'completed',
    result: record.result?.metrics ?? {},
  };
  return [
    text('README.md', linearReadme(record.name, file, config.solved)),
    text('requirements.txt', requirements()),
    text('model.py', modelSource(file) + loaderSource('trained.safetensors')),
    text('data.py', dataSource(false)),
    text('train.py', solveSource),
    text('config.json', `${JSON.stringify(config, null, 2)}\n`),
    { path: 'trained.safetensors', data: torchWeights(file, tensors, { format: 'pt' }) },
    ...(await rowFiles(data, readShard)),
  ];
}
