// What linked charts share: the hairline and the part of the x axis that is shown.

export class ChartCursor {
  /** Where the hairline stands; null = nowhere. */
  x: number | null = $state(null);
  /** Pinned by a click: stays when the pointer leaves. */
  pinned: boolean = $state(false);
  /** Zoomed part; null = everything. */
  range: { readonly from: number; readonly to: number } | null = $state.raw(null);

  move(x: number | null): void {
    if (!this.pinned) this.x = x;
  }

  togglePin(x: number): void {
    this.pinned = !this.pinned;
    this.x = x;
  }

  clear(): void {
    this.pinned = false;
    this.x = null;
  }
}
