// What the samplers and stopping early are worth: on the tables of a suite, TPE against random search at equal trials, paired over seeds, and a
// search that stops early against the whole one by steps of training. And what a trial costs beside its steps.
//
// node tests/bench/search.ts SUITE.json [--tables a,b] [--rows 1000] [--trials 30] [--seeds 3] [--trees 60] [--overhead 1000]
//
// SUITE.json: {"NAME": {"target": …, "ignore": […]}}, with NAME.csv beside it. `--rows`: so many of each, drawn.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startTrainyard } from '../support/cli.ts';
import { uniform } from '../support/table.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tables: { type: 'string' },
    rows: { type: 'string', default: '0' },
    trials: { type: 'string', default: '30' },
    seeds: { type: 'string', default: '3' },
    trees: { type: 'string', default: '60' },
    overhead: { type: 'string', default: '0' },
  },
});
const [trials, seeds, trees, overhead, rows] = [
  values.trials,
  values.seeds,
  values.trees,
  values.overhead,
  values.rows,
].map(Number);
const home = mkdtempSync(path.join(os.tmpdir(), 'trainyard-bench-'));

interface TrialEvent {
  readonly event: string;
  readonly score: number | null;
  readonly stopped: boolean;
  readonly steps: number;
  readonly seconds: number;
  readonly training_seconds: number;
}

const space = {
  trees,
  patience: 0,
  learningRate: { kind: 'float', low: 0.01, high: 0.5, log: true },
  leaves: { kind: 'integer', low: 2, high: 64, log: true },
  minRows: { kind: 'integer', low: 1, high: 100, log: true },
  featureFraction: { kind: 'float', low: 0.2, high: 1 },
  l2: { kind: 'float', low: 1e-3, high: 100, log: true },
};

async function search(file: string, target: string, ...args: readonly string[]): Promise<readonly TrialEvent[]> {
  const spaceFile = path.join(home, 'space.json');
  writeFileSync(spaceFile, JSON.stringify(space));
  const asked = ['search', file, '--target', target, '--space', spaceFile, '--threads', '1', ...args, '--json'];
  const { code, events, stderr } = await startTrainyard(home, asked).finished;
  if (code !== 0) throw new Error(`${file}: ${stderr}`);
  return (events as unknown as readonly TrialEvent[]).filter(({ event }) => event === 'trial');
}

const bestOf = (events: readonly TrialEvent[]): number =>
  Math.min(...events.filter(({ stopped, score }) => !stopped && score !== null).map(({ score }) => score!));
const stepsOf = (events: readonly TrialEvent[]): number => events.reduce((sum, { steps }) => sum + steps, 0);
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** Of the steps that the whole search took, what one that stops early needs to come to its best, and to within 1 % of it. */
function shareOfSteps(early: readonly TrialEvent[], whole: readonly TrialEvent[], within: number): number {
  const goal = bestOf(whole) * (1 + within);
  let steps = 0;
  for (const trial of early) {
    steps += trial.steps;
    if (!trial.stopped && trial.score !== null && trial.score <= goal) return steps / stepsOf(whole);
  }
  return Infinity;
}

/** The table, or so many of its rows, always the same ones. */
function tableOf(file: string): string {
  if (rows === 0) return file;
  const [head, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const random = uniform(1);
  const drawn = lines
    .map((line) => ({ line, at: random() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, rows);
  const smaller = path.join(home, path.basename(file));
  writeFileSync(smaller, [head, ...drawn.map(({ line }) => line)].join('\n'));
  return smaller;
}

const better = (score: number, other: number): number => (score < other ? 1 : score === other ? 0.5 : 0);
const middle = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const shown = (share: number): string => (Number.isFinite(share) ? share.toFixed(2) : 'not').padStart(6);

/** Of each sampler: a whole search, and twice as many trials that are stopped early, until its best is reached. */
async function compare(suite: string): Promise<void> {
  const all = JSON.parse(readFileSync(suite, 'utf8')) as Record<
    string,
    { readonly target: string; readonly ignore?: readonly string[] }
  >;
  const names = values.tables?.split(',') ?? Object.keys(all);
  const samplers = ['tpe', 'random'] as const;
  console.log(
    `${trials} trials of ${trees} trees, ${seeds} seeds, ${rows > 0 ? `${rows} rows` : 'all rows'}; scores are log losses or RMSE, less is better`,
  );
  console.log(
    'table          TPE        random     TPE better   stopping early, share of steps to the best, to within 1 %',
  );
  console.log('                                                  TPE           random');
  const wins: number[] = [];
  const reached = samplers.map(() => ({ best: [] as number[], near: [] as number[] }));
  for (const name of names) {
    const file = tableOf(path.join(path.dirname(suite), `${name}.csv`));
    const { target, ignore = [] } = all[name];
    const common = ignore.length > 0 ? ['--ignore', ignore.join(',')] : [];
    const best = samplers.map(() => [] as number[]);
    const shares = samplers.map(() => ({ best: [] as number[], near: [] as number[] }));
    for (let seed = 1; seed <= seeds; seed++) {
      for (const [at, sampler] of samplers.entries()) {
        const seeded = [...common, '--seed', String(seed), '--sampler', sampler, '--trials'];
        const whole = await search(file, target, ...seeded, String(trials));
        const early = await search(file, target, ...seeded, String(2 * trials), '--asha');
        best[at].push(bestOf(whole));
        shares[at].best.push(shareOfSteps(early, whole, 0));
        shares[at].near.push(shareOfSteps(early, whole, 0.01));
      }
    }
    wins.push(...best[0].map((score, at) => better(score, best[1][at])));
    reached.forEach((own, at) => {
      own.best.push(middle(shares[at].best));
      own.near.push(middle(shares[at].near));
    });
    const score = (at: number): string => mean(best[at]).toPrecision(5).padEnd(10);
    const found = reached.map(({ best: own, near }) => `${shown(own.at(-1)!)} ${shown(near.at(-1)!)}`);
    console.log(
      `${name.padEnd(14)} ${score(0)} ${score(1)} ${wins.slice(-seeds).reduce((sum, one) => sum + one)} of ${seeds}     ${found.join(' ')}`,
    );
  }
  const within = (own: readonly number[]): number => own.filter((share) => share <= 0.25).length;
  console.log(`TPE is better in ${(100 * mean(wins)).toFixed(0)} % of ${wins.length} pairs`);
  samplers.forEach((sampler, at) =>
    console.log(
      `${sampler}: within a quarter of the steps stopping early comes to the best on ${within(reached[at].best)}, to within 1 % on ${within(reached[at].near)} of ${names.length} tables`,
    ),
  );
}

/** Many trials of a table of 150 rows with few trees. */
async function timeOverhead(count: number): Promise<void> {
  const random = uniform(1);
  const lines = Array.from({ length: 150 }, () => {
    const [a, b] = [random(), random()];
    return `${a.toFixed(4)},${b.toFixed(4)},${a + b + random() > 1.4 ? 'yes' : 'no'}`;
  });
  const file = path.join(home, 'tiny.csv');
  writeFileSync(file, ['a,b,y', ...lines].join('\n'));
  for (const folds of ['2', '5']) {
    const begun = performance.now();
    const events = await search(file, 'y', '--trials', String(count), '--folds', folds);
    const seconds = (performance.now() - begun) / 1000;
    const over = events.map((trial) => 1000 * (trial.seconds - trial.training_seconds)).sort((a, b) => a - b);
    console.log(
      `${count} trials, ${folds} folds: ${seconds.toFixed(1)} s by the clock, a trial ${(1000 * mean(events.map((trial) => trial.seconds))).toFixed(2)} ms, beside its steps ${over[Math.floor(count / 2)].toFixed(2)} ms at the median, ${over[Math.floor(0.9 * count)].toFixed(2)} ms at 90 %`,
    );
  }
}

try {
  if (overhead > 0) await timeOverhead(overhead);
  if (positionals.length > 0) await compare(path.resolve(positionals[0]));
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
