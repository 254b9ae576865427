// The boxes of a step: the step itself, its kernels, their calls, each as wide as the time it takes. Zoomed to a kernel its calls have all
// of the width.

import {
  callColumns,
  callName,
  heldBackBy,
  kernelsOf,
  kernelColumns,
  limits,
  placeOf,
  stepTime,
  type HeldBackBy,
  type MeasuredProfile,
  type ProfiledCall,
} from '../../../../engine/protocol/step-profile.ts';
import { regional } from '../../../lib/format.ts';
import type { Figures } from '../../../components/pane/figures.ts';

export interface Box {
  readonly key: string;
  /** 0: the step; 1: a kernel; 2: a call. */
  readonly level: 0 | 1 | 2;
  readonly kernel: string | null;
  readonly label: string;
  readonly milliseconds: number;
  /** From 0 to 1 of the width. */
  readonly start: number;
  readonly width: number;
  /** Of a kernel: what holds back most of its time. */
  readonly held: HeldBackBy | null;
  /** All of it in words. */
  readonly words: string;
}

/** Shares of the calls' time by what holds them back. */
export function sharesOf(calls: readonly ProfiledCall[]): Readonly<Record<HeldBackBy, number>> {
  const all = calls.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const share = (limit: HeldBackBy): number =>
    calls.reduce((sum, call) => sum + (heldBackBy(call) === limit ? call.milliseconds : 0), 0) / (all || 1);
  return { memory: share('memory'), computing: share('computing'), overhead: share('overhead') };
}

const mostOf = (calls: readonly ProfiledCall[]): HeldBackBy => {
  const shares = sharesOf(calls);
  return limits.reduce((most, limit) => (shares[limit] > shares[most] ? limit : most));
};

const wordsOf = <T>(
  row: T,
  columns: readonly { readonly title: string; readonly value: (row: T) => string }[],
): string => columns.map(({ title, value }, i) => (i === 0 ? value(row) : `${title} ${value(row)}`)).join(' · ');

/** Kernels by their time, under each its calls by theirs; of those that take no time there is nothing to see. */
export function boxesOf(profile: MeasuredProfile, zoomed: string | null): readonly Box[] {
  const { calls, step } = profile;
  const kernels = kernelsOf(profile).filter(({ name, share }) => share > 0 && (zoomed === null || name === zoomed));
  const whole = kernels.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  // Calls that are timed one by one take longer together than in a step of a few microseconds, and the boxes are as wide as they.
  const together = calls.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const apart = together > 1.2 * step ? `, its calls one by one ${regional(stepTime(together))}` : '';
  const words = `${regional(stepTime(step))}${apart}`;
  const boxes: Box[] = [
    {
      ...{ key: 'step', level: 0, kernel: null, label: `step, ${words}`, milliseconds: step },
      ...{ start: 0, width: 1, held: null, words: `The whole step takes ${words}` },
    },
  ];
  let start = 0;
  for (const group of kernels) {
    const { name: kernel, milliseconds } = group;
    const own = calls.filter((call) => call.kernel === kernel);
    boxes.push({
      ...{ key: kernel, level: 1, kernel, label: kernel, milliseconds, start, width: milliseconds / whole },
      ...{ held: mostOf(own), words: `${wordsOf(group, kernelColumns)} · held back by ${mostOf(own)}` },
    });
    let from = start;
    for (const call of [...own].sort((a, b) => b.milliseconds - a.milliseconds)) {
      const width = call.milliseconds / whole;
      if (width === 0) continue;
      boxes.push({
        ...{ key: `${kernel} ${calls.indexOf(call)}`, level: 2, kernel, milliseconds: call.milliseconds },
        ...{ label: placeOf(call), start: from, width },
        ...{ held: heldBackBy(call), words: wordsOf(call, callColumns) },
      });
      from += width;
    }
    start += milliseconds / whole;
  }
  return boxes;
}

/** The box that a key leads to from another one; itself where there is none. */
export function boxBeside(boxes: readonly Box[], from: Box, key: string): Box {
  const line = boxes.filter(({ level }) => level === from.level);
  const place = line.findIndex((box) => box.key === from.key);
  const middle = from.start + from.width / 2;
  const under = (level: number): Box | undefined => {
    const others = boxes.filter((box) => box.level === level);
    // Down to the widest of its own, up to the one above.
    const own = level > from.level ? others.find((box) => box.start >= from.start - 1e-9) : undefined;
    return own ?? others.find(({ start, width }) => start <= middle && middle <= start + width);
  };
  const to = new Map<string, () => Box | undefined>([
    ['ArrowLeft', () => line[place - 1]],
    ['ArrowRight', () => line[place + 1]],
    ['ArrowUp', () => under(from.level - 1)],
    ['ArrowDown', () => under(from.level + 1)],
    ['Home', () => line[0]],
    ['End', () => line.at(-1)],
  ]);
  return to.get(key)?.() ?? from;
}

/** Every call with its figures as they were measured. */
export function profileFigures({ calls }: MeasuredProfile): Figures {
  return {
    columns: [
      'call',
      'layer',
      'phase',
      'kernel',
      'milliseconds',
      'share',
      'flops',
      'bytes',
      'least ms',
      'held back by',
    ],
    rows: calls.map((call) => {
      const { layer, phase, kernel, milliseconds, share, flops, bytes, least } = call;
      return [callName(call), layer, phase, kernel, milliseconds, share, flops, bytes, least, heldBackBy(call)];
    }),
  };
}
