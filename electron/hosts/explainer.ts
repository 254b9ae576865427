// Explanations of a run, on the CPU: for the window and the command line. The rows a split has are read once and kept until another is
// asked for.

import type { Backend } from '../../engine/backends/backend.ts';
import { TextCodes, withTextCodes } from '../../engine/data/preprocess/text-codes.ts';
import { modelledRows } from '../../engine/data/preprocess/modelled-rows.ts';
import { contributionsOf, type ExplainedRow } from '../../engine/explanation/contributions.ts';
import { partialDependence } from '../../engine/explanation/dependence.ts';
import { explain } from '../../engine/explanation/explain.ts';
import { answerOf, exactlyWhy, meanContributions, readRow, readSubject } from '../../engine/explanation/rows.ts';
import {
  contributionNames,
  explainTable,
  sampledFrom,
  usualTableDraws,
  type Sampled,
} from '../../engine/explanation/whole-tables.ts';
import { oneAnswer, usualClass, type Answer, type Pace, type Subject } from '../../engine/explanation/subject.ts';
import type { Rows, Trained } from '../../engine/learners/learner.ts';
import { readTrained } from '../../engine/learners/predict.ts';
import { columnGains, exactContributions } from '../../engine/learners/trees/explained.ts';
import { lookAtTree } from '../../engine/runs/tree-look.ts';
import { treesOfRun } from '../../engine/runs/trees.ts';
import type { DataService, Progress } from '../../engine/protocol/data.ts';
import type { ExplainerService, ExplainRequest, TableContributions } from '../../engine/protocol/explanation.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import { nodeSurroundings } from './surroundings.ts';
import { withRows } from './with-rows.ts';

interface Opened {
  readonly rows: Rows;
  readonly trained: Trained;
  readonly subject: Subject;
  readonly answer: Answer;
  readonly pace: Pace;
  readonly wanted: number | null;
}

/** `openBackend` opens the CPU, for one request. */
export function createExplainer(
  shards: Promise<Pick<DataService, 'readShard' | 'keepNumbers'>>,
  openBackend: () => Promise<Backend>,
): ExplainerService {
  const progress = new Listeners<{ job: string; progress: Progress }>();
  const stopped = new Set<string>();
  let kept: { readonly key: string; readonly subject: Subject; readonly codes: TextCodes } | null = null;

  let looked: ({ readonly model: string } & ReturnType<typeof treesOfRun>) | null = null;

  const paceOf = (job: string): Pace => {
    const start = nodeSurroundings.clock();
    return {
      stopped: () => stopped.has(job),
      onProgress: (share) => {
        const seconds = (nodeSurroundings.clock() - start) / 1000;
        const secondsLeft = share > 0.02 ? (seconds * (1 - share)) / share : null;
        progress.emit({ job, progress: { stage: 'Asking the model', share, secondsLeft } });
      },
    };
  };

  const opened = async <T>(request: ExplainRequest, use: (parts: Opened) => Promise<T>): Promise<T> => {
    const { job, run, model, weights, preprocessing, data, split } = request;
    try {
      return await withRows(shards, openBackend, data, async (prepared) => {
        const key = `${data.handle} ${split}`;
        const codes = kept?.key === key ? kept.codes : new TextCodes();
        const rows = asReadBy(prepared, preprocessing, codes);
        if (kept?.key !== key) kept = { key, subject: await readSubject(rows, split), codes };
        const { subject } = kept;
        const trained = readTrained(model, weights, run);
        const ask = answerOf(trained, preprocessing, rows, codes);
        // Between two questions a cancellation gets in.
        const answer: Answer = async (columns, count) => {
          await nodeSurroundings.breathe();
          return ask(columns, count);
        };
        const wanted = request.wanted ?? usualClass(subject.output);
        return use({ rows, trained, subject, answer, pace: paceOf(job), wanted });
      });
    } finally {
      stopped.delete(job);
    }
  };

  return {
    explain: (request) =>
      opened(request, async ({ trained: { trees }, subject, answer, pace, wanted }) => {
        const { shuffles, together } = request;
        const options = { ...pace, wanted, shuffles, together, clock: nodeSurroundings.clock };
        const found = await explain(subject, answer, options);
        if (!trees) return found;
        const means = await meanContributions(trees, subject, wanted, { ...nodeSurroundings, stopped: pace.stopped });
        return { ...found, gains: columnGains(trees), ...(means && { contributions: means }) };
      }),
    dependence: (request) =>
      opened(request, async ({ subject, answer, wanted }) => {
        const found = [];
        for (const column of request.columns) found.push(await partialDependence(subject, answer, column, wanted));
        return found;
      }),
    row: (request) =>
      opened(request, async ({ rows, trained, subject, answer, pace, wanted }) => {
        const row =
          request.row === undefined ? await tellingRow(subject, answer, wanted) : await readRow(rows, request.row);
        const exact = await exactlyWhy(trained, subject, answer, row, wanted, { ...nodeSurroundings, ...pace });
        return exact ?? contributionsOf(subject, answer, row, wanted, pace);
      }),
    async table({ job, run, model, weights, preprocessing, data, split, file, draws = usualTableDraws, ...asked }) {
      try {
        const trained = readTrained(model, weights, run);
        const { readShard, keepNumbers } = await shards;
        const wanted = asked.wanted ?? usualClass(trained.file.output);
        const codes = new TextCodes();
        const read = { data: file, readShard: (shard: number) => readShard({ handle: file.handle, shard }) };
        const coded = withTextCodes(read, codes);
        const { input } = coded.data;
        const names = contributionNames(input.kind === 'columns' ? input.columns : []);
        const explained = (sampled: () => Promise<Sampled>): Promise<TableContributions> =>
          explainTable(
            coded,
            trained.trees ? exactContributions(trained.trees, wanted) : null,
            sampled,
            wanted,
            (columns) => keepNumbers({ handle: file.handle, names, columns }),
            { ...nodeSurroundings, ...paceOf(job) },
          );
        return await withRows(shards, openBackend, data ?? file, (rows) =>
          explained(async () =>
            sampledFrom(
              await readSubject(asReadBy(rows, preprocessing, codes), split),
              answerOf(trained, preprocessing, rows, codes),
              draws,
            ),
          ),
        );
      } finally {
        stopped.delete(job);
      }
    },
    async tree({ run, model, weights, tree, wanted }) {
      if (looked?.model !== model) looked = { model, ...treesOfRun(model, weights, run) };
      const { trees, file } = looked;
      return lookAtTree(trees, file, tree, wanted ?? usualClass(file.output));
    },
    cancel: async ({ job }) => void stopped.add(job),
    onProgress: (listener) => progress.add(listener),
  };
}

/** Columns as they are by the dictionaries of a run, texts as their codes; nothing else to do but for rows of several folds. */
const asReadBy = (rows: Rows, preprocessing: unknown, codes: TextCodes): Rows =>
  withTextCodes(modelledRows(rows, { ...(preprocessing as object), form: 'columns' }), codes);

/** The row to begin with: the one whose answer is farthest from what is so. */
async function tellingRow(subject: Subject, answer: Answer, wanted: number | null): Promise<ExplainedRow> {
  const rows = Math.min(subject.truth.length, 4_096);
  const columns = subject.values.map((values) => values.subarray(0, rows));
  const answers = await oneAnswer(subject, answer, wanted, columns, rows);
  let place = 0;
  let most = -1;
  for (let row = 0; row < rows; row++) {
    const truth = wanted === null ? subject.truth[row] : Number(subject.truth[row] === wanted);
    const off = Math.abs(answers[row] - truth);
    if (off > most) [place, most] = [row, off];
  }
  const values = Float64Array.from(subject.columns, (_, column) => subject.values[column][place]);
  return { values, source: subject.sources[place], truth: subject.truth[place] };
}
