// A line chart as a piece of SVG: axes, a line a series, its name at its end.

import { thinCurve } from '../../protocol/thin-curve.ts';

export interface Line {
  readonly name: string;
  readonly colour: string;
  readonly dash: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const size = { width: 520, height: 260 };
const margin = { left: 56, right: 96, top: 14, bottom: 34 };
/** Points of a line at most: about one a pixel. */
const mostPoints = 400;

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

export const shown = (value: number): string =>
  Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(2)
    : String(Number(value.toPrecision(4)));

/** `about` says what the horizontal axis counts. */
export function chart(title: string, lines: readonly Line[], about: string): string {
  const all = lines.flatMap(({ points }) => points);
  if (all.length === 0) return '';
  const [left, right] = range(all.map(([x]) => x));
  const [low, high] = range(all.map(([, y]) => y));
  const inner = { width: size.width - margin.left - margin.right, height: size.height - margin.top - margin.bottom };
  const x = (value: number): number => margin.left + ((value - left) / (right - left)) * inner.width;
  const y = (value: number): number => margin.top + (1 - (value - low) / (high - low)) * inner.height;
  const at = (value: number): string => value.toFixed(1);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const value = low + share * (high - low);
    return `<line x1="${margin.left}" x2="${size.width - margin.right}" y1="${at(y(value))}" y2="${at(y(value))}" class="grid"/><text x="${margin.left - 6}" y="${at(y(value) + 4)}" text-anchor="end">${shown(value)}</text>`;
  });
  const ticks = [left, (left + right) / 2, right].map(
    (value) =>
      `<text x="${at(x(value))}" y="${size.height - margin.bottom + 16}" text-anchor="middle">${shown(value)}</text>`,
  );
  const drawn = lines.map(({ name, colour, dash, points }) => {
    const path = thinned(points).map(([px, py]) => `${at(x(px))},${at(y(py))}`);
    const [, last] = points[points.length - 1];
    return `<polyline points="${path.join(' ')}" stroke="${colour}" stroke-dasharray="${dash}" class="line"/><text x="${size.width - margin.right + 5}" y="${at(y(last) + 4)}" fill="${colour}">${escaped(name)}</text>`;
  });
  return `<figure><figcaption>${escaped(title)}</figcaption><svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${escaped(title)}">${grid.join('')}${ticks.join('')}${drawn.join('')}<text x="${size.width - margin.right}" y="${size.height - 4}" text-anchor="end">${escaped(about)}</text></svg></figure>`;
}

function range(values: readonly number[]): readonly [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low === high
    ? [low - Math.max(1e-9, Math.abs(low) / 10), high + Math.max(1e-9, Math.abs(high) / 10)]
    : [low, high];
}

function thinned(points: Line['points']): Line['points'] {
  const kept = thinCurve(
    points.length,
    (index) => points[index][0],
    (index) => points[index][1],
    mostPoints,
  );
  return kept.map((index) => points[index]);
}
