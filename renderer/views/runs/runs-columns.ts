// The columns of the runs table: what each shows, how wide it is, what the history sorts it by.

import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { fixed, short, score, stopwatch, when } from '../../app/format.ts';
import { elapsedOf, modelName, rowsPerSecond } from '../../app/run-words.ts';
import { lowerWins, metricWord, parseSeries } from '../../app/series.ts';
import type { TableColumn } from '../../components/table.ts';

export interface RunColumn extends TableColumn {
  /** Text of the cell; columns with more than text are drawn by RunCell. */
  readonly text?: (run: RunRecord) => string;
  /** Always shown. */
  readonly fixed?: boolean;
}

/** Columns shown at first. */
export const usualColumns: readonly string[] = [
  'state',
  'dataset',
  'model',
  'device',
  'best',
  'last',
  'curve',
  'bestLoss',
  'duration',
  'rate',
  'createdAt',
  'tags',
];
/** Hidden first where the window is small. */
export const lightColumns: ReadonlySet<string> = new Set(['bestLoss', 'rate', 'tags', 'device']);

/** All columns; `series` is the score shown, such as `val_accuracy`. */
export function runColumns(series: string): readonly RunColumn[] {
  const { metric } = parseSeries(series);
  const training = (run: RunRecord): RunRecord['config']['training'] => run.config.training;
  return [
    { id: 'select', label: '', width: 30, fixed: true },
    { id: 'star', label: '', width: 30, fixed: true },
    { id: 'name', label: 'Name', width: 150, grow: true, sort: 'name', fixed: true },
    { id: 'state', label: 'State', width: 112, sort: 'state' },
    { id: 'dataset', label: 'Data', width: 100, sort: 'dataset', text: (run) => run.datasetName },
    { id: 'model', label: 'Model', width: 90, text: modelName },
    { id: 'device', label: 'Device', width: 60, sort: 'device' },
    { id: 'best', label: `Best ${metricWord(metric)}`, width: 112, numeric: true, sort: `best.${series}` },
    {
      id: 'last',
      label: 'Last',
      width: 62,
      numeric: true,
      sort: `last.${series}`,
      text: (run) => score(run.last[series]),
    },
    { id: 'curve', label: 'Curve', width: 78 },
    {
      id: 'bestLoss',
      label: 'Best loss',
      width: 76,
      numeric: true,
      sort: 'best.val_loss',
      text: (run) => score(run.best['val_loss']?.value),
    },
    {
      id: 'duration',
      label: 'Time',
      width: 56,
      numeric: true,
      sort: 'duration',
      text: (run) => stopwatch(elapsedOf(run)),
    },
    { id: 'rate', label: 'Train rows/s', width: 92, numeric: true, text: (run) => fixed(rowsPerSecond(run)) },
    { id: 'createdAt', label: 'Started', width: 84, sort: 'createdAt', text: (run) => when(run.createdAt) },
    { id: 'tags', label: 'Tags', width: 76, grow: true },
    {
      id: 'parameters',
      label: 'Parameters',
      width: 92,
      numeric: true,
      sort: 'parameters',
      text: (run) => (run.parameters > 0 ? fixed(run.parameters) : '–'),
    },
    {
      id: 'epochs',
      label: 'Epochs',
      width: 68,
      numeric: true,
      text: (run) => fixed(run.result?.epochs ?? run.progress?.epoch ?? null),
    },
    { id: 'batch', label: 'Batch', width: 64, numeric: true, text: (run) => fixed(training(run).batch) },
    { id: 'optimizer', label: 'Optimizer', width: 84, text: (run) => training(run).optimizer.name },
    {
      id: 'learningRate',
      label: 'Learning rate',
      width: 100,
      numeric: true,
      text: (run) => short(training(run).optimizer.learningRate),
    },
    { id: 'seed', label: 'Seed', width: 60, numeric: true, text: (run) => String(training(run).seed) },
    { id: 'notes', label: 'Notes', width: 160, grow: true, text: (run) => run.notes.split('\n')[0] },
  ];
}

/** First click on a header: the best or newest on top, names from A. */
export function startsDescending(sort: string): boolean {
  if (sort.startsWith('best.') || sort.startsWith('last.')) return !lowerWins(parseSeries(sort.slice(5)).metric);
  return !['name', 'state', 'dataset', 'device'].includes(sort);
}
