// The tiled product c = op(a)·op(b) behind matmul and dense_weight_grad. A workgroup computes one tile of c, each thread a
// block of it in registers; slices of a and b pass through workgroup memory, depth-major, so that the inner loop reads
// vectors. M rows of the result, N columns, K the summed dimension (depth).
// Every tile shape adds the products of one element in the same order, so all give the same bits.

import type { GpuContext, GpuLimits, GpuPass, WgslElement } from './gpu-contract.ts';
import { variableName } from './gpu-wgsl.ts';

export interface Tile {
  readonly name: string;
  /** Tile of the result a workgroup computes. */
  readonly rows: number;
  readonly columns: number;
  /** Slice of the summed dimension in workgroup memory. */
  readonly depth: number;
  /** Block of the result a thread computes; multiples of four. */
  readonly threadRows: number;
  readonly threadColumns: number;
}

const tile = (rows: number, columns: number, depth: number, threadRows: number, threadColumns: number): Tile => ({
  name: `${rows}x${columns}x${depth}/${threadRows}x${threadColumns}`,
  rows,
  columns,
  depth,
  threadRows,
  threadColumns,
});

/** From the least to the most work a workgroup. 16 kB of workgroup memory at most, what every device has. */
export const tiles: readonly Tile[] = [
  tile(16, 16, 16, 4, 4),
  tile(64, 16, 16, 4, 4),
  tile(16, 64, 16, 4, 4),
  tile(32, 32, 16, 4, 4),
  tile(64, 64, 16, 4, 4),
  tile(64, 64, 16, 8, 4),
  tile(128, 64, 16, 8, 8),
  tile(128, 128, 8, 8, 8),
];

const threadsOf = (t: Tile): number => (t.rows / t.threadRows) * (t.columns / t.threadColumns);
const memoryOf = (t: Tile): number => 4 * t.depth * (t.rows + t.columns);

export function tileNamed(name: string): Tile {
  const found = tiles.find((candidate) => candidate.name === name);
  if (!found) throw new RangeError(`no tile is called ${name}`);
  return found;
}

/** Workgroups below which a large tile leaves parts of a middling GPU idle. */
const fullDevice = 96;

/**
 * Tiles that fit the device, the likeliest first: least padding, then the largest that still gives enough workgroups.
 */
export function rankTiles(m: number, n: number, splits: number, limits: GpuLimits): readonly Tile[] {
  const score = (t: Tile): number => {
    const groups = Math.ceil(m / t.rows) * Math.ceil(n / t.columns);
    const padded = groups * t.rows * t.columns;
    // Products a value read from workgroup memory, and one read from the buffers, takes part in: the first decides.
    const blockReuse = (t.threadRows * t.threadColumns) / (t.threadRows + t.threadColumns);
    const tileReuse = (t.rows * t.columns) / (t.rows + t.columns);
    const occupancy = Math.min(1, (groups * splits) / fullDevice) * Math.min(1, threadsOf(t) / 64);
    return ((m * n) / padded) * occupancy * (blockReuse + tileReuse / 16);
  };
  return tiles
    .filter(
      (t) =>
        threadsOf(t) <= limits.maxComputeInvocationsPerWorkgroup &&
        memoryOf(t) <= limits.maxComputeWorkgroupStorageSize,
    )
    .map((t) => ({ t, score: score(t) }))
    .sort((x, y) => y.score - x.score)
    .map((ranked) => ranked.t);
}

export interface Product {
  readonly label: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Operand names. `transposed`: stored [k, m], or [n, k] for b. */
  readonly a: { readonly operand: string; readonly transposed: boolean };
  readonly b: { readonly operand: string; readonly transposed: boolean };
  /** Where the product goes: [splits, m, n]. */
  readonly c: string;
  /** Parts the depth is cut into; part s goes to c[s]. */
  readonly splits: number;
  /** Where the column sums of b go, [splits, n], if anywhere (b is not transposed). */
  readonly columnSums?: string;
  /** Further operands the epilogue reads, seen as V. */
  readonly extra: readonly string[];
  /**
   * WGSL that turns `value: V` at `at` (index of V elements in c) and `columnAt` (within a row) into the result; V is
   * vec4<f32> where four divides n, else f32.
   */
  readonly epilogue: string;
  /** Functions the epilogue calls. */
  readonly functions: string;
}

/** Depth of a split, a multiple of the deepest slice, so that tiles and splits never disagree. */
export function splitDepth(k: number, splits: number): number {
  return Math.ceil(Math.ceil(k / splits) / 16) * 16;
}

/** The pass that computes a product with a tile. */
export function productPass(product: Product, t: Tile, context: GpuContext): GpuPass {
  const { m, n, k, a, b, splits } = product;
  const longest = context.limits.maxComputeWorkgroupsPerDimension;
  const columnGroups = Math.ceil(n / t.columns);
  const rowGroups = Math.ceil(m / t.rows);
  // Columns lie on x (folded into z when too many), rows on y, splits and the folded rest on z.
  const gridX = Math.min(columnGroups, longest);
  const foldsX = Math.ceil(columnGroups / gridX);
  const gridY = Math.min(rowGroups, longest);
  const foldsY = Math.ceil(rowGroups / gridY);
  const sideA = a.transposed ? m : k;
  const sideB = b.transposed ? k : n;
  const elementA: WgslElement = sideA % 4 === 0 ? 'vec4<f32>' : 'f32';
  const elementB: WgslElement = sideB % 4 === 0 ? 'vec4<f32>' : 'f32';
  const element: WgslElement = n % 4 === 0 ? 'vec4<f32>' : 'f32';
  const extra = Object.fromEntries(product.extra.map((operand) => [operand, element]));
  const sums = product.columnSums ? { [product.columnSums]: element } : {};
  const code = `alias V = ${element};
const M = ${m}u;
const N = ${n}u;
const K = ${k}u;
const TILE_ROWS = ${t.rows}u;
const TILE_COLUMNS = ${t.columns}u;
const TILE_DEPTH = ${t.depth}u;
const THREADS_X = ${t.columns / t.threadColumns}u;
const THREADS_Y = ${t.rows / t.threadRows}u;
const THREADS = ${threadsOf(t)}u;
const SPLIT_DEPTH = ${splits === 1 ? k : splitDepth(k, splits)}u;
var<workgroup> slice_a: array<vec4<f32>, ${(t.depth * t.rows) / 4}>;
var<workgroup> slice_b: array<vec4<f32>, ${(t.depth * t.columns) / 4}>;
${loader('load_a', a.operand, elementA, a.transposed ? 'K' : 'M', a.transposed ? 'M' : 'K')}
${loader('load_b', b.operand, elementB, b.transposed ? 'N' : 'K', b.transposed ? 'K' : 'N')}
${product.functions}
${writer(product, element)}
${product.columnSums ? sumWriter(product.columnSums, element) : ''}
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let split = group.z ${foldsX * foldsY > 1 ? `/ ${foldsX * foldsY}u` : ''};
  let first_column = (group.x${foldsX > 1 ? ` + group.z % ${foldsX}u * ${gridX}u` : ''}) * TILE_COLUMNS;
  let first_row = (group.y${foldsY > 1 ? ` + group.z / ${foldsX}u % ${foldsY}u * ${gridY}u` : ''}) * TILE_ROWS;
  if (first_row >= M || first_column >= N) { return; }
  let begin = split * SPLIT_DEPTH;
  let end = min(K, begin + SPLIT_DEPTH);
  let tx = thread % THREADS_X;
  let ty = thread / THREADS_X;
${accumulators(t, product.columnSums !== undefined)}
  for (var depth = begin; depth < end; depth += TILE_DEPTH) {
${a.transposed ? fillDirect('slice_a', 'load_a', 'TILE_ROWS', 'first_row') : fillTransposing('slice_a', 'load_a', 'TILE_ROWS', 'first_row')}
${b.transposed ? fillTransposing('slice_b', 'load_b', 'TILE_COLUMNS', 'first_column') : fillDirect('slice_b', 'load_b', 'TILE_COLUMNS', 'first_column')}
    workgroupBarrier();
    for (var d = 0u; d < TILE_DEPTH; d++) {
${innerProduct(t, product.columnSums !== undefined)}
    }
    workgroupBarrier();
  }
${stores(t)}
${product.columnSums ? sumStores(t) : ''}
}
`;
  return {
    label: `${product.label} ${t.name}${splits > 1 ? ` in ${splits}` : ''}`,
    reads: { [a.operand]: elementA, [b.operand]: elementB, ...extra },
    writes: { [product.c]: element, ...sums },
    code,
    workgroups: [gridX, gridY, foldsX * foldsY * splits],
  };
}

/**
 * `fn NAME(line, position, end)`: four values of a stored [LINES, LENGTH] matrix from `position` on in row `line`; zero
 * outside of it and, where the depth runs along the lines, from depth `end` on.
 */
function loader(name: string, operand: string, element: WgslElement, lines: string, length: string): string {
  const variable = variableName(operand);
  const limit = (size: string): string => (size === 'K' ? 'end' : size);
  if (element === 'vec4<f32>') {
    return `fn ${name}(line: u32, position: u32, end: u32) -> vec4<f32> {
  if (line >= ${limit(lines)} || position >= ${limit(length)}) { return vec4<f32>(); }
  return ${variable}[(line * ${length} + position) / 4u];
}`;
  }
  return `fn ${name}(line: u32, position: u32, end: u32) -> vec4<f32> {
  var values = vec4<f32>();
  if (line >= ${limit(lines)}) { return values; }
  let at = line * ${length} + position;
  if (position < ${limit(length)}) { values.x = ${variable}[at]; }
  if (position + 1u < ${limit(length)}) { values.y = ${variable}[at + 1u]; }
  if (position + 2u < ${limit(length)}) { values.z = ${variable}[at + 2u]; }
  if (position + 3u < ${limit(length)}) { values.w = ${variable}[at + 3u]; }
  return values;
}`;
}

/** Fills a slice from a matrix stored depth-major: vectors go over as they are. */
const fillDirect = (slice: string, load: string, width: string, first: string): string => `
    for (var unit = thread; unit < TILE_DEPTH * ${width} / 4u; unit += THREADS) {
      let d = unit / (${width} / 4u);
      let w = unit % (${width} / 4u);
      ${slice}[unit] = ${load}(depth + d, ${first} + w * 4u, end);
    }`;

/** Fills a slice from a matrix whose rows run along the depth: blocks of four by four are transposed in registers. */
const fillTransposing = (slice: string, load: string, width: string, first: string): string => `
    for (var unit = thread; unit < TILE_DEPTH * ${width} / 16u; unit += THREADS) {
      let d = unit % (TILE_DEPTH / 4u) * 4u;
      let w = unit / (TILE_DEPTH / 4u);
      let line = ${first} + w * 4u;
      let block = transpose(mat4x4<f32>(${load}(line, depth + d, end), ${load}(line + 1u, depth + d, end),
        ${load}(line + 2u, depth + d, end), ${load}(line + 3u, depth + d, end)));
      ${slice}[d * (${width} / 4u) + w] = block[0];
      ${slice}[(d + 1u) * (${width} / 4u) + w] = block[1];
      ${slice}[(d + 2u) * (${width} / 4u) + w] = block[2];
      ${slice}[(d + 3u) * (${width} / 4u) + w] = block[3];
    }`;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const components = ['x', 'y', 'z', 'w'] as const;

/** Registers: `c_R_G` holds columns 4·(tx + G·THREADS_X) … of row 4·(ty + R/4·THREADS_Y) + R%4 of the tile. */
function accumulators(t: Tile, columnSums: boolean): string {
  const groups = range(t.threadColumns / 4);
  const lines = range(t.threadRows).flatMap((r) => groups.map((g) => `  var c_${r}_${g} = vec4<f32>();`));
  if (columnSums) lines.push(...groups.map((g) => `  var sum_${g} = vec4<f32>();`));
  return lines.join('\n');
}

function innerProduct(t: Tile, columnSums: boolean): string {
  const groups = range(t.threadColumns / 4);
  return [
    ...range(t.threadRows / 4).map((r) => `let a_${r} = slice_a[d * (TILE_ROWS / 4u) + ty + ${r}u * THREADS_Y];`),
    ...groups.map((g) => `let b_${g} = slice_b[d * (TILE_COLUMNS / 4u) + tx + ${g}u * THREADS_X];`),
    ...range(t.threadRows).flatMap((r) =>
      groups.map((g) => `c_${r}_${g} += a_${r >> 2}.${components[r & 3]} * b_${g};`),
    ),
    ...(columnSums ? groups.map((g) => `sum_${g} += b_${g};`) : []),
  ]
    .map((line) => `      ${line}`)
    .join('\n');
}

/** `fn finish(row, column, split, values)` writes four neighbouring results. */
function writer(product: Product, element: WgslElement): string {
  const c = variableName(product.c);
  const finish = `fn finish(value_: V, at: u32, column_at: u32) -> V {
  var value = value_;
  ${product.epilogue}
  return value;
}`;
  if (element === 'vec4<f32>') {
    return `${finish}
fn store(row: u32, column: u32, split: u32, values: vec4<f32>) {
  if (row >= M || column >= N) { return; }
  let at = (row * N + column) / 4u;
  ${c}[split * (M * N / 4u) + at] = finish(values, at, column / 4u);
}`;
  }
  return `${finish}
fn store(row: u32, column: u32, split: u32, values: vec4<f32>) {
  if (row >= M) { return; }
  let at = row * N + column;
  for (var i = 0u; i < 4u; i++) {
    if (column + i < N) { ${c}[split * (M * N) + at + i] = finish(values[i], at + i, column + i); }
  }
}`;
}

function stores(t: Tile): string {
  return range(t.threadRows)
    .flatMap((r) =>
      range(t.threadColumns / 4).map((g) => {
        const row = `first_row + (ty + ${r >> 2}u * THREADS_Y) * 4u + ${r & 3}u`;
        return `  store(${row}, first_column + (tx + ${g}u * THREADS_X) * 4u, split, c_${r}_${g});`;
      }),
    )
    .join('\n');
}

function sumWriter(operand: string, element: WgslElement): string {
  const sums = variableName(operand);
  if (element === 'vec4<f32>') {
    return `fn store_sum(column: u32, split: u32, values: vec4<f32>) {
  if (column < N) { ${sums}[(split * N + column) / 4u] = values; }
}`;
  }
  return `fn store_sum(column: u32, split: u32, values: vec4<f32>) {
  for (var i = 0u; i < 4u; i++) {
    if (column + i < N) { ${sums}[split * N + column + i] = values[i]; }
  }
}`;
}

function sumStores(t: Tile): string {
  const lines = range(t.threadColumns / 4).map(
    (g) => `    store_sum(first_column + (tx + ${g}u * THREADS_X) * 4u, split, sum_${g});`,
  );
  return `  if (first_row == 0u && ty == 0u) {\n${lines.join('\n')}\n  }`;
}
