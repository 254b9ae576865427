// The prediction table of a run, on the CPU: for the window's evaluation and the command line's.

import type { Backend } from '../../engine/backends/backend.ts';
import { modelledRows } from '../../engine/data/preprocess/modelled-rows.ts';
import { classScores } from '../../engine/evaluation/class-scores.ts';
import { joinFolds } from '../../engine/evaluation/folds.ts';
import { cutColumns } from '../../engine/evaluation/slices.ts';
import { valueScores } from '../../engine/evaluation/value-scores.ts';
import { columnsOf, predictionTableOf } from '../../engine/learners/evaluated-rows.ts';
import { readTrained } from '../../engine/learners/predict.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { EvaluatedColumns, PredictionTable, Score } from '../../engine/protocol/evaluated-rows.ts';
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
      return { ...made, scores: scoresOf(made), columns: await columns(request) };
    },
    async outOfFold({ parts, whole }) {
      const made = joinFolds(parts);
      const found =
        whole &&
        (await withRows(shards, openBackend, whole, async (rows) => {
          const picked = pickRows(await columnsOf(rows, 'train'), whole.sources, made.rows.sources);
          return { ...picked, cut: cutColumns(picked) };
        }));
      return { ...made, scores: scoresOf(made), columns: found };
    },
    columns,
  };
}

function scoresOf({ rows, baselines }: PredictionTable): readonly Score[] {
  return rows.kind === 'classes' ? classScores(rows, baselines) : valueScores(rows, baselines);
}

/** Some rows of the dataset, of columns of which `all` says the row behind each. */
function pickRows(
  { columns, values }: EvaluatedColumns,
  all: Uint32Array | undefined,
  wanted: Uint32Array,
): EvaluatedColumns {
  const chosen = new Set(wanted);
  const places = [...(all ?? []).keys()].filter((place) => chosen.has(all?.[place] ?? -1));
  return { columns, values: values.map((own) => Float64Array.from(places, (place) => own[place])) };
}
