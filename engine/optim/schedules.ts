// Learning-rate schedules: a pure function of the step, so that a resumed run follows the same curve.

import type { TrainingSpec } from '../model/spec.ts';

/** one_cycle: the peak over the start, and the start over the end. */
const cycleRise = 25;
const cycleFall = 10_000;

/**
 * Learning rate of global step `step` (from 0) of a schedule of `totalSteps`, with `stepsPerEpoch` steps an epoch.
 * one_cycle: Smith & Topin 2018 with cosine phases, 30 % of the way up from peak/25, then down to a ten-thousandth of that start,
 * as PyTorch's OneCycleLR does; coslog4: four waves from 0 to the peak and back, each twice as long as the one before (Holzmüller et al. 2024); `finalShare` is the cosine's alone. After them they hold their last rate.
 */
export function learningRateAt(
  training: Pick<TrainingSpec, 'optimizer' | 'schedule'>,
  step: number,
  totalSteps: number,
  stepsPerEpoch: number,
): number {
  const { schedule } = training;
  const peak = training.optimizer.learningRate;
  const warmup = Math.min(Math.round(schedule.warmupEpochs * stepsPerEpoch), totalSteps);
  if (step < warmup) return (peak * (step + 1)) / warmup;
  const share = totalSteps > warmup + 1 ? (step - warmup) / (totalSteps - warmup - 1) : 1;
  switch (schedule.name) {
    case 'constant':
      return peak;
    case 'step': {
      const epoch = Math.floor((step - warmup) / stepsPerEpoch);
      return peak * schedule.gamma ** Math.floor(epoch / Math.max(1, schedule.stepEpochs));
    }
    case 'cosine':
      return cosine(peak, peak * schedule.finalShare, share);
    case 'one_cycle':
      return share < 0.3
        ? cosine(peak / cycleRise, peak, share / 0.3)
        : cosine(peak, peak / cycleRise / cycleFall, (share - 0.3) / 0.7);
    case 'coslog4':
      return peak * 0.5 * (1 - Math.cos(2 * Math.PI * Math.log2(1 + 15 * Math.min(1, share))));
  }
}

/** 1 for the first half of a training, then half a cosine down to 0. */
export function flatCosine(progress: number): number {
  return cosine(1, 0, Math.max(0, 2 * progress - 1));
}

/** From `start` (share 0) to `end` (share 1) along half a cosine. */
function cosine(start: number, end: number, share: number): number {
  return end + (start - end) * 0.5 * (1 + Math.cos(Math.PI * Math.min(1, share)));
}
