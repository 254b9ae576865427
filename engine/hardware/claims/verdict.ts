// Claims against evidence: pure functions from a claim and what is known of this machine to a verdict with its numbers. The same
// claim may hold on one machine and not on another; where nothing was measured the verdict is `not tested`.

import { sum, figures, range, breakEven, resnetMemory, stateBytes, spot, scalingOut } from './by-formula.ts';
import {
  cores,
  threads,
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
import type { ClaimTest } from './claim.ts';
import { byWords, type Test } from './claim-test.ts';

export type { Verdict } from './claim-test.ts';

/** The verdict on a claim by what is known. */
export const verdict: Test = (claim, evidence) => tests[claim.test](claim, evidence);

const text: Test = ({ verdictInPrinciple, words }) => ({
  verdict: byWords[verdictInPrinciple],
  sentence: words,
  figures: {},
});

const tests: Readonly<Record<ClaimTest, Test>> = {
  text,
  cores,
  threads,
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
