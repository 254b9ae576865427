// `breakeven`: after how many hours of use a card has cost no more than renting one.

import { InputError } from '../../../engine/protocol/errors.ts';
import { breakEvenHours, hourlyPower, yearsOfUse } from '../../../engine/hardware/formulas/money.ts';
import { about } from '../about.ts';
import { numberOption, type Command, type OptionValues } from '../command.ts';
import { formatCount } from '../output.ts';

const mostUsd = 10_000_000;
/** A rack of cards; more is watts taken for kilowatts. */
const mostKilowatts = 100;

export const breakeven: Command = {
  ...about.breakeven,
  positionals: [0, 0],
  options: {
    card: { type: 'string', value: 'USD', help: 'price of the card' },
    rent: { type: 'string', value: 'USD', help: 'price of an hour of renting' },
    power: { type: 'string', value: 'KW', help: 'what the card draws, such as 0.35 (default 0)' },
    tariff: { type: 'string', value: 'USD', help: 'price of a kWh, such as 0.18 (needed with --power)' },
    host: { type: 'string', value: 'USD', help: 'price of the machine around it, where there is none (default 0)' },
    resale: { type: 'string', value: 'USD', help: 'what it is sold for in the end (default 0)' },
    utilisation: { type: 'string', value: 'SHARE', help: 'share of all hours it trains (default 0.1: 17 h a week)' },
  },
  run: async ({ options, output }) => {
    const card = needed(options, 'card', 1, mostUsd);
    const rent = needed(options, 'rent', 0.001, 100_000);
    const number = (name: string, minimum: number, maximum: number): number | undefined =>
      numberOption(options, name, { minimum, maximum });
    const power = number('power', 0, mostKilowatts) ?? 0;
    const tariff = number('tariff', 0, 10);
    const host = number('host', 0, mostUsd) ?? 0;
    const resale = number('resale', 0, card + host) ?? 0;
    const utilisation = number('utilisation', 0.0001, 1) ?? 0.1;
    if (power > 0 && tariff === undefined) {
      throw new InputError('usage.option', '--power without --tariff.', 'Add the price of a kWh: --tariff 0.18.');
    }
    const purchase = { card, host, resale, power, tariff };
    const hours = breakEvenHours(purchase, rent);
    const years = yearsOfUse(hours, utilisation);
    const ever = Number.isFinite(hours);
    output.event({
      event: 'breakeven',
      hours: ever ? round(hours, 1) : null,
      years: ever ? round(years, 3) : null,
      utilisation,
      owning_per_hour: hourlyPower(purchase),
      renting_per_hour: rent,
    });
    if (!ever) {
      output.line(
        `Owning never pays: its electricity costs ${hourlyPower(purchase).toFixed(2)} USD an hour, renting ${rent}.`,
      );
      return;
    }
    const shown = hours < 10 ? hours.toFixed(1) : formatCount(hours);
    output.line(
      `Owning pays after ${shown} h of use: ${yearsText(years)} at ${round(utilisation * 100, 2)} % of all hours.`,
    );
    const left = [
      ...(power === 0 ? ['electricity (--power, --tariff)'] : []),
      ...(host === 0 ? ['the machine around it (--host)'] : []),
      ...(resale === 0 ? ['resale (--resale)'] : []),
    ];
    if (left.length > 0) output.line(`Left out: ${left.join(', ')}.`);
  },
};

function needed(options: OptionValues, name: string, minimum: number, maximum: number): number {
  const value = numberOption(options, name, { minimum, maximum });
  if (value !== undefined) return value;
  throw new InputError('usage.option', `--${name} is missing.`, 'For example `breakeven --card 2000 --rent 3.06`.');
}

/** `0.7 years`, `29 days`, `3 h`: what a small share of a year is. */
function yearsText(years: number): string {
  const hours = years * 8760;
  if (hours < 48) return `${round(hours, hours < 10 ? 1 : 0)} h`;
  if (years < 0.5) return `${round(hours / 24, 0)} days`;
  return `${years < 10 ? round(years, 1) : formatCount(years)} years`;
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
