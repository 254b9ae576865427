// The innermost loop of the product: a tile of up to TILE_ROWS × TILE_COLUMNS results in registers. One function for every
// number of rows and vectors, so that edges waste nothing but lanes.

#pragma once
#include "activations.h"

/** Rows of the largest tile: 2 · TILE_ROWS accumulators, 2 vectors of b and a broadcast of a fit the register file. */
#if LANES == 16
#define TILE_ROWS 12
#elif LANES == 8
#define TILE_ROWS 6
#else
#define TILE_ROWS 8
#endif
#define TILE_VECTORS 2
/** A tile's `accumulate`: its sum starts from 0 and is then added to c. Of very many terms such sums round less. */
#define ADD_AFTER 2
#define TILE_COLUMNS (TILE_VECTORS * LANES)

/** One tile's operands. Strides are in floats. */
typedef struct {
  const float *a;
  ptrdiff_t a_row, a_column;
  const float *b;
  ptrdiff_t b_row;
  /** For convolutions: where the rows of b start, instead of every b_row floats. */
  const int32_t *offsets;
  int depth;
  float *c;
  ptrdiff_t c_row;
  /** The first block of the summed dimension starts from the bias (or 0), later ones from c, or are added to it (ADD_AFTER). */
  const float *bias;
  int accumulate;
  /** Applied in registers: RELU or NONE. */
  int activation;
} Tile;

INLINE void run_tile(const Tile *t, const int rows, const int vectors, const int taps) {
  Vector sums[TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) {
      if (t->accumulate == 1) sums[i][j] = load(t->c + i * t->c_row + j * LANES);
      else sums[i][j] = t->bias ? load(t->bias + j * LANES) : splat(0);
    }
  }
  const float *a = t->a;
  const float *b = t->b;
  const ptrdiff_t a_row = t->a_row, a_column = t->a_column, b_row = t->b_row;
  const int32_t *offset = t->offsets;
  for (int p = t->depth; p > 0; p--) {
    if (taps) b = t->b + *offset++;
    Vector columns[TILE_VECTORS];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) columns[j] = load(b + j * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
      const Vector value = splat(a[i * a_row]);
#pragma GCC unroll 2
      for (int j = 0; j < vectors; j++) sums[i][j] += value * columns[j];
    }
    a += a_column;
    if (!taps) b += b_row;
  }
  const int relu = t->activation == RELU;
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) {
      float *c = t->c + i * t->c_row + j * LANES;
      if (t->accumulate == ADD_AFTER) sums[i][j] += load(c);
      store(c, relu ? largest(sums[i][j], splat(0)) : sums[i][j]);
    }
  }
}

typedef void (*TileFunction)(const Tile *tile);

#define DEFINE_TILES(rows)                                                                                             \
  static void tile_##rows##_1(const Tile *tile) { run_tile(tile, rows, 1, 0); }                                        \
  static void tile_##rows##_2(const Tile *tile) { run_tile(tile, rows, 2, 0); }                                        \
  static void tap_tile_##rows##_1(const Tile *tile) { run_tile(tile, rows, 1, 1); }                                    \
  static void tap_tile_##rows##_2(const Tile *tile) { run_tile(tile, rows, 2, 1); }
#define TILES_OF(rows) {tile_##rows##_1, tile_##rows##_2}
#define TAP_TILES_OF(rows) {tap_tile_##rows##_1, tap_tile_##rows##_2}

DEFINE_TILES(1)
DEFINE_TILES(2)
DEFINE_TILES(3)
DEFINE_TILES(4)
DEFINE_TILES(5)
DEFINE_TILES(6)
#if TILE_ROWS > 6
DEFINE_TILES(7)
DEFINE_TILES(8)
#endif
#if TILE_ROWS > 8
DEFINE_TILES(9)
DEFINE_TILES(10)
DEFINE_TILES(11)
DEFINE_TILES(12)
#endif

#if TILE_ROWS == 6
#define EACH_ROW_COUNT(of) of(1), of(2), of(3), of(4), of(5), of(6)
#elif TILE_ROWS == 8
#define EACH_ROW_COUNT(of) of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8)
#else
#define EACH_ROW_COUNT(of) of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8), of(9), of(10), of(11), of(12)
#endif

/** By rows − 1 and vectors − 1; the second kind finds the rows of b by `offsets`. */
static const TileFunction tiles[TILE_ROWS][TILE_VECTORS] = {EACH_ROW_COUNT(TILES_OF)};
static const TileFunction tap_tiles[TILE_ROWS][TILE_VECTORS] = {EACH_ROW_COUNT(TAP_TILES_OF)};
