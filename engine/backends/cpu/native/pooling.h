// Pooling on the CPU, forwards; threads share the planes. A plane is split into the phases of the stride as for a
// convolution (conv_band.h), so that what a tap of neighbouring windows reads lies side by side: windows go LANES at a time. Results
// have the bits of kernels/*_pool/cpu.ts but for the sums of global means, NaNs and signs of zeros.

#pragma once
#include "conv.h"
#include "normalization.h"
#include "pooling_halves.h"
#include "pooling_thirds.h"
#include <math.h>

/** Where the parts of the scratch memory begin: a band of x, windows backwards (their maxima's taps, dy), a band of dx. */
enum {
  POOL_ROOM = BAND_FLOATS + TILE_COLUMNS,
  TAPS_AT = POOL_ROOM,
  GRADIENTS_AT = TAPS_AT + 2 * POOL_ROOM,
  SPREAD_AT = GRADIENTS_AT + 2 * POOL_ROOM,
};
_Static_assert(SPREAD_AT + POOL_ROOM <= SCRATCH_FLOATS, "scratch memory of pooling");

/** How a plane is pooled: the taps of a window as a view, and how many rows of windows a band has; 0: one does not fit. */
typedef struct {
  View view;
  int band_rows;
  /** Rows and columns that a window reaches beyond its own, in steps of the stride. */
  int reach_rows, reach_columns;
} Windows;

static void see_windows(const Pooling *p, float border, Windows *w) {
  View *v = &w->view;
  memset(v, 0, offsetof(View, taps));
  v->height = p->height;
  v->width = p->width;
  v->stride = p->stride;
  v->rows = p->out_height;
  v->columns = p->out_width;
  v->border = border;
  w->band_rows = 0;
  w->reach_rows = (p->window_height - 1) / p->stride;
  w->reach_columns = (p->window_width - 1) / p->stride;
  if ((ptrdiff_t)p->window_height * p->window_width > MAX_TAPS) return;
  for (int a = 0; a < p->window_height; a++) {
    for (int b = 0; b < p->window_width; b++) add_tap(v, a - p->padding, b - p->padding, 0);
  }
  int channels;
  if (p->width <= BAND_FLOATS) choose_band(v, 1, &w->band_rows, &channels);
  if (w->band_rows > 0 && open_band(v, 1, 0, w->band_rows).channel_floats > BAND_FLOATS) w->band_rows = 0;
}

/** The maximum or the mean of each window of a band. */
INLINE void pool_positions(const float *band, const int32_t *offsets, const int count, int positions, const int mean,
                           float *results) {
  for (int i = 0; i < positions; i += LANES) {
    Vector result = load(band + offsets[0] + i);
    for (int tap = 1; tap < count; tap++) {
      const Vector x = load(band + offsets[tap] + i);
      result = mean ? result + x : larger(result, x);
    }
    store(results + i, mean ? result / (float)count : result);
  }
}

/** The usual windows, of 2 × 2 and 3 × 3, have loops of their own. */
INLINE void pool_band(const float *band, const int32_t *offsets, int count, int positions, const int mean, float *results) {
  if (count == 4) pool_positions(band, offsets, 4, positions, mean, results);
  else if (count == 9) pool_positions(band, offsets, 9, positions, mean, results);
  else pool_positions(band, offsets, count, positions, mean, results);
}

/** The part of window (i, j) inside the plane: rows top … bottom, columns left … right. */
typedef struct {
  int top, bottom, left, right;
} Inside;

static Inside window_inside(const Pooling *p, int i, int j) {
  const int row = i * p->stride - p->padding, column = j * p->stride - p->padding;
  return (Inside){row > 0 ? row : 0, smaller(p->height, row + p->window_height), column > 0 ? column : 0,
                  smaller(p->width, column + p->window_width)};
}

/** Window by window, for planes or windows too large for the scratch memory. */
static void pool_one_by_one(const Pooling *p, const float *x, int mean, float *y) {
  for (int i = 0; i < p->out_height; i++) {
    for (int j = 0; j < p->out_width; j++) {
      const Inside in = window_inside(p, i, j);
      float result = mean ? 0 : -INFINITY;
      for (int row = in.top; row < in.bottom; row++) {
        for (int column = in.left; column < in.right; column++) {
          const float value = x[(ptrdiff_t)row * p->width + column];
          if (mean) result += value;
          else if (value > result || value != value) result = value;
        }
      }
      *y++ = mean ? result / (p->window_height * p->window_width) : result;
    }
  }
}

INLINE void pool_forward(const Call *call, const int mean) {
  const Pooling p = read_pooling(call, 2);
  const ptrdiff_t plane = (ptrdiff_t)p.height * p.width, out_plane = (ptrdiff_t)p.out_height * p.out_width;
  float *band_floats = call->scratch, *results = call->scratch + TAPS_AT;
  int32_t offsets[MAX_TAPS];
  const int halving = !mean && is_halving(&p), thirds = !mean && is_thirds(&p);
  Windows w;
  see_windows(&p, mean ? 0 : -INFINITY, &w);
  const int start = share_start(p.planes, 1, call->thread, call->threads);
  const int end = share_start(p.planes, 1, call->thread + 1, call->threads);
  Pairs pairs = see_pairs(&p);
  pairs.x_end = operand(call, 0) + p.planes * plane;
  pairs.end = operand(call, 1) + end * out_plane;
  for (int n = start; n < end; n++) {
    float *x = operand(call, 0) + n * plane, *y = operand(call, 1) + n * out_plane;
    if (halving || thirds || w.band_rows == 0) {
      if (halving) halve_plane(&p, x, y);
      else if (thirds) pool_thirds(&p, &pairs, x, y);
      else pool_one_by_one(&p, x, mean, y);
      continue;
    }
    for (int first = 0; first < p.out_height; first += w.band_rows) {
      const Band b = open_band(&w.view, 1, first, smaller(w.band_rows, p.out_height - first));
      for (int tap = 0; tap < w.view.count; tap++) offsets[tap] = tap_offset(&w.view, &b, tap);
      fill_band(&w.view, &b, x, 0, 1, band_floats);
      pool_band(band_floats, offsets, w.view.count, b.rows * b.plane_columns, mean, results);
      for (int i = 0; i < b.rows; i++, y += p.out_width) copy_floats(y, results + i * b.plane_columns, p.out_width);
    }
  }
}

static void max_pool(const Call *call) { pool_forward(call, 0); }

/** One window, the whole plane: the means and their gradients are of planes, one after the other. */
static int is_global(const Pooling *p) {
  return p->window_height == p->height && p->window_width == p->width && p->padding == 0;
}

static void average_pool(const Call *call) {
  const Pooling p = read_pooling(call, 2);
  if (!is_global(&p)) {
    pool_forward(call, 1);
    return;
  }
  const int size = p.height * p.width;
  const float *x = operand(call, 0);
  float *y = operand(call, 1);
  const int end = share_start(p.planes, 1, call->thread + 1, call->threads);
  for (int n = share_start(p.planes, 1, call->thread, call->threads); n < end; n++) {
    y[n] = sum_of(x + (ptrdiff_t)n * size, size) / size;
  }
}
