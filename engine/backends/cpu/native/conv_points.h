// Convolutions of 1 × 1 as the products they are. Positions are counted on from image to image, so small images fill a tile
// together; what is summed over stands in panels as wide as a tile, packed once for all rows of results. Forwards, to the input
// and to the weight.

#pragma once
#include "conv_weights.h"

/** Floats of the panels of a block of positions: second-level cache. The room that there is for them. */
#define PANELS_WANTED (160 * 1024)
#define PANELS_FLOATS (256 * 1024)
/** Longest sum forwards: one panel has to fit. */
#define MOST_POINT_DEPTH (PANELS_FLOATS / TILE_COLUMNS - 1)
/** Tiles whose rows of weights are packed together: where they stand side by side, whole lines of the cache are read. */
#define TILES_PACKED 4
/** Positions of an image up to which panels pay forwards. */
#define SMALL_PLANE 100
#define PACKED_TILE(depth) ((ptrdiff_t)(depth) * TILE_ROWS + LANES)

/** Positions of a block of sums of the weight's gradient, and columns of its panels. */
#define POINT_DEPTH 256
#define POINT_COLUMNS 448
_Static_assert(PANELS_FLOATS + TILES_PACKED * PACKED_TILE(MOST_POINT_DEPTH) + TILE_ROWS * BLOCK_COLUMNS + LANES <= SCRATCH_FLOATS,
               "scratch memory of points");
_Static_assert(POINT_DEPTH * POINT_COLUMNS + TILE_ROWS * (POINT_DEPTH + LANES) + TILE_ROWS * TILE_COLUMNS <= SCRATCH_FLOATS,
               "scratch memory of their weights");

static int is_pointwise(const Shape *s) { return s->kernel == 1 && s->stride == 1 && s->padding == 0 && s->groups == 1; }

/** Whether panels pay forwards and to the input: large images are read and written in longer stretches by bands (conv_band.h). */
static int goes_by_points(const Shape *s) {
  return is_pointwise(s) && s->height * s->width <= SMALL_PLANE && s->channels <= MOST_POINT_DEPTH && s->filters <= MOST_POINT_DEPTH;
}

/** Positions that lie side by side in an image: `start` counts from the first of those asked for. */
typedef struct {
  int image, at, start, length;
} Run;

/** Positions first … first + count as runs, of which there are at most `count`. */
static int find_runs(int plane, int first, int count, Run *runs) {
  int found = 0;
  for (int start = 0; start < count; found++) {
    const int image = (first + start) / plane, at = (first + start) % plane;
    runs[found] = (Run){image, at, start, smaller(plane - at, count - start)};
    start += runs[found].length;
  }
  return found;
}

/** planes[image, row, position] = Σ weights[row, d] · images[image, d, position] */
typedef struct {
  const float *weights;
  ptrdiff_t row_stride, depth_stride;
  int rows, depth;
  const float *images;
  ptrdiff_t image_floats;
  int plane, count;
  /** Of the memory of the images. */
  const float *end;
  Target target;
  ptrdiff_t target_floats;
} Points;

/** Some positions, in panels `apart` floats from each other: panel i has the runs starts[i] … starts[i + 1]. */
typedef struct {
  int count;
  ptrdiff_t apart;
  Run runs[BLOCK_COLUMNS];
  int starts[BLOCK_COLUMNS / TILE_COLUMNS + 1];
  /** The same from one end to the other. */
  Run whole[BLOCK_COLUMNS];
  int whole_runs;
} Positions;

static void open_positions(const Points *p, int first, int count, Positions *q) {
  q->count = count;
  q->apart = (ptrdiff_t)p->depth * TILE_COLUMNS + LANES;
  q->whole_runs = find_runs(p->plane, first, count, q->whole);
  q->starts[0] = 0;
  for (int column = 0, i = 0; column < count; column += TILE_COLUMNS, i++) {
    const int width = smaller(TILE_COLUMNS, count - column);
    q->starts[i + 1] = q->starts[i] + find_runs(p->plane, first + column, width, q->runs + q->starts[i]);
  }
}

/** panels[panel, d, position]. Whole vectors are copied: what they write too much is written again, or never used. */
static void pack_points(const Points *p, const Positions *q, float *panels) {
  const int count = (q->count + TILE_COLUMNS - 1) / TILE_COLUMNS;
  const Run *last = q->runs + q->starts[count] - 1;
  if (q->count % TILE_COLUMNS) memset(panels + (count - 1) * q->apart, 0, sizeof(float) * (size_t)q->apart);
  // Rows that whole vectors may read of without going beyond the end of the images.
  const ptrdiff_t room = p->end - (p->images + last->image * p->image_floats + last->at) - last->length - LANES;
  const int free = room < 0 ? 0 : (int)(room / p->plane) + 1;
  for (int d = 0; d < p->depth; d++) {
    for (int i = 0; i < count; i++) {
      float *to = panels + i * q->apart + (ptrdiff_t)d * TILE_COLUMNS;
      for (int r = q->starts[i]; r < q->starts[i + 1]; r++) {
        const Run *run = q->runs + r;
        const float *from = p->images + run->image * p->image_floats + (ptrdiff_t)d * p->plane + run->at;
        if (d < free) for (int j = 0; j < run->length; j += LANES) store(to + run->start + j, load(from + j));
        else copy_floats(to + run->start, from, run->length);
      }
    }
  }
}

/** packed[tile, d, row] for the rows of some tiles, PACKED_TILE floats apart; whole vectors are copied here, too. */
static void pack_point_weights(const Points *p, int row, int rows, float *packed) {
  const float *from = p->weights + row;
  for (int d = 0; d < p->depth; d++, from += p->depth_stride) {
    float *to = packed;
    for (int i = 0; i < rows; i += TILE_ROWS, to += PACKED_TILE(p->depth)) {
      const int height = smaller(TILE_ROWS, rows - i);
      if (height == TILE_ROWS && d + 1 < p->depth) store(to + d * TILE_ROWS, load(from + i));
      else copy_floats(to + d * height, from + i, height);
    }
  }
}

/**
 * Finishes some rows of results. Whole vectors are stored as far as what they write too much belongs to rows of the image that
 * follow, and that are finished later.
 */
static void store_points(const Points *p, const Positions *q, int row, int height, const float *grid) {
  for (int i = 0; i < height; i++, grid += BLOCK_COLUMNS) {
    const Vector shift = splat(p->target.bias ? p->target.bias[row + i] : 0);
    for (const Run *run = q->whole; run < q->whole + q->whole_runs; run++) {
      const ptrdiff_t at = run->image * p->target_floats + (ptrdiff_t)(row + i) * p->plane + run->at;
      const ptrdiff_t free = run->at == 0 ? (ptrdiff_t)(p->rows - row - i) * p->plane : run->length;
      const float *saved = p->target.saved ? p->target.saved + at : NULL;
      for (int j = 0; j < run->length; j += LANES) {
        const Vector sum = load(grid + run->start + j) + shift;
        if (j + LANES <= free) store(p->target.planes + at + j, finish_sum(&p->target, sum, saved ? saved + j : NULL));
        else store_some(&p->target, sum, at + j, run->length - j);
      }
    }
  }
}

/** Positions of a block: as many as fit, about the same number in each. */
static int choose_columns(const Points *p) {
  const int positions = p->count * p->plane, fitting = smaller(BLOCK_COLUMNS, PANELS_WANTED / p->depth);
  const int most = fitting > TILE_COLUMNS ? fitting : TILE_COLUMNS, blocks = (positions + most - 1) / most;
  return ((positions + blocks - 1) / blocks + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
}

static void multiply_points(const Points *p, float *scratch) {
  float *panels = scratch, *packed = panels + PANELS_FLOATS;
  float *grid = packed + TILES_PACKED * PACKED_TILE(MOST_POINT_DEPTH);
  const int positions = p->count * p->plane, side_by_side = p->row_stride == 1 && p->rows > 1;
  const int columns = choose_columns(p);
  for (int first = 0; first < positions; first += columns) {
    Positions q;
    open_positions(p, first, smaller(columns, positions - first), &q);
    pack_points(p, &q, panels);
    for (int row = 0; row < p->rows; row += TILE_ROWS) {
      const int height = smaller(TILE_ROWS, p->rows - row), within = row % (TILES_PACKED * TILE_ROWS);
      if (side_by_side && within == 0) pack_point_weights(p, row, smaller(TILES_PACKED * TILE_ROWS, p->rows - row), packed);
      Tile tile = {
          .a = side_by_side ? packed + within / TILE_ROWS * PACKED_TILE(p->depth) : p->weights + row * p->row_stride,
          .a_row = side_by_side ? 1 : p->row_stride,
          .a_column = side_by_side ? height : p->depth_stride,
          .b = panels,
          .b_row = TILE_COLUMNS,
          .depth = p->depth,
          .c = grid,
          .c_row = BLOCK_COLUMNS,
      };
      for (int column = 0; column < q.count; column += TILE_COLUMNS, tile.b += q.apart, tile.c += TILE_COLUMNS) {
        tiles[height - 1][q.count - column <= LANES ? 0 : TILE_VECTORS - 1](&tile);
      }
      store_points(p, &q, row, height, grid);
    }
  }
}

/** dw[filter, channel] = Σ dy·x for a block of both. Sums of a block of positions start from 0: short ones round less. */
static void point_weights(const Shape *s, const Block *block, const float *x, const float *dy, float *dw, float *scratch) {
  enum { ROW = POINT_DEPTH + LANES };
  float *panels = scratch, *packed = panels + POINT_DEPTH * POINT_COLUMNS, *edge = packed + TILE_ROWS * ROW;
  const int plane = s->height * s->width, positions = s->batch * plane;
  for (int start = block->column_start; start < block->column_end; start += POINT_COLUMNS) {
    const int columns = smaller(POINT_COLUMNS, block->column_end - start);
    for (int first = 0; first < positions; first += POINT_DEPTH) {
      const int depth = smaller(POINT_DEPTH, positions - first);
      Run runs[POINT_DEPTH];
      const int count = find_runs(plane, first, depth, runs);
      for (int column = 0; column < columns; column += TILE_COLUMNS) {
        float *panel = panels + (ptrdiff_t)column * depth;
        for (const Run *run = runs; run < runs + count; run++) {
          const float *from = x + ((ptrdiff_t)run->image * s->channels + start + column) * plane + run->at;
          const int width = smaller(TILE_COLUMNS, columns - column);
          transpose_filters(from, plane, width, TILE_COLUMNS, run->length, panel + run->start * TILE_COLUMNS);
        }
      }
      for (int row = block->row_start; row < block->row_end; row += TILE_ROWS) {
        const int height = smaller(TILE_ROWS, block->row_end - row);
        for (const Run *run = runs; run < runs + count; run++) {
          const float *from = dy + ((ptrdiff_t)run->image * s->filters + row) * plane + run->at;
          for (int i = 0; i < height; i++) copy_floats(packed + i * ROW + run->start, from + (ptrdiff_t)i * plane, run->length);
        }
        Tile tile = {
            .a = packed,
            .a_row = ROW,
            .a_column = 1,
            .b_row = TILE_COLUMNS,
            .depth = depth,
            .accumulate = first > 0 ? ADD_AFTER : 0,
        };
        for (int column = 0; column < columns; column += TILE_COLUMNS) {
          const int width = smaller(TILE_COLUMNS, columns - column), vectors = (width + LANES - 1) / LANES;
          const int whole = width == vectors * LANES;
          float *to = dw + (ptrdiff_t)row * s->channels + start + column;
          for (int i = 0; i < height; i++) {
            __builtin_prefetch(to + (ptrdiff_t)i * s->channels, 1);
            __builtin_prefetch(to + (ptrdiff_t)i * s->channels + width - 1, 1);
          }
          tile.b = panels + (ptrdiff_t)column * depth;
          tile.c = whole ? to : edge;
          tile.c_row = whole ? s->channels : TILE_COLUMNS;
          if (!whole && first > 0) copy_rows(to, s->channels, edge, TILE_COLUMNS, height, width);
          tiles[height - 1][vectors - 1](&tile);
          if (!whole) copy_rows(edge, TILE_COLUMNS, to, s->channels, height, width);
        }
      }
    }
  }
}
