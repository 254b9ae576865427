// AssemblyScript: the innermost loops of the matrix product. A tile is ROWS × 8 results kept in registers: 6 × 8 needs 12
// accumulators, two vectors of b and one of a: the 15 vector registers x86-64 leaves to WASM. Relaxed multiply-add pays here
// because many independent accumulators hide its latency. Strides are in bytes.

/** Columns of a tile. */
export const TILE_COLUMNS = 8;
/** Rows of the large and of the small tile. */
export const TILE_ROWS = 6;
export const SMALL_TILE_ROWS = 4;

/** Start from the values in c instead of from the bias (a later block of the summed dimension). */
export const TILE_ACCUMULATE = 1;
/** max(·, 0) before storing. */
export const TILE_RELU = 2;
/** Add the values in c when the sum is complete: sums of long stretches, added up, round less than one sum of all. */
export const TILE_ADD = 4;

/**
 * c[rows, 8] = a[rows, depth]·b[depth, 8] (+ bias or the old c), rows ≤ 6. Missing rows repeat the last one, which computes
 * and stores the same values again instead of branching. `bias` may be 0.
 */
export function tile6(
  a: usize,
  aRow: usize,
  aColumn: usize,
  b: usize,
  bRow: usize,
  depth: i32,
  c: usize,
  cRow: usize,
  rows: i32,
  bias: usize,
  mode: i32,
): void {
  const last = rows - 1;
  let a0 = a;
  let a1 = a + aRow * <usize>min(1, last);
  let a2 = a + aRow * <usize>min(2, last);
  let a3 = a + aRow * <usize>min(3, last);
  let a4 = a + aRow * <usize>min(4, last);
  let a5 = a + aRow * <usize>last;
  const c1 = c + cRow * <usize>min(1, last);
  const c2 = c + cRow * <usize>min(2, last);
  const c3 = c + cRow * <usize>min(3, last);
  const c4 = c + cRow * <usize>min(4, last);
  const c5 = c + cRow * <usize>last;
  let s00 = f32x4.splat(0);
  let s01 = s00;
  if (bias != 0) {
    s00 = v128.load(bias);
    s01 = v128.load(bias, 16);
  }
  let s10 = s00;
  let s11 = s01;
  let s20 = s00;
  let s21 = s01;
  let s30 = s00;
  let s31 = s01;
  let s40 = s00;
  let s41 = s01;
  let s50 = s00;
  let s51 = s01;
  if (mode & TILE_ACCUMULATE) {
    s00 = v128.load(c);
    s01 = v128.load(c, 16);
    s10 = v128.load(c1);
    s11 = v128.load(c1, 16);
    s20 = v128.load(c2);
    s21 = v128.load(c2, 16);
    s30 = v128.load(c3);
    s31 = v128.load(c3, 16);
    s40 = v128.load(c4);
    s41 = v128.load(c4, 16);
    s50 = v128.load(c5);
    s51 = v128.load(c5, 16);
  }
  for (let i = 0; i < depth; i++) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    b += bRow;
    let v = v128.load32_splat(a0);
    a0 += aColumn;
    s00 = f32x4.relaxed_madd(v, b0, s00);
    s01 = f32x4.relaxed_madd(v, b1, s01);
    v = v128.load32_splat(a1);
    a1 += aColumn;
    s10 = f32x4.relaxed_madd(v, b0, s10);
    s11 = f32x4.relaxed_madd(v, b1, s11);
    v = v128.load32_splat(a2);
    a2 += aColumn;
    s20 = f32x4.relaxed_madd(v, b0, s20);
    s21 = f32x4.relaxed_madd(v, b1, s21);
    v = v128.load32_splat(a3);
    a3 += aColumn;
    s30 = f32x4.relaxed_madd(v, b0, s30);
    s31 = f32x4.relaxed_madd(v, b1, s31);
    v = v128.load32_splat(a4);
    a4 += aColumn;
    s40 = f32x4.relaxed_madd(v, b0, s40);
    s41 = f32x4.relaxed_madd(v, b1, s41);
    v = v128.load32_splat(a5);
    a5 += aColumn;
    s50 = f32x4.relaxed_madd(v, b0, s50);
    s51 = f32x4.relaxed_madd(v, b1, s51);
  }
  if (mode & TILE_ADD) {
    s00 = f32x4.add(s00, v128.load(c));
    s01 = f32x4.add(s01, v128.load(c, 16));
    s10 = f32x4.add(s10, v128.load(c1));
    s11 = f32x4.add(s11, v128.load(c1, 16));
    s20 = f32x4.add(s20, v128.load(c2));
    s21 = f32x4.add(s21, v128.load(c2, 16));
    s30 = f32x4.add(s30, v128.load(c3));
    s31 = f32x4.add(s31, v128.load(c3, 16));
    s40 = f32x4.add(s40, v128.load(c4));
    s41 = f32x4.add(s41, v128.load(c4, 16));
    s50 = f32x4.add(s50, v128.load(c5));
    s51 = f32x4.add(s51, v128.load(c5, 16));
  }
  if (mode & TILE_RELU) {
    const zero = f32x4.splat(0);
    s00 = f32x4.max(s00, zero);
    s01 = f32x4.max(s01, zero);
    s10 = f32x4.max(s10, zero);
    s11 = f32x4.max(s11, zero);
    s20 = f32x4.max(s20, zero);
    s21 = f32x4.max(s21, zero);
    s30 = f32x4.max(s30, zero);
    s31 = f32x4.max(s31, zero);
    s40 = f32x4.max(s40, zero);
    s41 = f32x4.max(s41, zero);
    s50 = f32x4.max(s50, zero);
    s51 = f32x4.max(s51, zero);
  }
  v128.store(c, s00);
  v128.store(c, s01, 16);
  v128.store(c1, s10);
  v128.store(c1, s11, 16);
  v128.store(c2, s20);
  v128.store(c2, s21, 16);
  v128.store(c3, s30);
  v128.store(c3, s31, 16);
  v128.store(c4, s40);
  v128.store(c4, s41, 16);
  v128.store(c5, s50);
  v128.store(c5, s51, 16);
}

/** As `tile6` for rows ≤ 4. */
export function tile4(
  a: usize,
  aRow: usize,
  aColumn: usize,
  b: usize,
  bRow: usize,
  depth: i32,
  c: usize,
  cRow: usize,
  rows: i32,
  bias: usize,
  mode: i32,
): void {
  const last = rows - 1;
  let a0 = a;
  let a1 = a + aRow * <usize>min(1, last);
  let a2 = a + aRow * <usize>min(2, last);
  let a3 = a + aRow * <usize>last;
  const c1 = c + cRow * <usize>min(1, last);
  const c2 = c + cRow * <usize>min(2, last);
  const c3 = c + cRow * <usize>last;
  let s00 = f32x4.splat(0);
  let s01 = s00;
  if (bias != 0) {
    s00 = v128.load(bias);
    s01 = v128.load(bias, 16);
  }
  let s10 = s00;
  let s11 = s01;
  let s20 = s00;
  let s21 = s01;
  let s30 = s00;
  let s31 = s01;
  if (mode & TILE_ACCUMULATE) {
    s00 = v128.load(c);
    s01 = v128.load(c, 16);
    s10 = v128.load(c1);
    s11 = v128.load(c1, 16);
    s20 = v128.load(c2);
    s21 = v128.load(c2, 16);
    s30 = v128.load(c3);
    s31 = v128.load(c3, 16);
  }
  for (let i = 0; i < depth; i++) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    b += bRow;
    let v = v128.load32_splat(a0);
    a0 += aColumn;
    s00 = f32x4.relaxed_madd(v, b0, s00);
    s01 = f32x4.relaxed_madd(v, b1, s01);
    v = v128.load32_splat(a1);
    a1 += aColumn;
    s10 = f32x4.relaxed_madd(v, b0, s10);
    s11 = f32x4.relaxed_madd(v, b1, s11);
    v = v128.load32_splat(a2);
    a2 += aColumn;
    s20 = f32x4.relaxed_madd(v, b0, s20);
    s21 = f32x4.relaxed_madd(v, b1, s21);
    v = v128.load32_splat(a3);
    a3 += aColumn;
    s30 = f32x4.relaxed_madd(v, b0, s30);
    s31 = f32x4.relaxed_madd(v, b1, s31);
  }
  if (mode & TILE_ADD) {
    s00 = f32x4.add(s00, v128.load(c));
    s01 = f32x4.add(s01, v128.load(c, 16));
    s10 = f32x4.add(s10, v128.load(c1));
    s11 = f32x4.add(s11, v128.load(c1, 16));
    s20 = f32x4.add(s20, v128.load(c2));
    s21 = f32x4.add(s21, v128.load(c2, 16));
    s30 = f32x4.add(s30, v128.load(c3));
    s31 = f32x4.add(s31, v128.load(c3, 16));
  }
  if (mode & TILE_RELU) {
    const zero = f32x4.splat(0);
    s00 = f32x4.max(s00, zero);
    s01 = f32x4.max(s01, zero);
    s10 = f32x4.max(s10, zero);
    s11 = f32x4.max(s11, zero);
    s20 = f32x4.max(s20, zero);
    s21 = f32x4.max(s21, zero);
    s30 = f32x4.max(s30, zero);
    s31 = f32x4.max(s31, zero);
  }
  v128.store(c, s00);
  v128.store(c, s01, 16);
  v128.store(c1, s10);
  v128.store(c1, s11, 16);
  v128.store(c2, s20);
  v128.store(c2, s21, 16);
  v128.store(c3, s30);
  v128.store(c3, s31, 16);
}
