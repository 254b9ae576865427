// Time and cost: the forecast of every device as rows to buy, to rent or here, with what all epochs take and come to. Pure: figures
// are those of engine/hardware/forecast.ts and its formulas, times the epochs.

import type { Catalogue, Device, Figure, Offer } from '../../../../engine/hardware/catalogue/catalogue.ts';
import { ageInDays, isStale, trusted } from '../../../../engine/hardware/catalogue/figures.ts';
import type { DeviceKind } from '../../../../engine/hardware/catalogue/schema.ts';
import type { ModelCosts } from '../../../../engine/hardware/costs/costs.ts';
import type { DeviceForecast } from '../../../../engine/hardware/forecast.ts';
import { largestTextbookBatch, type TextbookOptions } from '../../../../engine/hardware/memory-forecast.ts';
import { energyCost } from '../../../../engine/hardware/formulas/energy.ts';
import { writeOff } from '../../../../engine/hardware/formulas/money.ts';
import { middleOf } from '../../../../engine/hardware/time-forecast.ts';
import { bytes, fixed, short } from '../../../lib/format.ts';

export interface CostSettings {
  readonly epochs: number;
  /** USD a kWh. */
  readonly tariff: number;
  /** A card is paid off in so many years of so many hours a week. */
  readonly years: number;
  readonly hoursPerWeek: number;
}

export interface CostRow {
  /** `rtx-4090/buy`, `aws-p3-2xlarge/rent`, `here-cpu`. */
  readonly id: string;
  readonly kind: 'here' | 'buy' | 'rent';
  readonly name: string;
  readonly vendor: string;
  readonly deviceKind: DeviceKind;
  readonly memoryBytes: number | null;
  /** An adapter in software: never on the frontier. */
  readonly software: boolean;
  /** This machine before it was measured: never on the frontier. */
  readonly guessed: boolean;
  /** null: its memory is not known; it is never on the frontier. */
  readonly fits: boolean | null;
  /** What to do where it does not fit; that it is not known. */
  readonly fitNote: () => string;
  /** Seconds of an epoch and of all of them, as ranges and in the middle. */
  readonly epochRange: readonly [low: number, high: number];
  readonly epoch: number;
  readonly training: number;
  readonly kwh: number | null;
  readonly kilogramsCo2: number | null;
  readonly money: number | null;
  /** USD of the device, or USD an hour of the instance. */
  readonly price: Figure | null;
  /** Where an own price goes. */
  readonly edits: {
    readonly list: 'devices' | 'offers';
    readonly id: string;
    readonly field: 'streetPrice' | 'onDemand';
  } | null;
  /** Devices of the instance. */
  readonly count: number;
  /** `16 bits` or `float32`. */
  readonly numbers: string;
}

const weeksPerYear = 52;
const known = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

export function costRows(
  forecasts: readonly DeviceForecast[],
  catalogue: Catalogue,
  settings: CostSettings,
  fit: { readonly costs: (batch: number) => ModelCosts; readonly options: TextbookOptions },
): readonly CostRow[] {
  const devices = new Map(catalogue.devices.map((device) => [device.id, device]));
  return forecasts.flatMap((forecast): readonly CostRow[] => {
    const device = devices.get(forecast.id);
    const base = common(forecast, settings, device, fit);
    const kwh = base.kwh;
    if (device === undefined) {
      const { software } = forecast;
      const money = kwh === null ? null : energyCost(kwh, settings.tariff);
      return [{ ...base, id: forecast.id, kind: 'here', software, money, price: null, edits: null }];
    }
    const rows: CostRow[] = [];
    const offer = offerOf(catalogue, forecast);
    if (offer && forecast.cost !== null) {
      rows.push({
        ...base,
        id: `${offer.id}/rent`,
        kind: 'rent',
        name: `${device.name}, ${offer.provider}`,
        money: forecast.cost * settings.epochs,
        price: offer.onDemand,
        edits: { list: 'offers', id: offer.id, field: 'onDemand' },
        count: offer.count,
      });
    }
    const price = buyPrice(device);
    const lifetime = settings.years * weeksPerYear * settings.hoursPerWeek;
    rows.push({
      ...base,
      id: `${device.id}/buy`,
      kind: 'buy',
      money:
        price === null || kwh === null
          ? null
          : energyCost(kwh, settings.tariff) + writeOff(price.value, base.training / 3600, lifetime),
      price,
      edits: { list: 'devices', id: device.id, field: 'streetPrice' },
    });
    return rows;
  });
}

function common(
  forecast: DeviceForecast,
  { epochs }: CostSettings,
  device: Device | undefined,
  fit: { readonly costs: (batch: number) => ModelCosts; readonly options: TextbookOptions },
) {
  const { name, fits, secondsPerEpoch, memoryBytes, precision } = forecast;
  const epoch = middleOf(secondsPerEpoch);
  const times = (value: number | null): number | null => known(value === null ? null : value * epochs);
  // In the numbers that it computes with, as whether it fits.
  const options = { ...fit.options, precision };
  const byPlan = forecast.id === 'here-cpu';
  const batch = fits || memoryBytes === null || byPlan ? 0 : largestTextbookBatch(fit.costs, options, memoryBytes);
  const needs = (): string =>
    byPlan ? `needs ${bytes(forecast.neededBytes)}` : batch > 0 ? `fits batch ${fixed(batch)}` : 'needs several';
  return {
    name: forecast.basis === 'estimate' ? `${name} (a guess)` : name,
    vendor: device?.vendor ?? '',
    deviceKind: device?.kind ?? (forecast.id.startsWith('here-gpu') ? ('gpu' as const) : ('cpu' as const)),
    memoryBytes,
    software: false,
    guessed: forecast.basis === 'estimate',
    fits,
    fitNote: () => (fits === null ? 'memory unknown' : fits ? '' : needs()),
    epochRange: secondsPerEpoch,
    epoch,
    training: epoch * epochs,
    kwh: times(forecast.kwh),
    kilogramsCo2: times(forecast.kilogramsCo2),
    count: 1,
    numbers: precision === 'mixed16' ? '16 bits' : 'float32',
  };
}

/** The offer that the forecast's rent is of. */
function offerOf({ offers }: Catalogue, { id, offer }: DeviceForecast): Offer | undefined {
  return offers.find(({ device, provider, instance }) => device === id && `${provider} ${instance}` === offer);
}

/** What the device costs: own, in shops, at launch, or with its computer. */
export const buyPrice = ({ streetPrice, launchPrice, systemPrice }: Device): Figure | null =>
  streetPrice ?? launchPrice ?? systemPrice ?? null;

/** Rows with nothing that is both quicker and cheaper, from the quickest to the cheapest. */
export function frontier(rows: readonly CostRow[]): readonly CostRow[] {
  const able = rows.filter(
    ({ fits, software, guessed, money, price }) =>
      fits &&
      !software &&
      !guessed &&
      money !== null &&
      (price === null || price.confidence === 'own' || trusted(price)),
  );
  let least = Infinity;
  return able
    .toSorted((a, b) => a.training - b.training || a.money! - b.money!)
    .filter(({ money }) => {
      if (money! >= least) return false;
      least = money!;
      return true;
    });
}

export interface RowFilter {
  readonly kind: 'all' | CostRow['kind'];
  readonly memory: number;
  readonly vendor: string;
  readonly money: number;
  readonly stale: boolean;
}

export const noFilter: RowFilter = { kind: 'all', memory: 0, vendor: '', money: Infinity, stale: false };

export function filtered(rows: readonly CostRow[], filter: RowFilter, now: number): readonly CostRow[] {
  return rows.filter(
    (row) =>
      (filter.kind === 'all' || row.kind === filter.kind) &&
      (row.memoryBytes ?? Infinity) >= filter.memory &&
      (filter.vendor === '' || row.vendor === filter.vendor) &&
      (filter.money === Infinity || (row.money !== null && row.money <= filter.money)) &&
      (!filter.stale || (row.price !== null && isStale(row.price, now))),
  );
}

export type SortKey = 'name' | 'epoch' | 'training' | 'kwh' | 'kilogramsCo2' | 'money' | 'price';

/** What is missing stands last, either way. */
export function sortedBy(rows: readonly CostRow[], key: SortKey, descending: boolean): readonly CostRow[] {
  const sign = descending ? -1 : 1;
  const value = (row: CostRow): number | null =>
    key === 'name' ? null : key === 'price' ? (row.price?.value ?? null) : row[key];
  return rows.toSorted((a, b) => {
    if (key === 'name') return sign * a.name.localeCompare(b.name);
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * (left - right) || a.name.localeCompare(b.name);
  });
}

/** `412 d`, `undated`, `own`. */
export function ageText(price: Figure, now: number): string {
  if (price.confidence === 'own') return 'own';
  const age = ageInDays(price, now);
  return age === null ? 'undated' : `${fixed(age)} d`;
}

/** `memory` or `disputed` as words; '' for what may be relied on. */
export const doubtText = (price: Figure): string =>
  price.confidence === 'memory' ? 'from memory' : price.confidence === 'disputed' ? 'in dispute' : '';

/** `41 ms`, `6.1 s`, `9 min`, `2.5 h`, `11.7 d`, `3.2 years`. */
export function spanText(seconds: number): string {
  const units = [
    [31_557_600, 'years'],
    [172_800, 'd', 86_400],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ] as const;
  const found = units.find(([from]) => seconds >= from);
  if (!found) return seconds >= 0.001 ? `${short(Number((1000 * seconds).toPrecision(2)))}\u00a0ms` : 'under 1\u00a0ms';
  const [from, unit, size = from] = found;
  const value = seconds / size;
  return `${fixed(value, value < 9.95 ? 1 : 0)}\u00a0${unit}`;
}
