// What a race came to, in words: predicted and measured side by side, with the error.

import {
  crossoverOf,
  crossoverFactor,
  isTooClose,
  type Race,
  type TimedRace,
} from '../../../../engine/hardware/crossover-forecast.ts';
import { fixed, percent } from '../../../lib/format.ts';
import type { Varied } from './page.svelte.ts';

export interface RaceVerdict {
  readonly predicted: string;
  /** '' = not timed. */
  readonly measured: string;
  /** By how much the prediction is off, and how sure it is; '' = nothing to say. */
  readonly error: string;
}

const places: Readonly<Record<Varied, string>> = { batch: 'batch', width: 'width' };

export function raceVerdict(forecast: readonly Race[], timed: readonly TimedRace[], vary: Varied): RaceVerdict {
  const word = places[vary];
  const [said, found] = [crossoverOf(forecast), crossoverOf(timed)];
  const place = (races: readonly Race[], batch: number | null): string => {
    if (races.length === 0) return '';
    const [smallest, largest] = [races[0].batch, races[races.length - 1].batch];
    if (batch === null) return `not up to ${word} ${fixed(largest)}`;
    return batch <= smallest ? `from ${word} ${fixed(smallest)} on, the smallest` : `from ${word} ${fixed(batch)} on`;
  };
  const factor = crossoverFactor(said, found);
  const parts: string[] = [];
  if (timed.length > 0) {
    if (factor !== null)
      parts.push(factor <= 1 ? 'within what was measured' : `off by a factor of ${fixed(factor, 2)}`);
    if (isTooClose(found)) parts.push(`too close to call there: within ${percent(found.within)}`);
    else if (found.high !== null && Math.round(found.low) !== Math.round(found.high)) {
      parts.push(`neither is surely ahead between ${fixed(found.low)} and ${fixed(found.high)}`);
    }
  }
  return { predicted: place(forecast, said.batch), measured: place(timed, found.batch), error: parts.join('; ') };
}
