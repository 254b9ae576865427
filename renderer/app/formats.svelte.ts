// Whether numbers and dates are written as the system's regional format has them or as in English. format.ts writes them; what has to be drawn
// anew when this changes stands in a block keyed by `choice`.

import type { RegionalFormat } from '../../engine/protocol/app.ts';
import { useRegion } from '../lib/format.ts';
import type { Preferences } from './preferences.ts';

export type FormatsChoice = 'system' | 'english';

const preference = 'formats';
const isChoice = (value: unknown): value is FormatsChoice => value === 'system' || value === 'english';

export class Formats {
  choice: FormatsChoice = $state('system');
  #region: RegionalFormat | null = null;
  readonly #preferences: Preferences;

  constructor(preferences: Preferences) {
    this.#preferences = preferences;
  }

  /** Reads the kept choice; call before anything is written. */
  async load(region: Promise<RegionalFormat>): Promise<void> {
    const kept = this.#preferences.read(preference, isChoice, 'system');
    this.#region = await region;
    this.#apply(await kept);
  }

  choose(choice: FormatsChoice): void {
    this.#apply(choice);
    this.#preferences.write(preference, choice);
  }

  #apply(choice: FormatsChoice): void {
    useRegion(choice === 'system' ? this.#region : null);
    this.choice = choice;
  }
}
