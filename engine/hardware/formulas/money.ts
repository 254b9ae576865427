// Buying against renting: break-even, interrupted rents, and four ways to pay laid over hours of use. USD, hours, kW.

export const hoursPerYear = 8760;

export interface Purchase {
  /** Price of the card. */
  readonly card: number;
  /** Price of the machine it needs, where there is none. */
  readonly host?: number;
  /** What it is sold for in the end. */
  readonly resale?: number;
  /** kW while it trains. */
  readonly power?: number;
  /** USD a kWh. */
  readonly tariff?: number;
}

/** USD an hour that owning costs while it runs. */
export const hourlyPower = ({ power = 0, tariff = 0 }: Purchase): number => power * tariff;

/** USD that owning costs before the first hour, less what comes back. */
export const capital = ({ card, host = 0, resale = 0 }: Purchase): number => card + host - resale;

/**
 * Hours of use after which owning has cost no more than renting at `rent` USD an hour:
 * (card + host - resale) / (rent - kW · tariff). Infinity where an hour of electricity costs as much as the rent.
 */
export function breakEvenHours(purchase: Purchase, rent: number): number {
  const price = capital(purchase);
  if (price <= 0) return 0;
  const saved = rent - hourlyPower(purchase);
  return saved <= 0 ? Infinity : price / saved;
}

/** Years those hours take at a share `utilisation` of all hours. */
export const yearsOfUse = (hours: number, utilisation: number): number => hours / (hoursPerYear * utilisation);

/** The time between checkpoints that loses least: √(2 · cost · MTBF) (Young 1974, Daly 2006). One unit for all three. */
export const checkpointInterval = (checkpoint: number, meanBetweenInterruptions: number): number =>
  Math.sqrt(2 * checkpoint * meanBetweenInterruptions);

/** The share of time lost at that interval: writing, and half an interval an interruption. */
export function spotOverhead(
  checkpoint: number,
  meanBetweenInterruptions: number,
  interval = checkpointInterval(checkpoint, meanBetweenInterruptions),
): number {
  return checkpoint / interval + interval / (2 * meanBetweenInterruptions);
}

/** Hours a rent at spot prices lasts until it is interrupted, before anything is known of it. */
export const usualSpotHours = 10;

/** USD an hour of work done, of interrupted hours at `spot`. */
export const effectiveSpotPrice = (spot: number, overhead: number): number => spot * (1 + overhead);

/** USD of a price that `hours` of use bear, where it is paid off in `lifetime` hours: never more than all of it. */
export const writeOff = (price: number, hours: number, lifetime: number): number =>
  price * Math.min(1, hours / lifetime);

export interface WaysToPay {
  readonly purchase: Purchase;
  readonly onDemand: number;
  /** Left out where nobody offers it. */
  readonly spot?: { readonly price: number; readonly overhead: number };
  /** Share of the hours that the own card does in the mixed way; the rest is rented on demand. */
  readonly ownShare?: number;
}

export interface CostAt {
  readonly hours: number;
  readonly onDemand: number;
  readonly spot: number | null;
  readonly own: number;
  readonly hybrid: number;
}

/** USD after `hours` of use, four ways. */
export function costAt({ purchase, onDemand, spot, ownShare = 0.8 }: WaysToPay, hours: number): CostAt {
  const power = hourlyPower(purchase);
  return {
    hours,
    onDemand: onDemand * hours,
    spot: spot === undefined ? null : effectiveSpotPrice(spot.price, spot.overhead) * hours,
    own: capital(purchase) + power * hours,
    hybrid: capital(purchase) + (power * ownShare + onDemand * (1 - ownShare)) * hours,
  };
}
