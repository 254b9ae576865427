// Do the columns tell anything of the labels? The same short training on real labels and on shuffled ones, both judged on validation rows
// by a score whose chance is known: the area under the ROC curve (0.5), the rank correlation of values (0). Scores of ranks, since a
// training this short is not yet sure of anything. Spread of chance: Mann & Whitney (1947); 1/√n of a correlation.

import { areaUnderRoc } from '../model/roc.ts';
import type { OutputSpec } from '../model/spec.ts';
import type { CheckFinding, Drawing } from '../protocol/checking.ts';
import { probabilities } from '../train/metrics.ts';
import { counted, figure, NotDone, type Check, type Examination, type Sampled } from './check.ts';
import { withShuffledLabels } from './sample.ts';

/** Standard deviations of chance by which a score has to differ from it. */
export const chance = { apart: 3, fewestRows: 20, fewestSteps: 100 } as const;
const trialMilliseconds = 1_200;

export interface RankScore {
  readonly name: string;
  readonly value: number;
  readonly chance: number;
  /** Standard deviation of it where outputs know nothing of the targets. */
  readonly deviation: number;
}

export function shuffledCheck(examination: Examination, { sample, data }: Sampled, seed: number): Check {
  return {
    finds: ['shuffled'],
    seconds: 3,
    async run(pace) {
      const { validation, train } = sample.data.counts;
      if (validation < chance.fewestRows) {
        throw new NotDone(`Needs ${chance.fewestRows} validation rows; the split has ${data.counts.validation}.`);
      }
      const real = await examination.trial(sample, { milliseconds: trialMilliseconds }, pace);
      const { length: steps } = real.losses;
      const bad = real.losses.findIndex((loss) => !Number.isFinite(loss));
      const targets = (rows: Sampled['sample']) =>
        Float32Array.from({ length: validation }, (_, row) => rows.shard.y[(train + row) * data.targets]);
      if (bad >= 0 || real.outputs.some((value) => !Number.isFinite(value))) {
        const calmer = await examination.calmer?.(sample, pace);
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
      const shuffled = await examination.trial(dealt, { steps }, pace);
      return [
        judgeShuffled(
          rankScore(data.output, real.outputs, targets(sample)),
          rankScore(data.output, shuffled.outputs, targets(dealt)),
          { steps, rows: validation, curves: [real.losses, shuffled.losses] },
        ),
      ];
    },
  };
}

export function rankScore(output: OutputSpec, outputs: Float32Array, targets: Float32Array): RankScore {
  const rows = targets.length;
  if (output.kind === 'value') {
    const value = correlation(ranks(outputs), ranks(targets));
    return { name: 'rank correlation', value, chance: 0, deviation: 1 / Math.sqrt(rows - 1) };
  }
  const classes = output.classes.length;
  const counts = new Array<number>(classes).fill(0);
  for (const target of targets) counts[target]++;
  const present = counts.filter((count) => count > 0);
  const value = areaUnderRoc(probabilities(outputs, rows, classes), targets, classes);
  const variances = present.map((count) => (rows + 1) / (12 * count * (rows - count)));
  // Of several classes their mean, as if they moved together, which is the most it can spread.
  const spread = variances.reduce((sum, variance) => sum + Math.sqrt(variance), 0) / variances.length;
  return { name: 'ROC area', value, chance: 0.5, deviation: spread };
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
  const apart = (score: RankScore): number => (score.value - score.chance) / score.deviation;
  const told = `${real.name} ${real.value.toFixed(3)} with real labels and ${shuffled.value.toFixed(3)} with shuffled ones, ${real.chance} ± ${figure(real.deviation)} by chance, on ${counted(rows)} validation rows${steps > 1 ? ` after ${counted(steps)} steps` : ''}`;
  const base = { id: 'shuffled', figure: `${real.value.toFixed(3)}, ${shuffled.value.toFixed(3)}`, drawing } as const;
  if (apart(shuffled) > chance.apart + 1) {
    return {
      ...base,
      kind: 'look',
      title: 'Shuffled labels are foretold',
      text: `${told}: rows of the two splits give labels away. Look for copies.`,
    };
  }
  if (apart(real) > chance.apart) {
    return { ...base, kind: 'fine', title: 'Shuffled labels give chance', text: `${told}.` };
  }
  if (steps < chance.fewestSteps && steps > 1) {
    throw new NotDone(`Needs ${chance.fewestSteps} steps; ${counted(steps)} fitted into the time. ${told}.`);
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

/** From 1; the mean of those of equal values. */
function ranks(values: Float32Array): Float64Array {
  const order = Uint32Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b]);
  const found = new Float64Array(values.length);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]] === values[order[from]]) to++;
    for (let i = from; i < to; i++) found[order[i]] = (from + to + 1) / 2;
    from = to;
  }
  return found;
}

function correlation(a: Float64Array, b: Float64Array): number {
  const mean = (a.length + 1) / 2;
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) ** 2;
    bb += (b[i] - mean) ** 2;
  }
  // The same answer for every row tells nothing.
  return aa === 0 || bb === 0 ? (bb === 0 ? NaN : 0) : ab / Math.sqrt(aa * bb);
}
