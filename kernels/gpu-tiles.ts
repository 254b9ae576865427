// The tiles a product may be cut into, and which of them suit its shape (gpu-product.ts).

import type { GpuContext, GpuLimits } from './gpu-contract.ts';

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
  /** Slices of factors that are stored in 16 bits are `vec4<f16>`. */
  readonly halfSlices: boolean;
}

const tile = (rows: number, columns: number, depth: number, threadRows: number, threadColumns: number): Tile => ({
  name: `${rows}x${columns}x${depth}/${threadRows}x${threadColumns}`,
  rows,
  columns,
  depth,
  threadRows,
  threadColumns,
  halfSlices: false,
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

export const threadsOf = (t: Tile): number => (t.rows / t.threadRows) * (t.columns / t.threadColumns);
const memoryOf = (t: Tile): number => 4 * t.depth * (t.rows + t.columns);

const withHalfSlices = (t: Tile): Tile => ({ ...t, name: `${t.name} f16`, halfSlices: true });

export function tileNamed(name: string): Tile {
  const found = [...tiles, ...tiles.map(withHalfSlices)].find((candidate) => candidate.name === name);
  if (!found) throw new RangeError(`no tile is called ${name}`);
  return found;
}

/**
 * The names of the tiles a product may be computed with, the likeliest first; each also with slices in 16 bits where one of the
 * `factors`, the operands that are multiplied, is stored so and the device computes with `f16`. `layers` counts splits too.
 */
export function productVariants(
  m: number,
  n: number,
  layers: number,
  factors: readonly string[],
  context: GpuContext,
): readonly string[] {
  const ranked = rankTiles(m, n, layers, context.limits);
  const halves = context.halfArithmetic && factors.some((factor) => context.halves.has(factor));
  return ranked.flatMap((t) => (halves ? [t.name, withHalfSlices(t).name] : [t.name]));
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
