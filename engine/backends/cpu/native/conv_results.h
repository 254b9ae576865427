// What follows the sums of a convolution, and how they are put where they belong: side by side, or between those of other phases.

#pragma once
#include "conv_band.h"

/** What follows the sums, and where they go: grid position (i, j) is element origin + (i·width + j)·step of a plane. */
typedef struct {
  float *planes;
  ptrdiff_t plane_floats;
  int width, step, origin;
  const float *bias;
  const float *saved;
  int activation;
  float slope;
} Target;

INLINE Vector finish_sum(const Target *t, Vector sum, const float *saved) {
  if (saved) return sum * derivative_of_output(t->activation, load(saved), t->slope);
  if (t->activation == NONE) return sum;
  if (t->activation == RELU) return largest(sum, splat(0));
  return activate(t->activation, sum, t->slope);
}

/** As finish_sum for fewer elements than a vector has, or elements apart from each other. */
static void store_some(const Target *t, Vector sum, ptrdiff_t first, int count) {
  float kept[LANES] = {0}, results[LANES];
  for (int i = 0; t->saved && i < count; i++) kept[i] = t->saved[first + (ptrdiff_t)i * t->step];
  store(results, finish_sum(t, sum, t->saved ? kept : NULL));
  for (int i = 0; i < count; i++) t->planes[first + (ptrdiff_t)i * t->step] = results[i];
}

/**
 * Writes sums to every second element of a row of `pairs` pairs, as many as vectors hold, and returns how many: the first of each
 * pair (column 0) with 0 beside it, then the second (column 1) to those.
 */
INLINE int weave_sums(float *row, int pairs, int column, const float *sums, float bias) {
  const Vector shift = splat(bias);
  int j = 0;
  for (; j + LANES <= pairs; j += LANES) {
    const Vector sum = load(sums + j) + shift;
    float *to = row + 2 * j;
    if (column == 0) {
      join_pairs(sum, splat(0), to);
      continue;
    }
    Vector first, second;
    split_pairs(to, &first, &second);
    join_pairs(first, sum, to);
  }
  return j;
}

/**
 * Finishes rows first … first + rows of a plane, from sums that stand `sums_row` floats apart. Where results lie side by side,
 * whole vectors are stored as long as they end within the plane: what they write too much belongs to a row that follows.
 */
static void store_results(const Target *t, int plane, int first, int rows, int columns, const float *sums,
                          ptrdiff_t sums_row) {
  const float bias = t->bias ? t->bias[plane] : 0;
  const Vector shift = splat(bias);
  const ptrdiff_t start = plane * t->plane_floats, end = start + t->plane_floats;
  const int apart = t->step > 1 && !t->saved && t->activation == NONE;
  for (int i = 0; i < rows; i++, sums += sums_row) {
    const ptrdiff_t row = start + t->origin + (ptrdiff_t)(first + i) * t->width * t->step;
    if (apart) {
      const int column = t->origin % t->width;
      int j = t->step == 2 ? weave_sums(t->planes + row - column, t->width / 2, column, sums, bias) : 0;
      float *to = t->planes + row + (ptrdiff_t)j * t->step;
      for (; j < columns; j++, to += t->step) *to = sums[j] + bias;
      continue;
    }
    for (int j = 0; j < columns; j += LANES) {
      const ptrdiff_t at = row + (ptrdiff_t)j * t->step;
      const Vector sum = load(sums + j) + shift;
      if (t->step == 1 && at + LANES <= end) {
        store(t->planes + at, finish_sum(t, sum, t->saved ? t->saved + at : NULL));
      } else {
        store_some(t, sum, at, smaller(LANES, columns - j));
      }
    }
  }
}
