// A cross-validation for other tools: it has no model, but scores of its folds and their curves. Made and read back here, as every export is.

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
    `Run ${source.record.id} is a cross-validation: its folds have models, it has none.`,
    'Export it as html, tensorboard or json, or one of its folds, or train its settings without folds for a model.',
  );
}

function specification({ record, folds }: FoldsSource): object {
  const { id, name, datasetName, config, result, createdAt } = record;
  const runs = folds.map(({ fold, record: { id: run, state, config: own, result: came } }) => {
    return { fold, run, state, config: own, result: came };
  });
  return { version: 1, run: { id, name, dataset: datasetName, createdAt, config, result }, folds: runs };
}
