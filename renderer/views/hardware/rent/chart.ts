// The chart of Rent or buy: four ways to pay over hours of use, and where they cross.

import { niceRange, type Curve } from '../../../components/chart/curves.ts';
import { hoursText, wayNames, weeksPerYear, type RentAnswer, type RentInputs, type Way } from './rent.ts';

export interface Axes {
  readonly hours: number;
  readonly money: number;
}

/** As far as the person's use of three years and the break-evens near it. */
export function axesOf(inputs: RentInputs, answer: RentAnswer): Axes {
  const year = inputs.hoursPerWeek * weeksPerYear;
  const spot = answer.spot?.hours ?? Infinity;
  const wanted = [100, 3 * year, ...[answer.hours, spot].filter((hours) => hours < 20 * Math.max(100, year))];
  const hours = niceRange({ minimum: 0, maximum: 1.25 * Math.max(...wanted) }).maximum;
  const { own, spot: spotCost, hybrid } = answer.at(hours);
  const most = Math.max(own ?? 0, spotCost ?? 0, hybrid ?? 0, 1);
  return { hours, money: niceRange({ minimum: 0, maximum: 1.4 * most }).maximum };
}

const looks: readonly [Way, string, readonly number[], Partial<Curve>][] = [
  ['onDemand', 'run-b', [7, 3], {}],
  ['hybrid', 'run-c', [9, 3, 2, 3], {}],
  ['spot', 'run-d', [2, 3], { inkLabel: true }],
  ['own', 'text', [], { width: 2.2 }],
];
const points = 60;

export function rentCurves(answer: RentAnswer, axes: Axes, ways: readonly Way[]): readonly Curve[] {
  const x = Array.from({ length: points + 1 }, (_, i) => (axes.hours * i) / points);
  const costs = x.map(answer.at);
  return looks.flatMap(([way, token, dash, more]) =>
    !ways.includes(way) || (way === 'spot' && answer.spot === null)
      ? []
      : [{ id: way, label: wayNames[way], token, dash, x, y: costs.map((cost) => cost[way] ?? NaN), ...more }],
  );
}

/** Where owning becomes cheaper than renting. */
export function rentMarks(answer: RentAnswer, axes: Axes) {
  const owned = (hours: number): number => answer.at(hours).own ?? 0;
  return [
    { hours: answer.hours, words: '', filled: true },
    { hours: answer.spot?.hours ?? Infinity, words: ' against spot', filled: false },
  ].flatMap(({ hours, words, filled }) =>
    hours > 0 && hours <= axes.hours
      ? [{ x: hours, y: owned(hours), label: `${hoursText(hours)}${words}`, filled }]
      : [],
  );
}

/** Share of the hours that the words of an upright line take, and of the height below which their place at the top is free of curves. */
const [wordsShare, freeShare] = [0.25, 0.85];

/** One and three years of the person's own use, their words where no curve runs through them. */
export function rentRules({ hoursPerWeek }: RentInputs, answer: RentAnswer, axes: Axes) {
  return [1, 3].map((years) => {
    const x = years * weeksPerYear * hoursPerWeek;
    const costs = [x, x + wordsShare * axes.hours].flatMap(
      (hours) => Object.values(answer.at(hours)) as (number | null)[],
    );
    return {
      x,
      label: years === 1 ? '1 year of your use' : `${years} years of your use`,
      top: costs.every((cost) => (cost ?? 0) < freeShare * axes.money),
    };
  });
}
