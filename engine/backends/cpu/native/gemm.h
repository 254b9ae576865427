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
  typedef float Four __attribute__((vector_size(16)));
  const Four r0 = *(const FourInMemory *)from;
  const Four r1 = *(const FourInMemory *)(from + from_row);
  const Four r2 = *(const FourInMemory *)(from + 2 * from_row);
  const Four r3 = *(const FourInMemory *)(from + 3 * from_row);
  const Four low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Four low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Four high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  *(FourInMemory *)to = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  *(FourInMemory *)(to + to_row) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  *(FourInMemory *)(to + 2 * to_row) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  *(FourInMemory *)(to + 3 * to_row) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
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

/** What follows the sums and is not done in registers. `c` and `saved` have room for whole vectors in each row. */
static void finish_tile(const Product *g, float *c, ptrdiff_t c_row, const float *saved, ptrdiff_t saved_row, int rows,
                        int vectors) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < vectors * LANES; j += LANES) {
      float *at = c + i * c_row + j;
      const Vector sum = load(at);
      if (saved) store(at, sum * derivative_of_output(g->activation, load(saved + i * saved_row + j), g->slope));
      else store(at, activate(g->activation, sum, g->slope));
    }
  }
}

static void product(const Product *g, const Block *block, float *scratch) {
  const ptrdiff_t a_row = g->transpose_a ? 1 : g->k, a_column = g->transpose_a ? g->m : 1;
  const ptrdiff_t b_row = g->transpose_b ? 1 : g->n, b_column = g->transpose_b ? g->k : 1;
  const ptrdiff_t c_row = g->n;
  const int rows = block->row_end - block->row_start, columns = block->column_end - block->column_start;
  const int pack_b = g->transpose_b || (rows >= PACK_MIN_ROWS && g->k * columns >= PACK_MIN_ELEMENTS);
  const int pack_a = g->transpose_a && columns >= PACK_MIN_PANELS * TILE_COLUMNS;
  float *packed_b = scratch;
  float *packed_a = packed_b + BLOCK_DEPTH * BLOCK_COLUMNS;
  float *edge_c = packed_a + BLOCK_DEPTH * TILE_ROWS;
  float *edge_saved = edge_c + TILE_ROWS * TILE_COLUMNS;
  float *edge_bias = edge_saved + TILE_ROWS * TILE_COLUMNS;
  const int relu = g->activation == RELU && !g->saved;
  const int finish = g->saved || (g->activation != NONE && !relu);

  for (int block_start = block->column_start; block_start < block->column_end; block_start += BLOCK_COLUMNS) {
    const int block_end = smaller(block->column_end, block_start + BLOCK_COLUMNS);
    for (int depth_start = 0; depth_start < g->k; depth_start += BLOCK_DEPTH) {
      const int depth = smaller(BLOCK_DEPTH, g->k - depth_start);
      const int last = depth_start + depth == g->k;
      const float *b_block = g->b + depth_start * b_row;
      for (int column = block_start; column < block_end; column += TILE_COLUMNS) {
        const int width = smaller(TILE_COLUMNS, block_end - column);
        float *panel = packed_b + (ptrdiff_t)(column - block_start) * depth;
        if (g->transpose_b) pack_transposed(b_block + column * b_column, b_column, depth, width, TILE_COLUMNS, panel);
        else if (pack_b || width < TILE_COLUMNS) pack_straight(b_block + column, b_row, depth, width, TILE_COLUMNS, panel);
      }
      for (int row = block->row_start; row < block->row_end; row += TILE_ROWS) {
        const int height = smaller(TILE_ROWS, block->row_end - row);
        Tile tile = {
            .a = g->a + row * a_row + depth_start * a_column,
            .a_row = a_row,
            .a_column = a_column,
            .depth = depth,
            .accumulate = depth_start > 0,
            .activation = relu && last ? RELU : NONE,
        };
        if (pack_a) {
          pack_rows(tile.a, a_column, depth, height, packed_a);
          tile.a = packed_a;
          tile.a_row = 1;
          tile.a_column = height;
        }
        for (int column = block_start; column < block_end; column += TILE_COLUMNS) {
          const int width = smaller(TILE_COLUMNS, block_end - column);
          const int vectors = (width + LANES - 1) / LANES;
          const int whole = width == vectors * LANES;
          const int packed = pack_b || width < TILE_COLUMNS;
          float *target = g->c + row * c_row + column;
          const float *saved = g->saved ? g->saved + row * c_row + column : NULL;
          tile.b = packed ? packed_b + (ptrdiff_t)(column - block_start) * depth : b_block + column;
          tile.b_row = packed ? TILE_COLUMNS : b_row;
          tile.bias = g->bias ? g->bias + column : NULL;
          tile.c = target;
          tile.c_row = c_row;
          if (!whole) {
            if (g->bias) tile.bias = memcpy(edge_bias, tile.bias, 4 * (size_t)width);
            if (tile.accumulate) copy_rows(target, c_row, edge_c, TILE_COLUMNS, height, width);
            tile.c = edge_c;
            tile.c_row = TILE_COLUMNS;
          }
          tiles[height - 1][vectors - 1](&tile);
          if (finish && last) {
            if (saved && !whole) {
              copy_rows(saved, c_row, edge_saved, TILE_COLUMNS, height, width);
              saved = edge_saved;
            }
            finish_tile(g, tile.c, tile.c_row, saved, tile.c_row, height, vectors);
          }
          if (!whole) copy_rows(edge_c, TILE_COLUMNS, target, c_row, height, width);
        }
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
