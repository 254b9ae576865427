// Gradients of pooling on the CPU; threads share the planes. The place of each window's maximum is found first, as forwards
// (pooling.h); then each element collects from the windows that it lies in, in row-major order.

#pragma once
#include "pooling.h"

/** The tap of the first largest element of each window of a band; taps[i] is that of the first element inside before. */
INLINE void find_maxima(const float *band, const int32_t *offsets, const int count, int positions, int32_t *taps) {
  for (int i = 0; i < positions; i += LANES) {
    Vector best = splat(-INFINITY);
    IntVector at = (IntVector)load((const float *)taps + i);
    for (int tap = 0; tap < count; tap++) {
      const Vector x = load(band + offsets[tap] + i);
      const IntVector found = x > best;
      best = choose(found, x, best);
      at = (found & tap) | (~found & at);
    }
    store((float *)taps + i, (Vector)at);
  }
}

/** Rows of windows of which a band of dx collects, those beyond the output among them: first … first + rows. */
typedef struct {
  int first, rows, columns;
  /** The tap that a window's dy goes to (of means: to all), −1 of none; and dy. Both are empty for a reach before their begin. */
  int32_t *taps;
  float *gradients;
} Given;

static void fill_numbers(int32_t *to, int count, int value) {
  for (int i = 0; i < count; i++) to[i] = value;
}

/** Finds which tap each window's maximum stands at. */
static void find_band_maxima(const Pooling *p, const Windows *w, const Given *g, int top, int bottom, const float *x,
                             float *band_floats) {
  const Band b = open_band(&w->view, 1, top, bottom - top);
  int32_t offsets[MAX_TAPS], *found = g->taps + (top - g->first) * g->columns;
  for (int tap = 0; tap < w->view.count; tap++) offsets[tap] = tap_offset(&w->view, &b, tap);
  fill_band(&w->view, &b, x, 0, 1, band_floats);
  for (int row = top; row < bottom; row++) {
    for (int j = 0; j < p->out_width; j++) {
      const int below = p->padding - row * p->stride, beside = p->padding - j * p->stride;
      const int first = (below > 0 ? below : 0) * p->window_width + (beside > 0 ? beside : 0);
      found[(row - top) * g->columns + j] = first;
    }
  }
  const int positions = b.rows * b.plane_columns;
  if (w->view.count == 4) find_maxima(band_floats, offsets, 4, positions, found);
  else if (w->view.count == 9) find_maxima(band_floats, offsets, 9, positions, found);
  else find_maxima(band_floats, offsets, w->view.count, positions, found);
}

/** Where dy goes; `x` is NULL for means. */
static void place_gradients(const Pooling *p, const Windows *w, const Given *g, const float *dy, const float *x,
                            float *band_floats) {
  const int top = g->first > 0 ? g->first : 0, bottom = smaller(p->out_height, g->first + g->rows);
  const float area = p->window_height * p->window_width;
  if (x && top < bottom) find_band_maxima(p, w, g, top, bottom, x, band_floats);
  fill_numbers(g->taps - w->reach_columns, w->reach_columns, -1);
  memset(g->gradients - w->reach_columns, 0, sizeof(float) * (size_t)w->reach_columns);
  for (int i = 0; i < g->rows; i++) {
    const int row = g->first + i, kept = row >= top && row < bottom ? p->out_width : 0;
    float *to = g->gradients + i * g->columns;
    copy_floats(to, dy + (ptrdiff_t)row * p->out_width, kept);
    for (int j = 0; !x && j < kept; j++) to[j] /= area;
    memset(to + kept, 0, sizeof(float) * (size_t)(g->columns - kept));
    fill_numbers(g->taps + i * g->columns + kept, g->columns - kept, -1);
  }
}

/** What an element of a phase of dx gets by one tap: dy of the window `back` positions before, if that is its maximum's tap. */
typedef struct {
  int tap, back;
} Source;

INLINE void collect_positions(const Given *g, const Source *sources, const int count, const int mean, int start, int positions,
                              float *sums) {
  for (int i = 0; i < positions; i += LANES) {
    Vector sum = splat(0);
    for (int k = 0; k < count; k++) {
      const int at = start + i - sources[k].back;
      const IntVector gradient = (IntVector)load(g->gradients + at);
      const IntVector chosen = (IntVector)load((const float *)g->taps + at) == sources[k].tap;
      sum += (Vector)(mean ? gradient : gradient & chosen);
    }
    store(sums + i, sum);
  }
}

INLINE void collect_phase(const Given *g, const Source *sources, int count, const int mean, int start, int positions,
                          float *sums) {
  if (count == 1) collect_positions(g, sources, 1, mean, start, positions, sums);
  else if (count == 2) collect_positions(g, sources, 2, mean, start, positions, sums);
  else if (count == 4) collect_positions(g, sources, 4, mean, start, positions, sums);
  else collect_positions(g, sources, count, mean, start, positions, sums);
}

/** A row of dx from its phases, which stand `apart` floats apart: element (phase, j) is dx[j·stride + phase − padding]. */
static void weave_row(const Pooling *p, const float *phases, ptrdiff_t apart, int count, int columns, float *dx) {
  if (p->stride == 1) {
    copy_floats(dx, phases + p->padding, p->width);
    return;
  }
  int j = (p->padding + p->stride - 1) / p->stride;
  // A narrow plane may end before the first column that has all phases.
  const int left = smaller(j * p->stride - p->padding, p->width);
  for (int c = 0; c < left; c++) {
    const int phase = (c + p->padding) % p->stride;
    if (phase < count) dx[c] = phases[phase * apart + (c + p->padding) / p->stride];
  }
  if (p->stride == 2 && count == 2) {
    const float *even = phases + j, *odd = phases + apart + j;
    float *to = dx + left;
    const int pairs = smaller((p->width - left) / 2, columns - j);
    int k = 0;
    for (; k < pairs && pairs >= LANES; k += LANES) {
      k = smaller(k, pairs - LANES);
      join_pairs(load(even + k), load(odd + k), to + 2 * k);
    }
    for (; k < pairs; k++) to[2 * k] = even[k], to[2 * k + 1] = odd[k];
    if (j + pairs < columns && left + 2 * pairs < p->width) to[2 * pairs] = even[pairs];
    return;
  }
  for (; j < columns; j++) {
    for (int phase = 0; phase < count; phase++) {
      const int c = j * p->stride + phase - p->padding;
      if (c < p->width) dx[c] = phases[phase * apart + j];
    }
  }
}

/** The rows of dx that the phases' rows first + reach … hold. */
INLINE void collect_rows(const Pooling *p, const Windows *w, const Given *g, const int mean, float *phases, float *dx) {
  Source sources[MAX_TAPS];
  const int row_phases = smaller(p->stride, p->window_height), column_phases = smaller(p->stride, p->window_width);
  const int rows = g->rows - w->reach_rows, positions = rows * g->columns;
  const ptrdiff_t apart = positions + LANES;
  for (int row_phase = 0; row_phase < row_phases; row_phase++) {
    for (int phase = 0; phase < column_phases; phase++) {
      // From the last row and column of the window on: that is the first window first.
      int count = 0;
      for (int a = p->window_height - 1; a >= 0; a--) {
        if (a % p->stride != row_phase) continue;
        for (int b = p->window_width - 1; b >= 0; b--) {
          if (b % p->stride != phase) continue;
          sources[count++] = (Source){a * p->window_width + b, a / p->stride * g->columns + b / p->stride};
        }
      }
      collect_phase(g, sources, count, mean, w->reach_rows * g->columns, positions, phases + phase * apart);
    }
    for (int i = 0; i < rows; i++) {
      const int row = (g->first + w->reach_rows + i) * p->stride + row_phase - p->padding;
      if (row < 0 || row >= p->height) continue;
      weave_row(p, phases + i * g->columns, apart, column_phases, g->columns, dx + (ptrdiff_t)row * p->width);
    }
  }
}

/** As pool_one_by_one, backwards; dx is 0. */
static void spread_one_by_one(const Pooling *p, const float *dy, const float *x, float *dx) {
  for (int i = 0; i < p->out_height; i++) {
    for (int j = 0; j < p->out_width; j++) {
      const Inside in = window_inside(p, i, j);
      const float gradient = *dy++;
      ptrdiff_t best = (ptrdiff_t)in.top * p->width + in.left;
      for (int row = in.top; row < in.bottom; row++) {
        for (int column = in.left; column < in.right; column++) {
          const ptrdiff_t at = (ptrdiff_t)row * p->width + column;
          if (!x) dx[at] += gradient / (p->window_height * p->window_width);
          else if (x[at] > x[best]) best = at;
        }
      }
      if (x) dx[best] += gradient;
    }
  }
}

/** `x` is NULL for means. */
INLINE void pool_backward(const Call *call, const Pooling *p, const float *dy, const float *x, float *dx, const int mean) {
  const ptrdiff_t plane = (ptrdiff_t)p->height * p->width, out_plane = (ptrdiff_t)p->out_height * p->out_width;
  Windows w;
  see_windows(p, -INFINITY, &w);
  const int whole = w.band_rows >= p->out_height;
  const int step = whole ? p->out_height + w.reach_rows : w.band_rows - w.reach_rows;
  // Whether some element lies in no window, or is reached by no tap of its own.
  const int gaps = p->stride > p->window_height || p->stride > p->window_width ||
                   (p->out_height - 1) * p->stride - p->padding + p->window_height < p->height ||
                   (p->out_width - 1) * p->stride - p->padding + p->window_width < p->width;
  Given g = {.columns = p->out_width + w.reach_columns};
  g.taps = (int32_t *)(call->scratch + TAPS_AT + w.reach_columns);
  g.gradients = call->scratch + GRADIENTS_AT + w.reach_columns;
  const int end = share_start(p->planes, 1, call->thread + 1, call->threads);
  for (int n = share_start(p->planes, 1, call->thread, call->threads); n < end; n++) {
    const float *given = dy + n * out_plane, *source = x ? x + n * plane : NULL;
    float *target = dx + n * plane;
    if (gaps || step < 1) memset(target, 0, sizeof(float) * (size_t)plane);
    if (step < 1) {
      spread_one_by_one(p, given, source, target);
      continue;
    }
    for (int row = 0; row < p->out_height + w.reach_rows; row += step) {
      g.first = row - w.reach_rows;
      g.rows = smaller(step, p->out_height + w.reach_rows - row) + w.reach_rows;
      place_gradients(p, &w, &g, given, source, call->scratch);
      collect_rows(p, &w, &g, mean, call->scratch + SPREAD_AT, target);
    }
  }
}

static void max_pool_grad(const Call *call) {
  const Pooling p = read_pooling(call, 3);
  float *dy = operand(call, 0), *x = operand(call, 1), *dx = operand(call, 2);
  const int halving = is_halving(&p);
  if (!halving && !is_thirds(&p)) {
    pool_backward(call, &p, dy, x, dx, 0);
    return;
  }
  const ptrdiff_t plane = (ptrdiff_t)p.height * p.width, out_plane = (ptrdiff_t)p.out_height * p.out_width;
  const int end = share_start(p.planes, 1, call->thread + 1, call->threads);
  Pairs pairs = see_pairs(&p);
  pairs.x_end = x + p.planes * plane;
  pairs.dy_end = dy + p.planes * out_plane;
  pairs.end = dx + end * plane;
  pairs.past = p.padding && p.width % LINE == 0 && goes_past_caches(p.planes * plane) && floats_to_line(dx, 1) == 0;
  for (int n = share_start(p.planes, 1, call->thread, call->threads); n < end; n++) {
    if (halving) halve_plane_backward(&p, dy + n * out_plane, x + n * plane, dx + n * plane);
    else pool_thirds_backward(&p, &pairs, dy + n * out_plane, x + n * plane, dx + n * plane, call->scratch);
  }
  if (pairs.past) end_streams();
}

static void average_pool_grad(const Call *call) {
  const Pooling p = read_pooling(call, 2);
  const float *dy = operand(call, 0);
  float *dx = operand(call, 1);
  if (!is_global(&p)) {
    pool_backward(call, &p, dy, NULL, dx, 1);
    return;
  }
  const int size = p.height * p.width;
  const int end = share_start(p.planes, 1, call->thread + 1, call->threads);
  for (int n = share_start(p.planes, 1, call->thread, call->threads); n < end; n++) {
    const float gradient = dy[n] / size;
    float *target = dx + (ptrdiff_t)n * size;
    for (int i = 0; i < size; i++) target[i] = gradient;
  }
}
