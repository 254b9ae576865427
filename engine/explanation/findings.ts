// Words about a run's curves and columns, each with the figures it rests on and, where another run would tell more, its settings. A loss
// is that of the validation rows unless the words say otherwise; n epochs.

import { isNetwork, type NetworkConfig } from '../learners/network/declaration.ts';
import type { RawColumn } from '../model/spec.ts';
import type { Importance } from '../protocol/explanation.ts';
import type { Finding as AnyFinding, FindingAction } from '../protocol/finding.ts';
import type { RunConfig, RunResult } from '../protocol/runs.ts';
import { withChosen } from '../settings/values.ts';
import { byImportance } from './importance.ts';

/** Of each kind there is one at most. */
export type Finding = AnyFinding<
  'diverged' | 'overfits' | 'unfinished' | 'noisy' | 'nothing' | 'small' | 'idle' | 'twins' | 'sound'
>;

/** A curve by epochs. */
export interface Curve {
  readonly epoch: readonly number[];
  readonly value: readonly number[];
}

export interface Curves {
  readonly config: RunConfig;
  readonly result: RunResult | null;
  readonly train: Curve;
  readonly validation: Curve;
}

/** A loss has to rise or fall by this share of itself to be spoken of. */
const notable = 0.02;
/** Fewer epochs say nothing of a course. */
const fewest = 5;

export function curveFindings(curves: Curves): readonly Finding[] {
  const { config, validation, train } = curves;
  if (!isNetwork(config)) return [];
  const found = [diverged, nothing, overfits, unfinished, noisy, small].flatMap((rule) => rule(curves, config) ?? []);
  if (found.length > 0 || validation.value.length < fewest) return found;
  const [first, last] = [validation.value[0], validation.value.at(-1) ?? NaN];
  return [
    {
      id: 'sound',
      kind: 'fine',
      title: 'The curves look sound',
      figure: `${write(first)} → ${write(last)}`,
      text: `Validation falls with training (${write(train.value[0])} → ${write(train.value.at(-1) ?? NaN)}) and ends within ${percent(notable)} of its lowest.`,
    },
  ];
}

type Rule = (curves: Curves, config: NetworkConfig) => Finding | null;

const diverged: Rule = ({ result }, config) => {
  if (result?.reason !== 'diverged') return null;
  const rate = config.training.optimizer.learningRate;
  return {
    id: 'diverged',
    kind: 'fix',
    title: 'The loss left all bounds',
    figure: result.divergence ? `step ${result.divergence.step.toLocaleString('en')}` : 'no number',
    text: `At a learning rate of ${write(rate)} the steps grew instead of shrinking.`,
    action: changed(
      config,
      { 'optimizer.learningRate': rounded(rate / 10), clipNorm: 1 },
      `learning rate ${write(rounded(rate / 10))}, gradients clipped at 1`,
    ),
  };
};

const overfits: Rule = ({ train, validation }, config) => {
  const { epoch, value } = validation;
  if (value.length < fewest) return null;
  const best = lowest(value);
  const [low, last] = [value[best], mean(value.slice(-3))];
  const later = value.length - 1 - best;
  if (later < 3 || last - low < notable * Math.abs(low)) return null;
  const trainAt = train.value[train.epoch.indexOf(epoch[best])] ?? train.value[0];
  const trainLast = train.value.at(-1) ?? NaN;
  if (!(trainLast < trainAt)) return null;
  const decay = config.training.optimizer.weightDecay;
  const stronger = rounded(Math.max(0.05, Math.min(3, 5 * decay)));
  return {
    id: 'overfits',
    kind: 'look',
    title: `Validation loss rises after epoch ${epoch[best]}`,
    figure: `${write(low)} → ${write(last)}`,
    text: `Training still falls, ${write(trainAt)} → ${write(trainLast)}: the last ${later} epochs learn the training rows by heart. The weights of epoch ${epoch[best]} are the ones kept; a stronger weight decay may get further, or stop there.`,
    action: changed(config, { 'optimizer.weightDecay': stronger }, `weight decay ${write(stronger)}`),
  };
};

const unfinished: Rule = ({ result, validation }, config) => {
  const { epoch, value } = validation;
  if (value.length < fewest || result?.reason === 'early_stopped' || result?.reason === 'diverged') return null;
  const window = Math.max(2, Math.ceil(value.length / 5));
  const [before, last] = [mean(value.slice(-2 * window, -window)), mean(value.slice(-window))];
  const best = lowest(value);
  if (best < value.length - window || before - last < 2 * notable * Math.abs(before)) return null;
  const more = Math.max(5, Math.ceil(config.training.epochs / 2));
  const epochs = config.training.epochs + more;
  return {
    id: 'unfinished',
    kind: 'look',
    title: 'It has not finished learning',
    figure: `${write(before)} → ${write(last)}`,
    text: `The mean over the last ${window} epochs is ${percent((before - last) / Math.abs(before))} below that of the ${window} before, and epoch ${epoch[best]} of ${epoch.at(-1) ?? 0} is the best.`,
    action: {
      label: `Go on for ${more} epochs`,
      config: withTraining(config, { epochs }),
      continues: true,
      change: `+${more} epochs`,
    },
  };
};

const noisy: Rule = ({ train, result }, config) => {
  const { value } = train;
  if (value.length < 2 * fewest || result?.reason === 'diverged') return null;
  const tail = value.slice(Math.floor(value.length / 4));
  let rises = 0;
  let up = 0;
  for (let i = 1; i < tail.length; i++) {
    if (tail[i] <= tail[i - 1]) continue;
    rises++;
    up += tail[i] - tail[i - 1];
  }
  const share = rises / (tail.length - 1);
  // Small ones are the chance of batches; these together are more than what was learned.
  if (share < 0.35 || up < Math.max(tail[0] - tail[tail.length - 1], notable * 5 * Math.abs(mean(tail)))) return null;
  const rate = config.training.optimizer.learningRate;
  return {
    id: 'noisy',
    kind: 'look',
    title: 'The training loss jumps: the learning rate looks too high',
    figure: `${rises} of ${tail.length - 1} epochs up`,
    text: `Since epoch ${train.epoch[value.length - tail.length]} it rose by ${write(up)} in all and came down to ${write(tail[tail.length - 1])} from ${write(tail[0])}, at a rate of ${write(rate)}.`,
    action: changed(
      config,
      { 'optimizer.learningRate': rounded(rate / 5) },
      `learning rate ${write(rounded(rate / 5))}`,
    ),
  };
};

/** The first score that both have, higher = better. */
function against(
  result: RunResult | null,
): { own: number; constant: number; linear: number | null; name: string } | null {
  if (!result?.baseline) return null;
  const { constant, linear } = result.baseline;
  for (const [name, words] of [
    ['val_roc_auc', 'ROC area'],
    ['val_balanced_accuracy', 'balanced accuracy'],
    ['val_accuracy', 'accuracy'],
    ['val_r2', 'R²'],
  ] as const) {
    const [own, other] = [result.metrics[name], constant.metrics[name]];
    if (own !== undefined && other !== undefined) {
      return { own, constant: other, linear: linear?.metrics[name] ?? null, name: words };
    }
  }
  return null;
}

const nothing: Rule = ({ result }, config) => {
  const scores = against(result);
  if (!scores || scores.own > scores.constant + 0.01) return null;
  const rate = config.training.optimizer.learningRate;
  const other = rounded(rate > 0.01 ? rate / 10 : Math.min(0.01, rate * 10));
  return {
    id: 'nothing',
    kind: 'fix',
    title: 'Nothing is learned beyond always the same answer',
    figure: `${write(scores.own)} against ${write(scores.constant)}`,
    text: `In ${scores.name} on validation. Either the columns do not tell, or the learning rate of ${write(rate)} is far off.`,
    action: changed(config, { 'optimizer.learningRate': other }, `learning rate ${write(other)}`),
  };
};

/** Epochs after which a network that is no better than a linear model may lack room; and how much better that one is clearly better. */
const enough = 20;
const clearly = 0.02;

const small: Rule = ({ train, validation, result }, config) => {
  const scores = against(result);
  if (
    !scores ||
    scores.linear === null ||
    scores.own <= scores.constant + 0.01 ||
    scores.own > Math.min(0.995, scores.linear)
  )
    return null;
  const [trained, validated] = [train.value.at(-1), validation.value.at(-1)];
  // A gap between the two is no lack of room.
  if (trained === undefined || validated === undefined || validated > 1.1 * trained) return null;
  const epochs = validation.value.length;
  const better = scores.linear - scores.own > clearly;
  if (better || epochs < enough) {
    // More room would only be longer to fill.
    const more = Math.max(10, epochs);
    const ended = result?.reason === 'early_stopped';
    const advice = ended
      ? 'more epochs brought it nothing, nor would more room'
      : 'train longer before it is made wider';
    return {
      id: 'small',
      kind: 'look',
      title: better ? 'A linear model does better' : 'A linear model does as well',
      figure: `${write(scores.own)} against ${write(scores.linear)}`,
      text: `In ${scores.name}, after ${epochs} ${epochs === 1 ? 'epoch' : 'epochs'}, with training at ${write(trained)} and validation at ${write(validated)}: ${advice}.`,
      ...(ended
        ? {}
        : {
            action: {
              label: `Go on for ${more} epochs`,
              config: withTraining(config, { epochs: config.training.epochs + more }),
              continues: true,
              change: `+${more} epochs`,
            },
          }),
    };
  }
  const layers = config.model.layers.map((layer) =>
    layer.type === 'dense' && typeof layer['units'] === 'number' ? { ...layer, units: 2 * layer['units'] } : layer,
  );
  if (JSON.stringify(layers) === JSON.stringify(config.model.layers)) return null;
  const model = { version: 1, layers } as const;
  return {
    id: 'small',
    kind: 'look',
    title: 'A linear model does as well',
    figure: `${write(scores.own)} against ${write(scores.linear)}`,
    text: `In ${scores.name}, and training (${write(trained)}) ends near validation (${write(validated)}): the network has too little room, or there is no more to find.`,
    action: {
      label: 'Run with layers twice as wide',
      config: { ...config, model } as NetworkConfig,
      continues: false,
      change: 'twice as wide',
    },
  };
};

/** What the columns say: some carry nothing, some say the same. */
export function columnFindings(
  config: RunConfig,
  columns: readonly RawColumn[],
  importance: Importance,
  score: string,
): readonly Finding[] {
  const found: Finding[] = [];
  const order = byImportance(importance, score);
  const idle = order
    .filter(({ spread }) => spread.noise)
    .flatMap(({ column, together, spread }) =>
      [column, ...together].map((place) => ({ name: columns[place].name, spread })),
    );
  if (importance.shuffles >= 3 && idle.length > 0 && idle.length < columns.length) {
    const names = idle.map(({ name }) => name);
    const most = Math.max(...idle.map(({ spread }) => Math.abs(spread.mean)));
    const settings = { ...config.settings, ignored: [...new Set([...(config.settings.ignored ?? []), ...names])] };
    found.push({
      id: 'idle',
      kind: 'fine',
      title: `${listed(names)} ${names.length === 1 ? 'carries' : 'carry'} nothing`,
      figure: `${write(most)} at most`,
      text: `${importance.shuffles} shuffles cost no more than chance. Leaving ${names.length === 1 ? 'it' : 'them'} out should keep the score.`,
      action: {
        label: `Run without ${names.length === 1 ? 'it' : `the ${names.length}`}`,
        config: { ...config, settings },
        continues: false,
        change: `without ${listed(names)}`,
      },
    });
  }
  const [pair] = importance.correlated;
  if (pair && importance.columns.every(({ together }) => together === undefined)) {
    const [a, b] = pair.columns.map((column) => columns[column].name);
    found.push({
      id: 'twins',
      kind: 'fine',
      title: `${a} and ${b} say nearly the same`,
      figure: `r = ${pair.r.toFixed(2)}`,
      text: `Where one is shuffled the other still tells: read their bars as one.${importance.correlated.length > 1 ? ` So it is with ${importance.correlated.length - 1} more pairs.` : ''}`,
    });
  }
  return found;
}

/** The same about a run that began with the weights of another, which fit its layers and columns: what changes those is not offered. */
export function keepingWeights(findings: readonly Finding[], config: RunConfig): readonly Finding[] {
  const shapeOf = (of: RunConfig): string => JSON.stringify([isNetwork(of) && of.model, of.settings]);
  return findings.map((finding) => {
    const { action, ...rest } = finding;
    return action && shapeOf(action.config) !== shapeOf(config) ? rest : finding;
  });
}

function listed(names: readonly string[]): string {
  if (names.length > 3) return `${names.length} columns`;
  return names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}

function changed(config: NetworkConfig, chosen: Readonly<Record<string, number>>, change: string): FindingAction {
  return { label: `Run with ${change}`, config: withTraining(config, chosen), continues: false, change };
}

const withTraining = (config: NetworkConfig, chosen: Readonly<Record<string, number>>): NetworkConfig => ({
  ...config,
  training: withChosen(config.training, chosen),
});

function lowest(values: readonly number[]): number {
  return values.reduce((best, value, at) => (value < values[best] ? at : best), 0);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const rounded = (value: number): number => Number(value.toPrecision(2));
const write = (value: number): string => String(Number(value.toPrecision(4)));
const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;
