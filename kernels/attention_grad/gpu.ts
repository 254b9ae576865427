// attention_grad: Σ dy·y of each query first; then a thread a query for dq, over tiles of keys and values, and a thread a key for dk
// and dv, over tiles of queries and of dy. Weights are computed again in both, so nothing is added by two threads.

import type { AttentionParameters } from '../attention-shape.ts';
import {
  attentionDeclarations,
  attentionThreads,
  beginQueries,
  drawPair,
  droppingOf,
  elementOf,
} from '../gpu-attention.ts';
import { loadKeys, loadTile } from '../gpu-attention.ts';
import type { GpuContext, GpuKernel, GpuPass } from '../gpu-contract.ts';
import { lengthsRead } from '../gpu-positions.ts';
import { elementwise, foldedGrid, groupIndex, scalarView } from '../gpu-wgsl.ts';

export const gpu: GpuKernel = {
  temporaries: ({ batch, heads, length }) => ({ delta: batch * heads * length }),
  passes: (params, context) => {
    const p = params as AttentionParameters;
    return [deltaPass(p, context), queryPass(p, context), keyPass(p, context)];
  },
};

function deltaPass({ batch, heads, length, size }: AttentionParameters, { limits }: GpuContext): GpuPass {
  const view = scalarView(batch * heads * length, limits);
  const body = `let position = i / ${heads * length}u * ${length}u + i % ${length}u;
  let first = (position * ${heads}u + i / ${length}u % ${heads}u) * ${size}u;
  var sum = 0f;
  for (var s = first; s < first + ${size}u; s++) { sum += dy[s] * y[s]; }
  delta[i] = sum;`;
  return {
    label: 'attention_grad: sums',
    reads: { dy: 'f32', y: 'f32' },
    writes: { delta: 'f32' },
    code: elementwise(view, body),
    workgroups: view.workgroups,
  };
}

/** dq: over the keys. */
function queryPass(p: AttentionParameters, context: GpuContext): GpuPass {
  const element = elementOf(p);
  const begin = beginQueries(p, context);
  const dropping = droppingOf(p, context);
  const code = `${begin.code}
  let own = min(query, LENGTH - 1u);
  var q: array<V, N>;
  var g: array<V, N>;
  var dq: array<V, N>;
  for (var e = 0u; e < N; e++) {
    q[e] = qkv[origin + own * STRIDE + head * N + e];
    g[e] = dy[((row * LENGTH + own) * HEADS + head) * N + e];
  }
  for (var start = 0u; start < LENGTH; start += TILE) {
    ${loadKeys}
    for (var key = start; key < min(end, start + TILE); key++) {
      if (!visible(query, key, tokens)) { continue; }
      let at = (key - start) * N;
      var score = 0f;
      var slope = 0f;
      for (var e = 0u; e < N; e++) {
        score += times(q[e], key_tile[at + e]);
        slope += times(g[e], value_tile[at + e]);
      }
      ${dropping.either(
        `${drawPair}
      slope = keep(slope, words[key & 1u], drop_rate);`,
        '',
      )}
      let factor = SCALE * exp(SCALE * score - logsum[own_query]) * (slope - delta[own_query]);
      for (var e = 0u; e < N; e++) { dq[e] += factor * key_tile[at + e]; }
    }
    workgroupBarrier();
  }
  if (query >= LENGTH) { return; }
  for (var e = 0u; e < N; e++) { dqkv[origin + query * STRIDE + head * N + e] = dq[e]; }
}
`;
  return {
    label: 'attention_grad: queries',
    reads: { dy: element, qkv: element, logsum: 'f32', delta: 'f32', ...lengthsRead(context.has), ...dropping.reads },
    writes: { dqkv: element },
    usesStep: dropping.usesStep,
    code,
    workgroups: begin.workgroups,
  };
}

/** dk and dv: over the queries of all heads that share the key. */
function keyPass(p: AttentionParameters, context: GpuContext): GpuPass {
  const element = elementOf(p);
  const blocks = Math.ceil(p.length / attentionThreads);
  const grid = foldedGrid(p.batch * p.groups * blocks, context.limits);
  const dropping = droppingOf(p, context);
  const code = `${attentionDeclarations(p, context.has('lengths'), 2)}
${dropping.functions}
const BLOCKS = ${blocks}u;
const SHARED = ${p.heads / p.groups}u;
var<workgroup> query_tile: array<V, TILE * N>;
var<workgroup> slope_tile: array<V, TILE * N>;
var<workgroup> sums: array<vec2<f32>, TILE>;
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let task = min(${groupIndex(grid)}, ${p.batch * p.groups}u * BLOCKS - 1u);
  let row = task / BLOCKS / GROUPS;
  let own_group = task / BLOCKS % GROUPS;
  let first = task % BLOCKS * THREADS;
  let key = first + thread;
  let tokens = tokens_of(row);
  let origin = row * LENGTH * STRIDE;
  let key_at = origin + (HEADS + own_group) * N + min(key, LENGTH - 1u) * STRIDE;
  let value_at = key_at + GROUPS * N;
  ${dropping.begin}
  var k: array<V, N>;
  var v: array<V, N>;
  var dk: array<V, N>;
  var dv: array<V, N>;
  for (var e = 0u; e < N; e++) {
    k[e] = qkv[key_at + e];
    v[e] = qkv[value_at + e];
  }
  for (var head = own_group * SHARED; head < (own_group + 1u) * SHARED; head++) {
    for (var start = 0u; start < LENGTH; start += TILE) {
      let needed = first < tokens && start < tokens${p.causal ? ' && start + TILE > first' : ''};
      if (needed) {
        ${loadTile('query_tile', 'qkv[origin + r * STRIDE + head * N + e]')}
        ${loadTile('slope_tile', 'dy[((row * LENGTH + r) * HEADS + head) * N + e]')}
        if (thread < TILE && start + thread < LENGTH) {
          let at = (row * HEADS + head) * LENGTH + start + thread;
          sums[thread] = vec2<f32>(logsum[at], delta[at]);
        }
      }
      workgroupBarrier();
      if (needed) {
        for (var query = start; query < min(tokens, start + TILE); query++) {
          if (!visible(query, key, tokens)) { continue; }
          let at = (query - start) * N;
          var score = 0f;
          var slope = 0f;
          for (var e = 0u; e < N; e++) {
            score += times(k[e], query_tile[at + e]);
            slope += times(v[e], slope_tile[at + e]);
          }
          let kept = sums[query - start];
          let weight = exp(SCALE * score - kept.x);
          ${dropping.either(
            `let word = drawn((row * HEADS + head) * LENGTH + query, key >> 1u)[key & 1u];
          slope = keep(slope, word, drop_rate);
          let share = keep(weight, word, drop_rate);`,
            'let share = weight;',
          )}
          let factor = SCALE * weight * (slope - kept.y);
          for (var e = 0u; e < N; e++) {
            dk[e] += factor * query_tile[at + e];
            dv[e] += share * slope_tile[at + e];
          }
        }
      }
      workgroupBarrier();
    }
  }
  if (key >= LENGTH) { return; }
  for (var e = 0u; e < N; e++) {
    dqkv[key_at + e] = dk[e];
    dqkv[value_at + e] = dv[e];
  }
}
`;
  return {
    label: 'attention_grad: keys',
    reads: { dy: element, qkv: element, logsum: 'f32', delta: 'f32', ...lengthsRead(context.has), ...dropping.reads },
    writes: { dqkv: element },
    usesStep: dropping.usesStep,
    code,
    workgroups: grid.workgroups,
  };
}
