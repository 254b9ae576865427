// Do gradients and activations keep their size from layer to layer? Judged at the first weights, where every run begins; what would mend
// it is tried on the same rows before it is advised. Glorot & Bengio (2010) and He et al. (2015) on why sizes have to be kept.

import type { CheckFinding, ConfigChange, Drawing, DrawnLimit, LayerSpread } from '../../protocol/checking.ts';
import { actionOf, changed } from '../changes.ts';
import { counted, figure, type Check, type Pace } from '../check.ts';
import { lookInside, type Inside } from './inside.ts';
import { modelOf, type Subject } from './subject.ts';

/** How far sizes of layers may lie apart before it is worth a look, and before a run would most likely fail. */
export const depthLimits = { look: 1e3, fix: 1e5 } as const;
/** Half the spacing of float32 numbers at 1: a smaller relative step changes nothing. */
const rounding = 2 ** -24;

/** What was seen is noted for those who come after, and what mends it. */
export interface Seen {
  inside: Inside | null;
  remedy: Remedy | null;
  /** Whether a batch is learned by heart with a change; null: that check is not made. */
  byHeart: ((change: ConfigChange) => Promise<boolean>) | null;
}

export interface Remedy {
  readonly change: ConfigChange;
  readonly words: string;
}

export function depthCheck(subject: Subject, seen: Seen): Check {
  return {
    finds: ['gradients', 'activations'],
    seconds: 1.5,
    async run(pace) {
      const inside = seen.inside ?? (await lookInside(subject, { milliseconds: 700 }, pace));
      seen.inside = inside;
      const [gradients, activations] = [judgeGradients(inside, subject), judgeActivations(inside)];
      if (gradients.kind === 'fine' && activations.kind === 'fine') return [gradients, activations];
      const mended = await firstThatMends(subject, pace);
      if (mended === null) return [gradients, activations];
      const { change, words, after } = mended;
      seen.remedy = mended;
      const action = actionOf(subject.config, `Run with ${words}`, words, change);
      const tried = (layers: readonly LayerSpread[]) => ({
        words: `same net with ${words}`,
        median: layers.map(({ median }) => median),
      });
      const withTried = (finding: CheckFinding, layers: readonly LayerSpread[]): CheckFinding => ({
        ...finding,
        ...(finding.kind === 'fine' ? {} : { action }),
        drawing: { ...(finding.drawing as Drawing & { kind: 'layers' }), tried: tried(layers) },
      });
      return [withTried(gradients, after.gradients), withTried(activations, after.activations)];
    },
  };
}

/** What keeps sizes from layer to layer, the mildest first. */
export const remedies: readonly Remedy[] = [
  { change: { activation: 'relu' }, words: 'ReLU' },
  { change: { batchNorm: true }, words: 'batch norm' },
  { change: { activation: 'relu', batchNorm: true }, words: 'ReLU and batch norm' },
  { change: { activation: 'relu', hidden: 2 }, words: 'two hidden layers of ReLU' },
];

/** Tried on the same rows: the first after which both are fine. */
async function firstThatMends(subject: Subject, pace: Pace) {
  for (const { change, words } of remedies) {
    const config = changed(subject.config, change);
    if (JSON.stringify(config.model) === JSON.stringify(subject.config.model)) continue;
    const after = await lookInside(
      { ...subject, config, model: modelOf(config, subject.data) },
      { milliseconds: 0 },
      pace,
    );
    const sound = judgeGradients(after, { config }).kind === 'fine' && judgeActivations(after).kind === 'fine';
    if (sound) return { change, words, after };
  }
  return null;
}

/** The size below which a step of the optimizer is lost, and why. */
function lostBelow({ config: { training } }: Pick<Subject, 'config'>, inside: Inside): DrawnLimit {
  const { name, learningRate, epsilon } = training.optimizer;
  if (name !== 'sgd') {
    // Adam and RMSProp divide by the gradient's size, and no longer do where it is smaller than their epsilon.
    return { value: epsilon, words: `below this, ${name}’s epsilon hides it` };
  }
  const weight = inside.weightSize;
  return { value: (rounding * weight) / learningRate, words: 'below this, float32 steps are lost' };
}

export function judgeGradients(inside: Inside, about: Pick<Subject, 'config'>): CheckFinding {
  const { gradients, sizes } = inside;
  const limit = lostBelow(about, inside);
  const drawing: Drawing = {
    kind: 'layers',
    of: 'size of the gradient',
    note: 'median and 80 % of the weights that get any, first backward pass',
    layers: gradients,
    limits: [limit],
  };
  const layers = sizes.map((size, i) => ({ name: gradients[i].name, size, place: i }));
  const [first, last] = [layers[0], layers[layers.length - 1]];
  const least = layers.reduce((a, b) => (b.size < a.size ? b : a));
  const most = layers.reduce((a, b) => (b.size > a.size ? b : a));
  const base = { id: 'gradients', drawing } as const;
  if (sizes.some((size) => !Number.isFinite(size))) {
    return {
      ...base,
      kind: 'fix',
      title: 'Gradients explode',
      figure: 'no number',
      text: 'Some are no numbers at the first step already.',
    };
  }
  if (most.size === 0) {
    return {
      ...base,
      kind: 'fix',
      title: 'There is no gradient',
      figure: '0',
      text: 'No weight of any layer gets one: nothing would be learned.',
    };
  }
  const apart = most.size / least.size;
  const lost = least.size < limit.value;
  if (apart <= depthLimits.look && !lost) {
    return {
      ...base,
      kind: 'fine',
      title: 'Gradients keep their size',
      figure: `${figure(first.size)} → ${figure(last.size)}`,
      text: `Their root mean squares in the ${gradients.length} layers lie within a factor of ${figure(apart)}.`,
    };
  }
  const kind = apart > depthLimits.fix || lost ? 'fix' : 'look';
  const vanish = least.place < most.place;
  const often = apart < 1e9 ? counted(Number(apart.toPrecision(2))) : figure(apart);
  const times = Number.isFinite(apart) ? `${often} × ` : '';
  return {
    ...base,
    kind,
    title: vanish ? 'Gradients vanish' : 'Gradients explode',
    figure: vanish ? figure(least.size) : figure(most.size),
    text: vanish
      ? `Those of ${least.name} are ${times || 'far '}smaller than those of ${most.name}, so it learns almost nothing.`
      : `Those of ${most.name} are ${times}larger than those of ${least.name}: no learning rate suits both.`,
  };
}

export function judgeActivations({ activations }: Inside): CheckFinding {
  const drawing: Drawing = {
    kind: 'layers',
    of: 'standard deviation',
    note: 'median and 80 % of the units',
    layers: activations,
    limits: [],
  };
  const [first, last] = [activations[0].median, activations[activations.length - 1].median];
  const steps = Math.max(1, activations.length - 1);
  const factor = (last / first) ** (1 / steps);
  const base = { id: 'activations', figure: `${figure(first)} → ${figure(last)}`, drawing } as const;
  const apart = Math.max(last / first, first / last);
  if (!Number.isFinite(last) || !Number.isFinite(first)) {
    return {
      ...base,
      kind: 'fix',
      title: 'Activations explode',
      text: 'What some layers give is no number at the first step.',
    };
  }
  if (apart <= depthLimits.look / 10) {
    return {
      ...base,
      kind: 'fine',
      title: 'Activations keep their size',
      text: `Their standard deviation changes by a factor of ${figure(factor)} a layer.`,
    };
  }
  const kind = apart > depthLimits.fix / 10 ? 'fix' : 'look';
  return factor < 1
    ? {
        ...base,
        kind,
        title: 'Activations shrink',
        text: `Their standard deviation falls by ${Math.round(100 * (1 - factor))} % at every layer: the last ones hardly tell rows apart.`,
      }
    : {
        ...base,
        kind,
        title: 'Activations grow',
        text: `Their standard deviation grows ${figure(factor)} times at every layer.`,
      };
}
