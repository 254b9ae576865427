// How large a cluster a training is worth: time, efficiency and money on the cards that are let, alone and shared, by the data sheets and the
// forecast of several devices. What a project for a cluster is sized by, and tells.

import { moneyText } from './bill.ts';
import type { Catalogue, Device } from './catalogue/catalogue.ts';
import { trusted } from './catalogue/figures.ts';
import type { Subject } from './costs/familiar.ts';
import { stateOf, stepOn } from './forecast.ts';
import { leastEfficiency, linkOf, several } from './several.ts';
import { epochSeconds, middleOf } from './time-forecast.ts';

export interface ClusterSize {
  readonly device: string;
  readonly devices: number;
  /** Seconds of all epochs: the middle of the forecast, and its upper end. */
  readonly seconds: number;
  readonly most: number;
  /** Speed-up a device, as a share. */
  readonly efficiency: number;
  /** USD; null: nobody lets so many of it together at a price that is known. */
  readonly money: number | null;
}

export interface Cluster {
  /** Of each card, the quickest first: one, then doublings as far as each device is worth having, and the first that is not. */
  readonly sizes: readonly ClusterSize[];
  /** Null: no card holds a copy of the model. */
  readonly taken: ClusterSize | null;
}

/** Cards of a box. */
export const boxOf = 8;
const counts = [1, 2, 4, boxOf];
/** Within this factor of the quickest the fewest devices, and of those the cheapest, are taken. */
const nearly = 1.15;

/** In float32, as the project trains. */
export function clusterOf(subject: Subject, epochs: number, catalogue: Catalogue): Cluster {
  const let_ = new Set(catalogue.offers.map(({ device }) => device));
  const sizes = catalogue.devices
    .filter((row) => row.kind === 'gpu' && row.use === 'training' && let_.has(row.id))
    .filter(({ memory, bandwidth, fp32 }) => [memory, bandwidth, fp32].every(trusted))
    .map((row) => sizesOn(row, subject, epochs, catalogue))
    .filter((own) => own.length > 0)
    .toSorted((a, b) => a[0].seconds - b[0].seconds)
    .flat();
  const worth = sizes.filter(({ devices, efficiency }) => devices === 1 || efficiency >= leastEfficiency);
  const quickest = Math.min(...worth.map(({ seconds }) => seconds));
  const near = worth.filter(({ seconds }) => seconds <= nearly * quickest);
  const price = ({ money }: ClusterSize): number => money ?? Infinity;
  const taken = near.toSorted((a, b) => a.devices - b.devices || price(a) - price(b) || a.seconds - b.seconds).at(0);
  return { sizes, taken: taken ?? null };
}

function sizesOn(
  row: Device,
  { costs: costsAt, batch, rows, optimizer }: Subject,
  epochs: number,
  catalogue: Catalogue,
) {
  const costs = costsAt(batch);
  const step = stepOn(costs, row, 'float32');
  if (step === null) return [];
  const textbook = { precision: 'float32', optimizer: stateOf(optimizer) } as const;
  const memoryBytes = 1e9 * row.memory!.value;
  const found = several({ costs, step, textbook, memoryBytes, link: linkOf(row), most: boxOf });
  if (found.split.what !== 'nothing') return [];
  const range = epochSeconds(step, rows, batch);
  const all = counts
    .filter((devices) => devices === 1 || devices <= batch)
    .map((devices): ClusterSize => {
      const { speedup, efficiency } = found.points[devices - 1];
      const seconds = (middleOf(range) * epochs) / speedup;
      const [most, perHour] = [(range[1] * epochs) / speedup, rentOf(catalogue, row.id, devices)];
      const money = perHour === null ? null : (perHour * seconds) / 3600;
      return { device: row.name, devices, seconds, most, efficiency, money };
    });
  const end = all.findIndex(({ efficiency }) => efficiency < leastEfficiency);
  return end < 0 ? all : all.slice(0, end + 1);
}

/** USD an hour of the cheapest instance that has so many together, all of it paid; null: none whose price can be trusted. */
function rentOf({ offers }: Catalogue, device: string, devices: number): number | null {
  const prices = offers
    .filter((offer) => offer.device === device && offer.count >= devices && trusted(offer.onDemand))
    .map(({ onDemand }) => onDemand.value)
    .filter((price) => price > 0);
  return prices.length === 0 ? null : Math.min(...prices);
}

/** `4 × A100 80 GB: 2.1 h, 61 % efficient, $28`. */
export function clusterWords({ device, devices, seconds, efficiency, money }: ClusterSize): string {
  const share = devices === 1 ? [] : [`${Math.round(100 * efficiency)} % efficient`];
  const paid = money === null ? [] : [money < 0.01 ? 'under 1 ¢' : moneyText(money)];
  return `${devices} × ${device}: ${[hoursText(seconds), ...share, ...paid].join(', ')}`;
}

function hoursText(seconds: number): string {
  const [size, unit] =
    seconds < 90 ? [seconds, 's'] : seconds < 5400 ? [seconds / 60, 'min'] : ([seconds / 3600, 'h'] as const);
  return `${Number(size.toPrecision(2))} ${unit}`;
}
