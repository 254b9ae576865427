// Can one batch be learned by heart? A net that cannot will not learn more rows either: a wrong rate, gradients that do not arrive, labels
// that do not fit. What makes learning hard on purpose is left out. Where it fails, other rates and layers are tried on the same rows.

import type { CheckAction, CheckFinding, ConfigChange, Drawing } from '../../protocol/checking.ts';
import { actionOf, changed } from '../changes.ts';
import { counted, figure, NotDone, type Check, type Pace, type StepRate } from '../check.ts';
import { differentRows, pick } from '../sample.ts';
import { startTheory } from '../start.ts';
import { remedies, type Remedy, type Seen } from './depth.ts';
import type { RateSearch } from './rates.ts';
import { trainShortly } from './steps.ts';
import type { Subject } from './subject.ts';

/** Fewer rows where steps are slow; `learned`, `explodes`: parts of the loss of a model that says nothing. */
export const heart = { rows: 32, fewerRows: 8, slowMilliseconds: 50, steps: 300, learned: 0.1, explodes: 10 } as const;
/** Milliseconds of the first training, and of those that look for a remedy. */
const [first, remedy] = [2_000, 500];
/** Fewer steps say nothing of whether it can be learned. */
const fewest = 30;

export function heartCheck(subject: Subject, seen: Seen, findRate: RateSearch, rate: () => StepRate | null): Check {
  const run = async (pace: Pace): Promise<readonly CheckFinding[]> => {
    const step = rate();
    const slow = step !== null && (step.milliseconds * heart.rows) / step.rows > heart.slowMilliseconds;
    return [await learnByHeart(subject, seen, findRate, slow ? heart.fewerRows : heart.rows, pace)];
  };
  return { finds: ['heart'], seconds: 2.5, run };
}

async function learnByHeart(
  subject: Subject,
  seen: Seen,
  findRate: RateSearch,
  count: number,
  pace: Pace,
): Promise<CheckFinding> {
  const { config, sample, backend, model } = subject;
  const { train } = sample.data.counts;
  if (train < count) throw new NotDone(`Needs a batch of ${count}; the split has ${train}.`);
  const places = differentRows(sample, count, config.seed);
  if (places.length < count) {
    throw new NotDone(`Needs ${count} rows that differ from each other; there are ${places.length}.`);
  }
  const rows = pick(sample, places);
  const settings = { ...config.training, labelSmoothing: 0 };
  const targets = Float32Array.from({ length: count }, (_, row) => rows.shard.y[row * rows.data.targets]);
  const theory = startTheory(sample.data.output, settings, targets, model.outputs, null);
  if (theory.loss < 1e-9) throw new NotDone(`Needs rows with different answers; those of ${count} are all the same.`);
  const learn = async (change: ConfigChange, milliseconds: number) => {
    const own = changed(config, change);
    const chosen = { batch: count, accumulate: 1, frozenLayers: own.training.frozenLayers ?? 0 };
    const enough = (loss: number): boolean => loss < (heart.learned / 2) * theory.loss;
    const limits = { milliseconds, steps: heart.steps, enough, plain: true };
    return (await trainShortly({ backend, config: own, rows, chosen, ...limits }, pace)).losses;
  };
  const isLearned = (losses: readonly number[]): boolean => least(losses.slice(-10)) < heart.learned * theory.loss;

  seen.byHeart = async (change) => isLearned(await learn(change, remedy));
  const losses = await learn({}, first);
  const drawing: Drawing = {
    kind: 'curves',
    of: 'loss',
    note: `${count} ${sample.data.input.kind === 'image' ? 'pictures' : 'rows'}`,
    logarithmic: true,
    curves: [{ name: 'one batch', values: losses }],
    limits: [
      { value: theory.loss, words: `${theory.words} = ${figure(theory.loss)}, start ${figure(losses[0])}` },
      { value: heart.learned * theory.loss, words: 'learned below this' },
    ],
  };
  const base = { id: 'heart', drawing } as const;
  const end = losses[losses.length - 1];
  if (isLearned(losses)) {
    return {
      ...base,
      kind: 'fine',
      title: 'One batch is learned by heart',
      figure: `${counted(losses.length)} steps`,
      text: `${count} rows, loss ${figure(end)}: model and labels fit together.`,
    };
  }
  const rate = config.training.optimizer.learningRate;
  const explodes = !Number.isFinite(end) || least(losses.slice(-10)) > heart.explodes * theory.loss;
  const falls = end < 0.7 * theory.loss;
  if (losses.length < fewest && falls) {
    throw new NotDone(
      `${losses.length} steps fitted into the time; the loss fell from ${figure(losses[0])} to ${figure(end)}.`,
    );
  }
  const action = await firstThatLearns(subject, seen, findRate, explodes, pace);
  const figures = `${figure(losses[0])} → ${figure(end)}`;
  const tried = action ? ` With ${action.change} the same rows are learned.` : '';
  if (explodes) {
    return {
      ...base,
      kind: 'fix',
      title: 'The loss explodes',
      figure: figures,
      text: `At a learning rate of ${figure(rate)} the steps grow instead of shrinking.${tried}`,
      ...(action ? { action } : {}),
    };
  }
  return {
    ...base,
    kind: falls ? 'look' : 'fix',
    title: falls ? 'One batch is learned slowly' : 'One batch is not learned by heart',
    figure: figures,
    text: `After ${counted(losses.length)} steps on ${count} rows.${tried}`,
    ...(action ? { action } : {}),
  };
}

const least = (losses: readonly number[]): number =>
  losses.reduce((least, loss) => (loss < least ? loss : least), Infinity);

/** Layers that keep sizes where they do not, else another rate, else other layers: the first with which the batch is learned. */
async function firstThatLearns(
  { config }: Subject,
  { remedy: known, byHeart }: Seen,
  findRate: RateSearch,
  explodes: boolean,
  pace: Pace,
): Promise<CheckAction | undefined> {
  const withLayers = async (all: readonly Remedy[]): Promise<CheckAction | undefined> => {
    for (const { change, words } of all) {
      await pace.breathe();
      if (await byHeart?.(change)) return actionOf(config, `Run with ${words}`, words, change);
    }
    return undefined;
  };
  if (explodes) return (await findRate('down', pace))?.action ?? (await withLayers(remedies));
  const before = known ? await withLayers([known, ...remedies]) : undefined;
  return before ?? (await findRate('both', pace))?.action ?? (known ? undefined : await withLayers(remedies));
}
