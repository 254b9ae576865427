// Rent or buy: what the sliders say, as engine/hardware/formulas/money.ts takes it, and what of its answers is shown. Pure, so that
// tests hold the screen against the formulas.

import {
  breakEvenHours,
  checkpointInterval,
  costAt,
  effectiveSpotPrice,
  hourlyPower,
  spotOverhead,
  type CostAt,
  type Purchase,
  type WaysToPay,
} from '../../../../engine/hardware/formulas/money.ts';
import { fixed, percent } from '../../../lib/format.ts';
import { usd } from '../money.ts';

/** USD, hours, W. */
export interface RentInputs {
  readonly onDemand: number;
  /** 0: nobody offers it. */
  readonly spot: number;
  /** Hours between interruptions. */
  readonly spotLasts: number;
  readonly card: number;
  readonly host: number;
  readonly resale: number;
  readonly smallCard: number;
  /** Share of the hours that the small card does. */
  readonly ownShare: number;
  readonly watts: number;
  readonly tariff: number;
  readonly hoursPerWeek: number;
}

export interface SliderSpec {
  readonly key: keyof RentInputs;
  readonly group: 'Rent' | 'Own' | 'Small card and rent' | 'Running' | 'Use';
  readonly label: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly step: number;
  readonly format: (value: number) => string;
}

const perHour = (value: number): string => `${usd(value)} /h`;

// prettier-ignore
export const sliders: readonly SliderSpec[] = [
  { key: 'onDemand', group: 'Rent', label: 'Rent, on demand', minimum: 0.01, maximum: 100, step: 0.01, format: perHour },
  { key: 'spot', group: 'Rent', label: 'Rent, spot', minimum: 0, maximum: 100, step: 0.01, format: (value) => (value === 0 ? 'not offered' : perHour(value)) },
  { key: 'spotLasts', group: 'Rent', label: 'Spot lasts, mean', minimum: 0.5, maximum: 500, step: 0.5, format: (value) => `${fixed(value, value < 10 ? 1 : 0)} h` },
  { key: 'card', group: 'Own', label: 'Card', minimum: 1, maximum: 100_000, step: 10, format: usd },
  { key: 'host', group: 'Own', label: 'Rest of the computer', minimum: 0, maximum: 20_000, step: 10, format: usd },
  { key: 'resale', group: 'Own', label: 'Resale in the end', minimum: 0, maximum: 50_000, step: 10, format: usd },
  { key: 'smallCard', group: 'Small card and rent', label: 'Small card', minimum: 1, maximum: 20_000, step: 10, format: usd },
  { key: 'ownShare', group: 'Small card and rent', label: 'Hours it does itself', minimum: 0, maximum: 1, step: 0.01, format: (value) => percent(value) },
  { key: 'watts', group: 'Running', label: 'Power while training', minimum: 0, maximum: 3000, step: 10, format: (value) => `${fixed(value)} W` },
  { key: 'tariff', group: 'Running', label: 'Electricity', minimum: 0, maximum: 2, step: 0.01, format: (value) => `${usd(value)} /kWh` },
  { key: 'hoursPerWeek', group: 'Use', label: 'Use', minimum: 0.1, maximum: 168, step: 0.1, format: (value) => `${fixed(value, value < 100 ? 1 : 0)} h a week` },
];

/** Hours that writing a checkpoint takes. */
export const checkpointHours = 1 / 60;
export const weeksPerYear = 52;
/** The plain case of the articles. */
export const plain = { card: 2000, rent: 3.06 } as const;

export const wayNames = {
  own: 'own the card',
  onDemand: 'rent, on demand',
  spot: 'rent, spot',
  hybrid: 'small card + rent',
} as const;
export type Way = keyof typeof wayNames;

export interface RentAnswer {
  readonly purchase: Purchase;
  /** Hours of use after which owning is no dearer; Infinity: never. */
  readonly hours: number;
  readonly spot: {
    readonly price: number;
    readonly overhead: number;
    readonly interval: number;
    readonly hours: number;
  } | null;
  readonly at: (hours: number) => Readonly<Record<Way, number | null>>;
}

export function answerOf(inputs: RentInputs): RentAnswer {
  const { card, host, resale, watts, tariff, onDemand, spotLasts, smallCard, ownShare } = inputs;
  const purchase: Purchase = { card, host, resale: Math.min(resale, card + host), power: watts / 1000, tariff };
  const overhead = spotOverhead(checkpointHours, spotLasts);
  const offered = inputs.spot > 0;
  const price = effectiveSpotPrice(inputs.spot, overhead);
  const ways: WaysToPay = {
    purchase,
    onDemand,
    ...(offered ? { spot: { price: inputs.spot, overhead } } : {}),
  };
  const mixed: WaysToPay = {
    purchase: { card: smallCard, host, power: watts / 1000, tariff },
    onDemand,
    ownShare,
  };
  return {
    purchase,
    hours: breakEvenHours(purchase, onDemand),
    spot: offered
      ? {
          price,
          overhead,
          interval: checkpointInterval(checkpointHours, spotLasts),
          hours: breakEvenHours(purchase, price),
        }
      : null,
    at(hours) {
      const { own, onDemand: rented, spot }: CostAt = costAt(ways, hours);
      return { own, onDemand: rented, spot, hybrid: costAt(mixed, hours).hybrid };
    },
  };
}

/** No card lasts longer: what pays later never does. */
const lastsYears = 20;

const isNever = (hours: number, hoursPerWeek: number): boolean => hours / hoursPerWeek > lastsYears * weeksPerYear;

/** `58 weeks`, `3.7 years`, from hours of use. */
export function weeksText(hours: number, hoursPerWeek: number): string {
  const weeks = hours / hoursPerWeek;
  if (weeks < 1.5) return `${fixed(weeks * 7)} days`;
  if (weeks <= 3 * weeksPerYear) return `${fixed(weeks)} weeks`;
  const years = weeks / weeksPerYear;
  return `${fixed(years, years < 10 ? 1 : 0)} years`;
}

export const hoursText = (hours: number): string => `${fixed(hours, hours < 10 ? 1 : 0)} h`;

/** The answer in one sentence and the next one. */
export function wordsOf(inputs: RentInputs, answer: RentAnswer): { readonly title: string; readonly detail: string } {
  const { hoursPerWeek } = inputs;
  const use = `at ${fixed(hoursPerWeek, 1)} h a week`;
  const within = answer.hours / hoursPerWeek <= 3 * weeksPerYear;
  const after = `${hoursText(answer.hours)} of GPU time: ${weeksText(answer.hours, hoursPerWeek)} ${use}`;
  const title = !Number.isFinite(answer.hours)
    ? `Owning never pays: an hour of its electricity costs ${usd(hourlyPower(answer.purchase))}, renting ${usd(inputs.onDemand)}.`
    : isNever(answer.hours, hoursPerWeek)
      ? `Owning never pays ${use}: it takes ${hoursText(answer.hours)} of GPU time.`
      : within
        ? `Owning pays after ${after}.`
        : 'Renting stays cheaper for three years of your use.';
  const first = within || isNever(answer.hours, hoursPerWeek) ? '' : `Owning pays after ${after}. `;
  if (answer.spot === null) return { title, detail: `${first}Nobody offers this as spot: four ways are three.` };
  const { price, overhead, interval, hours } = answer.spot;
  const against = isNever(hours, hoursPerWeek)
    ? 'Against spot it never pays.'
    : `Against spot it is ${hoursText(hours)}, ${weeksText(hours, hoursPerWeek)}.`;
  const lost = `A checkpoint every ${fixed(interval * 60)} min keeps lost work at ${percent(overhead, 1)}, so spot really costs ${usd(price)} an hour.`;
  return { title, detail: `${first}${against} ${lost}` };
}

export interface Assumption {
  readonly id: string;
  readonly label: string;
  readonly hours: number;
  /** The one the answer above rests on. */
  readonly now: boolean;
}

/** What the plain sum leaves out, one assumption a line, each on top of those before it. */
export function assumptions(
  inputs: RentInputs,
  cheaper: readonly { readonly label: string; readonly rent: number }[],
): readonly Assumption[] {
  const { card, onDemand, watts, tariff } = inputs;
  const host = inputs.host > 0 ? inputs.host : usualHost;
  const resale = inputs.resale > 0 ? inputs.resale : usualResaleShare * card;
  const running = { power: watts / 1000, tariff };
  const now = breakEvenHours(answerOf(inputs).purchase, onDemand);
  const lines: Omit<Assumption, 'now'>[] = [
    { id: 'plain', label: `Plain: ${usd(card)} against ${usd(onDemand)}`, hours: breakEvenHours({ card }, onDemand) },
    { id: 'power', label: 'with electricity', hours: breakEvenHours({ card, ...running }, onDemand) },
    {
      id: 'host',
      label: `with ${usd(host)} for the computer`,
      hours: breakEvenHours({ card, host, ...running }, onDemand),
    },
    {
      id: 'resale',
      label: `less ${usd(resale)} resale`,
      hours: breakEvenHours({ card, host, resale, ...running }, onDemand),
    },
    ...cheaper.map(({ label, rent }, index) => ({
      id: `rent-${index}`,
      label,
      hours: breakEvenHours({ card, host, resale, ...running }, rent),
    })),
  ];
  const found = lines.find(({ hours }) => Math.abs(hours - now) < 1e-9);
  return lines.map((line) => ({ ...line, now: line === found }));
}

const usualHost = 1500;
const usualResaleShare = 0.3;
