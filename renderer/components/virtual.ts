// Which rows of equal height are in view, for lists far longer than the window. Browsers cannot scroll further than some
// 33 million pixels, so longer lists are compressed: the scroll bar then moves in proportion.

/** Under the browsers' limit, with room for borders. */
const tallest = 30_000_000;

export interface VirtualWindow {
  /** Rows [first, last) are drawn. */
  readonly first: number;
  readonly last: number;
  /** Pixels from the top of the scrolled content to the first row drawn. */
  readonly offset: number;
  /** Height of the scrolled content. */
  readonly height: number;
}

/** `overscan` rows are drawn beyond either edge, so that a quick scroll shows no gap. */
export function virtualWindow(
  count: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
  overscan = 4,
): VirtualWindow {
  const full = count * rowHeight;
  const height = Math.min(full, tallest);
  const travel = Math.max(1, height - viewHeight);
  const compressed = full > height;
  const top = compressed ? (scrollTop / travel) * (full - viewHeight) : scrollTop;
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const last = Math.min(count, Math.ceil((top + viewHeight) / rowHeight) + overscan);
  const offset = compressed ? scrollTop - (top - first * rowHeight) : first * rowHeight;
  return { first, last, offset, height };
}

/** Where to scroll so that a row is wholly in view; null = it is already. */
export function scrollToShow(
  index: number,
  count: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
): number | null {
  const full = count * rowHeight;
  const height = Math.min(full, tallest);
  const ratio = full > height ? (height - viewHeight) / (full - viewHeight) : 1;
  const top = scrollTop / ratio;
  if (index * rowHeight < top) return index * rowHeight * ratio;
  if ((index + 1) * rowHeight > top + viewHeight) return ((index + 1) * rowHeight - viewHeight) * ratio;
  return null;
}
