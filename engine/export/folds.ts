// What a cross-validation came to, for other tools: the scores of its folds and their curves. Made and read back here, as every export is; its
// model, the mean of those of its folds, leaves as any model does.

import type { ExportDraft, ExportedFile, ExportFormat, FoldsSource } from '../protocol/exports.ts';
import { decodeText, encodeText } from '../train/safetensors.ts';
import { exportFoldsHtml } from './html/folds.ts';
import { exportTensorboard } from './logs/tensorboard.ts';
import { counted, differs } from './reading/differs.ts';
import { readTensorboard } from './reading/logs.ts';
import { readFoldsHtml } from './reading/texts.ts';
import { cannotExport } from './refusal.ts';

interface Request {
  readonly format: ExportFormat;
  readonly name: string;
  readonly source: FoldsSource;
}

/** Throws `run.export` for a format that is of one model, `run.export_differs`. */
export function exportFolds({ format, name, source }: Request): ExportDraft {
  const made = (files: readonly ExportedFile[], proven: readonly string[]): ExportDraft => ({
    files,
    check: null,
    proven,
  });
  if (format === 'html') {
    const page = exportFoldsHtml(name, source);
    return made([page], readFoldsHtml(decodeText(page.data), source));
  }
  if (format === 'json') {
    const text = JSON.stringify(specification(source), null, 1);
    const file = { path: `${name}.json`, data: encodeText(text) };
    if (JSON.stringify(JSON.parse(decodeText(file.data)), null, 1) !== text) differs('it reads otherwise');
    return made([file], [`settings, means, deviations and ${counted(source.folds.length, 'fold')} equal to the run's`]);
  }
  if (format === 'tensorboard') {
    const parts = [{ place: 'mean', record: source.record, points: source.points }].concat(
      source.folds.map(({ fold, record, points }) => ({ place: `fold-${fold}`, record, points })),
    );
    const files: ExportedFile[] = [];
    const proven = parts.map(({ place, record, points }) => {
      const [file] = exportTensorboard(name, { record, points });
      files.push({ ...file, path: `${place}/${file.path}` });
      return `${place}: ${readTensorboard(new Map([[file.path, file.data]]), { points }).join(', ')}`;
    });
    return made(files, proven);
  }
  throw cannotExport(
    `Run ${source.record.id} is a cross-validation, the mean of the models of its folds.`,
    'Export it as onnx, html, tensorboard or json, or one of its folds.',
  );
}

function specification({ record, folds }: FoldsSource): object {
  const { id, name, datasetName, config, result, createdAt } = record;
  const runs = folds.map(({ fold, record: { id: run, state, config: own, result: came } }) => {
    return { fold, run, state, config: own, result: came };
  });
  return { version: 1, run: { id, name, dataset: datasetName, createdAt, config, result }, folds: runs };
}
