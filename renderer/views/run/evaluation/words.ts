// How figures of an evaluation are written.

import { scoreNames } from '../../../../engine/evaluation/names.ts';
import type { ErrorUnit } from '../../../../engine/evaluation/residuals.ts';
import { sliceText, type Slice } from '../../../../engine/evaluation/slices.ts';
import type { RawColumn } from '../../../../engine/model/spec.ts';
import type { Score } from '../../../../engine/protocol/evaluated-rows.ts';
import { fixed, missing, percent, regional, score as scoreText, short } from '../../../lib/format.ts';

/** A value of a score in its unit. */
export function written({ name }: Pick<Score, 'name'>, value: number | null): string {
  if (value === null || Number.isNaN(value)) return missing;
  const { unit } = scoreNames[name];
  if (unit === 'share') return percent(value, 1);
  return unit === 'target' ? short(value) : scoreText(value);
}

export function intervalText(score: Score): string {
  const { unit } = scoreNames[score.name];
  const [low, high] = [score.low, score.high];
  if (Number.isNaN(low)) return missing;
  if (unit === 'share')
    return percent(low, 1) === percent(high, 1) ? percent(low, 1) : `${fixed(100 * low, 1)}–${percent(high, 1)}`;
  const text = (value: number): string =>
    unit === 'target' || Math.abs(value) >= 1000 || (value !== 0 && Math.abs(value) < 5e-4)
      ? short(value, 3)
      : fixed(value, 3);
  return rangeText(low, high, text);
}

/** Between numbers below 0 a dash would read as a sign; ends that are written alike are one. */
export function rangeText(low: number, high: number, text: (value: number) => string): string {
  const [from, to] = [text(low), text(high)];
  return from === to ? from : `${from}${low < 0 || high < 0 ? ' to ' : '–'}${to}`;
}

/** An error, in the target's unit or as a share. */
export const errorText = (value: number, unit: ErrorUnit): string =>
  unit === 'share' ? percent(value, Math.abs(value) < 0.1 ? 1 : 0) : short(value, 3);

/** The same with its sign. */
export const signed = (value: number, unit: ErrorUnit): string => (value > 0 ? '+' : '') + errorText(value, unit);

/** Round values on an axis, about so many. */
export function ticksOf(low: number, high: number, about = 5): readonly number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((one) => one * power >= raw) ?? 10) * power;
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step / 1e6; tick += step)
    ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

/** `tenure 1–6` with the numbers as they are written here: files have `sliceText`. */
export function sliceWords({ parts }: Pick<Slice, 'parts'>, columns: readonly RawColumn[]): string {
  const isNumber = (name: string): boolean =>
    columns.some((column) => column.name === name && column.kind === 'number');
  return sliceText({
    parts: parts.map(({ column, value }) => ({ column, value: isNumber(column) ? regional(value) : value })),
  });
}
