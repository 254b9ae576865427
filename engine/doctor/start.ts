// The loss before anything is learned. A model that says nothing gives every class the same probability and every row the mean: its loss
// is ln K of K classes, and the variance (1) of a standardised target. First weights should begin near it.

import { lossRules, resolveLoss } from '../model/losses.ts';
import type { OutputSpec, TrainingSpec } from '../model/spec.ts';
import type { CheckFinding } from '../protocol/checking.ts';
import { figure } from './check.ts';

/** Shares of the theory by which a start may be off. */
export const startLimits = { look: 0.25, fix: 1 } as const;

export interface StartTheory {
  readonly loss: number;
  /** `ln 10`, `variance of the target` */
  readonly words: string;
}

/** Loss of a model whose outputs [N, width] are all 0, with the weights of classes and the smoothing of the run. */
export function startTheory(
  output: OutputSpec,
  settings: Pick<TrainingSpec, 'loss' | 'labelSmoothing' | 'huberDelta'>,
  targets: Float32Array,
  width: number,
  weights: Float32Array | null,
): StartTheory {
  const loss = resolveLoss(settings.loss, output);
  const value = lossRules[loss].value(new Float32Array(targets.length * width), targets, settings, weights);
  if (output.kind === 'classes') {
    return { loss: value, words: `ln ${output.classes.length}${weights ? ', classes weighed' : ''}` };
  }
  const words = { mse: 'variance of the target', mae: 'mean size of the target', huber: 'Huber loss of the mean' };
  return { loss: value, words: words[loss as keyof typeof words] };
}

export function judgeStart(start: number, theory: StartTheory, rows: number): CheckFinding {
  const base = { id: 'start', figure: figure(start) } as const;
  const says = `${theory.words} = ${figure(theory.loss)}`;
  const off = Math.abs(start - theory.loss) / theory.loss;
  if (!Number.isFinite(start)) {
    return { ...base, kind: 'fix', title: 'The loss is no number at the start', text: `Theory: ${says}.` };
  }
  // The mean of few rows is not yet what theory says.
  if (theory.loss === 0 || off <= startLimits.look + 1 / Math.sqrt(rows)) {
    return { ...base, kind: 'fine', title: 'Loss starts as theory says', text: `${says}.` };
  }
  const kind = off > startLimits.fix ? 'fix' : 'look';
  return start > theory.loss
    ? {
        ...base,
        kind,
        title: 'Loss starts too high',
        text: `${says} on ${rows.toLocaleString('en')} rows: the first weights are sure of what they cannot know, and the first steps only unlearn that.`,
      }
    : {
        ...base,
        kind: 'look',
        title: 'Loss starts below chance',
        text: `${says} on ${rows.toLocaleString('en')} rows: the first weights happen to lean to the frequent answers.`,
      };
}
