// Tables that nobody would choose, under every learner: each is trained on with figures that are numbers, or refused with what, where
// and what to do, and then nothing of it is kept.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { inProcessHosts } from '../../electron/cli/hosts.ts';
import { createDataService } from '../../engine/data/service.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { configWith, declarations, usualSettings } from '../../engine/learners/declared/registry.ts';
import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { mlp, presetNamed, specOf, trainedOn } from '../../engine/model/presets.ts';
import type { DatasetInfo, DatasetSettings, PreparedData } from '../../engine/protocol/data.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { usualTraining } from '../../engine/settings/network.ts';
import { temporaryHome } from '../support/cli.ts';

type Cell = string | number;
interface BadTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly cells: (row: number, next: () => number) => readonly Cell[];
  readonly settings?: DatasetSettings;
  /** What refuses it; absent: it is trained on. */
  readonly refused?: readonly [code: string, message: RegExp];
  /** The same where it is one learner's alone. */
  readonly otherwise?: Readonly<Record<string, readonly [code: string, message: RegExp]>>;
  /** Under all learners; else under the quick ones. */
  readonly all?: true;
  /** What is said while it is trained on. */
  readonly said?: RegExp;
}

const day = (index: number): string => new Date(Date.UTC(2022, 0, 1 + index)).toISOString().slice(0, 10);
const word = (next: () => number): string => (next() < 0.5 ? 'p' : 'q');
const byTime: DatasetSettings = { splitBy: { kind: 'time', column: 'date' } };
const byGroup: DatasetSettings = { splitBy: { kind: 'group', column: 'g' } };
const sentence = 'the quick brown fox jumps over the lazy dog and runs on '.split(' ');

/** Of learners that hold rows out by folds of their own. */
const heldOut = [
  'input.one_class',
  /All rows that would train while others are held out are of one class of y/,
] as const;
const byFold = ['input.one_class', /All rows that fold \d of \d would learn from are of one class of y/] as const;

const tables: readonly BadTable[] = [
  {
    name: 'a class that comes last in time',
    all: true,
    columns: ['date', 'a', 'y'],
    rows: 100,
    cells: (row, next) => [day(row), next(), row >= 85 ? 'late' : word(next)],
    settings: byTime,
    said: /late of y stands in no row that trains, but in 15 that validate or test: no model can answer it/,
  },
  {
    name: 'one class in all that trains',
    all: true,
    columns: ['date', 'a', 'y'],
    rows: 100,
    cells: (row, next) => [day(row), next(), row >= 85 ? 'late' : 'early'],
    settings: byTime,
    refused: ['input.one_class', /All 80 rows that would train are of one class of y: early/],
    otherwise: { auto: heldOut, search: heldOut },
  },
  {
    name: 'groups of one class each',
    all: true,
    columns: ['g', 'a', 'y'],
    rows: 100,
    cells: (row, next) => [`g${row % 5}`, next(), row % 5 === 0 ? 'p' : 'q'],
    settings: byGroup,
    said: /All 20 rows of the (test|validation) split are of one class of y: [pq]\./,
    otherwise: { auto: byFold, search: byFold },
  },
  {
    name: 'rows without a group',
    columns: ['g', 'a', 'y'],
    rows: 100,
    cells: (row, next) => [row % 2 ? '' : `g${row % 5}`, next(), word(next)],
    settings: byGroup,
    said: /50 rows have no g, by which the split goes: each counts as a group of its own/,
  },
  {
    name: 'dates out of order',
    columns: ['date', 'a', 'y'],
    rows: 100,
    cells: (row, next) => [day((row * 37) % 100), next(), next()],
    settings: byTime,
  },
  {
    name: 'a class of one row',
    columns: ['a', 'y'],
    rows: 100,
    cells: (row, next) => [next(), row ? word(next) : 'z'],
  },
  {
    name: 'a constant and an empty column',
    columns: ['a', 'k', 'e', 'y'],
    rows: 100,
    cells: (_, next) => [next(), 5, '', word(next)],
  },
  {
    name: 'constant columns alone',
    columns: ['k', 'e', 'y'],
    rows: 100,
    cells: (_, next) => [5, '', word(next)],
    refused: ['input.no_features', /No column is left to learn from: k \(constant\), e \(empty\) are left out/],
  },
  {
    name: 'a column that one row has a value in',
    columns: ['a', 'e', 'y'],
    rows: 100,
    cells: (row, next) => [next(), row === 7 ? 5 : '', word(next)],
  },
  {
    name: 'infinite and huge numbers',
    all: true,
    columns: ['a', 'b', 'y'],
    rows: 100,
    cells: (row, next) => [row % 9 ? next() : 'inf', row % 7 ? next() : '-1e308', row % 11 ? next() : 'Infinity'],
    said: /10 of 100 rows have no y and are left out/,
  },
  {
    name: 'numbers near the limit',
    columns: ['a', 'b', 'y'],
    rows: 100,
    cells: (_, next) => [next() * 1e140, next() * 1e-140, next() * 1e120],
  },
  {
    name: 'a target that most rows lack',
    all: true,
    columns: ['a', 'b', 'y'],
    rows: 600,
    cells: (row, next) => [next(), next(), row % 20 ? '' : word(next)],
    said: /570 of 600 rows have no y and are left out/,
  },
  {
    name: 'a long text alone',
    columns: ['t', 'y'],
    rows: 60,
    cells: (_, next) => [
      Array.from({ length: 60 }, () => sentence[Math.floor(next() * sentence.length)]).join(' '),
      word(next),
    ],
    otherwise: {
      boosted: ['input.no_features', /t is text, which boosted trees cannot read, and there is no other column/],
      extra: ['input.no_features', /t is text, which extra trees cannot read/],
      network: ['input.no_features', /t is text, which a network of these layers does not read/],
    },
  },
  {
    name: 'columns of one name',
    columns: ['a', 'a', 'y', 'y'],
    rows: 100,
    cells: (_, next) => [next(), next(), word(next), word(next)],
  },
  {
    name: 'a category of very many values',
    columns: ['k', 'a', 'y'],
    rows: 1200,
    cells: (row, next) => [`c${row % 550}`, next(), word(next)],
  },
  {
    name: 'very many classes',
    columns: ['a', 'b', 'y'],
    rows: 240,
    cells: (row, next) => [next(), next(), `c${row % 60}`],
  },
  {
    name: 'more classes than can be told apart',
    columns: ['a', 'y'],
    rows: 4_400,
    cells: (row, next) => [next(), `c${row % 2_100}`],
    refused: ['input.too_many_classes', /has 2,100 different values: more than 2,000 classes cannot be told apart/],
  },
  {
    name: 'three rows',
    columns: ['a', 'y'],
    rows: 3,
    cells: (row) => [row, 'pqp'[row]],
    refused: ['input.too_few_rows', /3 rows are too few for a split/],
  },
  {
    name: 'more columns than rows',
    columns: [...Array(80)].map((_, i) => `c${i}`).concat('y'),
    rows: 60,
    cells: (_, next) => [...[...Array(80)].map(next), word(next)],
  },
];

const textOf = ({ columns, rows, cells }: BadTable): string => {
  let state = 17;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return `${[columns, ...Array.from({ length: rows }, (_, row) => cells(row, next))].map((line) => line.join()).join('\n')}\n`;
};

const quick: ReadonlySet<string> = new Set(['boosted', 'extra', 'linear', 'network']);

/** Every way to learn from a table, with little to do. */
function configsOf(info: DatasetInfo, settings: DatasetSettings): Readonly<Record<string, RunConfig>> {
  const task = info.task!;
  const about = trainedOn(info.rows, task, { classes: info.classes.length });
  const common = {
    dataset: info.id,
    settings: { ...settings, target: 'y', task },
    seed: 1,
    device: 'cpu',
    threads: 1,
  } as const;
  const little: Readonly<Record<string, object>> = {
    boosted: { trees: 3 },
    forest: { trees: 3 },
    extra: { trees: 3 },
    auto: { minutes: 0.02 },
    search: { trials: 4 },
  };
  const others = declarations
    .filter(({ layers, forms }) => !layers && forms.includes('columns'))
    .concat(declarations.filter(({ name }) => name === 'linear'))
    .map(
      (learner) =>
        [
          learner.name,
          configWith(learner, common, { ...usualSettings(learner, about), ...little[learner.name] }),
        ] as const,
    );
  const input = { kind: 'table', width: 0, numeric: 0, embeddings: [] } as const;
  const network = (model: ReturnType<typeof mlp>): RunConfig =>
    networkConfig(common, model, {
      ...usualTraining(trainedOn(info.rows, task, { model, classes: info.classes.length })),
      epochs: 2,
    });
  const presets = ['realmlp', 'tabm'].map((name) => [name, network(specOf(presetNamed(name)!, input))] as const);
  return Object.fromEntries([...others, ['network', network(mlp([8]))], ...presets]);
}

for (const table of tables) {
  const { name, settings = {}, said } = table;
  test(name, async (t) => {
    const home = temporaryHome(t);
    const data = createDataService({ home, threads: 1 });
    const store = createStore(home);
    t.after(async () => {
      await store.close();
      await data.close();
    });
    const file = path.join(home, 'table.csv');
    fs.writeFileSync(file, textOf(table));
    const info = await data.import({ job: 'import', path: file, settings: { ...settings, target: 'y' } });
    const manager = createRunManager({ store, data, hosts: inProcessHosts(data), owner: processOwner() });
    const lines: string[] = [];
    manager.onLog(({ line }) => lines.push(line.message));
    const configs = Object.entries(configsOf(info, settings));
    for (const [learner, config] of configs.filter(([learner]) => table.all === true || quick.has(learner))) {
      const refused = table.otherwise?.[learner] ?? table.refused;
      try {
        const { id } = await manager.start({ config });
        const run = await manager.finished({ run: id });
        assert.equal(refused, undefined, learner);
        assert.equal(run.state, 'completed', `${learner}: ${run.error?.message}`);
        const figures = Object.entries(run.result!.metrics);
        assert.ok(
          figures.length > 0 && figures.every(([, value]) => value === null || Number.isFinite(value)),
          `${learner}: ${JSON.stringify(figures)}`,
        );
      } catch (error) {
        if (!(error instanceof TrainyardError)) throw error;
        assert.equal(error.code, refused?.[0], `${learner}: ${error.message}`);
        assert.match(error.message, refused![1]);
        assert.notEqual(error.hint, '');
      }
    }
    if (said) assert.match(lines.join('\n'), said);
    if (table.refused) assert.deepEqual((await store.runs({ limit: 1 })).total, 0);
  });
}

test('more rows times classes than any memory holds are refused before anything is done', () => {
  const classes = Array.from({ length: 10_000 }, (_, at) => `c${at}`);
  const data = {
    counts: { train: 16_000, validation: 2_000, test: 2_000 },
    output: { kind: 'classes', classes },
    input: { kind: 'columns', columns: [] },
  } as unknown as PreparedData;
  const about = trainedOn(16_000, 'classification', { classes: classes.length });
  const common = { dataset: 'd', settings: {}, seed: 1, device: 'cpu', threads: 1 } as const;
  for (const learner of declarations.filter(({ layers }) => !layers)) {
    assert.throws(() => learner.check(configWith(learner, common, usualSettings(learner, about)), data), {
      code: 'model.too_large',
      message:
        /^10,000 classes on 18,000 rows are too many for .*: it takes a score for each row and class, 180,000,000 in all/,
    });
  }
});
