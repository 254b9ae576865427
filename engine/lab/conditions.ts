// What would make a lab's figures too low, in words: said before a minute is spent on them, in the window and on the command line.

import type { LabConditions } from '../protocol/lab.ts';

/** Processors in use by others that make what is measured too low, as a share of all. */
const disturbing = 0.25;

/** A sentence each; none where nothing would disturb. */
export function conditionsWords({ processors, busy, battery }: LabConditions): readonly string[] {
  const words: string[] = [];
  if (battery) words.push('This machine runs on its battery, which may slow it down.');
  if (busy !== null && busy > disturbing * processors) {
    const used = `${Math.min(busy, processors).toFixed(1)} of ${processors} ${processors === 1 ? 'processor' : 'processors'}`;
    words.push(`Other programs use ${used} now: what is measured beside them is too low. End them first.`);
  }
  return words;
}
