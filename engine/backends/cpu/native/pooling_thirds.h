// Max pooling by windows of 3 × 3 with a stride of 2, as residual networks begin, forwards and backwards: a row of windows at a time,
// straight from the rows of x. Windows share a row and a column with their neighbours.

#pragma once
#include "conv.h"
#include "pooling_halves.h"
#include <math.h>

/** Rows up to this long have room in the scratch memory; shorter ones than a vector go by bands. */
#define MOST_THIRDS 4096

/** Floats from one line in the scratch memory to the next: a row with the border, and what vectors reach beyond its ends. */
INLINE ptrdiff_t line_floats(const Pooling *p) { return (p->width / LANES + 8) * (ptrdiff_t)LANES; }

static int is_thirds(const Pooling *p) {
  return p->window_height == 3 && p->window_width == 3 && p->stride == 2 && p->padding <= 1 && p->width >= LANES &&
         p->width <= MOST_THIRDS;
}

/** The border beside a line's `width` elements from `line + padding` on, wide enough for all vectors. */
static void fill_border(const Pooling *p, float *line, float value) {
  fill_floats(line, p->padding, value);
  fill_floats(line + p->padding + p->width, 4 * LANES, value);
}

/** Columns 2·at − padding, and the next and the one after it, of the windows `at` … in a line with its border. */
INLINE void read_columns(const float *line, int at, Vector columns[3]) {
  Vector rest;
  split_pairs(line + 2 * at, &columns[0], &columns[1]);
  split_pairs(line + 2 * at + 2, &columns[2], &rest);
}

/**
 * The largest of three rows column by column first, then of three columns: of the row of windows before, since a vector that lies across
 * two that were stored a moment ago waits for both.
 */
static void pool_thirds(const Pooling *p, const float *x, float *y, float *scratch) {
  float *lines[2] = {scratch, scratch + line_floats(p)};
  for (int k = 0; k < 2; k++) fill_border(p, lines[k], -INFINITY);
  for (int i = 0; i <= p->out_height; i++) {
    if (i < p->out_height) {
      const int top = 2 * i - p->padding, first = top > 0 ? top : 0, last = smaller(top + 2, p->height - 1);
      const float *upper = x + (ptrdiff_t)first * p->width, *lower = x + (ptrdiff_t)last * p->width;
      const float *between = last - first == 2 ? upper + p->width : upper;
      float *own = lines[i & 1] + p->padding;
      for (int j = 0; j < p->width; j += LANES) {
        const int at = stretch_start(j, p->width);
        store(own + at, larger(larger(load(upper + at), load(between + at)), load(lower + at)));
      }
    }
    if (i == 0) continue;
    for (int j = 0; j < p->out_width; j += LANES) {
      const int at = stretch_start(j, p->out_width);
      Vector columns[3];
      read_columns(lines[(i - 1) & 1], at, columns);
      store_lanes(y + at, larger(larger(columns[0], columns[1]), columns[2]), p->out_width - at);
    }
    y += p->out_width;
  }
}

/** A row of windows: the tap of each one's maximum (row by row, 0 … 8; −1 beside them) and its gradient. */
typedef struct {
  int32_t *taps;
  float *gradients;
} WindowRow;

/** Finds the first largest element of each window; `lines` are the rows of x they lie in, `first` their first taps inside. */
INLINE void find_thirds(const Pooling *p, float *const lines[3], const int32_t *first, int first_row, const WindowRow *found) {
  for (int j = 0; j < p->out_width; j += LANES) {
    Vector best = splat(-INFINITY);
    IntVector at = (IntVector)load((const float *)first + j) + 3 * first_row;
#pragma GCC unroll 3
    for (int a = 0; a < 3; a++) {
      Vector columns[3];
      read_columns(lines[a], j, columns);
#pragma GCC unroll 3
      for (int b = 0; b < 3; b++) {
        const IntVector larger_one = columns[b] > best;
        best = choose(larger_one, columns[b], best);
        at = (larger_one & (3 * a + b)) | (~larger_one & at);
      }
    }
    store((float *)found->taps + j, (Vector)at);
  }
  for (int j = 0; j < 2 * LANES; j += LANES) store((float *)found->taps + p->out_width + j, (Vector)((IntVector){0} - 1));
}

/** The gradients of the windows `at` … whose maximum is that tap, else 0. */
INLINE Vector given_by(const WindowRow *windows, int at, int tap) {
  const IntVector chosen = (IntVector)load((const float *)windows->taps + at) == tap;
  return (Vector)((IntVector)load(windows->gradients + at) & chosen);
}

/**
 * A row of dx with its border: that of the last tap row of the windows `above` and the first of those `below` (two), or the middle
 * of `below` (one). What an element gets is added up window by window, in row-major order.
 */
INLINE void collect_line(const Pooling *p, const WindowRow *above, const WindowRow *below, const int two, float *line) {
  const int pairs = (p->width + p->padding + 1) / 2, tap = two ? 0 : 3;
  for (int j = 0; j < pairs; j += LANES) {
    Vector even = splat(0), odd = splat(0);
    if (two) {
      even += given_by(above, j - 1, 8);
      even += given_by(above, j, 6);
      odd += given_by(above, j, 7);
    }
    even += given_by(below, j - 1, tap + 2);
    even += given_by(below, j, tap);
    odd += given_by(below, j, tap + 1);
    join_pairs(even, odd, line + 2 * j);
  }
}

/** Lines of x that are held, rows of windows, and where those and what follows begin in the scratch memory, in lines. */
enum { HELD_LINES = 8, HELD_WINDOWS = 3, WINDOWS_AT = HELD_LINES, FIRST_AT = WINDOWS_AT + 2 * (HELD_WINDOWS + 1), WOVEN_AT, LINES = WOVEN_AT + 4 };
_Static_assert(LINES * (MOST_THIRDS + 8 * LANES) <= SCRATCH_FLOATS, "scratch memory of pooling by 3 × 3");

/** Each step reads what the one before stored, for the reason given above. */
static void pool_thirds_backward(const Pooling *p, const float *dy, const float *x, float *dx, float *scratch) {
  const ptrdiff_t apart = line_floats(p);
  float *lines[HELD_LINES];
  WindowRow rows[HELD_WINDOWS + 1];
  int32_t *first = (int32_t *)(scratch + FIRST_AT * apart);
  for (int k = 0; k < HELD_LINES; k++) fill_border(p, lines[k] = scratch + k * apart, -INFINITY);
  for (int k = 0; k <= HELD_WINDOWS; k++) {
    float *at = scratch + (WINDOWS_AT + 2 * k) * apart + LANES;
    rows[k] = (WindowRow){(int32_t *)at, at + apart};
    rows[k].taps[-1] = -1;
  }
  const WindowRow *none = &rows[HELD_WINDOWS];
  memset(none->taps - LANES, -1, sizeof(float) * (size_t)apart);
  memset(first, 0, sizeof(int32_t) * (size_t)apart);
  first[0] = p->padding;
  // Numbered with the border: row r of x is row r + padding; windows i have rows 2·i, 2·i + 1 and 2·i + 2.
  for (int i = -1, ready = 0; 2 * (i - 2) < p->height + p->padding; i++) {
    for (; ready <= 2 * i + 4 && ready < 2 * p->out_height + 1; ready++) {
      const int row = ready - p->padding;
      float *own = lines[ready % HELD_LINES] + p->padding;
      if (row >= 0 && row < p->height) copy_floats(own, x + (ptrdiff_t)row * p->width, p->width);
      else fill_floats(own, p->width, -INFINITY);
    }
    if (i >= 0 && i < p->out_height) {
      const WindowRow *found = &rows[i % HELD_WINDOWS];
      float *const taken[3] = {lines[2 * i % HELD_LINES], lines[(2 * i + 1) % HELD_LINES], lines[(2 * i + 2) % HELD_LINES]};
      find_thirds(p, taken, first, i == 0 ? p->padding : 0, found);
      copy_floats(found->gradients, dy + (ptrdiff_t)i * p->out_width, p->out_width);
    }
    for (int u = 2 * (i - 2); u < 2 * (i - 1); u++) {
      const int row = u - p->padding;
      const float *woven = scratch + (WOVEN_AT + (u & 3)) * apart + p->padding;
      if (row >= 0 && row < p->height) copy_floats(dx + (ptrdiff_t)row * p->width, woven, p->width);
    }
    const int own = i - 1;
    if (own < 0) continue;
    const WindowRow *above = own > 0 && own <= p->out_height ? &rows[(own - 1) % HELD_WINDOWS] : none;
    const WindowRow *below = own < p->out_height ? &rows[own % HELD_WINDOWS] : none;
    collect_line(p, above, below, 1, scratch + (WOVEN_AT + (2 * own & 3)) * apart);
    collect_line(p, none, below, 0, scratch + (WOVEN_AT + ((2 * own + 1) & 3)) * apart);
  }
}
