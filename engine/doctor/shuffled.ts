// Do the columns tell anything of the labels? The same short training on real labels and on shuffled ones, both judged on validation rows
// by a score whose chance is known (rank-score.ts).

import type { CheckFinding, Drawing } from '../protocol/checking.ts';
import { counted, figure, NotDone, type Check, type Examination, type Sampled } from './check.ts';
import { chance, deviationsApart, rankScore, targetsOf, type RankScore } from './rank-score.ts';
import { withShuffledLabels } from './sample.ts';

const trialMilliseconds = 1_200;

export function shuffledCheck(examination: Examination, { sample, data }: Sampled, seed: number): Check {
  return {
    finds: ['shuffled'],
    seconds: 3,
    async run(pace) {
      const { validation } = sample.data.counts;
      if (validation < chance.fewestRows) {
        throw new NotDone(`Needs ${chance.fewestRows} validation rows; the split has ${data.counts.validation}.`);
      }
      const time = { milliseconds: trialMilliseconds };
      const real = await examination.trial(sample, time, pace);
      const { length: steps } = real.losses;
      const bad = real.losses.findIndex((loss) => !Number.isFinite(loss));
      if (bad >= 0 || real.outputs.some((value) => !Number.isFinite(value))) {
        const calmer = await examination.calmer?.(pace);
        return [
          {
            id: 'shuffled',
            kind: 'fix',
            title: 'The loss leaves all bounds',
            figure: bad >= 0 ? `step ${counted(bad + 1)}` : 'no number',
            text: `On real rows, with the settings of the run.${calmer ? ` With ${calmer.change} it falls.` : ''}`,
            ...(calmer ? { action: calmer } : {}),
          },
        ];
      }
      const dealt = withShuffledLabels(sample, seed);
      // Forests tell no training loss of each tree: theirs is as long instead.
      const shuffled = await examination.trial(dealt, steps > 0 ? { steps } : time, pace);
      return [
        judgeShuffled(
          rankScore(data.output, real.outputs, targetsOf(sample), seed),
          rankScore(data.output, shuffled.outputs, targetsOf(dealt), seed),
          { steps, rows: validation, curves: [real.losses, shuffled.losses] },
        ),
      ];
    },
  };
}

export function judgeShuffled(
  real: RankScore,
  shuffled: RankScore,
  about: { readonly steps: number; readonly rows: number; readonly curves: readonly (readonly number[])[] },
): CheckFinding {
  if (!Number.isFinite(real.value))
    throw new NotDone('Needs validation rows with different answers; they are all the same.');
  const { steps, rows, curves } = about;
  const drawing: Drawing = {
    kind: 'curves',
    of: 'training loss',
    note: `${counted(steps)} steps each`,
    logarithmic: false,
    curves: [
      { name: 'real labels', values: smoothed(curves[0]) },
      { name: 'shuffled', values: smoothed(curves[1]) },
    ],
    limits: [],
  };
  const byChance =
    real.deviation > 0 ? `${real.chance} ± ${figure(real.deviation)} by chance` : 'all rows given the same';
  const told = `${real.name} ${real.value.toFixed(3)} with real labels and ${shuffled.value.toFixed(3)} with shuffled ones, ${byChance}, on ${counted(rows)} validation rows${steps > 1 ? ` after ${counted(steps)} steps` : ''}`;
  const base = {
    id: 'shuffled',
    figure: `${real.value.toFixed(3)}, ${shuffled.value.toFixed(3)}`,
    ...(steps > 0 ? { drawing } : {}),
  } as const;
  if (deviationsApart(shuffled) > chance.apart + 1) {
    return {
      ...base,
      kind: 'look',
      title: 'Shuffled labels are foretold',
      text: `${told}: rows of the two splits give labels away. Look for copies.`,
    };
  }
  if (deviationsApart(real) > chance.apart) {
    return { ...base, kind: 'fine', title: 'Shuffled labels give chance', text: `${told}.` };
  }
  if (steps < chance.fewestSteps && steps > 1) {
    throw new NotDone(`Needs ${chance.fewestSteps} steps; ${counted(steps)} fitted into the time. ${told}.`);
  }
  // Chance alone reaches far on few rows: what is no better than it there may be worth much.
  if (chance.apart * real.deviation > chance.telling * (1 - real.chance)) {
    throw new NotDone(`Needs more validation rows to tell. ${told}.`);
  }
  if (deviationsApart(real) > chance.perhaps) {
    return {
      ...base,
      kind: 'look',
      title: 'Real labels teach hardly more than shuffled ones',
      text: `${told}: the columns tell little, or more rows are needed to see it.`,
    };
  }
  return {
    ...base,
    kind: 'fix',
    title: 'Real labels teach no more than shuffled ones',
    text: `${told}. Where no other finding is the reason: do the labels stand beside their rows? If they do, the columns tell too little to be seen here.`,
  };
}

/** Means of twenty parts at least: single steps jump. */
function smoothed(losses: readonly number[]): readonly number[] {
  const parts = Math.min(losses.length, 100);
  return Array.from({ length: parts }, (_, part) => {
    const own = losses.slice(
      Math.floor((part * losses.length) / parts),
      Math.ceil(((part + 1) * losses.length) / parts),
    );
    return own.reduce((sum, loss) => sum + loss, 0) / own.length;
  });
}
