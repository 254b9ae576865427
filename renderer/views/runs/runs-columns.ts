// The columns of the runs table: what each shows, how wide it is, what the history sorts it by.

import type { ListedSettings } from '../../../engine/learners/declared/declare.ts';
import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { fixed, missing, short, score, stopwatch, when } from '../../lib/format.ts';
import { elapsedOf, modelName, rowsPerSecond, stateWord } from '../../lib/run-words.ts';
import { lowerWins, metricWord, parseSeries } from '../../lib/series.ts';
import { textWidth, widestText } from '../../components/measure.ts';
import { lightWeight, type FittedColumn } from '../../components/table.ts';
import type { ListedRun } from './listed.ts';

export { listedFields, listedSeries, type ListedRun } from './listed.ts';

export interface RunColumn extends FittedColumn {
  /** Text of the cell; columns with more than text are drawn by RunCell. */
  readonly text?: (run: ListedRun) => string;
  /** Pixels of what RunCell draws. */
  readonly measure?: (run: ListedRun) => number;
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
/** Of the usual columns, those left out first where room is short; columns that a person added go last. */
const lightestFirst: readonly string[] = [
  'bestLoss',
  'rate',
  'tags',
  'curve',
  'last',
  'duration',
  'device',
  'model',
  'createdAt',
  'dataset',
  'state',
];
/** How many of them go before a name is narrowed. */
const light = 3;

export function weightOf(id: string): number {
  const place = lightestFirst.indexOf(id);
  return place < 0 ? 100 : place < light ? place : lightWeight + place;
}

/** The model, and how many times a cross-validation trains it. */
const modelText = (run: ListedRun): string =>
  run.config.folds === undefined ? modelName(run) : `${modelName(run)}, ${run.config.folds} folds`;

/** Cell padding, and the arrow of the sorted column. */
const padding = 17;
const arrow = 18;

/** Pixels of a column with these runs, its header included. */
export function naturalWidth(column: RunColumn, runs: readonly ListedRun[]): number {
  const header = textWidth(column.label, 11, 600) + (column.sort ? arrow : 0);
  const cells = column.measure
    ? Math.max(0, ...runs.map(column.measure))
    : column.text
      ? widestText(runs.map(column.text))
      : 0;
  return padding + Math.max(header, cells);
}

/** All columns; `series` is the score shown, such as `val_accuracy`. */
export function runColumns(series: string): readonly RunColumn[] {
  const { metric } = parseSeries(series);
  const listed = ({ config }: ListedRun): ListedSettings => declarationOf(config).listed(config);
  return [
    { id: 'select', label: '', width: 30, fixed: true },
    { id: 'star', label: '', width: 30, fixed: true },
    {
      id: 'name',
      label: 'Name',
      width: 150,
      least: 320,
      most: 380,
      grow: true,
      sort: 'name',
      fixed: true,
      measure: (run) => textWidth(run.name, 12, 600),
    },
    {
      id: 'state',
      label: 'State',
      width: 80,
      sort: 'state',
      measure: (run) => 13 + textWidth(stateWord(run)),
    },
    {
      id: 'dataset',
      label: 'Data',
      width: 80,
      least: 176,
      most: 190,
      sort: 'dataset',
      text: (run) => run.datasetName,
    },
    { id: 'model', label: 'Model', width: 80, least: 150, most: 180, text: modelText },
    {
      id: 'device',
      label: 'Device',
      width: 56,
      sort: 'device',
      measure: (run) => 12 + textWidth(run.device.toUpperCase(), 11, 600),
    },
    {
      id: 'best',
      label: `Best ${metricWord(metric)}`,
      width: 100,
      numeric: true,
      sort: `best.${series}`,
      measure: (run) => {
        const best = ownValue(run.best, series);
        return best ? textWidth(score(best.value), 12, 600) + 4 + epochWidth(best.epoch) : 0;
      },
    },
    {
      id: 'last',
      label: 'Last',
      width: 56,
      numeric: true,
      sort: `last.${series}`,
      text: (run) => score(ownValue(run.last, series)),
    },
    { id: 'curve', label: 'Curve', width: 82 },
    {
      id: 'bestLoss',
      label: 'Best loss',
      width: 60,
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
    { id: 'rate', label: 'Train rows/s', width: 74, numeric: true, text: (run) => fixed(rowsPerSecond(run)) },
    { id: 'createdAt', label: 'Started', width: 84, sort: 'createdAt', text: (run) => when(run.createdAt) },
    {
      id: 'tags',
      label: 'Tags',
      width: 60,
      least: 60,
      most: 220,
      grow: true,
      measure: (run) => run.tags.reduce((sum, tag) => sum + 20 + textWidth(tag, 11), 0),
    },
    {
      id: 'group',
      label: 'Group',
      width: 80,
      least: 60,
      most: 180,
      sort: 'group',
      text: (run) => run.group ?? missing,
    },
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
    { id: 'batch', label: 'Batch', width: 64, numeric: true, text: (run) => fixed(listed(run).batch) },
    { id: 'optimizer', label: 'Optimizer', width: 60, text: (run) => listed(run).optimizer ?? missing },
    {
      id: 'learningRate',
      label: 'Learning rate',
      width: 100,
      numeric: true,
      text: (run) => short(listed(run).learningRate),
    },
    {
      id: 'linear',
      label: `Linear ${metricWord(metric)}`,
      width: 100,
      numeric: true,
      text: ({ result }) => score(ownValue(result?.baseline?.linear?.metrics ?? {}, series)),
    },
    {
      id: 'constant',
      label: `Constant ${metricWord(metric)}`,
      width: 100,
      numeric: true,
      text: ({ result }) => score(ownValue(result?.baseline?.constant.metrics ?? {}, series)),
    },
    { id: 'seed', label: 'Seed', width: 60, numeric: true, text: (run) => String(run.config.seed) },
    {
      id: 'notes',
      label: 'Notes',
      width: 100,
      least: 100,
      most: 300,
      grow: true,
      text: (run) => run.notes.split('\n')[0],
    },
  ];
}

/** Pixels of `@12` behind a best value; never less than that of two digits, so that values stand under each other. */
export function epochWidth(epoch: number): number {
  return Math.max(34, textWidth(`@${fixed(Math.round(epoch))}`));
}

/** First click on a header: the best or newest on top, names from A. */
export function startsDescending(sort: string): boolean {
  if (sort.startsWith('best.') || sort.startsWith('last.')) return !lowerWins(parseSeries(sort.slice(5)).metric);
  return !['name', 'state', 'dataset', 'device', 'group'].includes(sort);
}
