// The learning curve: what a model scores with 10, 20, 40, 80 and all per cent of its rows, and by a power law of them what twice as many
// would bring. Losses are mean log losses or mean squares; less is better.

import { sequentialWords } from '../../optim/random.ts';

/** Shares of the rows to learn from; all of them are known already. */
export const curveShares = [0.1, 0.2, 0.4, 0.8] as const;

export interface CurvePoint {
  /** Rows learned from. */
  readonly rows: number;
  /** Mean loss, and its standard error. */
  readonly loss: number;
  readonly error: number;
}

/** loss = floor + scale · rows^−power */
export interface PowerLaw {
  readonly floor: number;
  readonly scale: number;
  readonly power: number;
}

/** Powers that are tried: what is found in practice lies between. */
const powers = Array.from({ length: 40 }, (_, step) => 0.05 * (step + 1));
/** Curves drawn from the errors of the points. */
const draws = 200;
const stream = 4200;

/** The power law of least squares, weighted by the errors; floor and scale are never below 0. Needs two points. */
export function fitPowerLaw(points: readonly CurvePoint[]): PowerLaw {
  let best: PowerLaw & { readonly misfit: number } = { floor: 0, scale: 0, power: 1, misfit: Infinity };
  for (const power of powers) {
    const rows = points.map((point) => ({
      x: point.rows ** -power,
      y: point.loss,
      w: 1 / Math.max(point.error, 1e-12) ** 2,
    }));
    const sum = (of: (row: (typeof rows)[number]) => number): number => rows.reduce((total, row) => total + of(row), 0);
    const [w, wx, wy] = [sum((r) => r.w), sum((r) => r.w * r.x), sum((r) => r.w * r.y)];
    const [wxx, wxy] = [sum((r) => r.w * r.x * r.x), sum((r) => r.w * r.x * r.y)];
    const slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    const tried = [
      { floor: (wy - slope * wx) / w, scale: slope },
      { floor: 0, scale: wxy / wxx },
      { floor: wy / w, scale: 0 },
    ].filter(({ floor, scale }) => floor >= 0 && scale >= 0);
    for (const { floor, scale } of tried) {
      const misfit = sum((r) => r.w * (r.y - floor - scale * r.x) ** 2);
      if (misfit < best.misfit) best = { floor, scale, power, misfit };
    }
  }
  const { floor, scale, power } = best;
  return { floor, scale, power };
}

export const lossAt = ({ floor, scale, power }: PowerLaw, rows: number): number => floor + scale * rows ** -power;

/** The loss with twice the rows of the last point, with the middle 95 % of curves drawn from the errors. `seed`: of the run. */
export function withTwice(
  points: readonly CurvePoint[],
  seed: number,
): { readonly loss: number; readonly interval: readonly [number, number] } {
  const rows = 2 * points[points.length - 1].rows;
  const loss = lossAt(fitPowerLaw(points), rows);
  const next = sequentialWords(seed, stream, 0);
  const normal = (): number =>
    Math.sqrt(-2 * Math.log((next() + 1) / 2 ** 32)) * Math.cos((2 * Math.PI * next()) / 2 ** 32);
  const drawn = Array.from({ length: draws }, () =>
    lossAt(fitPowerLaw(points.map((point) => ({ ...point, loss: point.loss + point.error * normal() }))), rows),
  ).sort((one, other) => one - other);
  return { loss, interval: [drawn[Math.floor(0.025 * draws)], drawn[Math.ceil(0.975 * draws) - 1]] };
}
