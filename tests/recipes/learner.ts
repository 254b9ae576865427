// The recipe of a learner: a decision stump, the best single question to the columns as they are.

import type { Recipe } from './recipe.ts';

export const learnerRecipe: Recipe = {
  what: 'A learner',
  name: 'stump',
  files: {
    'engine/learners/stump/declaration.ts': `// The best single question: one column, one value, an answer for each side.

import { fieldsFor } from '../../settings/field.ts';
import { declare, type ConfigOf } from '../declared/declare.ts';

const fields = fieldsFor()({
  questions: {
    kind: 'number',
    whole: true,
    label: 'Questions',
    help: 'values of a column that are tried',
    minimum: 1,
    maximum: 1000,
    default: 32,
  },
});

export type StumpConfig = ConfigOf<'stump', typeof fields>;

export const declaration = declare({
  name: 'stump',
  title: 'Decision stump',
  noun: 'a decision stump',
  summary: 'The best single question',
  fields,
  forms: ['columns'],
});
`,
    'engine/learners/stump/learner.ts': `// Looks for the question that leaves the least error, on the columns as they are.

import type { OutputSpec, RawColumn } from '../../model/spec.ts';
import { handOverModel } from '../../train/model-files.ts';
import type { Learner, RawOutputs, Rows } from '../learner.ts';
import { plainLoss, scoreSplits } from '../scoring.ts';
import type { StumpConfig } from './declaration.ts';

interface Table {
  readonly columns: readonly RawColumn[];
  /** [rows, columns] */
  readonly x: Float64Array;
  readonly y: Float32Array;
}

async function readTable({ data, readShard }: Rows): Promise<Table> {
  if (data.input.kind !== 'columns') throw new RangeError('a stump takes columns as they are');
  const { columns } = data.input;
  const rows = data.shardStarts[data.shardStarts.length - 1];
  const table = { columns, x: new Float64Array(rows * columns.length), y: new Float32Array(rows) };
  for (let shard = 0; shard + 1 < data.shardStarts.length; shard++) {
    const read = await readShard(shard);
    table.x.set(read.x, data.shardStarts[shard] * columns.length);
    table.y.set(read.y, data.shardStarts[shard]);
  }
  return table;
}

/** A missing number says no to every question. */
function isYes({ columns, x }: Table, row: number, column: number, value: number): boolean {
  const found = x[row * columns.length + column];
  return columns[column].kind === 'category' ? found === value : found <= value;
}

/** [no, yes]: sums of a row's classes or value, and rows. */
function sidesOf(table: Table, rows: number, column: number, value: number, K: number): readonly number[][] {
  const sides = [0, 1].map(() => new Array<number>(K + 1).fill(0));
  for (let row = 0; row < rows; row++) {
    const side = sides[Number(isYes(table, row, column, value))];
    if (K === 1) side[0] += table.y[row];
    else side[table.y[row]]++;
    side[K]++;
  }
  return sides;
}

const gainOf = (sides: readonly number[][], K: number): number =>
  sides.reduce((sum, side) => sum + side.slice(0, K).reduce((a, s) => a + (s * s) / Math.max(1, side[K]), 0), 0);

function answerOf(side: readonly number[], K: number): readonly number[] {
  if (K === 1) return [side[0] / Math.max(1, side[1])];
  const logs = side.slice(0, K).map((count) => Math.log((count + 1) / (side[K] + K)));
  return K === 2 ? [logs[1] - logs[0]] : logs;
}

function outputsOf(
  table: Table,
  start: number,
  end: number,
  question: Float32Array,
  answers: Float32Array,
): RawOutputs {
  const K = answers.length / 2;
  const outputs = new Float32Array((end - start) * K);
  for (let row = start; row < end; row++) {
    const side = Number(isYes(table, row, question[0], question[1]));
    outputs.set(answers.subarray(side * K, (side + 1) * K), (row - start) * K);
  }
  return { outputs, targets: table.y.subarray(start, end) };
}

const classesOf = (output: OutputSpec): number => (output.kind === 'classes' ? output.classes.length : 1);

export const learner: Learner<StumpConfig> = {
  async open(job) {
    const { data, config, surroundings, events } = job;
    const [start, table, K] = [surroundings.clock(), await readTable(job), classesOf(data.output)];
    const { train } = data.counts;
    const tried = config.stump.questions;
    let best = { gain: -Infinity, question: [0, 0], sides: [[0], [0]] as readonly number[][] };
    for (let column = 0; column < table.columns.length; column++) {
      for (let i = 0; i < tried; i++) {
        const row = Math.floor((i * train) / tried);
        const value = Math.fround(table.x[row * table.columns.length + column]);
        const sides = sidesOf(table, train, column, value, K);
        const gain = gainOf(sides, K);
        if (gain > best.gain) best = { gain, question: [column, value], sides };
      }
    }
    const question = Float32Array.from(best.question);
    const answers = Float32Array.from(best.sides.flatMap((side) => answerOf(side, K)));
    const weights = {
      question: { shape: [2], data: question },
      answers: { shape: [2, answers.length / 2], data: answers },
    };
    const device = { kind: 'cpu', name: 'CPU', threads: 1 } as const;
    events.onStarted({ device, sentence: 'Asks.', parameters: 2 + answers.length, bytes: table.x.byteLength, step: 0 });
    handOverModel(events, data, { learner: 'stump', stump: config.stump }, weights);
    const spec = { output: data.output, training: plainLoss, weights: null };
    const scored = scoreSplits(job, spec, { step: 1, best: 1 }, (from, to) =>
      outputsOf(table, from, to, question, answers),
    );
    const seconds = (surroundings.clock() - start) / 1000;
    return {
      advance: async () => false,
      result: () => ({
        ...{ reason: 'completed', device: 'cpu', threads: 1, epochs: 1, steps: 1, bestEpoch: 1, seconds },
        ...{ examplesPerSecond: train / seconds, metrics: scored.metrics },
        remark: table.columns[best.question[0]].name,
      }),
    };
  },
  read: (file, weights) => ({
    file,
    evaluation: { output: file.output, training: plainLoss, weights: null },
    outputs: async (rows) => {
      const table = await readTable(rows);
      return outputsOf(table, 0, table.y.length, weights.question.data, weights.answers.data);
    },
  }),
};
`,
  },
  lines: [],
  proves: /✔ stump: trained, listed, shown and put to use/,
};
