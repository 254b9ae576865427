// The prediction table of a run, on the CPU: for the window's evaluation and the command line's.

import type { Backend } from '../../engine/backends/backend.ts';
import { modelledRows } from '../../engine/data/preprocess/modelled-rows.ts';
import { classScores } from '../../engine/evaluation/class-scores.ts';
import { cutColumns } from '../../engine/evaluation/slices.ts';
import { valueScores } from '../../engine/evaluation/value-scores.ts';
import { columnsOf, predictionTableOf } from '../../engine/learners/evaluated-rows.ts';
import { readTrained } from '../../engine/learners/predict.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { PredictionTable } from '../../engine/protocol/evaluated-rows.ts';
import type { EvaluatorService, TableRequest } from '../../engine/protocol/hosts.ts';
import { withRows } from './with-rows.ts';

/** `openBackend` opens the CPU, for one request. */
export function createEvaluator(
  shards: Promise<Pick<DataService, 'readShard'>>,
  openBackend: () => Promise<Backend>,
): EvaluatorService {
  const table = ({ data, model, weights, preprocessing, ...request }: TableRequest): Promise<PredictionTable> =>
    withRows(shards, openBackend, data, (rows) =>
      predictionTableOf(modelledRows(rows, preprocessing), {
        ...request,
        trained: readTrained(model, weights, request.run),
      }),
    );
  const columns: EvaluatorService['columns'] = async ({ data, split }) => {
    if (data.input.kind !== 'columns') return null;
    return withRows(shards, openBackend, data, async (rows) => {
      const found = await columnsOf(rows, split);
      return { ...found, cut: cutColumns(found) };
    });
  };
  return {
    table,
    async scored(request) {
      const made = await table(request);
      const { rows, baselines } = made;
      const scores = rows.kind === 'classes' ? classScores(rows, baselines) : valueScores(rows, baselines);
      return { ...made, scores, columns: await columns(request) };
    },
    columns,
  };
}
