// Where the keyboard goes on when a run is dropped from a comparison: at the run beside it, once the others are there again without it,
// in the same list or in that of fewer runs.

export class Beside {
  #wanted: { readonly dropped: number; readonly next: number } | null = $state.raw(null);

  /** Called before a run is dropped; `runs` as they stand. */
  drop(dropped: number, runs: readonly number[]): void {
    const at = runs.indexOf(dropped);
    const next = runs[at + 1] ?? runs[at - 1];
    this.#wanted = next === undefined ? null : { dropped, next };
  }

  /** An effect of a list of runs; `find`: where the keyboard may stand for one of them. */
  goOn(runs: readonly number[], find: (run: number) => HTMLElement | null | undefined): void {
    const wanted = this.#wanted;
    if (wanted === null || runs.includes(wanted.dropped) || !runs.includes(wanted.next)) return;
    find(wanted.next)?.focus();
    this.#wanted = null;
  }
}
