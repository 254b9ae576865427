// How files are called that panes of an evaluation are saved as: by the run and the rows they speak of.

import { getContext, setContext } from 'svelte';

const key = Symbol('file names of an evaluation');

export function provideFileNames(run: () => number, rows: () => string): void {
  setContext(key, () => `run-${run()}-${rows().replace(/[^\p{L}\p{N}.-]+/gu, '-')}`);
}

/** The start of each name. */
export const useFileNames = (): (() => string) => getContext<() => string>(key);
