// What electricity costs the person and the climate. Kept in the history as one setting of the app, for the window and the command
// line alike.

import { fieldsFor, type SettingsOf } from './field.ts';

export const electricityFields = fieldsFor<unknown>()({
  tariff: {
    kind: 'number',
    label: 'Electricity',
    help: 'price of a kWh in USD',
    unit: 'USD a kWh',
    minimum: 0,
    maximum: 10,
    default: 0.18,
  },
  grid: {
    kind: 'number',
    label: 'Grid',
    help: 'grams of CO₂ a kWh',
    unit: 'g CO₂ a kWh',
    minimum: 0,
    maximum: 3000,
    default: 475,
  },
});

export type Electricity = SettingsOf<typeof electricityFields>;

/** Key of the app's setting. */
export const electricityKey = 'electricity';
