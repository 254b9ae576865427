// A run as a folder that MLflow's file store reads (`mlflow ui --backend-store-uri FOLDER`): an experiment, in it the run with a file a
// parameter, a metric (lines of time, value, step) and a tag, and the model among its artifacts.

import { declarationOf } from '../../learners/declared/registry.ts';
import type { ExportedFile } from '../../protocol/exports.ts';
import { grouped } from '../grouped.ts';
import { encodeText } from '../../train/safetensors.ts';
import { exportOnnx } from '../onnx/model.ts';
import { utf8 } from '../onnx/proto.ts';
import { fitsOnnx } from '../onnx/size.ts';
import type { OpenedRun } from '../opened.ts';
import { tokenFilesOf } from '../texts/tokens.ts';
import { exportSafetensors } from '../safetensors.ts';
import { flatSettings } from './settings.ts';

/** MLflow refuses names with other characters, and longer values. */
const nameOf = (text: string): string => text.replace(/[^\w\-. /]/g, '_').replaceAll('/', '_');
const longestValue = 6000;

/** The model's file, and the version of Python's onnx that its operators came with. */
export const onnxArtifact = 'model.onnx';
const onnxVersion = '1.15.0';

/** Its number among the experiments: 0 is MLflow's own default. */
const experiment = '1';

export function exportMlflow(name: string, run: OpenedRun): readonly ExportedFile[] {
  const { record, points } = run;
  const id = runId(record.id, record.createdAt);
  const start = record.startedAt ?? record.createdAt;
  const folder = `${experiment}/${id}`;
  const file = (path: string, text: string): ExportedFile => ({ path, data: utf8(text) });
  const metrics = grouped(points, ({ series }) => series);
  const tags = {
    'mlflow.runName': record.name,
    'mlflow.source.name': 'trainyard',
    'mlflow.note.content': record.notes,
  };
  return [
    file(
      `${experiment}/meta.yaml`,
      yaml({
        artifact_location: `./${experiment}`,
        creation_time: record.createdAt,
        experiment_id: experiment,
        last_update_time: record.endedAt ?? start,
        lifecycle_stage: 'active',
        name: record.datasetName,
      }),
    ),
    file(
      `${folder}/meta.yaml`,
      yaml({
        artifact_uri: `./${folder}/artifacts`,
        end_time: record.endedAt,
        entry_point_name: '',
        experiment_id: experiment,
        lifecycle_stage: 'active',
        run_id: id,
        run_name: record.name,
        run_uuid: id,
        source_name: 'trainyard',
        source_type: 4,
        source_version: '',
        start_time: start,
        // FINISHED, KILLED, FAILED
        status: record.state === 'completed' ? 3 : record.state === 'failed' ? 4 : 5,
        tags: [],
        user_id: 'trainyard',
      }),
    ),
    ...flatSettings(record.config).map(([key, value]) =>
      file(`${folder}/params/${nameOf(key)}`, value.slice(0, longestValue)),
    ),
    ...[...metrics].map(([series, values]) =>
      file(
        `${folder}/metrics/${nameOf(series)}`,
        values.map(({ step, seconds, value }) => `${Math.round(start + 1000 * seconds)} ${value} ${step}\n`).join(''),
      ),
    ),
    ...Object.entries(record.result?.metrics ?? {}).map(([key, value]) =>
      file(
        `${folder}/metrics/final_${nameOf(key)}`,
        `${record.endedAt ?? start} ${value} ${record.result?.steps ?? 0}\n`,
      ),
    ),
    ...Object.entries(tags).map(([key, value]) => file(`${folder}/tags/${key}`, value)),
    ...modelFiles(name, run).map(({ path, data }) => ({ path: `${folder}/artifacts/model/${path}`, data })),
    { path: `${folder}/artifacts/model/model.json`, data: encodeText(run.model) },
    { path: `${folder}/artifacts/model/preprocessing.json`, data: encodeText(run.preprocessing) },
  ];
}

/** The weights; of a model that has none for PyTorch, the model itself as MLflow's flavour `onnx` loads it, if it is not too large for that, and what makes tokens of the texts it reads. */
function modelFiles(name: string, run: OpenedRun): readonly ExportedFile[] {
  const { record, file, tensors, recipe } = run;
  const { formats } = declarationOf(record.config);
  if (formats.includes('safetensors')) return exportSafetensors(name, run);
  if (!formats.includes('onnx') || !fitsOnnx(file)) return [];
  const { bytes } = exportOnnx({ name: record.name, file, weights: tensors, preprocessing: recipe });
  const flavour = {
    artifact_path: 'model',
    flavors: {
      onnx: {
        code: null,
        data: onnxArtifact,
        onnx_version: onnxVersion,
        providers: ['CPUExecutionProvider'],
      },
    },
    run_id: runId(record.id, record.createdAt),
    utc_time_created: new Date(record.createdAt).toISOString().replace('T', ' ').replace('Z', '000'),
  };
  return [
    { path: 'MLmodel', data: utf8(yaml(flavour)) },
    { path: onnxArtifact, data: bytes },
    ...tokenFilesOf(run, '', onnxArtifact),
  ];
}

/** 32 hexadecimal digits, the same for the same run. */
function runId(id: number, createdAt: number): string {
  return createdAt.toString(16).padStart(16, '0') + id.toString(16).padStart(16, '0');
}

/** Plain values only; JSON's texts are YAML's. */
function yaml(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join('');
}
