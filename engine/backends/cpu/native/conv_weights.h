// The gradient of a convolution's weight: for each (channel, tap), the sums over all positions of the element read there times
// dy. Vectors run along the filters (dy is transposed, a band at a time); elements are broadcast from the band of conv_band.h as
// they lie. Sums of a band start from 0 and are then added to those of the bands before: short sums round less.

#pragma once
#include "conv.h"
#include "winograd.h"

/** Rows (channel, tap) of a tile. */
#if LANES == 8
#define CORRELATION_ROWS 6
#else
#define CORRELATION_ROWS 8
#endif
/** Rows and filters that are summed at once; floats of transposed dy that fit, and that should be enough for a band. */
#define SUM_ROWS 288
#define SUM_FILTERS 64
/** Filters where small images share a band: it is short, and filled anew for each block of them. */
#define SHARED_FILTERS 256
#define DY_FLOATS (SCRATCH_FLOATS - BAND_FLOATS - TILE_COLUMNS - SUM_ROWS - SUM_ROWS * SHARED_FILTERS)
#define DY_WANTED (80 * 1024)

/** One tile: sums[row, filter] += Σ band[offsets[row] + position] · dy[position, filter] over a band's positions. */
typedef struct {
  const float *band;
  const int32_t *offsets;
  int images, grid_rows, grid_columns, band_columns;
  /** From the end of an image's rows to the next image. */
  ptrdiff_t between;
  const float *dy;
  ptrdiff_t dy_row;
  float *sums;
  ptrdiff_t sums_row;
} Correlation;

INLINE void run_correlation(const Correlation *t, const int rows, const int vectors) {
  Vector sums[CORRELATION_ROWS][TILE_VECTORS];
  const float *a[CORRELATION_ROWS];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    a[i] = t->band + t->offsets[i];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) sums[i][j] = splat(0);
  }
  const float *dy = t->dy;
  for (int image = 0; image < t->images; image++) {
    for (int row = 0; row < t->grid_rows; row++) {
      for (ptrdiff_t column = 0; column < t->grid_columns; column++, dy += t->dy_row) {
        Vector filters[TILE_VECTORS];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) filters[j] = load(dy + j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
          const Vector value = splat(a[i][column]);
#pragma GCC unroll 2
          for (int j = 0; j < vectors; j++) sums[i][j] += value * filters[j];
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < rows; i++) a[i] += t->band_columns;
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) a[i] += t->between;
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) {
      float *at = t->sums + i * t->sums_row + j * LANES;
      store(at, load(at) + sums[i][j]);
    }
  }
}

typedef void (*CorrelationFunction)(const Correlation *tile);

#define DEFINE_CORRELATIONS(rows)                                                                                      \
  static void correlation_##rows##_1(const Correlation *tile) { run_correlation(tile, rows, 1); }                      \
  static void correlation_##rows##_2(const Correlation *tile) { run_correlation(tile, rows, 2); }
#define CORRELATIONS_OF(rows) {correlation_##rows##_1, correlation_##rows##_2}

DEFINE_CORRELATIONS(1)
DEFINE_CORRELATIONS(2)
DEFINE_CORRELATIONS(3)
DEFINE_CORRELATIONS(4)
DEFINE_CORRELATIONS(5)
DEFINE_CORRELATIONS(6)
#if CORRELATION_ROWS > 6
DEFINE_CORRELATIONS(7)
DEFINE_CORRELATIONS(8)
#endif

/** By rows − 1 and vectors − 1. */
static const CorrelationFunction correlations[CORRELATION_ROWS][TILE_VECTORS] = {
    CORRELATIONS_OF(1), CORRELATIONS_OF(2), CORRELATIONS_OF(3),
    CORRELATIONS_OF(4), CORRELATIONS_OF(5), CORRELATIONS_OF(6),
#if CORRELATION_ROWS > 6
    CORRELATIONS_OF(7), CORRELATIONS_OF(8),
#endif
};

/** As transpose_filters for up to LANES of them and no less than LANES positions: whole lines of the cache are read. */
INLINE void transpose_squares(const float *dy, ptrdiff_t plane, const int filters, int width, int positions, float *target) {
  for (int p = 0; p < positions; p += LANES) {
    p = smaller(p, positions - LANES);  // the last positions once more rather than one by one
    Vector square[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) square[i] = i < filters ? load(dy + i * plane + p) : splat(0);
    transpose_square(square);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) store(target + (ptrdiff_t)(p + i) * width, square[i]);
  }
}

/** As transpose_filters for fewer positions than LANES. */
static void transpose_few(const float *dy, ptrdiff_t plane, int filters, int width, int positions, float *target) {
  const int whole_filters = filters / 4 * 4, whole_positions = positions / 4 * 4;
  for (int p = 0; p < whole_positions; p += 4) {
    float *to = target + (ptrdiff_t)p * width;
    for (int f = 0; f < whole_filters; f += 4) transpose_4(dy + f * plane + p, plane, to + f, width);
  }
  for (int p = 0; p < positions; p++) {
    for (int f = p < whole_positions ? whole_filters : 0; f < width; f++) {
      target[(ptrdiff_t)p * width + f] = f < filters ? dy[f * plane + p] : 0;
    }
  }
}

/** target[position, filter] = dy[filter, position], zeros for the filters up to `width`, a multiple of LANES. */
static void transpose_filters(const float *dy, ptrdiff_t plane, int filters, int width, int positions, float *target) {
  if (positions < LANES) {
    transpose_few(dy, plane, filters, width, positions, target);
    return;
  }
  for (int f = 0; f < width; f += LANES, dy += LANES * plane, target += LANES) {
    if (f + LANES <= filters) transpose_squares(dy, plane, LANES, width, positions, target);
    else transpose_squares(dy, plane, filters - f, width, positions, target);
  }
}

/** Rows (channel, tap) `first` … `last` of the gradient of `filters` filters of one group, over all images. */
typedef struct {
  const View *view;
  int first, last, filters;
  /** Images that share a band, and its rows where they do not: sums start anew in each band. */
  int together, band_rows;
  /** First image; the images stand this far apart. */
  const float *x, *dy;
  ptrdiff_t x_image, dy_image, dy_plane;
  int batch;
} WeightBlock;

/** sums[row, filter] over all images; `sums` has room for SUM_ROWS · SHARED_FILTERS. Returns the width of its rows. */
static int sum_weights(const WeightBlock *w, float *sums, float *scratch) {
  const View *v = w->view;
  float *band_floats = scratch;
  int32_t *offsets = (int32_t *)(band_floats + BAND_FLOATS + TILE_COLUMNS);
  float *dy = (float *)(offsets + SUM_ROWS);
  const int width = (w->filters + LANES - 1) / LANES * LANES, rows = w->last - w->first;
  const int first_channel = w->first / v->count, channels = (w->last - 1) / v->count + 1 - first_channel;
  int band_rows = v->rows;
  if (w->together == 1) {
    const int affordable = DY_WANTED / (v->columns * width);
    band_rows = smaller(w->band_rows, affordable > 1 ? affordable : 1);
  }
  memset(sums, 0, 4 * (size_t)rows * (size_t)width);
  for (int n = 0; n < w->batch; n += w->together) {
    const float *image = w->x + n * w->x_image + (ptrdiff_t)first_channel * v->height * v->width;
    for (int first = 0; first < v->rows; first += band_rows) {
      const Band b = open_band(v, smaller(w->together, w->batch - n), first, smaller(band_rows, v->rows - first));
      const int image_positions = b.rows * v->columns;
      fill_band(v, &b, image, w->x_image, channels, band_floats);
      for (int i = 0; i < b.images; i++) {
        const float *from = w->dy + (n + i) * w->dy_image + (ptrdiff_t)first * v->columns;
        transpose_filters(from, w->dy_plane, w->filters, width, image_positions, dy + (ptrdiff_t)i * image_positions * width);
      }
      // Rows that lie side by side are one long row.
      const int joined = b.plane_columns == v->columns;
      for (int i = 0; i < rows; i++) {
        const int row = w->first + i;
        offsets[i] = (row / v->count - first_channel) * b.channel_floats + tap_offset(v, &b, row % v->count);
      }
      for (int i = 0; i < rows; i += CORRELATION_ROWS) {
        for (int filter = 0; filter < width; filter += TILE_COLUMNS) {
          const Correlation tile = {
              .band = band_floats,
              .offsets = offsets + i,
              .images = b.images,
              .grid_rows = joined ? 1 : b.rows,
              .grid_columns = joined ? image_positions : v->columns,
              .band_columns = b.plane_columns * (joined ? b.plane_rows : 1),
              .between = joined ? 0 : (b.plane_rows - b.rows) * b.plane_columns,
              .dy = dy + filter,
              .dy_row = width,
              .sums = sums + (ptrdiff_t)i * width + filter,
              .sums_row = width,
          };
          const int height = smaller(CORRELATION_ROWS, rows - i);
          const int vectors = smaller(TILE_VECTORS, (width - filter) / LANES);
          correlations[height - 1][vectors - 1](&tile);
        }
      }
    }
  }
  return width;
}

/** Σ of `count` floats, in a fixed order. */
static float sum_floats(const float *x, ptrdiff_t count) {
  Vector sums = splat(0);
  ptrdiff_t i = 0;
  for (; i + LANES <= count; i += LANES) sums += load(x + i);
  float total = 0;
  for (int j = 0; j < LANES; j++) total += sums[j];
  for (; i < count; i++) total += x[i];
  return total;
}

/** dw for this thread's share of the rows (channel, tap) of all groups. */
static void weight_products(const Call *call, const Shape *s, const View *view) {
  const int channels = s->channels / s->groups, filters = s->filters / s->groups;
  const ptrdiff_t plane = (ptrdiff_t)s->height * s->width, out_plane = (ptrdiff_t)s->out_height * s->out_width;
  const float *x = operand(call, 0), *dy = operand(call, 1);
  float *dw = operand(call, 2);
  float *sums = call->scratch + SCRATCH_FLOATS - SUM_ROWS * SHARED_FILTERS;
  const int depth = channels * view->count;
  // Bands by the shape alone, not by a thread's share of the channels: sums do not depend on the number of threads.
  const int fitting = DY_WANTED / (view->rows * view->columns * SHARED_FILTERS);
  const int together = smaller(images_together(view, s->batch), fitting > 1 ? fitting : 1);
  int band_rows, block;
  choose_band(view, smaller(channels, (SUM_ROWS + view->count - 2) / view->count + 1), &band_rows, &block);
  if (together > 1) {
    const Band b = open_band(view, together, 0, view->rows);
    block = choose_block(view, &b, channels);
  }
  // Rows that begin within a channel reach into one more, unless all are there.
  const int most = smaller(SUM_ROWS, block == channels ? depth : block * view->count - view->count + 1);
  // Very wide images leave room for fewer filters.
  const int filter_block = (ptrdiff_t)s->out_width * SUM_FILTERS > DY_FLOATS ? LANES
                           : together > 1 ? SHARED_FILTERS : SUM_FILTERS;
  const int end = share_start(s->groups * depth, 1, call->thread + 1, call->threads);
  for (int row = share_start(s->groups * depth, 1, call->thread, call->threads), last; row < end; row = last) {
    const int group = row / depth, start = group * depth;
    last = smaller(smaller(end, start + depth), row + most);
    for (int filter = 0; filter < filters; filter += filter_block) {
      const WeightBlock w = {
          .view = view,
          .first = row - start,
          .last = last - start,
          .filters = smaller(filter_block, filters - filter),
          .together = together,
          .band_rows = band_rows,
          .x = x + group * channels * plane,
          .dy = dy + (group * filters + filter) * out_plane,
          .x_image = s->channels * plane,
          .dy_image = s->filters * out_plane,
          .dy_plane = out_plane,
          .batch = s->batch,
      };
      const int width = sum_weights(&w, sums, call->scratch);
      for (int i = 0; i < w.filters; i++) {
        float *to = dw + (ptrdiff_t)(group * filters + filter + i) * depth;
        for (int p = w.first; p < w.last; p++) to[p] = sums[(ptrdiff_t)(p - w.first) * width + i];
      }
    }
  }
}

/** db for this thread's share of the filters. */
static void bias_gradient(const Call *call, const Shape *s) {
  const ptrdiff_t out_plane = (ptrdiff_t)s->out_height * s->out_width;
  const float *dy = operand(call, 1);
  float *db = operand(call, 3);
  if (!db) return;
  const int last_filter = share_start(s->filters, 1, call->thread + 1, call->threads);
  for (int f = share_start(s->filters, 1, call->thread, call->threads); f < last_filter; f++) {
    float total = 0;
    for (int n = 0; n < s->batch; n++) total += sum_floats(dy + ((ptrdiff_t)n * s->filters + f) * out_plane, out_plane);
    db[f] = total;
  }
}
