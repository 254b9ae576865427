// Logs read back: the records of an event file with their checksums and values, and the folder of MLflow's file store.

import { decodeText } from '../../train/safetensors.ts';
import type { MetricPoint } from '../../protocol/runs.ts';
import { crc32c } from '../logs/tensorboard.ts';
import { onnxArtifact } from '../logs/mlflow.ts';
import { flatSettings } from '../logs/settings.ts';
import { declarationOf } from '../../learners/declared/registry.ts';
import { exportOnnx } from '../onnx/model.ts';
import type { OpenedRun } from '../opened.ts';
import { counted, differs } from './differs.ts';
import { readModule, readWeights } from './weights.ts';

type Files = ReadonlyMap<string, Uint8Array>;

export function readTensorboard(files: Files, { points }: Pick<OpenedRun, 'points'>): readonly string[] {
  const [[path, file]] = [...files];
  const events = readRecords(path, file).map(readEvent);
  const values = events.flatMap((event) => event.values.map((one) => ({ ...one, step: event.step })));
  if (values.length !== points.length) differs(`${counted(values.length, 'value')} instead of ${points.length}`);
  points.forEach(({ series, step, value }, index) => {
    const found = values[index];
    if (found.tag !== series || found.step !== step || !Object.is(found.value, Math.fround(value))) {
      differs(`value ${index + 1} is ${found.tag} ${found.value} of step ${found.step}`);
    }
  });
  return [
    `${counted(events.length, 'record')} with checksums that hold`,
    `${counted(points.length, 'value')} equal to the run's curves`,
  ];
}

/** The masked checksum of TensorFlow turned back. */
const unmasked = (masked: number): number => {
  const turned = (masked - 0xa282ead8) >>> 0;
  return ((turned << 15) | (turned >>> 17)) >>> 0;
};

function readRecords(path: string, file: Uint8Array): readonly Uint8Array[] {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const records: Uint8Array[] = [];
  for (let at = 0; at < file.length;) {
    const data = file.subarray(at + 12, at + 12 + Number(view.getBigUint64(at, true)));
    const end = at + 12 + data.length;
    const holds =
      unmasked(view.getUint32(at + 8, true)) === crc32c(file.subarray(at, at + 8)) &&
      unmasked(view.getUint32(end, true)) === crc32c(data);
    if (!holds) differs(`the checksum of record ${records.length + 1} of ${path} does not hold`);
    records.push(data);
    at = end + 4;
  }
  return records;
}

interface Event {
  readonly step: number;
  readonly values: readonly { readonly tag: string; readonly value: number }[];
}

function readEvent(bytes: Uint8Array): Event {
  const fields = readFields(bytes);
  const summaries = fields.filter(({ field }) => field === 5).flatMap(({ bytes: summary }) => readFields(summary));
  return {
    step: fields.find(({ field }) => field === 2)?.count ?? 0,
    values: summaries.map(({ bytes: value }) => {
      const parts = readFields(value);
      const number = parts.find(({ field }) => field === 2)?.bytes ?? differs('a value has no number');
      return {
        tag: decodeText(parts.find(({ field }) => field === 1)?.bytes ?? new Uint8Array(0)),
        value: new DataView(number.buffer, number.byteOffset).getFloat32(0, true),
      };
    }),
  };
}

/** The wire format of protocol buffers: `count` of a varint, `bytes` of everything else. */
function readFields(bytes: Uint8Array): readonly { field: number; count: number; bytes: Uint8Array }[] {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (!(byte & 128)) return value;
    }
  };
  const fields = [];
  while (at < bytes.length) {
    const key = varint();
    const kind = key & 7;
    const count = kind === 0 || kind === 2 ? varint() : 0;
    const length = kind === 1 ? 8 : kind === 5 ? 4 : kind === 2 ? count : 0;
    fields.push({ field: key >>> 3, count, bytes: bytes.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

export function readMlflow(files: Files, run: OpenedRun): readonly string[] {
  const parts = new Map<string, Map<string, Uint8Array>>();
  for (const [path, data] of files) {
    const [, part, name] = /^1\/[0-9a-f]{32}\/(params|metrics|tags|artifacts)\/(.+)$/.exec(path) ?? ['', '', path];
    parts.set(part, (parts.get(part) ?? new Map<string, Uint8Array>()).set(name, data));
  }
  const of = (part: string): Files => parts.get(part) ?? new Map<string, Uint8Array>();
  readMeta(of(''), run);
  const params = of('params');
  for (const [key, value] of flatSettings(run.record.config)) {
    const found = params.get(stored(key));
    if (!found || !value.startsWith(decodeText(found))) differs(`the setting ${key} is another`);
  }
  const values = readMetrics(of('metrics'), run);
  return [
    `${counted(values, 'metric value')} equal to the run's curves and scores`,
    `${counted(params.size, 'setting')} equal`,
    ...readArtifacts(of('artifacts'), run),
  ];
}

/** The weights with their module, or the model as ONNX; and the files that the run keeps. */
function readArtifacts(artifacts: Files, run: OpenedRun): readonly string[] {
  const equal = (name: string, text: string): boolean => decodeText(artifacts.get(name) ?? new Uint8Array(0)) === text;
  if (!equal('model/model.json', run.model) || !equal('model/preprocessing.json', run.preprocessing)) {
    differs('model.json or preprocessing.json is another');
  }
  const onnx = artifacts.get(`model/${onnxArtifact}`);
  if (onnx) {
    const { record, file, tensors, recipe } = run;
    const { bytes } = exportOnnx({ name: record.name, file, weights: tensors, preprocessing: recipe });
    if (onnx.length !== bytes.length || onnx.some((byte, at) => byte !== bytes[at]))
      differs(`${onnxArtifact} is another`);
    if (!artifacts.has('model/MLmodel')) differs('MLmodel is missing');
    return [`${onnxArtifact} equal to the export as ONNX, model.json and preprocessing.json to the run's`];
  }
  if (!declarationOf(run.record.config).formats.includes('safetensors')) {
    return ["model.json and preprocessing.json equal to the run's"];
  }
  const weights = [...artifacts].find(([name]) => name.endsWith('.safetensors'))?.[1] ?? differs('it has no weights');
  const module = [...artifacts].find(([name]) => name.endsWith('.model.py'))?.[1];
  return [readWeights(weights, run), ...(module ? [readModule(module, weights)] : [])];
}

const stored = (key: string): string => key.replace(/[^\w\-. ]/g, '_');

/** Lines of `key: value`, values as JSON has them. */
function readMeta(files: Files, { record }: OpenedRun): void {
  const names = [...files].map(([path, text]) => {
    const lines = decodeText(text).trim().split('\n');
    const entries = lines.map((line): [string, unknown] => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), JSON.parse(line.slice(at + 2))];
    });
    const meta = Object.fromEntries(entries);
    return path === '1/meta.yaml' ? meta['name'] : meta['run_name'];
  });
  if (names.length !== 2 || !names.includes(record.name) || !names.includes(record.datasetName)) {
    differs('the names of run and dataset are others');
  }
}

/** How many values there are, all of them the run's. */
function readMetrics(metrics: Files, { points, record }: OpenedRun): number {
  const final = Object.entries(record.result?.metrics ?? {}).map(([key, value]): MetricPoint => {
    return { series: `final_${key}`, step: record.result?.steps ?? 0, epoch: 0, seconds: 0, value };
  });
  const left = new Map([...metrics].map(([name, data]) => [name, decodeText(data).trim().split('\n')]));
  const next = new Map<string, number>();
  for (const { series, step, value } of [...points, ...final]) {
    const name = stored(series);
    const at = next.get(name) ?? 0;
    next.set(name, at + 1);
    const [, text, found] = left.get(name)?.[at]?.split(' ') ?? [];
    if (text === undefined || !Object.is(Number(text), value) || Number(found) !== step) {
      differs(`value ${at + 1} of ${series} is ${text ?? 'missing'}`);
    }
  }
  const lines = [...left.values()].reduce((sum, { length }) => sum + length, 0);
  const expected = points.length + final.length;
  if (lines !== expected) differs(`${counted(lines, 'metric value')} instead of ${expected}`);
  return lines;
}
