// From a run and its rows to what an exported model is checked with: the rows as their file has them, and what the run answers to them.

import { predictionsOf, readWriter } from '../learners/predict.ts';
import type { Rows } from '../learners/learner.ts';
import { parsePreprocessing } from '../data/preprocess/recipe.ts';
import { matrixRecipe, RowsForMembers } from '../learners/auto/trained.ts';
import { predictsTokens } from '../model/spec.ts';
import type { DataService, RawColumnValues, Shard } from '../protocol/data.ts';
import type { Answers, ExportSource, ModelCheck, ModelInput } from '../protocol/exports.ts';
import { parseRunJson } from '../protocol/model-file.ts';
import { isPretrained } from '../protocol/pretrained.ts';
import { textCodes } from '../text/tokenizer.ts';
import { typeText } from './certificate.ts';
import type { OnnxExport } from './onnx/model.ts';
import { pixelsInput } from './onnx/pixels.ts';
import { chooseSample, takeRows } from './sample.ts';

/** What it takes to try a run: its rows, and the file's own values behind them. */
export interface CheckParts extends Rows {
  readonly rawRows: DataService['rawRows'];
}

export async function makeCheck(
  { record, model, preprocessing, weights }: ExportSource,
  { bytes, outputs, answers, opset }: OnnxExport,
  { data, readShard, rawRows, backend, dataBudget }: CheckParts,
): Promise<ModelCheck> {
  const trained = readWriter(model, weights, record.id);
  const { file } = trained;
  const { split, places } = chooseSample(data, file.output.kind === 'classes' ? file.output.classes.length : 1);
  const drawn = isPretrained(record.config);
  const taken = await takeRows({ data, readShard }, places);
  if (predictsTokens(file.input)) asPrompts(taken.shard, data.width);
  const rows = { data: taken.data, readShard: () => Promise.resolve(taken.shard), backend, dataBudget };
  const { outputs: found } = await trained.outputs(rows);
  const predictions = predictionsOf(trained, found, places.length);
  const { output } = file;
  const expected: Answers = {
    rows: places.length,
    probabilities: predictions.probabilities,
    labels: output.kind === 'classes' ? Array.from(predictions.values, (k) => output.classes[k]) : null,
    values: output.kind === 'value' ? predictions.values : null,
    scale: output.kind === 'value' ? output.scale : 1,
  };
  const sources = places.map((place) => data.sources?.[place] ?? place);
  const inputs =
    data.input.kind === 'image'
      ? [pixelsOf(taken.shard.x as Uint8Array, data.input)]
      : [...(await rawColumnsOf(rawRows, record, preprocessing, sources)), ...(await tokensOf(rows))];
  return {
    model: bytes,
    inputs,
    expected,
    ...(drawn ? { split: 'drawn', sources: [] } : { split, sources }),
    opset,
    outputs: outputs.map(({ name, type, shape }) => ({ name, type: typeText(type, shape) })),
    answers,
  };
}

/** Values of the file's columns but texts at these rows. */
async function rawColumnsOf(
  rawRows: CheckParts['rawRows'],
  { id, dataset }: ExportSource['record'],
  preprocessing: string,
  rows: readonly number[],
): Promise<readonly ModelInput[]> {
  const recipe = parsePreprocessing(parseRunJson(preprocessing, id, 'preprocessing.json'));
  const features = recipe.features.filter(({ kind }) => kind !== 'text');
  if (features.length === 0) return [];
  return (await rawRows({ dataset, rows, preprocessing: { ...recipe, features } })).map(columnOf);
}

/** Leaves of every other row of a text its beginning alone, each another length: prompts are seldom as long as the context. */
function asPrompts({ x, rows }: Shard, length: number): void {
  for (let row = 1; row < rows; row += 2) {
    x.fill(textCodes.padding, row * length + 1 + ((row * 7) % length), (row + 1) * length);
  }
}

/** Ids of the tokens of each text [rows, length], as the rows hold them, or as the members of an ensemble are given them; -1 for padding. */
async function tokensOf(rows: Rows): Promise<readonly ModelInput[]> {
  const { input, preprocessing } = rows.data;
  if (input.kind === 'columns' && input.texts) {
    return tokensOf(new RowsForMembers(rows, matrixRecipe(preprocessing)).of({ kind: 'table' }));
  }
  if (input.kind !== 'table' || !input.texts) return [];
  const { width, texts } = input;
  const { x, rows: count } = await rows.readShard(0);
  let next = width - texts.reduce((sum, { length }) => sum + length, 0);
  return texts.map(({ name, length }) => {
    const from = next;
    next += length;
    const ids = new Int32Array(count * length);
    for (let at = 0; at < ids.length; at++) {
      ids[at] = x[Math.floor(at / length) * width + from + (at % length)] - textCodes.first;
    }
    return { name, type: 'int64', shape: [count, length], data: ids };
  });
}

function columnOf({ name, values }: RawColumnValues): ModelInput {
  const type = values instanceof Float64Array ? 'double' : 'string';
  return { name, type, shape: [values.length, 1], data: values };
}

/** [N,C,H,W] → [N,H,W,C] */
function pixelsOf(
  pixels: Uint8Array,
  { channels, height, width }: { readonly channels: number; readonly height: number; readonly width: number },
): ModelInput {
  const area = height * width;
  const data = new Uint8Array(pixels.length);
  for (let at = 0; at < pixels.length; at++) {
    const row = Math.floor(at / (channels * area));
    const channel = Math.floor(at / area) % channels;
    data[(row * area + (at % area)) * channels + channel] = pixels[at];
  }
  const rows = pixels.length / (channels * area);
  return { name: pixelsInput, type: 'uint8', shape: [rows, height, width, channels], data };
}
