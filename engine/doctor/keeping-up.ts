// Does data keep up with the device? Rows a second that are read beside those that are trained on. Rows that fit into memory are read once;
// others in every epoch, ahead of the steps: the device waits where reading is slower.

import type { CheckFinding, Drawing } from '../protocol/checking.ts';
import type { PreparedData } from '../protocol/data.ts';
import { rowsResident } from '../train/session-sizes.ts';
import { counted, percent, type Check, type StepRate } from './check.ts';
import type { Reading } from './sample.ts';

/** Shares of the time that the device waits. */
export const waitLimits = { look: 0.1, fix: 0.5 } as const;

export interface KeepingUp {
  readonly data: PreparedData;
  readonly reading: Reading;
  readonly dataBudget: number;
  /** Measures the steps; absent: it has none. */
  readonly speed?: () => Promise<StepRate>;
  readonly known: (rate: StepRate) => void;
}

export function keepingUpCheck({ data, reading, dataBudget, speed, known }: KeepingUp): Check {
  return {
    finds: ['data'],
    seconds: 1,
    async run() {
      const read = reading.milliseconds > 0 ? (1000 * reading.rows) / reading.milliseconds : Infinity;
      const rate = await speed?.();
      if (rate) known(rate);
      const used = rate ? (1000 * rate.rows) / rate.milliseconds : null;
      const total = data.shardStarts[data.shardStarts.length - 1];
      const resident = rowsResident(total, data, dataBudget, rate?.rows ?? 1) >= total;
      return [judgeKeepingUp({ read, used, total, resident })];
    },
  };
}

export function judgeKeepingUp({
  read,
  used,
  total,
  resident,
}: {
  /** Rows a second; null: nothing is trained step by step. */
  readonly read: number;
  readonly used: number | null;
  readonly total: number;
  readonly resident: boolean;
}): CheckFinding {
  const rates = `${rateText(read)} rows a second are read${used === null ? '' : `, ${rateText(used)} are trained on`}`;
  const drawing: Drawing = { kind: 'rates', note: resident ? 'read once' : 'read in every epoch', read, used };
  const base = { id: 'data', drawing } as const;
  if (resident || used === null) {
    const seconds = total / read;
    const once = seconds < 0.1 ? 'in less than 0.1 s' : `in about ${Number(seconds.toPrecision(2))} s`;
    const text = `All ${counted(total)} rows are read once, ${once}. ${rates}.`;
    return { ...base, kind: 'fine', title: 'Data keeps up', figure: `${rateText(read)} rows/s`, text };
  }
  const waits = Math.max(0, 1 - read / used);
  const text = `They do not fit into memory and are read again in every epoch: ${rates}.`;
  if (waits < waitLimits.look) {
    return { ...base, kind: 'fine', title: 'Data keeps up', figure: `waits ${percent(waits)}`, text };
  }
  return {
    ...base,
    kind: waits > waitLimits.fix ? 'fix' : 'look',
    title: 'The device waits for data',
    figure: percent(waits),
    text: `${text} A quicker disk, smaller pictures or fewer columns would help.`,
  };
}

const rateText = (value: number): string =>
  Number.isFinite(value) ? counted(Number(value.toPrecision(3))) : 'far more';
