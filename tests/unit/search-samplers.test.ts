// Where a search looks: spaces, Sobol's points by their definition, the densities of TPE beside Optuna's, early stopping by rank by hand.

import assert from 'node:assert/strict';
import test from 'node:test';
import { forecastLoss, goesOn, placesOf, rungsOf } from '../../engine/search/asha.ts';
import { importanceOf, variancesOf } from '../../engine/search/importance.ts';
import { optimism } from '../../engine/search/optimism.ts';
import { ParzenEstimator } from '../../engine/search/parzen.ts';
import { betterOf, nextChosen, partedTrials, samplers, type Seen } from '../../engine/search/sampler.ts';
import { mostSobolDimensions, scrambledSobolPoint, sobolPoint } from '../../engine/search/sobol.ts';
import { chosenAt, placeOfValue, pointOf, sizeOf, valueAtPlace, type Space } from '../../engine/search/space.ts';

const space: Space = {
  rate: { kind: 'float', low: 1e-4, high: 1e-1, log: true },
  units: { kind: 'integer', low: 16, high: 256, log: true },
  optimizer: { kind: 'choice', values: ['adam', 'sgd'] },
  momentum: { kind: 'float', low: 0.5, high: 0.99, when: { optimizer: ['sgd'] } },
};

test('a place of the unit interval is a value, and the value has its place', () => {
  assert.equal(valueAtPlace(space['rate'], 0), 1e-4);
  assert.equal(valueAtPlace(space['rate'], 1), 1e-1);
  assert.equal(valueAtPlace(space['rate'], 2 / 3), 1e-2);
  assert.ok(Math.abs(placeOfValue(space['rate'], 1e-2) - 2 / 3) < 1e-12);
  const three = { kind: 'integer', low: 1, high: 3 } as const;
  assert.deepEqual(
    [0, 0.33, 0.34, 0.66, 0.67, 1].map((place) => valueAtPlace(three, place)),
    [1, 1, 2, 2, 3, 3],
  );
  for (const units of [16, 17, 100, 256])
    assert.equal(valueAtPlace(space['units'], placeOfValue(space['units'], units)), units);
  assert.deepEqual(
    [0, 0.49, 0.5, 1].map((place) => valueAtPlace(space['optimizer'], place)),
    ['adam', 'adam', 'sgd', 'sgd'],
  );
  assert.equal(sizeOf({ a: three, b: space['optimizer'] }), 6);
  assert.equal(sizeOf(space), Infinity);
});

test('a setting that does not count is not chosen', () => {
  const adam = chosenAt(space, Float64Array.of(0.5, 0.5, 0.1, 0.5));
  assert.deepEqual(Object.keys(adam), ['rate', 'units', 'optimizer']);
  assert.ok(Number.isNaN(pointOf(space, adam)[3]));
  const sgd = chosenAt(space, Float64Array.of(0.5, 0.5, 0.9, 0.5));
  assert.equal(sgd['momentum'], 0.745);
});

test('Sobol’s points are those of Joe and Kuo', () => {
  const first = [
    [0, 0, 0, 0, 0],
    [0.5, 0.5, 0.5, 0.5, 0.5],
    [0.75, 0.25, 0.25, 0.25, 0.75],
    [0.25, 0.75, 0.75, 0.75, 0.25],
    [0.375, 0.375, 0.625, 0.875, 0.375],
    [0.875, 0.875, 0.125, 0.375, 0.875],
    [0.625, 0.125, 0.875, 0.625, 0.625],
    [0.125, 0.625, 0.375, 0.125, 0.125],
  ];
  first.forEach((point, index) => assert.deepEqual([...sobolPoint(index, 5)], point));
  // Point 777 of scipy.stats.qmc.Sobol(32, scramble=False).
  const later = [
    0.6923828125, 0.9365234375, 0.1630859375, 0.2744140625, 0.6357421875, 0.3564453125, 0.1904296875, 0.7626953125,
    0.3486328125, 0.3232421875, 0.7451171875, 0.6962890625, 0.3837890625, 0.4736328125, 0.5693359375, 0.5146484375,
    0.4033203125, 0.8642578125, 0.3701171875, 0.7529296875, 0.2373046875, 0.2724609375, 0.9462890625, 0.4814453125,
    0.3447265625, 0.1455078125, 0.0595703125, 0.7802734375, 0.0634765625, 0.1103515625, 0.5419921875, 0.8994140625,
  ];
  assert.deepEqual([...sobolPoint(777, mostSobolDimensions)], later);
});

test('scrambled, each interval of a sixteenth holds one of sixteen points in every dimension, and the seed decides which', () => {
  const points = (seed: number): Float64Array[] =>
    Array.from({ length: 16 }, (_, index) => scrambledSobolPoint(index, 8, seed));
  for (let dimension = 0; dimension < 8; dimension++) {
    const boxes = new Set(points(7).map((point) => Math.floor(16 * point[dimension])));
    assert.equal(boxes.size, 16, `dimension ${dimension}`);
  }
  assert.deepEqual(points(7), points(7));
  assert.notDeepEqual(points(7), points(8));
});

test('densities are those of Optuna’s Parzen estimator', () => {
  const dimensions = [
    { kind: 'float', low: 0, high: 1 },
    { kind: 'choice', values: ['a', 'b', 'c'] },
    { kind: 'integer', low: 1, high: 4 },
  ] as const;
  const place = (x: number, choice: number, whole: number): Float64Array =>
    Float64Array.of(x, (choice + 0.5) / 3, (whole - 0.5) / 4);
  const estimator = new ParzenEstimator(dimensions, [place(0.2, 0, 1), place(0.25, 2, 3), place(0.7, 0, 4)]);
  const near = (found: number, expected: number): void => assert.ok(Math.abs(found - expected) < 1e-6, `${found}`);
  near(estimator.logDensity(place(0.1, 0, 1)), -1.82976703);
  near(estimator.logDensity(place(0.22, 1, 2)), -2.770786);
  near(estimator.logDensity(place(0.9, 2, 4)), -2.74026659);
  // Thirty trials: the oldest of them weigh less.
  const places = Array.from({ length: 30 }, (_, i) => Float64Array.of(0.02 + (((7 * i) % 30) * 0.96) / 29));
  const many = new ParzenEstimator([dimensions[0]], places);
  near(many.logDensity(Float64Array.of(0.1)), 0.07535432);
  near(many.logDensity(Float64Array.of(0.5)), -0.09051446);
});

test('what is drawn follows the density', () => {
  const estimator = new ParzenEstimator([{ kind: 'float', low: 0, high: 1 }], [Float64Array.of(0.3)]);
  let state = 1;
  const next = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  const drawn = Array.from({ length: 20_000 }, () => estimator.sample(next)[0]);
  for (let bin = 0; bin < 5; bin++) {
    const share = drawn.filter((x) => Math.floor(5 * x) === bin).length / drawn.length;
    const density = Math.exp(estimator.logDensity(Float64Array.of((bin + 0.5) / 5)));
    assert.ok(Math.abs(share - density / 5) < 0.012, `bin ${bin}: ${share} beside ${density / 5}`);
  }
});

test('trials that were stopped early are judged at the farthest rung that enough of them came to', () => {
  const stopped = (loss: number): Seen => ({ chosen: {}, score: loss, reached: 0.1, rungs: [[0.5, loss]] });
  const whole = (score: number, loss: number): Seen => ({
    chosen: {},
    score,
    reached: 1,
    rungs: [
      [0.5, loss],
      [2, score],
    ],
  });
  // Two were completed, the first of them because it was the first: of one dimension three are enough.
  const some = [whole(0.9, 0.9), ...Array.from({ length: 8 }, (_, at) => stopped(0.5 + at / 10)), whole(0.4, 0.6)];
  assert.deepEqual(partedTrials(some)[0], [some[1]], 'at the first rung the second one is the best');
  const more = [...some, whole(0.3, 0.7)];
  assert.deepEqual(new Set(partedTrials(more)[0]), new Set([more[10], more[9]]), 'now the completed ones decide');
  assert.deepEqual(partedTrials(more, 5)[0], [more[1], more[9]], 'of five dimensions seven would be enough');
});

test('the better trials are a tenth, and what was stopped early stands behind', () => {
  assert.deepEqual([1, 10, 11, 100, 250, 10_000].map(betterOf), [1, 1, 2, 10, 25, 25]);
  const trial = (score: number | null, reached: number): Seen => ({ chosen: {}, score, reached });
  const trials = [trial(0.1, 0.2), trial(0.5, 1), trial(null, 1), ...Array.from({ length: 9 }, () => trial(0.6, 0.2))];
  const [better, worse] = partedTrials(trials);
  assert.deepEqual(better, [trials[0], trials[1]]);
  assert.equal(worse.length, 10);
});

test('a trial follows from the seed and the trials before it alone, with every sampler', () => {
  for (const sampler of samplers) {
    const run = (seed: number, known: readonly Seen[] = []): Seen[] => {
      const seen = [...known];
      while (seen.length < 30) {
        const chosen = nextChosen(sampler, space, seed, seen.length, seen);
        seen.push({ chosen, score: Math.abs(Math.log10(Number(chosen['rate'])) + 2), reached: 1 });
      }
      return seen;
    };
    const whole = run(3);
    assert.deepEqual(run(3, whole.slice(0, 17)), whole, sampler);
    assert.notDeepEqual(run(4), whole, sampler);
  }
});

test('TPE finds a narrow optimum that random search misses, over ten seeds', () => {
  const bowl: Space = Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [name, { kind: 'float', low: 0, high: 1 } as const]),
  );
  const best = (sampler: 'tpe' | 'random', seed: number): number => {
    const seen: Seen[] = [];
    while (seen.length < 80) {
      const chosen = nextChosen(sampler, bowl, seed, seen.length, seen);
      const score = Object.values(chosen).reduce<number>((sum, x, i) => sum + (Number(x) - 0.2 * (i + 1)) ** 2, 0);
      seen.push({ chosen, score, reached: 1 });
    }
    return Math.min(...seen.map(({ score }) => score!));
  };
  const wins = Array.from({ length: 10 }, (_, seed) => best('tpe', seed) < best('random', seed)).filter(Boolean);
  assert.ok(wins.length >= 9, `${wins.length} of 10`);
});

test('rungs: an eighth of the first fold, or as much of it as four epochs are, then one fold and half of them', () => {
  assert.deepEqual(rungsOf(5, 60), [1 / 8, 1, 3]);
  assert.deepEqual(rungsOf(10, 60), [1 / 8, 1, 5]);
  assert.deepEqual(rungsOf(3, 12), [1 / 2, 1, 2]);
  assert.deepEqual(rungsOf(2, 20), [1 / 4, 1]);
  assert.deepEqual(rungsOf(1, 60), [1 / 8, 1 / 2]);
  assert.deepEqual(rungsOf(1, 8), [1 / 2]);
  assert.deepEqual(rungsOf(1, 7), []);
});

test('at a rung the better half goes on, early in a fold the best quarter', () => {
  // Nine trials come to a rung one after the other.
  const scores = [5, 4, 6, 3, 3.9, 3.5, 2, 8, 3.6];
  const kept = (rung: number): boolean[] => scores.map((score, at) => goesOn(rung, score, scores.slice(0, at)));
  // 5: alone, of whom none goes on. 4 < 5. 6: the last of three, of whom one does. 3: the best. 3.9: second of five, 3.5: second of six, of whom
  // two and three do. 2: the best. 8: the last. 3.6: fourth of nine, of whom four do.
  assert.deepEqual(kept(1), [false, true, false, true, true, true, true, false, true]);
  // 3: the best of four. 2: the best of seven. Of nine two go on.
  assert.deepEqual(kept(1 / 8), [false, false, false, true, false, false, true, false, false]);
  assert.equal(goesOn(1, NaN, [1]), false);
});

test('within a fold trials are held against each other by where their losses are heading', () => {
  assert.deepEqual(placesOf(1 / 4, 60), { here: 15, halfway: 8 });
  // A gain of 0.1 by the last doubling; two more doublings gain half of it each.
  assert.ok(Math.abs(forecastLoss(1 / 4, 0.6, 0.7) - 0.5) < 1e-12);
  // A slow learner that is behind at a rung and better at the end: loss a + b · exp(−rate · steps).
  const slow = (steps: number): number => 0.2 + 0.8 * Math.exp(-0.05 * steps);
  const quick = (steps: number): number => 0.45 + 0.55 * Math.exp(-0.4 * steps);
  const forecast = (loss: (steps: number) => number): number => forecastLoss(1 / 4, loss(15), loss(8));
  assert.ok(slow(15) > quick(15) && slow(60) < quick(60));
  assert.ok(forecast(slow) < forecast(quick));
  assert.equal(forecastLoss(1 / 4, 0.6, 0.6), 0.6, 'it has learned what it can');
  assert.equal(forecastLoss(1 / 2, 0.6, Infinity), 0.6, 'nothing is known of halfway');
});

test('variance is told apart exactly: two cuts of a square by hand', () => {
  // 0 in the left half, of the right half 1 below and 3 above a half.
  const box = (low: number[], high: number[], value: number) => ({
    low: Float64Array.from(low),
    high: Float64Array.from(high),
    value,
  });
  const leaves = [box([0, 0], [0.5, 1], 0), box([0.5, 0], [1, 0.5], 1), box([0.5, 0.5], [1, 1], 3)];
  const { total, single, pairs } = variancesOf(leaves, 2);
  assert.equal(total, 0.5 * 1 + 0.25 * 0 + 0.25 * 4);
  // Means over the other: 0 and 2; 0.5 and 1.5.
  assert.deepEqual([...single], [1, 0.25]);
  assert.equal(pairs[1], 0.25);
});

test('importance of a product is that of its variance: 3/7 each and 1/7 together', () => {
  const points = Array.from({ length: 1500 }, (_, i) => scrambledSobolPoint(i, 3, 5));
  const found = importanceOf(
    points,
    points.map(([a, b]) => a * b),
    1,
  )!;
  const near = (share: number, expected: number): void => assert.ok(Math.abs(share - expected) < 0.06, `${share}`);
  near(found.single[0], 3 / 7);
  near(found.single[1], 3 / 7);
  near(found.single[2], 0);
  assert.deepEqual(found.pairs[0].of, [0, 1]);
  near(found.pairs[0].share, 1 / 7);
  assert.equal(importanceOf(points.slice(0, 4), [1, 2, 3, 4], 1), null);
});

test('the luck of the best: what it loses in each part to the best there', () => {
  // Means 2, 2.5, 3: the first is best; in the parts it is behind by 0, 2 and 0.
  const losses = [
    [1, 3, 2],
    [3.5, 1, 3],
    [3, 3, 3],
  ];
  assert.ok(Math.abs(optimism(losses) - 2 / 3) < 1e-12);
  assert.equal(optimism([[1, 2]]), 0);
});
