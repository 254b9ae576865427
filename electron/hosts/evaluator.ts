// The prediction table of a run, on the CPU: for the window's evaluation and the command line's.

import type { Backend } from '../../engine/backends/backend.ts';
import { modelledRows } from '../../engine/data/preprocess/modelled-rows.ts';
import { TextCodes, withTextCodes } from '../../engine/data/preprocess/text-codes.ts';
import { classScores } from '../../engine/evaluation/class-scores.ts';
import { foldScores, joinFolds } from '../../engine/evaluation/folds.ts';
import { cutColumns } from '../../engine/evaluation/slices.ts';
import { valueScores } from '../../engine/evaluation/value-scores.ts';
import { columnsOf, predictionTableOf, shortened } from '../../engine/learners/evaluated-rows.ts';
import type { Rows } from '../../engine/learners/learner.ts';
import { readTrained } from '../../engine/learners/predict.ts';
import type { DataService, PreparedData, SplitName } from '../../engine/protocol/data.ts';
import type { EvaluatedColumns, PredictionTable, Score, SlicedColumns } from '../../engine/protocol/evaluated-rows.ts';
import type { EvaluatorService, TableRequest } from '../../engine/protocol/hosts.ts';
import { withRows } from './with-rows.ts';

/** `openBackend` opens the CPU, for one request. */
export function createEvaluator(
  shards: Promise<Pick<DataService, 'readShard'>>,
  openBackend: () => Promise<Backend>,
): EvaluatorService {
  const table = async ({ data, model, weights, preprocessing, ...request }: TableRequest): Promise<PredictionTable> => {
    const { numbers, ...made } = await withRows(shards, openBackend, data, (rows) =>
      predictionTableOf(modelledRows(rows, preprocessing), {
        ...request,
        trained: readTrained(model, weights, request.run),
      }),
    );
    // One part that was held out is a split like any other.
    const several = numbers !== null && numbers.some((fold) => fold !== numbers[0]);
    return several ? { ...made, folds: foldScores(made.rows, numbers) } : made;
  };
  const columns: EvaluatorService['columns'] = async ({ data, split }) => {
    if (data.input.kind !== 'columns') return null;
    return withRows(shards, openBackend, data, async (rows) => {
      const found = await shownColumns(rows, split);
      return { ...found, cut: cutColumns(found) };
    });
  };
  /** Of some of the training rows. */
  const columnsBehind = (data: PreparedData, sources: Uint32Array): Promise<SlicedColumns> =>
    withRows(shards, openBackend, data, async (rows) => {
      const picked = pickRows(await shownColumns(rows, 'train'), data.sources, sources);
      return { ...picked, cut: cutColumns(picked) };
    });
  return {
    table,
    async scored(request) {
      const made = await table(request);
      const { split, data } = request;
      const found =
        split === 'out of fold' ? await columnsBehind(data, made.rows.sources) : await columns({ data, split });
      return { ...made, scores: scoresOf(made), columns: found };
    },
    async outOfFold({ parts, whole }) {
      const made = joinFolds(parts);
      const found = whole && (await columnsBehind(whole, made.rows.sources));
      return { ...made, scores: scoresOf(made), columns: found };
    },
    columns,
  };
}

/** With the beginnings of texts behind all columns. */
const shownColumns = async (rows: Rows, split: SplitName): Promise<EvaluatedColumns> =>
  shortened(await columnsOf(withTextCodes(rows, new TextCodes()), split));

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
