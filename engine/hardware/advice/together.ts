// Rules about several devices: a batch shared out over them, a larger one, states shared out, a cluster.

import { examplesFactor } from '../formulas/parallel.ts';
import { about } from '../run-line.ts';
import { inTimeOf } from './elsewhere.ts';
import { costOf, fewest, sharedOver, within } from './shared.ts';
import { canBeHad, neededOn, type DeviceFact, type Facts, type Needs, type Range, type Together } from './facts.ts';
import {
  fastest,
  gigabytes,
  hours,
  percent,
  reason,
  usable,
  usdText,
  type Action,
  type Context,
  type Fired,
} from './rules.ts';

/** The quickest GPU that can be had and holds the model within `share` of its memory. */
const quickestGpu = (needs: Needs, facts: Facts, share: number): DeviceFact | undefined =>
  fastest(usable(facts, share).filter((one) => one.kind === 'gpu' && canBeHad(one, needs.private)));

/** The fewest of a device that keep the deadline by its table, however little each adds; else as many as are quickest. */
function clusterOf(
  { points }: Together,
  { seconds, deadline }: { seconds: Range; deadline: number },
): { readonly devices: number; readonly keeps: boolean } {
  const enough = points.findIndex(({ speedup }) => seconds.high / speedup <= deadline);
  if (enough >= 0) return { devices: enough + 1, keeps: true };
  const most = Math.max(...points.map(({ speedup }) => speedup));
  return { devices: points.findIndex(({ speedup }) => speedup === most) + 1, keeps: false };
}

/** USD of so many of a device in as many instances as it takes; undefined: nobody lets them. */
function clusterRent({ rent, boxes = [] }: DeviceFact, count: number, { middle }: Range): number | undefined {
  const single = rent && rent.free !== true ? [{ count: 1, perHour: rent.perHour }] : [];
  const offered = [...single, ...boxes].map((box) => Math.ceil(count / box.count) * box.perHour * hours(middle));
  return offered.length === 0 ? undefined : Math.min(...offered);
}

/** Whether a training of this batch is done in time on anything that can be had. */
function keepsDeadline({ needs, facts }: Context): boolean {
  const devices = usable(facts, 0.8).filter((device) => canBeHad(device, needs.private));
  return inTimeOf(needs, devices).length > 0;
}

/** The batches that the rule about larger ones looks at: doublings up to what still learns from each example, and fits an epoch. */
function largerBatches({ facts, limit }: Context): readonly number[] {
  const { batch, criticalBatch, rows } = facts;
  if (batch === undefined) return [];
  const learns = criticalBatch === undefined ? limit('examples') : limit('critical') * criticalBatch;
  const most = Math.min(learns, rows / Math.max(1, limit('steps')));
  const doublings = Math.floor(Math.log2(most / batch));
  return Array.from({ length: Math.max(0, doublings) }, (_, i) => batch * 2 ** (i + 1));
}

interface Grown {
  readonly batch: number;
  readonly count: number;
  readonly seconds: Range;
  readonly efficiency: number;
  readonly link: string;
}

/** A batch over the fewest devices that keep the deadline with it, else over as many as are worth having; null: it does not fit them. */
function grown({ needs, facts, limit }: Context, device: DeviceFact, batch: number): Grown | null {
  const together = facts.together?.(device, batch);
  if (!together) return null;
  const { criticalBatch } = facts;
  // A larger batch takes more examples to the same result.
  const more =
    criticalBatch === undefined
      ? 1
      : examplesFactor(batch, criticalBatch) / examplesFactor(facts.batch ?? batch, criticalBatch);
  const points = together.points.slice(0, limit('most'));
  const end = points.findIndex(({ efficiency }) => efficiency < limit('efficiency'));
  const all = (end < 0 ? points : points.slice(0, end)).flatMap(({ speedup, efficiency, needed }, i): Grown[] =>
    needed > limit('memory') * device.memory
      ? []
      : [{ batch, count: i + 1, seconds: within(device.seconds, speedup / more), efficiency, link: together.link }],
  );
  return all.find(({ seconds }) => seconds.high <= needs.deadline!) ?? all.at(-1) ?? null;
}

const count = (value: number): string => value.toLocaleString('en');

function sayGrown({ needs, facts }: Context, device: DeviceFact, found: Grown, most: number): Fired {
  const { batch, count: devices, seconds, efficiency, link } = found;
  const keeps = seconds.high <= needs.deadline!;
  const where =
    devices === 1 ? 'on one of them' : `over ${devices} of them on ${link} reaches ${percent(efficiency)} each`;
  const text = `A batch of ${count(batch)} instead of ${count(facts.batch ?? 0)} ${where}${keeps ? ', and the deadline' : ': the nearest to the deadline'}`;
  const caveat =
    facts.criticalBatch === undefined
      ? 'What batch this model still learns well from is not known here: raise the learning rate with the batch, warm it up, and compare a short run'
      : `Its critical batch is about ${count(Math.round(facts.criticalBatch))}: the examples that a larger batch takes more are counted in; raise the learning rate with it`;
  const { money, paid, bought } = costOf(device, devices, seconds, needs);
  return {
    ...{ device, seconds, money, bought },
    reasons: [
      reason('several', text, batch, most, 'examples'),
      reason('several', caveat, facts.criticalBatch),
      ...paid,
    ],
  };
}

/** ZeRO's third stage takes so many times as long where the link decides (arXiv 1910.02054): the upper end. */
const gathering = 1.5;

export const togetherActions: Readonly<Record<string, Action>> = {
  several: (context) => {
    const { needs, facts, limit } = context;
    const best = quickestGpu(needs, facts, 0.8);
    const { deadline } = needs;
    if (!best || deadline === undefined || best.seconds.high <= deadline) return null;
    const found = sharedOver(context, best, deadline);
    if (found === null) return null;
    const { taken, quickest } = found;
    const { device, devices, seconds, money, paid, bought, keeps, link, efficiency } = taken;
    const other =
      quickest === taken
        ? []
        : [
            reason(
              'cost',
              `Time first: ${quickest.devices} × ${quickest.device.name}, about ${about([quickest.seconds.low, quickest.seconds.high])}${quickest.money === undefined ? '' : ` for ${usdText(quickest.money)}`}`,
              quickest.seconds.middle,
            ),
          ];
    return {
      ...{ device, seconds, money, bought },
      reasons: [
        reason(
          'several',
          `${devices} of them over ${link} reach ${percent(efficiency)} each${keeps ? ', and the deadline' : ''}`,
          efficiency,
          limit('efficiency'),
          'share',
        ),
        ...paid,
      ],
      changes: other,
    };
  },
  'several-larger-batch': (context) => {
    const { needs, facts, limit } = context;
    const { deadline } = needs;
    if (deadline === undefined || keepsDeadline(context)) return null;
    const best = quickestGpu(needs, facts, limit('memory'));
    const together = best && facts.together?.(best, facts.batch ?? 1);
    if (!best || !together) return null;
    const asked = { seconds: best.seconds, deadline, efficiency: limit('efficiency'), most: limit('most') };
    const shared = fewest(together, asked);
    if (shared.keeps) return null;
    const batches = largerBatches(context);
    let nearest: Grown | null = null;
    for (const batch of batches) {
      const found = grown(context, best, batch);
      if (found === null) continue;
      if (nearest === null || found.seconds.high < nearest.seconds.high) nearest = found;
      if (nearest.seconds.high <= deadline) break;
    }
    const alike = together.points[shared.devices - 1]?.speedup ?? 1;
    if (nearest === null || nearest.seconds.high >= best.seconds.high / alike) return null;
    return sayGrown(context, best, nearest, batches.at(-1)!);
  },
  shard: ({ needs, facts, limit }) => {
    const candidates = facts.others.filter(
      ({ use: of, doubtful, kind }) => of === 'training' && !doubtful && kind === 'gpu',
    );
    const [largest] = [...candidates].sort((a, b) => b.memory - a.memory);
    if (!largest || facts.stateBytes === undefined) return null;
    const needed = neededOn(facts, largest);
    if (needed <= limit('spare') * largest.memory) return null;
    const rest = needed - facts.stateBytes;
    const room = limit('spare') * largest.memory - rest;
    if (room <= 0)
      return {
        device: largest,
        reasons: [
          reason(
            'memory',
            `${gigabytes(rest)} beside the states: the model itself has to be split`,
            rest,
            limit('spare') * largest.memory,
            'bytes',
          ),
        ],
      };
    const devices = Math.ceil(facts.stateBytes / room);
    const point = facts.together?.(largest, facts.batch ?? 1)?.points[devices - 1];
    // Parameters are gathered for both ways and gradients summed: half as much again goes over the link.
    const seconds = point && within(largest.seconds, point.speedup / gathering);
    const { money, paid, bought } = seconds ? costOf(largest, devices, seconds, needs) : { paid: [] };
    return {
      ...{ device: largest, seconds, money, bought },
      reasons: [
        reason(
          'memory',
          `${gigabytes(needed)} shared out over ${devices}`,
          needed,
          limit('spare') * largest.memory,
          'bytes',
        ),
        ...paid,
      ],
    };
  },
  cluster: ({ needs, facts, limit }) => {
    const best = quickestGpu(needs, facts, 0.8);
    if (!best || needs.private || needs.deadline === undefined) return null;
    const least = Math.ceil(best.seconds.high / needs.deadline);
    if (least <= limit('devices')) return null;
    const together = facts.together?.(best, facts.batch ?? 1);
    const link = `with ${limit('link')} GB/s a node`;
    if (!together) {
      const text = `At least ${least} of them, ${link}: what they reach together is not known`;
      return { device: best, reasons: [reason('several', text, least, limit('devices'), 'devices')] };
    }
    const found = clusterOf(together, { seconds: best.seconds, deadline: needs.deadline });
    // What a box does as well needs no cluster.
    if (found.devices <= limit('devices')) return null;
    const { devices, keeps } = found;
    const { speedup: times, efficiency } = together.points[devices - 1];
    const seconds = within(best.seconds, times);
    const reached = `${devices} of them, ${link}, reach ${percent(efficiency)} each`;
    const money = clusterRent(best, devices, seconds);
    const text = keeps
      ? `${reached}, and the deadline`
      : `No number of them keeps the deadline with this batch: ${reached}, ${times.toPrecision(3)} × as fast as one, the most up to ${together.points.length}`;
    return {
      device: best,
      seconds,
      money,
      reasons: [
        reason('several', text, devices, limit('devices'), 'devices'),
        money === undefined
          ? reason('cost', 'Nobody lets them here: what they cost is not known', undefined, needs.budget, 'USD')
          : reason('cost', `${usdText(money)} for this training, the network not counted`, money, needs.budget, 'USD'),
      ],
    };
  },
};
