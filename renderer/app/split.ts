// The split a dataset gets unless another is chosen.

/** Shares of train, validation and test; the same as in engine/data/prepare.ts, which the window may not import. */
export const usualSplit: readonly [number, number, number] = [0.8, 0.1, 0.1];
