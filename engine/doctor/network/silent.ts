// How many hidden units give the same to every row.

import type { Inside } from './inside.ts';

/** Shares of the hidden units. */
export const deadLimits = { look: 0.2, fix: 0.5 } as const;

export function countOf({ silent: layers }: Inside): { readonly units: number; readonly silent: number } {
  // The outputs answer in any case.
  return layers
    .slice(0, -1)
    .reduce((sum, { units, silent }) => ({ units: sum.units + units, silent: sum.silent + silent }), {
      units: 0,
      silent: 0,
    });
}

/** 0 where there are no hidden units. */
export const shareOf = (inside: Inside): number => {
  const { units, silent } = countOf(inside);
  return units > 0 ? silent / units : 0;
};
