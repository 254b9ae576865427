// The tiled product c = a·b behind matmul, dense_weight_grad and the convolutions. A workgroup computes one tile of c, each
// thread a block of it in registers; slices of a and b pass through workgroup memory, depth-major, so that the inner loop
// reads vectors. Where a and b come from and where c goes is the caller's WGSL (gpu-matrix.ts, gpu-convolution.ts).
// M rows of the result, N columns, K the summed dimension (depth).
// Every tile shape adds the products of one element in the same order, so all give the same bits.

import type { GpuContext, GpuLimits, GpuPass, WgslElement } from './gpu-contract.ts';

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
  tile(128, 128, 16, 8, 8),
  tile(128, 128, 8, 8, 8),
];

const threadsOf = (t: Tile): number => (t.rows / t.threadRows) * (t.columns / t.threadColumns);
const memoryOf = (t: Tile): number => 4 * t.depth * (t.rows + t.columns);

export function tileNamed(name: string): Tile {
  const found = tiles.find((candidate) => candidate.name === name);
  if (!found) throw new RangeError(`no tile is called ${name}`);
  return found;
}

/** Threads below which a large GPU, of 132 processors, is partly idle; a smaller one loses little by smaller tiles. */
const fullDevice = 32_768;

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
    const threads = groups * splits * threadsOf(t);
    const occupancy = Math.min(1, threads / fullDevice) * Math.min(1, threadsOf(t) / 64);
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

/** A factor of a product: rows of a (or columns of b) by depth, read four values at a time. */
export interface Source {
  /**
   * WGSL of `fn NAME(line: u32, position: u32, end: u32) -> vec4<f32>`. With `alongDepth`, line is a row of a (a column of b)
   * and the four values lie along the depth from `position` on; else line is a depth, and they belong to neighbouring rows
   * (columns). Values outside the matrix, or from depth `end` on, have to be zero.
   */
  readonly load: (name: string) => string;
  readonly alongDepth: boolean;
  readonly reads: Readonly<Record<string, WgslElement>>;
}

/** Where the results go. */
export interface Sink {
  /**
   * WGSL of `fn store(row: u32, column: u32, split: u32, values: vec4<f32>)` for four neighbouring columns; what lies outside of
   * M × N has to be left out. With `sumsColumns` also `fn store_sum(column: u32, split: u32, values: vec4<f32>)`.
   */
  readonly code: string;
  readonly reads: Readonly<Record<string, WgslElement>>;
  readonly writes: Readonly<Record<string, WgslElement>>;
  /** The column sums of b are wanted too. */
  readonly sumsColumns: boolean;
}

export interface Product {
  readonly label: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Source;
  readonly b: Source;
  readonly sink: Sink;
  /** Parts the depth is cut into; each has its own results. */
  readonly splits: number;
  /** Independent products of the same shape: sources and sink tell them apart by `layer`. */
  readonly layers?: number;
}

/** Depth of a split, a multiple of the deepest slice, so that tiles and splits never disagree. */
export function splitDepth(k: number, splits: number): number {
  return Math.ceil(Math.ceil(k / splits) / 16) * 16;
}

/** The pass that computes a product with a tile. */
export function productPass(product: Product, t: Tile, context: GpuContext): GpuPass {
  const { m, n, k, a, b, sink, splits, layers = 1 } = product;
  const longest = context.limits.maxComputeWorkgroupsPerDimension;
  const columnGroups = Math.ceil(n / t.columns);
  const rowGroups = Math.ceil(m / t.rows);
  // Columns lie on x and rows on y, folded onto z where they are too many; splits and layers lie on z.
  const gridX = Math.min(columnGroups, longest);
  const foldsX = Math.ceil(columnGroups / gridX);
  const gridY = Math.min(rowGroups, longest);
  const foldsY = Math.ceil(rowGroups / gridY);
  const shares = [
    ...sharesOf({ slice: 'slice_a', load: 'load_a', first: 'first_row', width: t.rows, alongDepth: a.alongDepth }, t),
    ...sharesOf(
      { slice: 'slice_b', load: 'load_b', first: 'first_column', width: t.columns, alongDepth: b.alongDepth },
      t,
    ),
  ];
  const code = `const M = ${m}u;
const N = ${n}u;
const K = ${k}u;
const TILE_ROWS = ${t.rows}u;
const TILE_COLUMNS = ${t.columns}u;
const TILE_DEPTH = ${t.depth}u;
const THREADS_X = ${t.columns / t.threadColumns}u;
const THREADS_Y = ${t.rows / t.threadRows}u;
const THREADS = ${threadsOf(t)}u;
const SPLIT_DEPTH = ${splits === 1 ? k : splitDepth(k, splits)}u;
var<private> layer: u32;
var<workgroup> slice_a: array<vec4<f32>, ${(t.depth * t.rows) / 4}>;
var<workgroup> slice_b: array<vec4<f32>, ${(t.depth * t.columns) / 4}>;
${a.load('load_a')}
${b.load('load_b')}
${sink.code}
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let part = group.z / ${foldsX * foldsY}u;
  let split = part % ${splits}u;
  layer = part / ${splits}u;
  let first_column = (group.x + group.z % ${foldsX}u * ${gridX}u) * TILE_COLUMNS;
  let first_row = (group.y + group.z / ${foldsX}u % ${foldsY}u * ${gridY}u) * TILE_ROWS;
  if (first_row >= M || first_column >= N) { return; }
  let begin = split * SPLIT_DEPTH;
  let end = min(K, begin + SPLIT_DEPTH);
  let tx = thread % THREADS_X;
  let ty = thread / THREADS_X;
${accumulators(t, sink.sumsColumns)}
${shares.map(declared).join('\n')}
  var depth = begin;
${shares.map(loads).join('\n')}
  while (depth < end) {
${shares.map(writes).join('\n')}
    workgroupBarrier();
    depth += TILE_DEPTH;
    if (depth < end) {
${shares.map(loads).join('\n')}
    }
    for (var d = 0u; d < TILE_DEPTH; d++) {
${innerProduct(t, sink.sumsColumns)}
    }
    workgroupBarrier();
  }
${stores(t)}
${sink.sumsColumns ? sumStores(t) : ''}
}
`;
  return {
    label: `${product.label} ${t.name}${splits > 1 ? ` in ${splits}` : ''}`,
    reads: { ...a.reads, ...b.reads, ...sink.reads },
    writes: sink.writes,
    code,
    workgroups: [gridX, gridY, foldsX * foldsY * splits * layers],
  };
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

/** A slice of a factor: `width` rows of a, or columns of b, from `first` on. */
interface Slice {
  readonly slice: string;
  readonly load: string;
  readonly first: string;
  readonly width: number;
  readonly alongDepth: boolean;
}

/**
 * What a thread brings of a slice: a vector across the depth, or a block of four by four along it, which is transposed on the
 * way. The values wait in registers while the slice before is multiplied, so that reading the buffers overlaps with it.
 */
interface Share {
  readonly of: Slice;
  readonly registers: string;
  /** The number of the vector or block within the slice. */
  readonly unit: string;
  /** WGSL: whether there is such a one; '' where every thread has one. */
  readonly guard: string;
  readonly tileDepth: number;
}

function sharesOf(of: Slice, t: Tile): readonly Share[] {
  const threads = threadsOf(t);
  const units = (t.depth * of.width) / (of.alongDepth ? 16 : 4);
  return range(Math.ceil(units / threads)).map((share) => {
    const unit = share === 0 ? 'thread' : `(thread + ${share * threads}u)`;
    const guard = (share + 1) * threads > units ? `${unit} < ${units}u` : '';
    return { of, registers: `next_${of.slice}_${share}`, unit, guard, tileDepth: t.depth };
  });
}

const declared = ({ of, registers }: Share): string =>
  `  var ${registers}: ${of.alongDepth ? 'mat4x4<f32>' : 'vec4<f32>'};`;

const guarded = (guard: string, code: string): string => `    ${guard === '' ? '' : `if (${guard}) `}{ ${code} }`;

function loads({ of, registers, unit, guard, tileDepth }: Share): string {
  const { load, first, width, alongDepth } = of;
  if (!alongDepth) {
    const [d, w] = [`${unit} / ${width / 4}u`, `${unit} % ${width / 4}u`];
    return guarded(guard, `${registers} = ${load}(depth + ${d}, ${first} + ${w} * 4u, end);`);
  }
  const [d, w] = [`${unit} % ${tileDepth / 4}u * 4u`, `${unit} / ${tileDepth / 4}u`];
  const lines = range(4).map((line) => `${load}(${first} + ${w} * 4u + ${line}u, depth + ${d}, end)`);
  return guarded(guard, `${registers} = mat4x4<f32>(${lines.join(', ')});`);
}

function writes({ of, registers, unit, guard, tileDepth }: Share): string {
  const { slice, width, alongDepth } = of;
  if (!alongDepth) return guarded(guard, `${slice}[${unit}] = ${registers};`);
  const at = `${unit} % ${tileDepth / 4}u * ${width}u + ${unit} / ${tileDepth / 4}u`;
  const lines = range(4).map((line) => `${slice}[${at} + ${(line * width) / 4}u] = block[${line}];`);
  return guarded(guard, `let block = transpose(${registers}); ${lines.join(' ')}`);
}

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

function sumStores(t: Tile): string {
  const lines = range(t.threadColumns / 4).map(
    (g) => `    store_sum(first_column + (tx + ${g}u * THREADS_X) * 4u, split, sum_${g});`,
  );
  return `  if (first_row == 0u && ty == 0u) {\n${lines.join('\n')}\n  }`;
}
