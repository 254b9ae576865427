// A column of a virtual table.

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

/** Columns beyond this many are drawn only where they are in view. */
const drawnAlways = 40;

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
