// Another learning rate, looked for once whatever finding asks: with it a batch is learned by heart, the loss falls on the rows of the run,
// units stay alive and, where there is one that does so too, validation rows are told apart.

import type { CheckAction } from '../../protocol/checking.ts';
import { actionOf, changed } from '../changes.ts';
import { figure, type Pace } from '../check.ts';
import { chance, deviationsApart, rankScore, targetsOf } from '../rank-score.ts';
import type { Seen } from './depth.ts';
import { lookInside } from './inside.ts';
import { deadLimits, shareOf } from './silent.ts';
import { trainShortly } from './steps.ts';
import type { Subject } from './subject.ts';

/**
 * `down`: the steps are too large; `both`: nobody knows. Null: none was found.
 */
export type RateSearch = (way: 'down' | 'both', pace: Pace) => Promise<FoundRate | null>;

export interface FoundRate {
  readonly action: CheckAction;
  /** Whether units stay alive and the loss falls as well; else a batch is learned by heart, and no rate does better. */
  readonly sound: boolean;
}

/** Nothing is trained at other rates in earnest. */
const [lowest, highest] = [1e-6, 1];
const limits = { milliseconds: 400, steps: 400 } as const;
/** Rates that are tried after the first that will do, for one that tells validation rows apart. */
const further = 2;
/** Milliseconds after which no other is begun. */
const most = 6_000;

export function rateSearch(subject: Subject, seen: Seen): RateSearch {
  let found: Promise<FoundRate | null> | null = null;
  return (way, pace) => (found ??= search(subject, seen, way, pace));
}

async function search(subject: Subject, seen: Seen, way: 'down' | 'both', pace: Pace): Promise<FoundRate | null> {
  let best: FoundRate | null = null;
  let left = further;
  const start = pace.clock();
  for (const rate of ladder(subject.config.training.optimizer.learningRate, way)) {
    if (best?.sound && left-- === 0) break;
    if (pace.clock() - start > most) break;
    await pace.breathe();
    const changes = { settings: { 'optimizer.learningRate': rate } };
    if (seen.byHeart && !(await seen.byHeart(changes))) continue;
    const { sound, teaches } = await tried({ ...subject, config: changed(subject.config, changes) }, seen, pace);
    const words = `learning rate ${figure(rate)}`;
    const found = { action: actionOf(subject.config, `Run with ${words}`, words, changes), sound };
    if (teaches) return found;
    if (sound ? !best?.sound : seen.byHeart && !best) best = found;
  }
  return best;
}

/** Tenths and tens of a rate within what is used, the nearest first; those above before those below. */
export function ladder(rate: number, way: 'down' | 'both'): readonly number[] {
  const rates = (factor: number): readonly number[] =>
    Array.from({ length: 12 }, (_, i) => Number((rate * factor ** (i + 1)).toPrecision(2))).filter(
      (value) => value >= lowest && value <= highest,
    );
  return way === 'down' ? rates(0.1) : [...rates(10), ...rates(0.1)];
}

async function tried(subject: Subject, { inside: before }: Seen, pace: Pace) {
  const { backend, config, sample, data } = subject;
  const { losses, outputs, weights } = await trainShortly({ backend, config, rows: sample, ...limits }, pace);
  const bad = { sound: false, teaches: false };
  if (![...losses, ...outputs].every(Number.isFinite)) return bad;
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const some = Math.max(1, losses.length >> 2);
  if (losses.length > 1 && mean(losses.slice(-some)) >= mean(losses.slice(0, some))) return bad;
  const silent = shareOf(await lookInside(subject, { milliseconds: 200, weights }, pace));
  const atFirst = before ? shareOf(before) : 0;
  if (silent >= Math.max(deadLimits.look, 1.5 * atFirst)) return bad;
  // The rows and the time of a trial are few: well alive is better.
  const alive = silent < Math.max(deadLimits.look / 2, 1.5 * atFirst);
  if (sample.data.counts.validation < chance.fewestRows) return { sound: true, teaches: alive };
  const score = rankScore(data.output, outputs, targetsOf(sample), config.seed);
  return { sound: true, teaches: alive && deviationsApart(score) > chance.apart };
}
