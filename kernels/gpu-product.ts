// The tiled product c = a·b behind matmul, dense_weight_grad and the convolutions. A workgroup computes one tile of c, each
// thread a block of it in registers; slices of a and b pass through workgroup memory, depth-major, so that the inner loop
// reads vectors. Where a and b come from and where c goes is the caller's WGSL (gpu-matrix.ts, gpu-convolution.ts).
// M rows of the result, N columns, K the summed dimension (depth).
// Every tile shape adds the products of one element in the same order, so all give the same bits. So do slices in 16 bits, of
// factors that are stored so: they take half of the workgroup memory and its traffic, and become float32 as they are multiplied.

import type { GpuContext, GpuPass, WgslElement } from './gpu-contract.ts';
import { rankTiles, threadsOf, type Tile, tileNamed } from './gpu-tiles.ts';

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

/** The pass that computes a product, with the tile that `variant` names or the likeliest. */
export function productPass(product: Product, context: GpuContext, variant?: string): GpuPass {
  const { m, n, k, a, b, sink, splits, layers = 1 } = product;
  const t = variant === undefined ? rankTiles(m, n, splits * layers, context.limits)[0] : tileNamed(variant);
  const longest = context.limits.maxComputeWorkgroupsPerDimension;
  const columnGroups = Math.ceil(n / t.columns);
  const rowGroups = Math.ceil(m / t.rows);
  // Columns lie on x and rows on y, folded onto z where they are too many; splits and layers lie on z.
  const gridX = Math.min(columnGroups, longest);
  const foldsX = Math.ceil(columnGroups / gridX);
  const gridY = Math.min(rowGroups, longest);
  const foldsY = Math.ceil(rowGroups / gridY);
  const sliceOf = (source: Source, operand: 'a' | 'b'): Slice => ({
    slice: `slice_${operand}`,
    load: `load_${operand}`,
    first: operand === 'a' ? 'first_row' : 'first_column',
    width: operand === 'a' ? t.rows : t.columns,
    alongDepth: source.alongDepth,
    number: t.halfSlices && Object.keys(source.reads).every((name) => context.halves.has(name)) ? 'f16' : 'f32',
  });
  const slices = { a: sliceOf(a, 'a'), b: sliceOf(b, 'b') };
  const shares = Object.values(slices).flatMap((slice) => sharesOf(slice, t));
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
var<workgroup> slice_a: array<vec4<${slices.a.number}>, ${(t.depth * t.rows) / 4}>;
var<workgroup> slice_b: array<vec4<${slices.b.number}>, ${(t.depth * t.columns) / 4}>;
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
    usesHalves: t.halfSlices,
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
  /** What it is kept as, in workgroup memory and in registers; values of 16 bits are stored as such, so that none is rounded. */
  readonly number: 'f32' | 'f16';
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
  `  var ${registers}: ${of.alongDepth ? 'mat4x4' : 'vec4'}<${of.number}>;`;

const guarded = (guard: string, code: string): string => `    ${guard === '' ? '' : `if (${guard}) `}{ ${code} }`;

function loads({ of, registers, unit, guard, tileDepth }: Share): string {
  const { load, first, width, alongDepth, number } = of;
  const loaded = (at: string): string => (number === 'f16' ? `vec4<f16>(${load}(${at}))` : `${load}(${at})`);
  if (!alongDepth) {
    const [d, w] = [`${unit} / ${width / 4}u`, `${unit} % ${width / 4}u`];
    return guarded(guard, `${registers} = ${loaded(`depth + ${d}, ${first} + ${w} * 4u, end`)};`);
  }
  const [d, w] = [`${unit} % ${tileDepth / 4}u * 4u`, `${unit} / ${tileDepth / 4}u`];
  const lines = range(4).map((line) => loaded(`${first} + ${w} * 4u + ${line}u, depth + ${d}, end`));
  return guarded(guard, `${registers} = mat4x4<${number}>(${lines.join(', ')});`);
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
    ...range(t.threadRows / 4).map(
      (r) => `let a_${r} = vec4<f32>(slice_a[d * (TILE_ROWS / 4u) + ty + ${r}u * THREADS_Y]);`,
    ),
    ...groups.map((g) => `let b_${g} = vec4<f32>(slice_b[d * (TILE_COLUMNS / 4u) + tx + ${g}u * THREADS_X]);`),
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
