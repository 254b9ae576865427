// What a run makes of a dataset: which columns it leaves out and why, and how many rows each split gets. The same rules for
// the data service, which keeps to them, and for the window and the command line, which say so beforehand.

import type {
  DatasetInfo,
  DatasetSettings,
  DataWarning,
  LeftOutColumn,
  Normalization,
  RowForm,
  RowReading,
  SplitName,
} from './data.ts';
import type { RunData } from './runs.ts';

export const splitNames = ['train', 'validation', 'test'] as const satisfies readonly SplitName[];

/** The split a run is looked at on unless another is asked for: of rows it did not learn from. Null: nothing is known of the rows yet. */
export const usualRowsOf = (data: Pick<RunData, 'counts'> | null): SplitName =>
  data !== null && data.counts.validation === 0 && data.counts.test > 0 ? 'test' : 'validation';

/** `Evaluate the train or test split.`: where `empty` has no rows. */
export const otherSplits = (verb: string, empty: SplitName): string =>
  `${verb} the ${splitNames.filter((name) => name !== empty).join(' or ')} split.`;

/** The forms of rows that are made of each kind of dataset. */
export const formsOf: Readonly<Record<DatasetInfo['kind'], readonly RowForm[]>> = {
  table: ['matrix', 'columns'],
  images: ['pixels'],
};

/** Shares of train, validation and test unless set. */
export const usualSplit: readonly [number, number, number] = [0.8, 0.1, 0.1];

type Used = Pick<DatasetInfo, 'columns' | 'target' | 'settings'>;

/** Columns of a table that no model sees, and why. A run may find more: constant within its training split. */
export function leftOutColumns(info: Used): LeftOutColumn[] {
  const without = leftOutFor(info, []);
  const texts = info.settings.texts?.columns ?? (without.length < info.columns.length - 1 ? [] : null);
  if (texts?.length === 0) return without;
  return leftOutFor(info, texts ?? info.columns.map(({ name }) => name));
}

/** Columns of text that a model reads, if it reads any. */
export function textColumns(info: Used): readonly string[] {
  const leftOut = new Set(leftOutColumns(info).map(({ column }) => column));
  return info.columns.flatMap(({ name, type }) =>
    type === 'text' && name !== info.target && !leftOut.has(name) ? [name] : [],
  );
}

/**
 * The settings of a dataset for a run that reads rows as another one does (null: as it finds best). `columns`: where no text is read yet and
 * there is one column of it, that one is.
 */
export function readAs(
  info: Used & Pick<DatasetInfo, 'kind' | 'image'>,
  { texts: kept, normalization }: RowReading,
  columns = true,
): DatasetSettings {
  const { texts: { kept: _, ...texts } = {}, normalization: __, ...settings } = info.settings;
  if (info.kind === 'images') {
    const read = normalization && readChannels(normalization, info.image?.channels);
    return read ? { ...settings, normalization: read } : settings;
  }
  if (kept === null) return info.settings.texts === undefined ? settings : { ...settings, texts };
  const all = info.columns.filter(({ name, type }) => type === 'text' && name !== info.target);
  const unread = columns && textColumns(info).length === 0 && all.length === 1;
  return { ...settings, texts: { ...texts, ...(unread && { columns: [all[0].name] }), kept } };
}

/** Weights for colours are taken for grey pictures, their mean and deviation those of the three colours together; others are not. */
function readChannels(known: Normalization, channels: number | undefined): Normalization | null {
  if (known.mean.length === channels) return known;
  if (known.mean.length !== 3 || channels !== 1) return null;
  const middle = ([red, green, blue]: readonly number[]): readonly [number] => [(red + green + blue) / 3];
  return { mean: middle(known.mean), deviation: middle(known.deviation) };
}

/** Where the model reads these columns of text, as far as they are such. */
function leftOutFor({ columns, target, settings }: Used, texts: readonly string[]): LeftOutColumn[] {
  return columns.flatMap(({ name, type, distinct, missing }): LeftOutColumn[] => {
    if (name === target) return [];
    if (settings.splitBy?.kind === 'group' && settings.splitBy.column === name)
      return [{ column: name, reason: 'group' }];
    if (settings.ignored?.includes(name)) return [{ column: name, reason: 'ignored' }];
    if (type === 'identifier' || (type === 'text' && !texts.includes(name))) return [{ column: name, reason: type }];
    if (distinct === 0) return [{ column: name, reason: 'empty' }];
    return distinct === 1 && missing === 0 ? [{ column: name, reason: 'constant' }] : [];
  });
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ignored', 'as chosen'],
  ['text', 'free text'],
  ['group', 'the split goes by it'],
]);

/** `serial (identifier), site (constant)`, or `nothing`. */
export function leftOutText(columns: readonly LeftOutColumn[]): string {
  if (columns.length === 0) return 'nothing';
  return columns.map(({ column, reason }) => `${column} (${reasons.get(reason) ?? reason})`).join(', ');
}

/** Shares that what a source of pictures does not split itself is drawn by: of its training pictures, or of all. */
export function drawnShares(
  given: readonly SplitName[],
  [, validation, test]: readonly [number, number, number],
): readonly [number, number, number] {
  const drawn = [given.includes('validation') ? 0 : validation, given.length > 1 ? 0 : test] as const;
  return [1 - drawn[0] - drawn[1], ...drawn];
}

/** Splits that a source brings itself: those it has pictures of. */
export function givenSplits({ image }: Pick<DatasetInfo, 'image'>): readonly SplitName[] {
  return splitNames.filter((name) => (image?.splits?.[name] ?? 0) > 0);
}

/** About how many rows each split of a run will have. */
export function expectedCounts(
  info: Pick<DatasetInfo, 'rows' | 'columns' | 'target' | 'image'>,
  { split = usualSplit }: Pick<DatasetSettings, 'split'>,
): Readonly<Record<SplitName, number>> {
  const brought = info.image?.splits ?? null;
  const missing = brought === null ? (info.columns.find(({ name }) => name === info.target)?.missing ?? 0) : 0;
  const pool = brought?.train ?? info.rows - missing;
  const [train, validation, test] = brought === null ? split : drawnShares(givenSplits(info), split);
  // Ends are rounded, not shares, which would add up to a row more or less.
  const trained = Math.round(pool * train);
  const validated = test === 0 ? pool : Math.round(pool * (train + validation));
  return {
    train: trained,
    validation: validated - trained + (brought?.validation ?? 0),
    test: pool - validated + (brought?.test ?? 0),
  };
}

/** With fewer rows in the test split, one split says little of a model; folds test all rows, where there are enough for them. */
const fewTested = 300;
const enoughForFolds = 20;
/** As many as are offered where few rows are tested, and as New run begins with. */
export const offeredFolds = 5;

/** How uncertain the scores of a test split of few rows are, and what helps; null = there are enough, or none are to be tested. */
export function fewTestedText(counts: Readonly<Record<SplitName, number>>, task: DatasetInfo['task']): string | null {
  const all = counts.train + counts.validation + counts.test;
  if (task === null || counts.test === 0 || counts.test >= fewTested || all < enoughForFolds) return null;
  // Rows of a language model are passages, each with many targets, and folds would have it read ahead.
  if (task === 'language') return null;
  // 95 % of a share that is a half; of a root mean square error with errors as a normal distribution has them.
  const uncertain =
    task === 'classification'
      ? `an accuracy of so few is uncertain by up to ± ${Math.round(98 / Math.sqrt(counts.test))} points`
      : `a root mean square error of so few is uncertain by about ± ${Math.round(196 / Math.sqrt(2 * counts.test))} %`;
  const [tested, rows] = [counts.test, all].map((count) => count.toLocaleString('en'));
  return `About ${tested} ${counts.test === 1 ? 'row tests' : 'rows test'} the model: ${uncertain}. Cross-validation in ${offeredFolds} folds tests all ${rows} rows, in about five times the time.`;
}

/** Below so many rows to train on a run in the window begins with folds. */
const fewTrained = 3_000;
/** Rows of a class, or groups, that each of the folds needs, so that a run that begins with them is not refused. */
const forEachFold = 2;

/**
 * The folds that New run begins with, where `counts` are those of one split; undefined: one training. There are none where rows are tested in the
 * order of time, as somebody wanted the latest ones to be, nor where a class or the groups are too few for each fold to have some.
 */
export function usualFolds(
  { kind, task, classes, columns, settings }: Pick<DatasetInfo, 'kind' | 'task' | 'classes' | 'columns' | 'settings'>,
  counts: Readonly<Record<SplitName, number>>,
): number | undefined {
  const all = counts.train + counts.validation + counts.test;
  if (
    kind !== 'table' ||
    task === 'language' ||
    counts.test === 0 ||
    counts.train >= fewTrained ||
    all < enoughForFolds
  )
    return undefined;
  if (task === 'classification' && classes.some(({ count }) => count < forEachFold * offeredFolds)) return undefined;
  const { splitBy } = settings;
  if (splitBy === undefined) return offeredFolds;
  const { distinct = 0 } = columns.find(({ name }) => name === splitBy.column) ?? {};
  return splitBy.kind === 'group' && distinct >= forEachFold * offeredFolds ? offeredFolds : undefined;
}

/** Why a run begins with folds, and what it is then. */
export function foldsText(counts: Readonly<Record<SplitName, number>>, folds: number): string {
  const all = counts.train + counts.validation + counts.test;
  const rows = all.toLocaleString('en');
  return `${folds} folds test all ${rows} rows, each by a model that did not learn from it, instead of about ${counts.test.toLocaleString('en')}. The run predicts as the mean of the ${folds} models.`;
}

/** Where the splits come from, for people; empty where all are drawn by their shares. */
export function splitOrigin({ givenSplits: given, counts }: Pick<RunData, 'givenSplits' | 'counts'>): string {
  if (given.length < 2) return '';
  const drawn = splitNames.filter((name) => counts[name] > 0 && !given.includes(name));
  const rest = drawn.length > 0 ? `, ${inWords(drawn)} drawn from its train` : '';
  return `${inWords(given)} as the source has them${rest}`;
}

/** Columns of a table that a split can go by: those with an order, dates first; those whose values come again, identifiers too. */
export function splitColumns({
  columns,
  rows,
  target,
}: Pick<DatasetInfo, 'columns' | 'rows' | 'target'>): Readonly<Record<'time' | 'group', readonly string[]>> {
  const others = columns.filter(({ name, distinct }) => name !== target && distinct > 2);
  const dates = others.filter(({ type }) => type === 'datetime');
  const numbers = others.filter(({ type }) => type === 'number');
  const groups = others.filter(({ type, distinct }) => type !== 'datetime' && distinct * 2 <= rows);
  return {
    time: [...dates, ...numbers].map(({ name }) => name),
    group: [...groups]
      .sort((one, other) => Number(one.type === 'number') - Number(other.type === 'number'))
      .map(({ name }) => name),
  };
}

/** What a split goes by, for people; empty where rows are drawn by chance. */
export function splitRule({ splitBy }: Pick<DatasetSettings, 'splitBy'>): string {
  if (splitBy === undefined) return '';
  return splitBy.kind === 'time' ? `in the order of ${splitBy.column}` : `by ${splitBy.column}, each in one split`;
}

/** `a, b and c`. */
export function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** What it means that no row validates, and what to do. */
export function noValidationWarning(): DataWarning {
  return {
    code: 'no_validation',
    message:
      'No row validates: nothing shows when a model begins to learn its rows by heart, training does not stop early and ' +
      'keeps the weights with the lowest training loss. Give validation a share, such as 10 %.',
  };
}
