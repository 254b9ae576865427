// A batch shared out over several of one device: how many keep a deadline, what they cost, and which device is taken.

import type { DeviceFact, Needs, Range, Reason, Together } from './facts.ts';
import { canBeHad } from './facts.ts';
import { hours, reason, usable, usdText, type Context } from './rules.ts';

export const within = ({ low, middle, high }: Range, by: number): Range => ({
  low: low / by,
  middle: middle / by,
  high: high / by,
});

/**
 * What so many of a device cost, and where from: the cheapest instance that has them together; bought where nobody lets them so, or where
 * data must not leave. No money where they are neither let together nor sold.
 */
export function costOf(
  device: DeviceFact,
  count: number,
  { middle }: Range,
  { private: secret, budget }: Needs,
): { readonly money?: number; readonly paid: readonly Reason[]; readonly bought?: number } {
  const boxes = device.boxes?.filter((box) => box.count >= count).toSorted((a, b) => a.perHour - b.perHour) ?? [];
  const one = count === 1 && device.rent?.free !== true ? device.rent : undefined;
  const rent = secret === true ? undefined : (one ?? boxes[0]);
  if (rent) {
    const money = rent.perHour * hours(middle);
    return {
      money,
      paid: [reason('cost', `${usdText(money)} for this training, ${rent.offer}`, money, budget, 'USD')],
    };
  }
  const them = count === 1 ? 'it' : `${count} of them`;
  if (device.price === undefined) {
    return { paid: [reason('cost', `What ${them} cost is not known`, undefined, budget, 'USD')] };
  }
  const money = count * device.price;
  const why = secret === true ? 'The data stays with you' : 'Nobody lets so many together here';
  const text = `${why}: ${usdText(money)} to buy ${them}`;
  return { money, paid: [reason('cost', text, money, budget, 'USD')], bought: count };
}

/** The fewest of a device that keep the deadline, else as many as are each worth having. */
export function fewest(
  { points }: Together,
  { seconds, deadline, efficiency, most }: { seconds: Range; deadline: number; efficiency: number; most: number },
): { readonly devices: number; readonly keeps: boolean } {
  let devices = 0;
  for (const point of points.slice(0, most)) {
    if (point.efficiency < efficiency) break;
    devices++;
    if (seconds.high / point.speedup <= deadline) return { devices, keeps: true };
  }
  return { devices, keeps: false };
}

interface Shared extends ReturnType<typeof costOf> {
  readonly device: DeviceFact;
  readonly devices: number;
  readonly keeps: boolean;
  readonly seconds: Range;
  readonly efficiency: number;
  readonly link: string;
}

/**
 * The batch over several of one device: of those that keep the deadline what is within the budget, where anything is, and of that the
 * cheapest, or the quickest where time comes first. Where none keeps it, over the quickest device. What one socket cannot feed is not
 * bought. Null: several are of no use.
 */
export function sharedOver(
  { needs, facts, limit, socket }: Context,
  best: DeviceFact,
  deadline: number,
): { readonly taken: Shared; readonly quickest: Shared } | null {
  const shareOver = (device: DeviceFact): Shared | null => {
    const together = facts.together?.(device, facts.batch ?? 1);
    if (!together) return null;
    const asked = { seconds: device.seconds, deadline, efficiency: limit('efficiency'), most: limit('most') };
    const { devices, keeps } = fewest(together, asked);
    if (devices < 2) return null;
    const { speedup, efficiency } = together.points[devices - 1];
    const seconds = within(device.seconds, speedup);
    return {
      ...{ device, devices, keeps, seconds, efficiency, link: together.link },
      ...costOf(device, devices, seconds, needs),
    };
  };
  const fed = ({ bought = 0, device }: Shared): boolean => bought * (device.watts ?? 0) <= socket;
  const kept = usable(facts, 0.8)
    .filter((device) => device.kind === 'gpu' && canBeHad(device, needs.private))
    .flatMap((device) => shareOver(device) ?? [])
    .filter((one) => one.keeps && fed(one))
    .toSorted((a, b) => a.seconds.middle - b.seconds.middle);
  if (kept.length === 0) {
    const nearest = shareOver(best);
    return nearest && { taken: nearest, quickest: nearest };
  }
  const { budget = Infinity, first } = needs;
  const affordable = kept.filter(({ money }) => money !== undefined && money <= budget);
  const left = affordable.length > 0 ? affordable : kept;
  const byMoney = left.toSorted((a, b) => (a.money ?? Infinity) - (b.money ?? Infinity));
  return { taken: first === 'time' ? left[0] : byMoney[0], quickest: left[0] };
}
