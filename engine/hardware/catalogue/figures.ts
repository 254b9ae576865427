// What may be done with a figure: whether advice may rest on it, and whether it is too old.

import type { Figure } from './catalogue.ts';

/** Advice rests on nothing that is remembered or disputed. */
export const trusted = (figure: Figure | undefined): figure is Figure =>
  figure !== undefined && figure.confidence !== 'memory' && figure.confidence !== 'disputed';

/** Days after which a price is old. */
export const staleAfterDays = 60;

const day = 24 * 3600 * 1000;

/** Days since the figure's date; `null`: undated, or dated to come, beyond what zones of time explain. `now` in ms since the epoch. */
export function ageInDays({ date }: Pick<Figure, 'date'>, now: number): number | null {
  const days = date === null ? null : Math.floor((now - Date.parse(date)) / day);
  return days === null || days < -1 ? null : Math.max(0, days);
}

/** Older than `days`, or undated. */
export function isStale(figure: Pick<Figure, 'date'>, now: number, days = staleAfterDays): boolean {
  const age = ageInDays(figure, now);
  return age === null || age > days;
}

/** `11 of 14 prices are older than 60 days or undated`; '' where none is. */
export function staleText(prices: readonly Pick<Figure, 'date'>[], now: number): string {
  const stale = prices.filter((price) => isStale(price, now)).length;
  return stale === 0 ? '' : `${stale} of ${prices.length} prices are older than ${staleAfterDays} days or undated`;
}
