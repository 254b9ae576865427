// attention: a thread a query, with the largest score, the sum and the mixed values so far in registers; tiles of keys and values
// pass through workgroup memory. Tiles that no query of the workgroup sees are skipped.

import type { AttentionParameters } from '../attention-shape.ts';
import { beginQueries, drawPair, droppingOf, elementOf, loadKeys } from '../gpu-attention.ts';
import type { GpuKernel } from '../gpu-contract.ts';
import { lowestLogit } from '../gpu-loss.ts';
import { lengthsRead } from '../gpu-positions.ts';

export const gpu: GpuKernel = {
  passes: (params, context) => {
    const p = params as AttentionParameters;
    const element = elementOf(p);
    const begin = beginQueries(p, context);
    const dropping = droppingOf(p, context);
    const code = `${begin.code}
  var q: array<V, N>;
  var sum: array<V, N>;
  for (var e = 0u; e < N; e++) { q[e] = qkv[origin + min(query, LENGTH - 1u) * STRIDE + head * N + e]; }
  var largest = ${lowestLogit};
  var total = 0f;
  for (var start = 0u; start < LENGTH; start += TILE) {
    ${loadKeys}
    for (var key = start; key < min(end, start + TILE); key++) {
      if (!visible(query, key, tokens)) { continue; }
      let at = (key - start) * N;
      var score = 0f;
      for (var e = 0u; e < N; e++) { score += times(q[e], key_tile[at + e]); }
      score *= SCALE;
      if (score > largest) {
        let follow = exp(largest - score);
        total *= follow;
        for (var e = 0u; e < N; e++) { sum[e] *= follow; }
        largest = score;
      }
      let weight = exp(score - largest);
      total += weight;
      ${dropping.either(
        `${drawPair}
      let share = keep(weight, words[key & 1u], drop_rate);`,
        'let share = weight;',
      )}
      for (var e = 0u; e < N; e++) { sum[e] += share * value_tile[at + e]; }
    }
    workgroupBarrier();
  }
  if (query >= LENGTH) { return; }
  let real = query < tokens;
  let target_at = ((row * LENGTH + query) * HEADS + head) * N;
  for (var e = 0u; e < N; e++) { y[target_at + e] = select(V(), sum[e] / total, real); }
  logsum[own_query] = select(0f, largest + log(total), real);
}
`;
    return [
      {
        label: 'attention',
        reads: { qkv: element, ...lengthsRead(context.has), ...dropping.reads },
        writes: { y: element, logsum: 'f32' },
        usesStep: dropping.usesStep,
        code,
        workgroups: begin.workgroups,
      },
    ];
  },
};
