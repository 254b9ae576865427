// Units that give the same to every row: nothing flows back through them, so they stay as they are. Looked for after a short training, as
// rates that are too high kill them in the first steps; where they were silent before, the first weights are to blame.

import type { CheckAction, CheckFinding } from '../../protocol/checking.ts';
import { actionOf } from '../changes.ts';
import { counted, figure, NotDone, percent, type Check, type Pace } from '../check.ts';
import type { Seen } from './depth.ts';
import type { RateSearch } from './rates.ts';
import type { ShortTraining } from './steps.ts';
import { lookInside, type Inside } from './inside.ts';
import { countOf, deadLimits, shareOf } from './silent.ts';
import type { Subject } from './subject.ts';

/** `trained`: after some steps. */
export function deadCheck(
  subject: Subject,
  seen: Seen,
  findRate: RateSearch,
  trained: () => ShortTraining | null,
): Check {
  return {
    finds: ['dead'],
    seconds: 1,
    async run(pace) {
      const after = trained();
      if (after && after.losses.some((loss) => !Number.isFinite(loss))) {
        throw new NotDone(`Needs weights; those after ${counted(after.losses.length)} steps are no numbers.`);
      }
      const inside = await lookInside(subject, { milliseconds: 500, weights: after?.weights }, pace);
      const steps = after?.losses.length ?? 0;
      const found = judgeDead(inside, seen.inside, steps, subject.config.training.optimizer.learningRate);
      if (found.kind === 'fine') return [found];
      return [{ ...found, action: await remedyFor(subject, seen, findRate, steps, pace) }];
    },
  };
}

/** Smaller steps where the rate is the reason; else what keeps sizes, or units that always answer. */
async function remedyFor(
  { config }: Subject,
  seen: Seen,
  findRate: RateSearch,
  steps: number,
  pace: Pace,
): Promise<CheckAction> {
  const before = seen.inside && shareOf(seen.inside);
  const killed = before !== null && before < deadLimits.look && steps > 0;
  const rate = killed ? await findRate('down', pace) : null;
  if (rate?.sound) return rate.action;
  const { change, words } = seen.remedy ?? { change: { activation: 'leaky_relu' as const }, words: 'Leaky ReLU' };
  return actionOf(config, `Run with ${words}`, words, change);
}

export function judgeDead(inside: Inside, before: Inside | null, steps: number, rate: number): CheckFinding {
  const { units, silent } = countOf(inside);
  if (units === 0) throw new NotDone('Needs hidden units; this model has none.');
  const share = silent / units;
  const shares = inside.silent.slice(0, -1).map(({ units: all, silent: dead }, i) => ({
    name: inside.layers[i].name,
    share: dead / all,
  }));
  const base = {
    id: 'dead',
    figure: percent(share),
    drawing: {
      kind: 'shares',
      of: 'units that never answered',
      note: `${counted(inside.rows)} rows${steps > 0 ? `, after ${counted(steps)} steps` : ''}`,
      bars: shares,
      limits: [{ value: deadLimits.look, words: `${percent(deadLimits.look)} of all is worth a look` }],
    },
  } as const;
  const told = `${counted(silent)} of ${counted(units)} gave the same to all ${counted(inside.rows)} rows`;
  if (share < deadLimits.look) {
    return { ...base, kind: 'fine', title: 'Units answer', text: `${told}.` };
  }
  const worst = shares.reduce((a, b) => (b.share > a.share ? b : a));
  const atStart = before ? shareOf(before) : null;
  const killed = atStart !== null && steps > 0 && share > 2 * atStart + 0.02;
  const cause = killed
    ? ` At the start it was ${percent(atStart)}: ${counted(steps)} steps at a rate of ${figure(rate)} silenced the rest.`
    : '';
  return {
    ...base,
    kind: share >= deadLimits.fix ? 'fix' : 'look',
    title: 'Dead units',
    text: `${told}, most in ${worst.name}.${cause}`,
  };
}
