// Claims against evidence: pure functions from a claim and what is known of this machine to a verdict with its numbers. The same
// claim may hold on one machine and not on another; where nothing was measured the verdict is `not tested`.

import { sum, figures, range, breakEven, resnetMemory, stateBytes, spot, scalingOut } from './by-formula.ts';
import {
  cores,
  serial,
  parallel,
  lanes,
  ratio,
  smallWork,
  productTime,
  matrixVector,
  latencyThroughput,
  bandwidth,
  capacity,
  sixteenBits,
  trainingTime,
  energy,
} from './by-lab.ts';
import { endsOf } from './evidence.ts';
import type { ClaimTest } from './claim.ts';
import { byWords, short, type Test } from './claim-test.ts';

export type { Verdict } from './claim-test.ts';

/**
 * The verdict on a claim by what is known. Where the slow and the quick calls of a lab would decide it differently, the lab was too
 * disturbed to decide it: whatever the medians say, the verdict is `cannot tell`, with the reach of the figure that varies most.
 */
export const verdict: Test = (claim, evidence) => {
  const test = tests[claim.test];
  const found = test(claim, evidence);
  if (evidence.lab === null || found.verdict === 'not tested') return found;
  const ends = endsOf(evidence.lab).map((lab) => test(claim, { ...evidence, lab }));
  if (ends.every((end) => end.verdict === found.verdict)) return found;
  const reaches = Object.keys(found.figures).map((name) => {
    const values = [found, ...ends].flatMap(({ figures }) => figures[name] ?? []);
    return { low: Math.min(...values), high: Math.max(...values) };
  });
  const [{ low, high }] = reaches.sort((a, b) => b.high / b.low - a.high / a.low);
  const reach = `from its slow to its quick calls the figure that decides reaches from ${short(low)} to ${short(high)}`;
  const sentence = `Cannot tell from a disturbed lab: ${reach}. Measure again while nothing else runs. At the medians: ${found.sentence}`;
  return { verdict: 'cannot tell', sentence, figures: found.figures };
};

const text: Test = ({ verdictInPrinciple, words }) => ({
  verdict: byWords[verdictInPrinciple],
  sentence: words,
  figures: {},
});

const tests: Readonly<Record<ClaimTest, Test>> = {
  text,
  cores,
  serial,
  parallel,
  lanes,
  ratio,
  'small-work': smallWork,
  'product-time': productTime,
  'matrix-vector': matrixVector,
  'latency-throughput': latencyThroughput,
  bandwidth,
  capacity,
  'sixteen-bits': sixteenBits,
  'training-time': trainingTime,
  energy,
  sum,
  figures,
  range,
  'break-even': breakEven,
  'resnet-memory': resnetMemory,
  'state-bytes': stateBytes,
  spot,
  'scaling-out': scalingOut,
};
