// From a run and its rows to what an exported model is checked with: the rows as their file has them, and what the run answers to them.

import { predictRows, readTrained } from '../learners/predict.ts';
import type { Rows } from '../learners/learner.ts';
import type { DataService, RawColumnValues } from '../protocol/data.ts';
import type { Answers, ExportSource, ModelCheck, ModelInput } from '../protocol/exports.ts';
import { parseRunJson } from '../protocol/model-file.ts';
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
  const { split, places } = chooseSample(data);
  const taken = await takeRows({ data, readShard }, places);
  const trained = readTrained(model, weights, record.id);
  const rows = { data: taken.data, readShard: () => Promise.resolve(taken.shard), backend, dataBudget };
  const predictions = await predictRows(trained, rows);
  const { output } = trained.file;
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
      : (
          await rawRows({
            dataset: record.dataset,
            rows: sources,
            preprocessing: parseRunJson(preprocessing, record.id, 'preprocessing.json'),
          })
        ).map(columnOf);
  return {
    model: bytes,
    inputs,
    expected,
    split,
    sources,
    opset,
    outputs: outputs.map(({ name, type, shape }) => ({ name, type: typeText(type, shape) })),
    answers,
  };
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
