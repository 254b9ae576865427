// WGSL that attention and its gradient share: where the heads of a position stand, a tile of rows in workgroup memory, and vectors
// of four where the size of a head allows.

import { packedWidth, type AttentionParameters } from './attention-shape.ts';
import type { GpuContext, GpuPass } from './gpu-contract.ts';
import { tokensOfRow } from './gpu-positions.ts';
import { float, foldedGrid, groupIndex } from './gpu-wgsl.ts';

/** Threads of a workgroup; each takes a query or a key. */
export const attentionThreads = 64;

/** Floats of workgroup memory for both tiles and what stands beside them: what every device offers. */
const tileFloats = 4096;

/** Rows of each of the two tiles, with `beside` floats more for each row. */
const tileRows = ({ size }: AttentionParameters, beside: number): number =>
  Math.max(1, Math.min(attentionThreads, Math.floor(tileFloats / (2 * size + beside))));

export const isVectorial = ({ size }: AttentionParameters): boolean => size % 4 === 0;

export const elementOf = (p: AttentionParameters): 'vec4<f32>' | 'f32' => (isVectorial(p) ? 'vec4<f32>' : 'f32');

/**
 * Constants, `tokens_of(row)`, `visible(query, key, tokens)` and `times(a, b)`; N elements a head. `beside`: floats that a pass keeps in
 * workgroup memory for each row of its tiles.
 */
export function attentionDeclarations(p: AttentionParameters, hasLengths: boolean, beside = 0): string {
  const { length, heads, groups, size, causal, scale } = p;
  const lanes = isVectorial(p) ? 4 : 1;
  return `alias V = ${elementOf(p)};
const N = ${size / lanes}u;
const LENGTH = ${length}u;
const HEADS = ${heads}u;
const GROUPS = ${groups}u;
const STRIDE = ${packedWidth(p) / lanes}u;
const TILE = ${tileRows(p, beside)}u;
const THREADS = ${attentionThreads}u;
const SCALE = ${float(scale)};
${tokensOfRow(length, hasLengths)}
fn visible(query: u32, key: u32, tokens: u32) -> bool {
  return query < tokens && key < tokens${causal ? ' && key <= query' : ''};
}
fn times(a: V, b: V) -> f32 { return ${lanes === 4 ? 'dot(a, b)' : 'a * b'}; }`;
}

/** Copies TILE rows into workgroup memory: `source` is WGSL for element `e` of row `r`; rows from LENGTH on are left. */
export function loadTile(target: string, source: string): string {
  return `for (var i = thread; i < TILE * N; i += THREADS) {
      let r = start + i / N;
      let e = i % N;
      if (r < LENGTH) { ${target}[i] = ${source}; }
    }`;
}

/** How a pass of a thread a query begins: its row, head, query and tokens, and where the keys of its head stand. */
export function beginQueries(
  p: AttentionParameters,
  { limits, has }: GpuContext,
): Pick<GpuPass, 'code' | 'workgroups'> {
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
  let keys_at = origin + (HEADS + head * GROUPS / HEADS) * N;`;
  return { code, workgroups: grid.workgroups };
}

/** Loads the keys and the values from `start` on, where a query of the workgroup sees any of them. */
export const loadKeys = `if (start < end) {
      ${loadTile('key_tile', 'qkv[keys_at + r * STRIDE + e]')}
      ${loadTile('value_tile', 'qkv[keys_at + GROUPS * N + r * STRIDE + e]')}
    }
    workgroupBarrier();`;
