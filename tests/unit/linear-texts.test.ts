// Texts as counted words: the values of scikit-learn's TfidfVectorizer, a design that mixes them with numbers, and a model that finds the words
// which tell the classes apart.

import assert from 'node:assert/strict';
import test from 'node:test';
import { solveLogistic } from '../../engine/learners/linear/logistic.ts';
import { constantWeights, searchPenalty, type PathProblem, type Search } from '../../engine/learners/linear/path.ts';
import {
  addTransposed,
  denseRow,
  entriesOf,
  readDesign,
  scoresOf,
  type Design,
} from '../../engine/learners/linear/design.ts';
import { fitTerms, readTerms, termRows, termTensors, type Terms } from '../../engine/learners/linear/terms.ts';
import { someRows } from '../../engine/learners/linear/sparse.ts';
import { finish } from '../../engine/learners/linear/work.ts';
import type { InputSpec, OutputSpec } from '../../engine/model/spec.ts';
import type { PreparedData } from '../../engine/protocol/data.ts';
import { trainTokenizer } from '../../engine/text/tokenizers.ts';
import { uniform } from '../support/table.ts';

const texts = [
  'good fresh bread and good butter',
  'bad stale bread',
  'fresh butter and good bread',
  'stale butter bad taste',
];
const tokenizer = trainTokenizer(texts, { kind: 'words', vocabulary: 100 });
const codesOf = (text: string): Uint32Array => Uint32Array.from(tokenizer.encode(text), (id) => id + 1);
const codes = texts.map(codesOf);

/** Entries of a row by their words. */
function named(text: string): Record<string, number> {
  const terms = [fitTerms(codes, codes.length, 1)];
  const { columns, values } = termRows(1, [[codesOf(text)]], terms, 0);
  const word = (code: number): string => tokenizer.decode([code - 1]);
  return Object.fromEntries(
    [...columns].map((column, at) => {
      const [one, next] = terms[0].words.subarray(2 * column, 2 * column + 2);
      return [next === 0 ? word(one) : `${word(one)} ${word(next)}`, Number(values[at].toFixed(6))];
    }),
  );
}

test('values are those of TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)', () => {
  // scikit-learn 1.7
  assert.deepEqual(named(texts[0]), {
    good: 0.458905,
    'good fresh': 0.343776,
    fresh: 0.271037,
    'fresh bread': 0.343776,
    bread: 0.219428,
    'bread and': 0.343776,
    and: 0.271037,
    'and good': 0.271037,
    'good butter': 0.343776,
    butter: 0.219428,
  });
  assert.deepEqual(named('good unknown bread butter'), { good: 0.657829, bread: 0.53257, butter: 0.53257 });
  assert.deepEqual(named(''), {});
});

test('of many texts a term has to be in two of them; tensors and chosen rows keep what they are', () => {
  const many = Array.from({ length: 60 }, (_, row) => Uint32Array.of(2 + (row % 2), 100 + row));
  const terms = [fitTerms(many, 60, 3)];
  assert.deepEqual([...terms[0].words], [2, 0, 3, 0], 'those of most texts first, then by their codes');
  assert.deepEqual(readTerms(termTensors(terms), 1), terms);
  assert.equal(readTerms({}, 1), null);
  const all = termRows(60, [many], terms, 4);
  const some = someRows(all, [3, 0]);
  assert.deepEqual(
    [[...some.starts], [...some.columns]],
    [
      [0, 1, 2],
      [5, 4],
    ],
  );
});

const output: OutputSpec = { kind: 'classes', classes: ['bad', 'good'] };

/** Rows of a number that says nothing, and a text. */
function rowsOf(rows: number): { readonly data: PreparedData; readonly x: Float32Array; readonly y: Float32Array } {
  const length = 6;
  const input: InputSpec = {
    kind: 'table',
    ...{ width: 1 + length, numeric: 1, embeddings: [] },
    texts: [{ name: 'review', vocabulary: 50, length }],
  };
  const x = new Float32Array(rows * (1 + length));
  const y = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    y[row] = row % 2;
    x[row * 7] = Math.sin(row);
    // Word 9 stands in every text, 10 in the good ones, one of many behind them.
    x.set([9, 9 + y[row], 11 + (row % 13)], row * 7 + 1);
  }
  const train = Math.floor(0.8 * rows);
  const data: PreparedData = {
    ...{
      handle: 't',
      input,
      output,
      task: 'classification',
      width: 7,
      targets: 1,
      classCounts: [train / 2, train / 2],
    },
    ...{
      counts: { train, validation: rows - train, test: 0 },
      shardStarts: [0, rows],
      preprocessing: {},
      warnings: [],
    },
  };
  return { data, x, y };
}

test('a design of numbers and texts: products, and a model that finds the words', async () => {
  const { data, x, y } = rowsOf(200);
  const readShard = async () => ({ rows: 200, x, y });
  const design = await readDesign({ data, readShard, dataBudget: 1e9 }, 0, async () => undefined);
  const { width, counted } = design;
  assert.ok(counted && width > 3 && entriesOf(design) >= 3);
  const row = new Float64Array(width);
  const weight = Float64Array.from({ length: width }, (_, i) => Math.cos(i));
  const scores = new Float64Array(1);
  const back = new Float64Array(width);
  for (const at of [0, 7, 199]) {
    denseRow(design, at, row);
    scoresOf(design, at, at + 1, weight, [0.5], scores);
    assert.ok(Math.abs(scores[0] - 0.5 - row.reduce((sum, value, i) => sum + value * weight[i], 0)) < 1e-12);
    addTransposed(design, at, at + 1, Float64Array.of(2), 1, back.fill(0));
    back.forEach((value, i) => assert.ok(Math.abs(value - 2 * row[i]) < 1e-12));
  }
  const { train, validation } = data.counts;
  const problem: PathProblem = { design, train, validation, output, classWeights: null, penalty: 0 };
  const search: Search = { tried: [], best: constantWeights(problem), chosen: -1 };
  finish(searchPenalty(problem, search));
  const two = new Float64Array(2);
  scoresOf(design, 198, 200, search.best.weight, search.best.bias, two);
  assert.ok(two[0] < -1 && two[1] > 1, two.join());
  // Rows that are set aside where none validate take their texts along.
  const alone: Search = { tried: [], best: constantWeights(problem), chosen: -1 };
  finish(searchPenalty({ ...problem, train: 200, validation: 0 }, alone));
  assert.ok(alone.tried[alone.chosen].loss < 0.1, JSON.stringify(alone.tried));
});

test('every penalty is solved for itself, the weakest too: its loss is that of the solution to the end', () => {
  // Texts of twelve words, three or four of them of their theme: the weakest penalties are the best.
  const random = uniform(3);
  const rows = Array.from({ length: 140 }, (_, row) => {
    const theme = row % 5;
    return Uint32Array.from({ length: 12 }, () => 1 + Math.floor(20 * random()) + (random() < 0.3 ? 20 * theme : 100));
  });
  const [train, validation] = [100, 40];
  const terms = [fitTerms(rows, train, 5)];
  const counted = termRows(140, [rows], terms, 0);
  const none = { dense: 0, x: new Float32Array(0), categories: 0, ones: new Uint32Array(0) };
  const targets = Float32Array.from(rows, (_, row) => row % 5);
  const design: Design = { ...none, rows: 140, width: terms[0].weights.length, counted, terms, targets };
  const classes: OutputSpec = { kind: 'classes', classes: ['a', 'b', 'c', 'd', 'e'] };
  const problem: PathProblem = { design, train, validation, output: classes, classWeights: null, penalty: 0 };
  const search: Search = { tried: [], best: constantWeights(problem), chosen: -1 };
  finish(searchPenalty(problem, search));

  assert.ok(search.tried.length > 4, JSON.stringify(search.tried));
  const tight = { design, rows: train, outputs: 5, classWeights: [1, 1, 1, 1, 1], tolerance: 1e-6 };
  const zeros = { weight: new Float64Array(design.width * 5), bias: new Float64Array(5) };
  for (const { exponent, loss } of search.tried) {
    const { weight, bias } = finish(solveLogistic({ ...tight, penalty: 10 ** (exponent! / 2) }, zeros));
    const scores = new Float64Array(validation * 5);
    scoresOf(design, train, train + validation, weight, bias, scores);
    const wanted = Array.from({ length: validation }, (_, row) => {
      const own = [...scores.subarray(row * 5, row * 5 + 5)];
      return Math.log(own.reduce((sum, score) => sum + Math.exp(score), 0)) - own[targets[train + row]];
    }).reduce((sum, one) => sum + one / validation, 0);
    assert.ok(Math.abs(loss - wanted) < 0.02 * wanted, `10^${exponent! / 2}: ${loss}, to the end ${wanted}`);
  }
});

test('terms are put in order once, however often rows are asked for', () => {
  const { words, weights } = fitTerms([Uint32Array.of(1, 2), Uint32Array.of(2, 3)], 2, 1);
  let looked = 0;
  const terms: Terms = {
    weights,
    get words() {
      looked++;
      return words;
    },
  };
  const rows = [Uint32Array.of(2, 3)];
  const first = termRows(1, [rows], [terms], 4);
  const once = looked;
  assert.ok(once > 0);
  assert.deepEqual(termRows(1, [rows], [terms], 4), first);
  assert.equal(looked, once);
  const behind = termRows(1, [rows, rows], [terms, terms], 4);
  assert.deepEqual([...behind.columns], [...first.columns, ...first.columns.map((column) => column + weights.length)]);
});
