// Max pooling by windows of 2 × 2 that neither overlap nor reach beyond the border, forwards and backwards: straight from the rows
// of x. Whole vectors are written as long as they end within the plane: what they write too much belongs to rows that follow.

#pragma once
#include "kernels.h"
#include "vectors.h"

/** The contract's parameters (kernels/pooling.ts), and the size of the output. */
typedef struct {
  int planes, height, width, window_height, window_width, stride, padding;
  int out_height, out_width;
} Pooling;

static Pooling read_pooling(const Call *call, int first) {
  Pooling p;
  memcpy(&p, call->args + first, 7 * sizeof(int));
  p.out_height = (p.height + 2 * p.padding - p.window_height) / p.stride + 1;
  p.out_width = (p.width + 2 * p.padding - p.window_width) / p.stride + 1;
  return p;
}

/** The larger one; NaN where either is: training that has gone wrong has to show. */
INLINE Vector larger(Vector a, Vector b) { return choose(b == b, largest(a, b), b); }

static int is_halving(const Pooling *p) {
  return p->window_height == 2 && p->window_width == 2 && p->stride == 2 && p->padding == 0;
}

/** The window whose LANES neighbours come next: the last of a long row go over some once more instead of being few. */
INLINE int stretch_start(int j, int windows) { return j + LANES > windows && windows >= LANES ? windows - LANES : j; }

/** Two rows of up to 2·LANES elements, `apart` floats apart: in place where as many may be read (or written), else beside. */
typedef struct {
  float *upper, *lower;
  float beside[4 * LANES];
} RowPair;

INLINE void open_pair(RowPair *pair, float *from, ptrdiff_t apart, int whole) {
  pair->upper = whole ? from : pair->beside;
  pair->lower = whole ? from + apart : pair->beside + 2 * LANES;
}

/** What stands beside is read first, and written last. */
INLINE void read_pair(RowPair *pair, const float *from, ptrdiff_t apart, int count) {
  for (int k = 0; k < count; k++) pair->upper[k] = from[k], pair->lower[k] = from[apart + k];
}
INLINE void write_pair(const RowPair *pair, float *to, ptrdiff_t apart, int count) {
  for (int k = 0; k < count; k++) to[k] = pair->upper[k], to[apart + k] = pair->lower[k];
}

static void halve_plane(const Pooling *p, float *x, float *y) {
  const float *x_end = x + (ptrdiff_t)p->height * p->width, *y_end = y + (ptrdiff_t)p->out_height * p->out_width;
  RowPair pair = {.beside = {0}};
  for (int i = 0; i < p->out_height; i++, x += 2 * p->width, y += p->out_width) {
    for (int j = 0; j < p->out_width; j += LANES) {
      const int at = stretch_start(j, p->out_width), count = smaller(LANES, p->out_width - at);
      const int whole = x + p->width + 2 * (at + LANES) <= x_end;
      open_pair(&pair, x + 2 * at, p->width, whole);
      if (!whole) read_pair(&pair, x + 2 * at, p->width, 2 * count);
      Vector a, b, c, d;
      split_pairs(pair.upper, &a, &b);
      split_pairs(pair.lower, &c, &d);
      const Vector result = larger(larger(a, b), larger(c, d));
      if (y + at + LANES <= y_end) store(y + at, result);
      else memcpy(y + at, &result, sizeof(float) * (size_t)count);
    }
  }
}

/** dy where an element is the first largest one of its window, else 0. */
static void halve_plane_backward(const Pooling *p, const float *dy, float *x, float *dx) {
  const float *x_end = x + (ptrdiff_t)p->height * p->width, *dy_end = dy + (ptrdiff_t)p->out_height * p->out_width;
  RowPair pair = {.beside = {0}}, target;
  for (int i = 0; i < p->out_height; i++, x += 2 * p->width, dx += 2 * p->width, dy += p->out_width) {
    for (int j = 0; j < p->out_width; j += LANES) {
      const int at = stretch_start(j, p->out_width), count = smaller(LANES, p->out_width - at);
      const int whole = x + p->width + 2 * (at + LANES) <= x_end;
      open_pair(&pair, x + 2 * at, p->width, whole);
      open_pair(&target, dx + 2 * at, p->width, whole);
      if (!whole) read_pair(&pair, x + 2 * at, p->width, 2 * count);
      Vector a, b, c, d;
      split_pairs(pair.upper, &a, &b);
      split_pairs(pair.lower, &c, &d);
      float given[LANES] = {0};
      const int full = dy + at + LANES <= dy_end;
      if (!full) memcpy(given, dy + at, sizeof(float) * (size_t)count);
      const IntVector gradient = (IntVector)load(full ? dy + at : given);
      const IntVector in_b = b > a, in_d = d > c;
      const IntVector below = choose(in_d, d, c) > choose(in_b, b, a);
      join_pairs((Vector)(gradient & ~below & ~in_b), (Vector)(gradient & ~below & in_b), target.upper);
      join_pairs((Vector)(gradient & below & ~in_d), (Vector)(gradient & below & in_d), target.lower);
      if (!whole) write_pair(&target, dx + 2 * at, p->width, 2 * count);
    }
    // Of an odd width the last column is in no window, of an odd height the last row.
    if (p->width % 2) dx[p->width - 1] = dx[2 * p->width - 1] = 0;
  }
  if (p->height % 2) memset(dx, 0, sizeof(float) * (size_t)p->width);
}
