// Rules about hardware that is not here: renting and buying one of it.

import {
  breakEvenHours,
  checkpointInterval,
  effectiveSpotPrice,
  hoursPerYear,
  spotOverhead,
} from '../formulas/money.ts';
import { about } from '../run-line.ts';
import { neededOn, type DeviceFact, type Needs, type Reason } from './facts.ts';
import { fastest, gigabytes, hours, percent, reason, usable, usdText, type Action, type Context } from './rules.ts';

/** Those that keep the deadline. */
export const inTimeOf = ({ deadline }: Needs, devices: readonly DeviceFact[]): DeviceFact[] =>
  devices.filter(({ seconds }) => deadline === undefined || seconds.high <= deadline);

/**
 * What the person would rent of these: within the deadline, else the quickest; of those within the budget, where there are any; then by
 * what comes first for them.
 */
function rented(needs: Needs, devices: readonly DeviceFact[]): DeviceFact | undefined {
  const { budget, first } = needs;
  const offered = rentable(devices);
  const inTime = inTimeOf(needs, offered);
  if (inTime.length === 0) return fastest(offered);
  const affordable = inTime.filter((device) => budget === undefined || rentOf(device) <= budget);
  const left = affordable.length > 0 ? affordable : inTime;
  if (first === 'time' && affordable.length > 0) return fastest(left);
  const joules = ({ watts = Infinity, seconds }: DeviceFact): number => watts * seconds.middle;
  const measure = first === 'energy' && affordable.length > 0 ? joules : rentOf;
  return [...left].sort((a, b) => measure(a) - measure(b))[0];
}

/** The rented device on which this training costs least. */
const cheapestRent = (devices: readonly DeviceFact[]): DeviceFact | undefined =>
  rentable(devices).sort((a, b) => rentOf(a) - rentOf(b))[0];
const rentable = (devices: readonly DeviceFact[]): DeviceFact[] =>
  devices.filter(({ rent }) => rent !== undefined && rent.free !== true);
const rentOf = ({ seconds, rent }: DeviceFact): number => hours(seconds.middle) * (rent?.perHour ?? Infinity);

/** The other end of what can be rented: the quickest beside the cheapest, and the other way about. */
function otherRent(context: Context, taken: DeviceFact): Reason[] {
  const devices = rentable(usable(context.facts, 0.8));
  const [quick, cheap] = [fastest(devices)!, cheapestRent(devices)!];
  const say = (words: string, { name, seconds, ...rest }: DeviceFact): Reason => {
    const money = rentOf({ name, seconds, ...rest });
    return reason(
      'cost',
      `${words}: ${name}, about ${about([seconds.low, seconds.high])} for ${usdText(money)}`,
      money,
    );
  };
  return [
    ...(quick.seconds.middle < taken.seconds.middle ? [say('Time first', quick)] : []),
    ...(rentOf(cheap) < rentOf(taken) ? [say('Money first', cheap)] : []),
  ];
}

/**
 * The card that the person would buy of these: within the deadline, else the quickest; of those within the budget, where there are any, the
 * quickest where time comes first, else the smallest memory, then the highest bandwidth; beyond the budget the cheapest. What has no
 * price cannot be bought.
 */
function bought({ budget = Infinity, first, ...needs }: Needs, devices: readonly DeviceFact[]): DeviceFact | undefined {
  const cards = devices.filter(({ price, kind }) => price !== undefined && kind === 'gpu');
  const within = (some: readonly DeviceFact[]): DeviceFact[] => some.filter(({ price }) => price! <= budget);
  const inTime = inTimeOf(needs, cards);
  if (inTime.length === 0) return fastest(within(cards)) ?? cheapestCard(cards);
  const affordable = within(inTime);
  if (affordable.length === 0) return cheapestCard(inTime);
  if (first === 'time') return fastest(affordable);
  return affordable.sort((a, b) => a.memory - b.memory || (b.bandwidth ?? 0) - (a.bandwidth ?? 0))[0];
}

const cheapestCard = (cards: readonly DeviceFact[]): DeviceFact | undefined =>
  cards.toSorted((a, b) => a.price! - b.price!)[0];

interface Used {
  readonly card: DeviceFact;
  readonly rented: DeviceFact;
  /** Hours of the card a year, as they are used and as they pay it within its life. */
  readonly perYear: number;
  readonly pays: number;
  readonly toBuy: boolean;
}

/**
 * Use held against what the card that would be bought pays from, beside what would be rented. Both are hours of the card: an hour of it
 * saves the rent of as long as the rented device takes for the same work, less its electricity. A card that misses a deadline that the
 * rented device keeps is not to be bought, however much it is used.
 */
function use({ needs, facts }: Context, share: number, life: number): Used | null {
  const devices = usable(facts, share);
  const [card, other] = [bought(needs, devices), rented(needs, devices)];
  if (needs.hoursPerWeek === undefined || !card || !other?.rent) return null;
  const power = (card.watts ?? 0) / 1000;
  const saved = other.rent.perHour * (other.seconds.middle / card.seconds.middle);
  const pays = breakEvenHours({ card: card.price!, power, tariff: facts.tariff }, saved) / life;
  const perYear = (needs.hoursPerWeek * hoursPerYear) / (24 * 7);
  const late = inTimeOf(needs, [card]).length < inTimeOf(needs, [other]).length;
  return { card, rented: other, perYear, pays, toBuy: perYear >= pays && !late };
}

const count = (hours: number): string => (hours < 1 ? 'under 1' : Math.round(hours).toLocaleString('en'));

/** `521 h of an RTX 3060 a year; it pays from 2,900 of its hours a year, against renting RTX 4090 for the same work`. */
function useWords({ card, rented: other, perYear, pays }: Used): string {
  const from = Number.isFinite(pays) ? `it pays from ${count(pays)} of its hours a year` : 'it never pays';
  const rival = other.id === card.id ? 'against renting one' : `against renting ${other.name} for the same work`;
  return `${count(perYear)} h of ${card.name} a year; bought, ${from}, ${rival}`;
}

const moneyReason = (money: number | undefined, words: string, budget: number | undefined): Reason =>
  money === undefined
    ? reason('cost', 'What it costs is not known', undefined, budget, 'USD')
    : reason('cost', `${usdText(money)} ${words}`, money, budget, 'USD');

export const elsewhereActions: Readonly<Record<string, Action>> = {
  'free-notebook': ({ needs, facts, limit }) => {
    const device = fastest(usable(facts, 0.8).filter(({ rent }) => rent?.free === true));
    const week = needs.hoursPerWeek ?? hours(facts.cpu.seconds.middle);
    if (!device || needs.private || needs.interruptible !== true) return null;
    if (week > limit('hours') || neededOn(facts, device) > limit('memory') * 1e9) return null;
    return {
      device,
      seconds: device.seconds,
      money: 0,
      reasons: [reason('cost', `${week.toFixed(1)} h a week`, week, limit('hours'), 'h')],
    };
  },
  'rent-one': (context) => {
    const device = rented(context.needs, usable(context.facts, 0.8));
    if (!device || context.needs.private) return null;
    const used = use(context, 0.8, context.limit('life'));
    if (used?.toBuy) return null;
    const money = rentOf(device);
    const paid = reason('cost', `${usdText(money)} for this training`, money, context.needs.budget, 'USD');
    const fired = { device, seconds: device.seconds, money };
    const other = otherRent(context, device);
    if (used === null) return { ...fired, reasons: [paid], changes: other };
    const more = Math.round((used.pays * 168) / hoursPerYear);
    return {
      ...fired,
      reasons: [paid, reason('rent', useWords(used), used.perYear, used.pays, 'h')],
      changes: [
        ...(used.perYear < used.pays && Number.isFinite(used.pays)
          ? [reason('rent', `More than ${more} h of ${used.card.name} a week`, used.pays)]
          : []),
        ...other,
      ],
    };
  },
  spot: ({ needs, facts, limit }) => {
    const device = cheapestRent(usable(facts, 0.8).filter(({ rent }) => rent?.spotPerHour !== undefined));
    const { checkpointMinutes: checkpoint, hoursBetweenInterruptions: between } = facts;
    if (!device?.rent?.spotPerHour || needs.private || needs.interruptible !== true) return null;
    if (checkpoint === undefined || between === undefined || checkpoint >= limit('checkpoint')) return null;
    const interval = checkpointInterval(checkpoint, between * 60);
    const price = effectiveSpotPrice(device.rent.spotPerHour, spotOverhead(checkpoint, between * 60));
    const share = price / device.rent.perHour;
    if (share >= limit('price') || between * 60 <= limit('intervals') * interval) return null;
    const money = price * hours(device.seconds.middle);
    return {
      device,
      seconds: device.seconds,
      money,
      reasons: [
        reason(
          'rent',
          `${usdText(price)} an hour of work, lost work counted at an interruption every ${between} h: ${percent(share)} of on demand`,
          share,
          limit('price'),
          'share',
        ),
      ],
    };
  },
  'buy-one': (context) => {
    const card = bought(context.needs, usable(context.facts, context.limit('spare')));
    if (!card) return null;
    const used = use(context, context.limit('spare'), context.limit('life'));
    if (!used?.toBuy && context.needs.private !== true) return null;
    const needed = neededOn(context.facts, card);
    const reasons = [
      reason(
        'memory',
        `${gigabytes(needed)} of ${gigabytes(card.memory)}`,
        needed,
        context.limit('spare') * card.memory,
        'bytes',
      ),
    ];
    if (context.needs.private) reasons.push(reason('catalogue', 'The data stays with you'));
    if (used?.toBuy) reasons.push(reason('rent', useWords(used), used.perYear, used.pays, 'h'));
    return { device: card, seconds: card.seconds, money: card.price, reasons };
  },
  tpu: ({ needs, facts, limit }) => {
    const best = fastest(usable(facts, 0.8).filter(({ kind }) => kind === 'gpu'));
    const chip = fastest(usable(facts, 0.8).filter(({ kind }) => kind === 'tpu'));
    if (!best || !chip || needs.private || hours(best.seconds.middle) < limit('hours')) return null;
    const money = chip.rent && chip.rent.free !== true ? rentOf(chip) : undefined;
    return {
      device: chip,
      seconds: chip.seconds,
      money,
      reasons: [
        reason(
          'cost',
          `${Math.round(hours(best.seconds.middle)).toLocaleString('en')} h on ${best.name}`,
          hours(best.seconds.middle),
          limit('hours'),
          'h',
        ),
        moneyReason(money, 'for this training', needs.budget),
      ],
    };
  },
  'unified-memory': ({ needs, facts, limit }) => {
    const device = fastest(usable(facts, 0.8).filter(({ unified }) => unified === true));
    if (!device) return null;
    const needed = neededOn(facts, device);
    if (needed <= limit('memory') * 1e9) return null;
    return {
      device,
      seconds: device.seconds,
      money: device.price,
      reasons: [
        reason('memory', `${gigabytes(needed)} fit`, needed, limit('memory') * 1e9, 'bytes'),
        moneyReason(device.price, 'to buy it', needs.budget),
      ],
    };
  },
};
