// What fitting a model of a table that is no network is made of: trees by rows × columns × trees × leaves, linear
// models by their systems. Costs are those of one thread of one processor (docs/hardware.md has what they were fitted to); a lab's fits
// say how this machine compares (speed.ts).

interface ForestShape {
  readonly trees: number;
  readonly minRows: number;
  /** Share of the columns that a node looks at; 0 = the usual. */
  readonly nodeFraction: number;
  readonly bootstrap: 'yes' | 'no';
}

/** The settings of a learner that decide its time: those of a run's, as they are. */
export type TableModel =
  | {
      readonly learner: 'boosted';
      readonly boosted: {
        readonly trees: number;
        readonly leaves: number;
        readonly minRows: number;
        readonly patience: number;
        readonly rowFraction: number;
        readonly featureFraction: number;
      };
    }
  | { readonly learner: 'forest'; readonly forest: ForestShape }
  | { readonly learner: 'extra'; readonly extra: ForestShape }
  | { readonly learner: 'linear'; readonly linear: { readonly penalty: number } }
  | { readonly learner: 'auto'; readonly auto: { readonly minutes: number } };

export const tableLearners = [
  'boosted',
  'forest',
  'extra',
  'linear',
  'auto',
] as const satisfies readonly TableModel['learner'][];

export const isTableModel = (config: { readonly learner: string }): config is TableModel =>
  (tableLearners as readonly string[]).includes(config.learner);

export interface TableTask {
  readonly model: TableModel;
  readonly counts: { readonly train: number; readonly validation: number; readonly test: number };
  /** That it looks at; of a linear model each category is one a value. */
  readonly columns: number;
  /** Of them those of categories, which trees sort for every split; absent: none. */
  readonly categories?: number;
  /** Of all columns, 255 each at most; absent: as many as the rows allow. */
  readonly bins?: number;
  /** 0: a number is predicted. */
  readonly classes: number;
  /** Trees grown, where that is known; else all that were asked for. */
  readonly grown?: number;
}

/** Seconds by what is done; `shared`: what several threads divide among them, `parts` at most. */
export interface TableWork {
  readonly reading: number;
  readonly alone: number;
  readonly shared: number;
  readonly parts: number;
  readonly scoring: number;
}

/** Nanoseconds on one thread of the processor that all was timed on, each of what stands beside it. */
const cost = {
  /** A value that is sorted to find the bins, and one that is put into its bin. */
  sorted: 130,
  binned: 15,
  boosted: {
    /** A row a tree: gradients, scores, losses. */
    row: 15.2,
    /** A value of a row at the root, and a level below it; a row and level: it goes left or right. */
    root: 0.79,
    level: 0.91,
    partition: 2,
    /** A bin of a split: histograms subtracted, cuts tried. */
    bin: 4.8,
    /** A split on the host. */
    split: 31_000,
    /** A column of categories that is sorted for a leaf on the host. */
    category: 1_800,
    scored: 3.1,
  },
  /** In the kernel, which has a tree a thread: a value and level of a node's rows; a row a tree. Of classes and of numbers. */
  forest: { classes: { value: 4.35, row: 0 }, numbers: { value: 13.2, row: 0 } },
  extra: { classes: { value: 4.3, row: 190 }, numbers: { value: 11.7, row: 0 } },
  /** On the host, a row a tree: it is read; what it says of the rows out of its bag, and of each of several classes. */
  grown: { classes: 72, numbers: 275 },
  outOfBag: { classes: 124, numbers: 199, output: 49 },
  /** Nodes that a row goes through to be scored. */
  walked: 8,
  /** A multiplication with its addition. */
  linear: { newton: 2.9, pass: 1.3, gram: 0.9, system: 0.5 },
} as const;

/** A tree of one class of several ends before it has all its leaves: the share of the work that is left. */
const ofSeveral = 0.85;
/** Until V8 has made code of what is done again and again. */
export const warmUp = 0.03;
const sampledRows = 200_000;
export const mostBins = 255;
/** Rows that a third of makes a bin of its own. */
const rowsOfBin = 3;
/** Shares of rows that are drawn at least once with replacement. */
export const drawnOnce = 1 - Math.exp(-1);

const nano = (count: number): number => count * 1e-9;
export const outputsOf = (classes: number): number => (classes > 2 ? classes : 1);

export const binsOf = ({ bins, columns, counts }: TableTask): number =>
  bins ?? columns * Math.max(1, Math.min(mostBins, Math.floor(counts.train / rowsOfBin)));

/** What a fit takes on the processor that all was timed on; null: it takes the time that it is given. */
export function tableWork(task: TableTask): TableWork | null {
  const { model } = task;
  switch (model.learner) {
    case 'boosted':
      return boostedWork(task, model.boosted);
    case 'forest':
      return forestWork(task, model.forest, cost.forest);
    case 'extra':
      return forestWork(task, model.extra, cost.extra);
    case 'linear':
      return linearWork(task, model.linear.penalty);
    case 'auto':
      return null;
    default:
      return model satisfies never;
  }
}

function readingOf({ counts: { train, validation, test }, columns }: TableTask): number {
  const values = (train + validation + test) * columns;
  return nano(cost.sorted * Math.min(train, sampledRows) * columns + cost.binned * values);
}

function boostedWork(task: TableTask, settings: Extract<TableModel, { learner: 'boosted' }>['boosted']): TableWork {
  const { counts, columns, categories = 0, classes, grown = settings.trees } = task;
  const { row, root, level, partition, bin, split, category, scored } = cost.boosted;
  const seen = counts.train + counts.validation;
  const rows = counts.train * settings.rowFraction;
  const values = rows * columns * settings.featureFraction;
  const leaves = Math.max(1, Math.min(settings.leaves, rows / (1.6 * settings.minRows)));
  const levels = Math.log2(leaves);
  const tried = (leaves - 1) * binsOf(task) * settings.featureFraction;
  const trees = grown * outputsOf(classes) * (classes > 2 ? ofSeveral : 1);
  const each = row * seen + root * values + levels * (level * values + partition * rows) + bin * tried;
  return {
    reading: readingOf(task),
    alone: warmUp + nano(trees * (leaves - 1) * (split + 2 * category * categories * settings.featureFraction)),
    shared: nano(trees * each),
    parts: Infinity,
    scoring: nano((seen + counts.test) * trees * scored),
  };
}

function forestWork(
  task: TableTask,
  { trees: asked, minRows, nodeFraction, bootstrap }: ForestShape,
  each: (typeof cost)['forest' | 'extra'],
): TableWork {
  const { counts, columns, classes, grown: trees = asked } = task;
  const usual = classes > 0 ? Math.sqrt(columns) : columns / 3;
  const looked = Math.max(1, Math.min(columns, Math.round(nodeFraction > 0 ? nodeFraction * columns : usual)));
  const rows = counts.train * (bootstrap === 'yes' ? drawnOnce : 1);
  const levels = Math.log2(Math.max(2, rows / minRows));
  const kind = classes > 0 ? 'classes' : 'numbers';
  const { value, row } = each[kind];
  const outOfBag = cost.outOfBag[kind] + (classes > 2 ? cost.outOfBag.output * classes : 0);
  const host = cost.grown[kind] + (bootstrap === 'yes' ? outOfBag : 0);
  const all = counts.train + counts.validation + counts.test;
  return {
    reading: readingOf(task),
    alone: warmUp + nano(trees * host * counts.train),
    shared: nano(trees * (value * rows * looked * levels + row * counts.train)),
    parts: trees,
    scoring: nano(all * trees * levels * cost.walked),
  };
}

/** Penalties a search tries, in the median; Newton's steps, exact or truncated and then in passes over the rows, of all of them. */
const usualSearch = { penalties: 5, steps: 20, passes: 140 } as const;
/** Parameters that Newton's method solves for, and the side of a system that is solved, at most. */
export const [fewParameters, largestSystem] = [120, 1_500];

function linearWork({ counts, columns: P, classes }: TableTask, penalty: number): TableWork {
  const { train } = counts;
  const K = outputsOf(classes);
  const all = train + counts.validation + counts.test;
  const { newton, pass, gram, system } = cost.linear;
  // A penalty that is given is one solution, to the end.
  const [penalties, steps, passes] = penalty > 0 ? [1, 8, 60] : Object.values(usualSearch);
  const M = Math.min(train, P);
  const parameters = (P + 1) * K;
  const weighed =
    classes === 0
      ? M <= largestSystem
        ? gram * train * P * (M / 2) + penalties * (system * M ** 3 + pass * train * P)
        : passes * penalties * pass * 2 * train * P
      : parameters <= fewParameters
        ? steps * (newton * train * ((P + 1) ** 2 / 2) * (K > 1 ? K ** 2 / 2 : 1) + 2 * pass * train * P * K)
        : passes * pass * 2 * train * P * K;
  const [reading, alone, scoring] = [nano(3 * all * P), warmUp + nano(weighed), nano(2 * all * P * K)];
  return { reading, alone, shared: 0, parts: 1, scoring };
}
