// What electricity costs here: the setting of the app, and flags over it.

import { electricityOf } from '../../engine/hardware/bill.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { electricityFields, electricityKey, type Electricity } from '../../engine/settings/electricity.ts';
import { numberOption, type OptionDef, type OptionValues } from './command.ts';

const { tariff, grid } = electricityFields;

/** For this call alone; `costs` keeps what it is given. */
export const electricityOptions = {
  tariff: { type: 'string', value: 'USD', help: `${tariff.help}; by default as in the settings` },
  grid: { type: 'string', value: 'GRAMS', help: `${grid.help}; by default as in the settings` },
} as const satisfies Record<string, OptionDef>;

/** What `--tariff` and `--grid` say. Throws InputError. */
export function electricityAsked(options: OptionValues): Partial<Electricity> {
  const price = numberOption(options, 'tariff', tariff);
  const grams = numberOption(options, 'grid', grid);
  return { ...(price === undefined ? {} : { tariff: price }), ...(grams === undefined ? {} : { grid: grams }) };
}

/** The person's own, with what the flags say over it. */
export async function electricityHere(store: StoreService, asked: Partial<Electricity>): Promise<Electricity> {
  return { ...electricityOf(await store.getSetting({ key: electricityKey })), ...asked };
}
