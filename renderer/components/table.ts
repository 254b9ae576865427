// A column of a virtual table, and which columns a table of some width shows, how wide each.

export interface TableColumn {
  readonly id: string;
  readonly label: string;
  /** Pixels; with `grow` at least so many, and a share of what is left. */
  readonly width: number;
  readonly grow?: boolean;
  readonly numeric?: boolean;
  /** What the history sorts by; columns without it cannot be sorted. */
  readonly sort?: string;
}

/** A column whose width follows from what it holds. */
export interface FittedColumn extends TableColumn {
  /** Texts (names that people give) may be narrowed to this many pixels where room is short; without it, never. */
  readonly least?: number;
  /** No wider than this many pixels, whatever it holds. */
  readonly most?: number;
  /** Where room is short the lightest column is left out first; without a weight, never. */
  readonly weight?: number;
}

/** Columns beyond this many are drawn only where they are in view. */
const drawnAlways = 40;
/** Columns up to this weight are left out before a name is narrowed; heavier ones only after. */
export const lightWeight = 10;

/**
 * The columns that fit into so many pixels, each as wide as what it holds (`natural`, pixels by id): light columns go first, then
 * texts narrow towards their least, then further columns go.
 */
export function fitColumns<T extends FittedColumn>(
  columns: readonly T[],
  natural: ReadonlyMap<string, number>,
  available: number,
): readonly T[] {
  const wanted = (column: T): number =>
    Math.ceil(Math.min(column.most ?? Infinity, Math.max(column.width, natural.get(column.id) ?? 0)));
  const least = (column: T): number => Math.min(column.least ?? Infinity, wanted(column));
  const sum = (list: readonly T[], width: (column: T) => number): number =>
    list.reduce((total, column) => total + width(column), 0);
  let shown = columns;
  const byWeight = columns
    .filter((column) => column.weight !== undefined)
    .sort((a, b) => (a.weight ?? 0) - (b.weight ?? 0));
  for (const column of byWeight) {
    const width = (column.weight ?? 0) <= lightWeight ? wanted : least;
    if (sum(shown, width) <= available) break;
    shown = shown.filter((other) => other !== column);
  }
  const missing = Math.max(0, sum(shown, wanted) - available);
  const spare = sum(shown, (column) => wanted(column) - least(column));
  const share = spare > 0 ? Math.min(1, missing / spare) : 0;
  return shown.map((column) => ({
    ...column,
    width: Math.floor(wanted(column) - share * (wanted(column) - least(column))),
  }));
}

/** CSS grid tracks of the columns. */
export function gridTemplate(columns: readonly TableColumn[]): string {
  return columns.map(({ width, grow }) => (grow ? `minmax(${width}px, ${width}fr)` : `${width}px`)).join(' ');
}

export function totalWidth(columns: readonly TableColumn[]): number {
  return columns.reduce((sum, column) => sum + column.width, 0);
}

/** Positions of the columns to draw: all of a usual table; of a very wide one the first and those in view. */
export function columnWindow(
  columns: readonly TableColumn[],
  scrollLeft: number,
  viewWidth: number,
): readonly number[] {
  if (columns.length <= drawnAlways) return columns.map((_, position) => position);
  const positions = [0];
  let left = columns[0].width;
  for (let position = 1; position < columns.length; position++) {
    const right = left + columns[position].width;
    if (right >= scrollLeft - 200 && left <= scrollLeft + viewWidth + 200) positions.push(position);
    left = right;
  }
  return positions;
}
