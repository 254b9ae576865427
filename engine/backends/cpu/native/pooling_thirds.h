// Max pooling by windows of 3 × 3 with a stride of 2, as residual networks begin, forwards and backwards: a row of windows at a time,
// straight from the rows of x, LANES windows at a time. Window j has the columns 2·j − padding … of x: its middle one and the one after
// it stand in pairs, the one before is the last of the pair to the left, which comes from the neighbouring lane. No vector is read that
// lies across two that were stored a moment ago: it would wait until both have left for the cache, behind all of dx.

#pragma once
#include "pooling_halves.h"
#include <math.h>

/** Rows up to this long have room in the scratch memory. */
#define MOST_THIRDS 4096

static int is_thirds(const Pooling *p) {
  return p->window_height == 3 && p->window_width == 3 && p->stride == 2 && p->padding <= 1 && p->width >= LANES &&
         p->width <= MOST_THIRDS;
}

/** Rows of pairs: elements and windows of a row, and which lanes of its last stretch are inside. */
typedef struct {
  /** Elements in pairs (all of a row, or all but the first), stretches of LANES pairs, windows. */
  int elements, stretches, windows;
  IntVector even, odd, window;
  /** Ends of x, dy or y and dx: what may be read and, in this thread's planes, written. */
  const float *x_end, *dy_end;
  float *end;
  /** Whether dx goes past the caches: its rows are whole lines. */
  int past;
} Pairs;

static Pairs see_pairs(const Pooling *p) {
  Pairs pairs = {.elements = p->width - 1 + p->padding, .windows = p->out_width};
  pairs.stretches = ((pairs.elements + 1) / 2 + LANES - 1) / LANES;
  const int first = (pairs.stretches - 1) * LANES;
  for (int lane = 0; lane < LANES; lane++) {
    pairs.even[lane] = 2 * (first + lane) < pairs.elements ? -1 : 0;
    pairs.odd[lane] = 2 * (first + lane) + 1 < pairs.elements ? -1 : 0;
    pairs.window[lane] = first + lane < pairs.windows ? -1 : 0;
  }
  return pairs;
}

/** 2·LANES floats as they stand in memory, the ones beyond `end` 0. */
INLINE void load_two(const float *from, const float *end, Vector two[2]) {
  float beside[2 * LANES] = {0};
  if (from + 2 * LANES > end) from = memcpy(beside, from, sizeof(float) * (size_t)(end - from));
  two[0] = load(from);
  two[1] = load(from + LANES);
}

/** The pairs of a stretch; beyond a row's end they are −∞. */
INLINE void split_stretch(const Pairs *pairs, const Vector two[2], const int last, Vector *even, Vector *odd) {
  *even = MIX(IntVector, two[0], two[1], EVEN_LANES);
  *odd = MIX(IntVector, two[0], two[1], ODD_LANES);
  if (last) *even = choose(pairs->even, *even, splat(-INFINITY));
  if (last) *odd = choose(pairs->odd, *odd, splat(-INFINITY));
}

/** LANES windows of a row, from the largest of its three rows column by column; `before` are the odd elements of the stretch before. */
INLINE void pool_stretch(const Pairs *pairs, const float *const rows[3], int at, const int last, Vector *before, float *y) {
  Vector column[2], row[2], even, odd;
  load_two(rows[0] + 2 * at, last ? pairs->x_end : rows[0] + 2 * at + 2 * LANES, column);
#pragma GCC unroll 2
  for (int a = 1; a < 3; a++) {
    load_two(rows[a] + 2 * at, last ? pairs->x_end : rows[a] + 2 * at + 2 * LANES, row);
    for (int k = 0; k < 2; k++) column[k] = larger(column[k], row[k]);
  }
  split_stretch(pairs, column, last, &even, &odd);
  const Vector result = larger(larger(MIX(IntVector, *before, odd, LAST_FIRST), even), odd);
  *before = odd;
  if (!last || y + at + LANES <= pairs->end) store(y + at, result);
  else memcpy(y + at, &result, sizeof(float) * (size_t)(pairs->windows - at));
}

static void pool_thirds(const Pooling *p, const Pairs *pairs, const float *x, float *y) {
  for (int i = 0; i < p->out_height; i++, y += p->out_width) {
    const int top = 2 * i - p->padding;
    const float *rows[3];
    // A row beyond the border is one inside once more.
    for (int a = 0; a < 3; a++) {
      const int row = smaller(top + a > 0 ? top + a : 0, p->height - 1);
      rows[a] = x + (ptrdiff_t)row * p->width + 1 - p->padding;
    }
    Vector before = splat(p->padding ? -INFINITY : larger(larger(splat(rows[0][-1]), splat(rows[1][-1])), splat(rows[2][-1]))[0]);
    const int last = (pairs->stretches - 1) * LANES;
    for (int at = 0; at < last; at += LANES) pool_stretch(pairs, rows, at, 0, &before, y);
    // The last pair may lie in no window.
    if (last < pairs->windows) pool_stretch(pairs, rows, last, 1, &before, y);
  }
}

/** A row of windows: the tap of each one's maximum (row by row, 0 … 8; −1 beside them) and its gradient, whole vectors of both. */
typedef struct {
  int32_t *taps;
  float *gradients;
} WindowRow;

/** Finds the first largest element of LANES windows in the rows of taps first … last of x; `before` as in pool_stretch. */
INLINE void find_stretch(const Pairs *pairs, const float *const rows[3], int first, int end, const float *dy, int at,
                         const int last, IntVector tap, Vector before[3], const WindowRow *found) {
  Vector best = splat(-INFINITY);
#pragma GCC unroll 3
  for (int a = 0; a < 3; a++) {
    if (a < first || a >= end) continue;
    Vector two[2], columns[3];
    load_two(rows[a] + 2 * at, last ? pairs->x_end : rows[a] + 2 * at + 2 * LANES, two);
    split_stretch(pairs, two, last, &columns[1], &columns[2]);
    columns[0] = MIX(IntVector, before[a], columns[2], LAST_FIRST);
    before[a] = columns[2];
#pragma GCC unroll 3
    for (int b = 0; b < 3; b++) {
      const IntVector larger_one = columns[b] > best;
      best = largest(best, columns[b]);
      tap = (larger_one & (3 * a + b)) | (~larger_one & tap);
    }
  }
  if (last) tap |= ~pairs->window;
  store((float *)found->taps + at, (Vector)tap);
  const int count = last && dy + at + LANES > pairs->dy_end ? pairs->windows - at : LANES;
  store(found->gradients + at, load_lanes(dy + at, count > 0 ? count : 0));
}

static void find_thirds(const Pooling *p, const Pairs *pairs, const float *x, const float *dy, int i, const WindowRow *found) {
  const int top = 2 * i - p->padding, first = top < 0 ? -top : 0, end = smaller(3, p->height - top);
  const float *rows[3];
  Vector before[3];
  for (int a = 0; a < 3; a++) {
    rows[a] = x + (ptrdiff_t)(top + a) * p->width + 1 - p->padding;
    before[a] = splat(p->padding || a < first || a >= end ? -INFINITY : rows[a][-1]);
  }
  // Where nothing is larger than −∞: the first element inside.
  IntVector tap = (IntVector){p->padding} + 3 * first;
  const int last = (pairs->stretches - 1) * LANES;
  dy += (ptrdiff_t)i * p->out_width;
  for (int at = 0; at < last; at += LANES) {
    find_stretch(pairs, rows, first, end, dy, at, 0, tap, before, found);
    tap = (IntVector){0} + 3 * first;
  }
  find_stretch(pairs, rows, first, end, dy, last, 1, tap, before, found);
}

/** The gradients of the windows `at` … whose maximum is that tap, else 0. */
INLINE Vector given_by(const WindowRow *windows, int at, int tap) {
  const IntVector chosen = (IntVector)load((const float *)windows->taps + at) == tap;
  return (Vector)((IntVector)load(windows->gradients + at) & chosen);
}

/**
 * A row of dx: that of the last tap row of the windows `above` and the first of those `below` (two), or the middle of `below` (one).
 * What an element gets is added up window by window, in row-major order. Whole vectors are written: what they write too much belongs
 * to rows that follow.
 */
INLINE void collect_line(const Pooling *p, const Pairs *pairs, const WindowRow *above, const WindowRow *below, const int two,
                         float *dx) {
  const int tap = two ? 0 : 3, end = pairs->stretches * LANES;
  Vector upper = two ? given_by(above, 0, 6) : splat(0), lower = given_by(below, 0, tap);
  if (!p->padding) *dx++ = upper[0] + lower[0];
  for (int at = 0; at < end; at += LANES) {
    const Vector next_lower = given_by(below, at + LANES, tap);
    Vector even = given_by(below, at, tap + 1), odd = given_by(below, at, tap + 2);
    if (two) {
      const Vector next_upper = given_by(above, at + LANES, 6);
      even = given_by(above, at, 7) + even;
      odd = given_by(above, at, 8) + MIX(IntVector, upper, next_upper, SECOND_NEXT) + odd;
      upper = next_upper;
    }
    odd += MIX(IntVector, lower, next_lower, SECOND_NEXT);
    lower = next_lower;
    if (pairs->past) {
      stream(dx + 2 * at, MIX(IntVector, even, odd, LOW_PAIRS));
      if (2 * at + LANES < pairs->elements) stream(dx + 2 * at + LANES, MIX(IntVector, even, odd, HIGH_PAIRS));
    } else if (dx + 2 * at + 2 * LANES <= pairs->end) {
      join_pairs(even, odd, dx + 2 * at);
    } else {
      float beside[2 * LANES];
      join_pairs(even, odd, beside);
      memcpy(dx + 2 * at, beside, sizeof(float) * (size_t)smaller(2 * LANES, pairs->elements - 2 * at));
    }
  }
}

/** Floats of a row of windows in the scratch memory, with the vector of none that follows. */
enum { THIRDS_ROOM = MOST_THIRDS / 2 + 4 * LANES };
_Static_assert(6 * THIRDS_ROOM <= SCRATCH_FLOATS, "scratch memory of pooling by 3 × 3");

static void pool_thirds_backward(const Pooling *p, const Pairs *pairs, const float *dy, const float *x, float *dx, float *scratch) {
  WindowRow rows[3];
  for (int k = 0; k < 3; k++) {
    float *at = scratch + 2 * k * THIRDS_ROOM;
    rows[k] = (WindowRow){(int32_t *)at, at + THIRDS_ROOM};
    store((float *)rows[k].taps + pairs->stretches * LANES, (Vector)((IntVector){0} - 1));
  }
  const WindowRow *none = &rows[2];
  memset(none->taps, -1, sizeof(int32_t) * (size_t)(pairs->stretches * LANES));
  for (int i = 0; 2 * i - p->padding < p->height; i++) {
    const int row = 2 * i - p->padding;
    const WindowRow *above = i > 0 && i <= p->out_height ? &rows[(i - 1) & 1] : none;
    const WindowRow *below = i < p->out_height ? &rows[i & 1] : none;
    if (i < p->out_height) find_thirds(p, pairs, x, dy, i, below);
    if (row >= 0) collect_line(p, pairs, above, below, 1, dx + (ptrdiff_t)row * p->width);
    if (row + 1 < p->height) collect_line(p, pairs, none, below, 0, dx + (ptrdiff_t)(row + 1) * p->width);
  }
}
