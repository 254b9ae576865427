// What a linear model answers, as it is kept and scored.

import { scoresOf, type Design } from './design.ts';
import type { LinearWeights } from './path.ts';

/** Raw outputs [to − from, K] in float32. */
export function outputsFor(design: Design, from: number, to: number, { weight, bias }: LinearWeights): Float32Array {
  const scores = new Float64Array((to - from) * bias.length);
  scoresOf(design, from, to, weight, bias, scores);
  return Float32Array.from(scores);
}
