// What a run of a table learner has to do, from its settings and its dataset, and how that is said in one line before it starts.

import type { DatasetInfo } from '../../protocol/data.ts';
import { leftOutColumns } from '../../protocol/use.ts';
import { about } from '../run-line.ts';
import { isMeasured, tableSeconds, type LearnerSpeed } from './speed.ts';
import { mostBins, type TableModel, type TableTask } from './work.ts';

type Described = Pick<DatasetInfo, 'columns' | 'target' | 'settings' | 'classes' | 'task' | 'kind'>;

/** Columns that pictures become, at most. */
const pictureColumns = 300;

/** `grown`: trees of a run that has ended. */
export function taskOfTable(
  model: TableModel,
  dataset: Described,
  counts: TableTask['counts'],
  grown?: number,
): TableTask {
  const left = new Set(leftOutColumns(dataset).map(({ column }) => column));
  const used = dataset.columns.filter(({ name }) => name !== dataset.target && !left.has(name));
  const categories = used.filter(({ type }) => type === 'category');
  const common = { model, counts, classes: dataset.task === 'regression' ? 0 : dataset.classes.length, grown };
  if (dataset.kind === 'images') return { ...common, columns: pictureColumns };
  if (model.learner === 'linear') {
    // A category is a column a value, and what is missing of a number has one of its own.
    const wide = used.reduce(
      (sum, { type, distinct, missing }) => sum + (type === 'category' ? distinct : 1) + (missing > 0 ? 1 : 0),
      0,
    );
    return { ...common, columns: wide };
  }
  const bins = used.reduce((sum, { distinct }) => sum + Math.min(mostBins, Math.max(1, distinct)), 0);
  return { ...common, columns: used.length, categories: categories.length, bins };
}

/** What trains on no GPU, in words: `trees do not use a GPU`. */
export const withoutGpu = ({ learner }: TableModel): string =>
  learner === 'linear' ? 'linear models do not use a GPU' : 'trees do not use a GPU';

export interface TableLine {
  /** `CPU: about 4 s; trees do not use a GPU`. */
  readonly text: string;
  /** What it rests on. */
  readonly basis: string;
}

/** `folds`: trainings of a cross-validation. */
export function tableLine(task: TableTask, speed: LearnerSpeed, around: number, folds = 1): TableLine {
  const { model, counts } = task;
  const [low, high] = tableSeconds(task, speed, around);
  const time = about([folds * low, folds * high]);
  if (model.learner === 'auto') {
    return {
      text: `About ${time}: it looks for the best for as long as you say`,
      basis: 'The time is what you give it. Most of what it trains does not use a GPU.',
    };
  }
  // Where trees may stop early nobody knows how many there will be.
  const most = model.learner === 'boosted' && model.boosted.patience > 0 && counts.validation > 0;
  return {
    text: `CPU: ${most ? 'at most' : ''} about ${time}; ${withoutGpu(model)}`.replace(/ {2,}/, ' '),
    basis: isMeasured(speed, model)
      ? 'Forecast from the last lab.'
      : 'Estimated: no lab has timed such models on this machine yet.',
  };
}
