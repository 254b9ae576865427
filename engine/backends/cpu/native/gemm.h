// c = op(a)·op(b), with bias, activation or derivative, over a block of rows and columns. The same scheme as
// kernels/shared/gemm.ts with wider tiles: blocks of the summed dimension are added in order, so the bits of an element do
// not depend on the block it is computed in.

#pragma once
#include "gemm_tile.h"
#include "kernels.h"

/** Length of a block of the summed dimension: a packed panel of b stays in the first-level cache. */
#define BLOCK_DEPTH 256
/** Columns of a packed block of b: second-level cache. */
#define BLOCK_COLUMNS 512
/** From this many rows on, and this many elements of b, packing b pays even if its rows are contiguous. */
#define PACK_MIN_ROWS 24
#define PACK_MIN_ELEMENTS 8192
/** From this many column panels on, packing the row panels of a transposed `a` pays. */
#define PACK_MIN_PANELS 4
/**
 * From this many columns on, copying the rows of an `a` pays that stand whole multiples of so many floats apart: they fall into one set of
 * the first-level cache, which has fewer ways than the largest tile has rows.
 */
#define COPY_MIN_COLUMNS 256
#define SAME_SET 1024
/** Floats from one copied row to the next. */
#define COPIED_ROW (BLOCK_DEPTH + LANES)

typedef struct {
  const float *a;
  int transpose_a;
  const float *b;
  int transpose_b;
  const float *bias;
  /** Not NULL: the result is multiplied by the derivative of `activation` at this output. */
  const float *saved;
  float *c;
  int m, n, k;
  int activation;
  float slope;
} Product;

/** Rows and columns to compute. */
typedef struct {
  int row_start, row_end, column_start, column_end;
} Block;

/** panel[p, j] = b[p, column + j], zeros beyond the last column. */
static void pack_straight(const float *b, ptrdiff_t b_row, int depth, int columns, int width, float *panel) {
  for (int p = 0; p < depth; p++, b += b_row, panel += width) {
    if (columns == width) {
      for (int j = 0; j < width; j += LANES) store(panel + j, load(b + j));
    } else {
      for (int j = 0; j < width; j++) panel[j] = j < columns ? b[j] : 0;
    }
  }
}

/** to[j, i] = from[i, j] for four rows and columns. */
INLINE void transpose_4(const float *from, ptrdiff_t from_row, float *to, ptrdiff_t to_row) {
  const Four r0 = *(const FourInMemory *)from;
  const Four r1 = *(const FourInMemory *)(from + from_row);
  const Four r2 = *(const FourInMemory *)(from + 2 * from_row);
  const Four r3 = *(const FourInMemory *)(from + 3 * from_row);
  const Four low01 = MIX(FourIntegers, r0, r1, 0, 4, 1, 5), high01 = MIX(FourIntegers, r0, r1, 2, 6, 3, 7);
  const Four low23 = MIX(FourIntegers, r2, r3, 0, 4, 1, 5), high23 = MIX(FourIntegers, r2, r3, 2, 6, 3, 7);
  *(FourInMemory *)to = MIX(FourIntegers, low01, low23, 0, 1, 4, 5);
  *(FourInMemory *)(to + to_row) = MIX(FourIntegers, low01, low23, 2, 3, 6, 7);
  *(FourInMemory *)(to + 2 * to_row) = MIX(FourIntegers, high01, high23, 0, 1, 4, 5);
  *(FourInMemory *)(to + 3 * to_row) = MIX(FourIntegers, high01, high23, 2, 3, 6, 7);
}

/** As pack_straight for a b whose columns are contiguous: element (p, j) at b[j · b_column + p]. */
static void pack_transposed(const float *b, ptrdiff_t b_column, int depth, int columns, int width, float *panel) {
  for (int j = 0; j < width; j += 4) {
    int p = 0;
    if (j + 4 <= columns) {
      for (; p + 4 <= depth; p += 4) transpose_4(b + j * b_column + p, b_column, panel + p * width + j, width);
    }
    for (; p < depth; p++) {
      for (int i = j; i < j + 4; i++) panel[p * width + i] = i < columns ? b[i * b_column + p] : 0;
    }
  }
}

/** packed[p, i] = a[i, p] for an `a` whose columns are contiguous. */
static void pack_rows(const float *a, ptrdiff_t a_column, int depth, int rows, float *packed) {
  for (int p = 0; p < depth; p++, a += a_column, packed += rows) memcpy(packed, a, 4 * (size_t)rows);
}

static void copy_rows(const float *from, ptrdiff_t from_row, float *to, ptrdiff_t to_row, int rows, int columns) {
  for (int i = 0; i < rows; i++, from += from_row, to += to_row) memcpy(to, from, 4 * (size_t)columns);
}

/** Whether something follows the sums that is not done in registers: a derivative, or an activation other than ReLU. */
INLINE int finishes_in_memory(const Product *g) {
  return g->saved || (g->activation != NONE && g->activation != RELU);
}

/** Does it for a tile just stored. Rows of `c` and `saved` (as far apart) have room for whole vectors. */
static void finish_tile(const Product *g, float *c, ptrdiff_t c_row, const float *saved, int rows, int vectors) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < vectors * LANES; j += LANES) {
      float *at = c + i * c_row + j;
      const Vector sum = load(at);
      if (saved) store(at, sum * derivative_of_output(g->activation, load(saved + i * c_row + j), g->slope));
      else store(at, activate(g->activation, sum, g->slope));
    }
  }
}

/** One pass over the rows: a block of columns and a block of the summed dimension. Strides are in floats. */
typedef struct {
  const Product *product;
  ptrdiff_t a_row, a_column, b_row, b_column;
  int pack_a, copy_a, pack_b;
  int column_start, column_end;
  int depth_start, depth;
  /** Parts of the scratch memory; the edge ones stand in for c, saved and bias where a vector would not fit. */
  float *packed_a, *packed_b, *edge_c, *edge_saved, *edge_bias;
} Pass;

/** Where the panel of b that starts at `column` is packed. */
INLINE float *packed_panel(const Pass *pass, int column) {
  return pass->packed_b + (ptrdiff_t)(column - pass->column_start) * pass->depth;
}

static void pack_columns(const Pass *pass) {
  const float *b = pass->product->b + pass->depth_start * pass->b_row;
  for (int column = pass->column_start; column < pass->column_end; column += TILE_COLUMNS) {
    const int width = smaller(TILE_COLUMNS, pass->column_end - column);
    float *panel = packed_panel(pass, column);
    if (pass->product->transpose_b) {
      pack_transposed(b + column * pass->b_column, pass->b_column, pass->depth, width, TILE_COLUMNS, panel);
    } else if (pass->pack_b || width < TILE_COLUMNS) {
      pack_straight(b + column, pass->b_row, pass->depth, width, TILE_COLUMNS, panel);
    }
  }
}

/** Runs one tile of `height` rows at (row, column); `tile` has its a, depth and start already. */
static void run_tile_at(const Pass *pass, Tile *tile, int row, int height, int column) {
  const Product *g = pass->product;
  const int width = smaller(TILE_COLUMNS, pass->column_end - column);
  const int vectors = (width + LANES - 1) / LANES;
  const int whole = width == vectors * LANES;
  const int packed = pass->pack_b || width < TILE_COLUMNS;
  const ptrdiff_t c_row = g->n;
  float *c = g->c + row * c_row + column;
  tile->b = packed ? packed_panel(pass, column) : g->b + pass->depth_start * pass->b_row + column;
  tile->b_row = packed ? TILE_COLUMNS : pass->b_row;
  tile->bias = g->bias ? g->bias + column : NULL;
  tile->c = whole ? c : pass->edge_c;
  tile->c_row = whole ? c_row : TILE_COLUMNS;
  if (!whole && g->bias) tile->bias = memcpy(pass->edge_bias, tile->bias, 4 * (size_t)width);
  if (!whole && tile->accumulate) copy_rows(c, c_row, tile->c, tile->c_row, height, width);
  tiles[height - 1][vectors - 1](tile);
  if (finishes_in_memory(g) && pass->depth_start + pass->depth == g->k) {
    const float *saved = g->saved ? g->saved + row * c_row + column : NULL;
    if (saved && !whole) {
      copy_rows(saved, c_row, pass->edge_saved, TILE_COLUMNS, height, width);
      saved = pass->edge_saved;
    }
    finish_tile(g, tile->c, tile->c_row, saved, height, vectors);
  }
  if (!whole) copy_rows(tile->c, tile->c_row, c, c_row, height, width);
}

/** A row of tiles, left to right. */
static void run_rows(const Pass *pass, int row, int height) {
  const Product *g = pass->product;
  const int last = pass->depth_start + pass->depth == g->k;
  Tile tile = {
      .a = g->a + row * pass->a_row + pass->depth_start * pass->a_column,
      .a_row = pass->a_row,
      .a_column = pass->a_column,
      .depth = pass->depth,
      .accumulate = pass->depth_start > 0,
      .activation = last && !finishes_in_memory(g) ? g->activation : NONE,
  };
  if (pass->pack_a) {
    pack_rows(tile.a, pass->a_column, pass->depth, height, pass->packed_a);
    tile.a = pass->packed_a;
    tile.a_row = 1;
    tile.a_column = height;
  } else if (pass->copy_a) {
    copy_rows(tile.a, pass->a_row, pass->packed_a, COPIED_ROW, height, pass->depth);
    tile.a = pass->packed_a;
    tile.a_row = COPIED_ROW;
  }
  for (int column = pass->column_start; column < pass->column_end; column += TILE_COLUMNS) {
    run_tile_at(pass, &tile, row, height, column);
  }
}

/** Columns of a single row whose sums stand in registers together, in vectors: long stretches of the rows of b are read. */
#define ROW_VECTORS 16

/** One row of c, columns `column` … of up to `vectors` vectors; `width` of them if they are not whole. */
INLINE void sum_columns(const Product *g, int row, int column, const int vectors, const int width) {
  const float *a = g->a + (g->transpose_a ? row : (ptrdiff_t)row * g->k), *b = g->b + column;
  const ptrdiff_t a_column = g->transpose_a ? g->m : 1, at = (ptrdiff_t)row * g->n + column;
  Vector sums[ROW_VECTORS];
#pragma GCC unroll 16
  for (int j = 0; j < vectors; j++) sums[j] = g->bias ? load_lanes(g->bias + column + j * LANES, width - j * LANES) : splat(0);
  // A vector that ends beyond the row reads on into the next one, as long as there is one.
  const int beyond = vectors * LANES - width;
  const int careful = beyond > 0 ? smaller(g->k, (beyond + g->n - 1) / g->n) : 0;
  int p = 0;
  for (; p < g->k - careful; p++, a += a_column, b += g->n) {
    const Vector value = splat(*a);
#pragma GCC unroll 16
    for (int j = 0; j < vectors; j++) sums[j] += value * load(b + j * LANES);
  }
  for (; p < g->k; p++, a += a_column, b += g->n) sums[0] += splat(*a) * load_lanes(b, width);
#pragma GCC unroll 16
  for (int j = 0; j < vectors; j++) {
    const int lanes = width - j * LANES;
    const Vector saved = g->saved ? load_lanes(g->saved + at + j * LANES, lanes) : splat(0);
    if (g->saved) sums[j] *= derivative_of_output(g->activation, saved, g->slope);
    else if (g->activation != NONE) sums[j] = activate(g->activation, sums[j], g->slope);
    store_lanes(g->c + at + j * LANES, sums[j], lanes);
  }
}

static void row_of_16(const Product *g, int row, int column) { sum_columns(g, row, column, ROW_VECTORS, ROW_VECTORS * LANES); }
static void row_of_4(const Product *g, int row, int column) { sum_columns(g, row, column, 4, 4 * LANES); }
static void row_of_1(const Product *g, int row, int column) { sum_columns(g, row, column, 1, LANES); }
static void row_of_some(const Product *g, int row, int column, int width) { sum_columns(g, row, column, 1, width); }

/** A single row, without packing: each element of b is read once. Terms are added in the order in which tiles add them. */
static void compute_row(const Product *g, int row, int column, int end) {
  for (; column + ROW_VECTORS * LANES <= end; column += ROW_VECTORS * LANES) row_of_16(g, row, column);
  for (; column + 4 * LANES <= end; column += 4 * LANES) row_of_4(g, row, column);
  for (; column + LANES <= end; column += LANES) row_of_1(g, row, column);
  if (column < end) row_of_some(g, row, column, end - column);
}

static void compute_product(const Product *g, const Block *block, float *scratch) {
  const int rows = block->row_end - block->row_start, columns = block->column_end - block->column_start;
  if (rows == 1 && !g->transpose_b) {
    compute_row(g, block->row_start, block->column_start, block->column_end);
    return;
  }
  Pass pass = {
      .product = g,
      .a_row = g->transpose_a ? 1 : g->k,
      .a_column = g->transpose_a ? g->m : 1,
      .b_row = g->transpose_b ? 1 : g->n,
      .b_column = g->transpose_b ? g->k : 1,
      .pack_a = g->transpose_a && columns >= PACK_MIN_PANELS * TILE_COLUMNS,
      .copy_a = TILE_ROWS > 8 && !g->transpose_a && g->k % SAME_SET == 0 && columns >= COPY_MIN_COLUMNS,
      .pack_b = g->transpose_b || (rows >= PACK_MIN_ROWS && g->k * columns >= PACK_MIN_ELEMENTS),
  };
  pass.packed_b = scratch;
  pass.packed_a = pass.packed_b + BLOCK_DEPTH * BLOCK_COLUMNS;
  pass.edge_c = pass.packed_a + COPIED_ROW * TILE_ROWS;
  pass.edge_saved = pass.edge_c + TILE_ROWS * TILE_COLUMNS;
  pass.edge_bias = pass.edge_saved + TILE_ROWS * TILE_COLUMNS;
  for (int column = block->column_start; column < block->column_end; column += BLOCK_COLUMNS) {
    pass.column_start = column;
    pass.column_end = smaller(block->column_end, column + BLOCK_COLUMNS);
    for (int depth = 0; depth < g->k; depth += BLOCK_DEPTH) {
      pass.depth_start = depth;
      pass.depth = smaller(BLOCK_DEPTH, g->k - depth);
      pack_columns(&pass);
      for (int row = block->row_start; row < block->row_end; row += TILE_ROWS) {
        run_rows(&pass, row, smaller(TILE_ROWS, block->row_end - row));
      }
    }
  }
}

/** A thread's share of c: the wider side is split. */
static Block share_block(int m, int n, int thread, int threads) {
  Block block = {0, m, 0, n};
  if (n >= m) {
    block.column_start = share_start(n, LANES, thread, threads);
    block.column_end = share_start(n, LANES, thread + 1, threads);
  } else {
    block.row_start = share_start(m, 4, thread, threads);
    block.row_end = share_start(m, 4, thread + 1, threads);
  }
  return block;
}
