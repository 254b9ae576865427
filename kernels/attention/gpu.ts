// attention: a thread a query, with the largest score, the sum and the mixed values so far in registers; tiles of keys and values
// pass through workgroup memory. Tiles that no query of the workgroup sees are skipped.

import type { AttentionParameters } from '../attention-shape.ts';
import { attentionDeclarations, attentionThreads, elementOf, loadTile } from '../gpu-attention.ts';
import type { GpuKernel } from '../gpu-contract.ts';
import { lowestLogit } from '../gpu-loss.ts';
import { foldedGrid, groupIndex } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  passes: (params, { limits, has }) => {
    const p = params as AttentionParameters;
    const element = elementOf(p);
    const blocks = Math.ceil(p.length / attentionThreads);
    const grid = foldedGrid(p.batch * p.heads * blocks, limits);
    const code = `${attentionDeclarations(p, has('lengths'))}
const BLOCKS = ${blocks}u;
var<workgroup> key_tile: array<V, TILE * N>;
var<workgroup> value_tile: array<V, TILE * N>;
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let task = min(${groupIndex(grid)}, ${p.batch * p.heads}u * BLOCKS - 1u);
  let row = task / BLOCKS / HEADS;
  let head = task / BLOCKS % HEADS;
  let first = task % BLOCKS * THREADS;
  let query = first + thread;
  let tokens = tokens_of(row);
  let end = ${p.causal ? 'min(tokens, first + THREADS)' : 'tokens'};
  let origin = row * LENGTH * STRIDE;
  let keys_at = origin + (HEADS + head * GROUPS / HEADS) * N;
  var q: array<V, N>;
  var sum: array<V, N>;
  for (var e = 0u; e < N; e++) { q[e] = qkv[origin + min(query, LENGTH - 1u) * STRIDE + head * N + e]; }
  var largest = ${lowestLogit};
  var total = 0f;
  for (var start = 0u; start < LENGTH; start += TILE) {
    if (start < end) {
      ${loadTile('key_tile', 'qkv[keys_at + r * STRIDE + e]')}
      ${loadTile('value_tile', 'qkv[keys_at + GROUPS * N + r * STRIDE + e]')}
    }
    workgroupBarrier();
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
      for (var e = 0u; e < N; e++) { sum[e] += weight * value_tile[at + e]; }
    }
    workgroupBarrier();
  }
  if (query >= LENGTH) { return; }
  let real = query < tokens;
  let target_at = ((row * LENGTH + query) * HEADS + head) * N;
  for (var e = 0u; e < N; e++) { y[target_at + e] = select(V(), sum[e] / total, real); }
  logsum[(row * HEADS + head) * LENGTH + query] = select(0f, largest + log(total), real);
}
`;
    return [
      {
        label: 'attention',
        reads: { qkv: element, ...(has('lengths') ? { lengths: 'f32' as const } : {}) },
        writes: { y: element, logsum: 'f32' },
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};
