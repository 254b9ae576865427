// What has to be said of a schedule that ends before the training does: from there on its last rate is held.

import { learningRateAt } from '../optim/schedules.ts';
import { endsByEpochs } from '../settings/training.ts';
import { countText } from '../protocol/words.ts';
import type { TrainingSpec } from './spec.ts';

/** A share of the peak below which nothing is learned any more that could be seen. */
const nextToNothing = 0.001;

/** `The schedule of the learning rate ends after 30 epochs: …`; null: it goes to the last epoch. */
export function heldRateText(training: Pick<TrainingSpec, 'epochs' | 'optimizer' | 'schedule'>): string | null {
  const { epochs, optimizer, schedule } = training;
  const { name, overEpochs } = schedule;
  if (!endsByEpochs(name) || overEpochs === 0 || overEpochs >= epochs) return null;
  const rate = learningRateAt(training, overEpochs, overEpochs, 1);
  const share = rate / optimizer.learningRate;
  const held = `The schedule of the learning rate ends after ${countText(overEpochs, 'epoch')}: from there on the rate stays at ${number(rate)}, ${number(100 * share)} % of its peak.`;
  return share < nextToNothing
    ? `${held} At that next to nothing is learned: another rate or schedule begins one over the epochs to come.`
    : held;
}

/** Two digits, small ones as people read them. */
const number = (value: number): string => {
  const rounded = Number(value.toPrecision(2));
  return rounded !== 0 && rounded < 1e-6 ? rounded.toExponential() : String(rounded);
};
