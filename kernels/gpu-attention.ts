// WGSL that attention and its gradient share: where the heads of a position stand, a tile of rows in workgroup memory, and vectors
// of four where the size of a head allows.

import { maskCounters, packedWidth, type AttentionParameters } from './attention-shape.ts';
import type { GpuContext, GpuPass } from './gpu-contract.ts';
import { tokensOfRow } from './gpu-positions.ts';
import { keepFunction, threefryFunction } from './gpu-random.ts';
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

/** What a pass needs to drop weights: nothing where none are dropped. */
export interface Dropping {
  readonly reads: GpuPass['reads'];
  readonly usesStep: boolean;
  /** `fn drawn(query, pair) -> vec2<u32>`: words of two keys, by the number of the query among those of all rows and heads. */
  readonly functions: string;
  /** Statements that begin a pass: `drop_rate`. */
  readonly begin: string;
  /** WGSL that is `on` where weights are dropped, else `off`. */
  either(on: string, off: string): string;
}

export function droppingOf({ length, rate, seed, stream }: AttentionParameters, { has }: GpuContext): Dropping {
  if (!has('counters')) return { reads: {}, usesStep: false, functions: '', begin: '', either: (_, off) => off };
  const scheduled = has('scalars');
  return {
    reads: { counters: 'u32', ...(scheduled ? { scalars: 'f32' as const } : {}) },
    usesStep: true,
    functions: `${threefryFunction(seed, stream)}
${keepFunction}
fn drawn(query: u32, pair: u32) -> vec2<u32> {
  return threefry(query * ${maskCounters(length)}u + pair, counters[step]);
}`,
    begin: `let drop_rate = ${float(rate)}${scheduled ? ' * scalars[step * 4u + 3u]' : ''};`,
    either: (on) => on,
  };
}

/** In a loop over a query's keys from `start` on, `own` its number: `words` of the pair that `key` belongs to. */
export const drawPair = `if ((key & 1u) == 0u || key == start) { words = drawn(own_query, key >> 1u); }`;

/** Copies TILE rows into workgroup memory: `source` is WGSL for element `e` of row `r`; rows from LENGTH on are left. */
export function loadTile(target: string, source: string): string {
  return `for (var i = thread; i < TILE * N; i += THREADS) {
      let r = start + i / N;
      let e = i % N;
      if (r < LENGTH) { ${target}[i] = ${source}; }
    }`;
}

/** How a pass of a thread a query begins: its row, head, query and tokens, and where the keys of its head stand. */
export function beginQueries(p: AttentionParameters, context: GpuContext): Pick<GpuPass, 'code' | 'workgroups'> {
  const { limits, has } = context;
  const dropping = droppingOf(p, context);
  const blocks = Math.ceil(p.length / attentionThreads);
  const grid = foldedGrid(p.batch * p.heads * blocks, limits);
  const code = `${attentionDeclarations(p, has('lengths'))}
${dropping.functions}
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
  let own_query = (row * HEADS + head) * LENGTH + min(query, LENGTH - 1u);
  ${dropping.begin}
  ${dropping.either('var words: vec2<u32>;', '')}`;
  return { code, workgroups: grid.workgroups };
}

/** Loads the keys and the values from `start` on, where a query of the workgroup sees any of them. */
export const loadKeys = `if (start < end) {
      ${loadTile('key_tile', 'qkv[keys_at + r * STRIDE + e]')}
      ${loadTile('value_tile', 'qkv[keys_at + GROUPS * N + r * STRIDE + e]')}
    }
    workgroupBarrier();`;
