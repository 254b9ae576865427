// Where the keyboard goes on when a run is dropped from a comparison: at the run beside it, once the others are there again without it.

/** `runs`: as they stand; `find`: where the keyboard may stand for one. Returns what is called before one is dropped. */
export function goingOnBeside(
  runs: () => readonly number[],
  find: (run: number) => HTMLElement | null | undefined,
): (dropped: number) => void {
  let wanted: { readonly dropped: number; readonly next: number } | null = $state.raw(null);
  $effect(() => {
    const there = runs();
    if (wanted === null || there.includes(wanted.dropped) || !there.includes(wanted.next)) return;
    find(wanted.next)?.focus();
    wanted = null;
  });
  return (dropped) => {
    const at = runs().indexOf(dropped);
    const next = runs()[at + 1] ?? runs()[at - 1];
    wanted = next === undefined ? null : { dropped, next };
  };
}
