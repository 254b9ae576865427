// Batch norm on the CPU: forward, at inference and backward. As in kernels/batch_norm*/cpu.ts threads share the channels: of a
// table (inner 1) they lie side by side and are summed up row by row, of images each is a set of planes.

#pragma once
#include "kernels.h"
#include "vectors.h"
#include <math.h>

/** x is [outer, channels, inner]; this thread takes the channels start … end. */
typedef struct {
  int outer, channels, inner, start, end;
} Channels;

static Channels share_channels(const Call *call, int first) {
  Channels c = {integer(call, first), integer(call, first + 1), integer(call, first + 2), 0, 0};
  const int grain = c.inner == 1 ? 16 : 1;
  c.start = share_start(c.channels, grain, call->thread, call->threads);
  c.end = share_start(c.channels, grain, call->thread + 1, call->threads);
  return c;
}

INLINE ptrdiff_t plane_start(const Channels *c, int o, int channel) {
  return ((ptrdiff_t)o * c->channels + channel) * c->inner;
}

static float sum_lanes(Vector v) {
  float total = 0;
  for (int i = 0; i < LANES; i++) total += v[i];
  return total;
}

static float sum_of(const float *x, int count) {
  Vector sums[4] = {{0}};
  int i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
    for (int j = 0; j < 4; j++) sums[j] += load(x + i + j * LANES);
  }
  for (; i + LANES <= count; i += LANES) sums[0] += load(x + i);
  float total = sum_lanes(sums[0] + sums[1] + (sums[2] + sums[3]));
  for (; i < count; i++) total += x[i];
  return total;
}

/**
 * Channels whose planes are summed up together, so that memory is read in long stretches; both passes go over them before the
 * next ones, while they are in the cache. How many changes no sum.
 */
#define STRETCH_FLOATS 1024
#define MOST_TOGETHER 64

static int channels_together(const Channels *c) {
  const int most = STRETCH_FLOATS / c->inner;
  return most < 1 ? 1 : smaller(most, MOST_TOGETHER);
}

/** Two sums of a channel, of its planes one after the other: by lane, and of what is left of each plane. */
typedef struct {
  Vector first, second;
  float rest_first, rest_second;
} Sums;

/** Adds a plane: first += Σa, second += Σa·(x − centre), where a = dy, or x − centre without dy. */
INLINE void add_plane(const float *dy, const float *x, int count, float centre, Sums *sums) {
  Vector first[4] = {{0}}, second[4] = {{0}};
  int i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      const Vector centred = load(x + i + j * LANES) - centre, a = dy ? load(dy + i + j * LANES) : centred;
      first[j] += a;
      second[j] += a * centred;
    }
  }
  for (; i + LANES <= count; i += LANES) {
    const Vector centred = load(x + i) - centre, a = dy ? load(dy + i) : centred;
    first[0] += a;
    second[0] += a * centred;
  }
  sums->first += first[0] + first[1] + (first[2] + first[3]);
  sums->second += second[0] + second[1] + (second[2] + second[3]);
  for (; i < count; i++) {
    const float centred = x[i] - centre, a = dy ? dy[i] : centred;
    sums->rest_first += a;
    sums->rest_second += a * centred;
  }
}

static double total_of(Vector lanes, float rest) {
  double total = rest;
  for (int i = 0; i < LANES; i++) total += lanes[i];
  return total;
}

/** y = (x − mean)·scale + shift */
static void scale_plane(const float *restrict x, float *restrict y, int count, float mean, float scale, float shift) {
  for (int i = 0; i < count; i++) y[i] = (x[i] - mean) * scale + shift;
}

/** The statistics of a channel of `size` elements from its mean and Σ(x − mean)²: for the backward pass and for inference. */
static void keep_statistics(const Call *call, int channel, int size, float mean, float squares) {
  float *running_mean = operand(call, 6) + channel, *running_variance = operand(call, 7) + channel;
  const float epsilon = real(call, 11), momentum = real(call, 12), unbiased = squares / (size > 1 ? size - 1 : 1);
  operand(call, 4)[channel] = mean;
  operand(call, 5)[channel] = 1 / sqrtf(squares / size + epsilon);
  *running_mean += momentum * (mean - *running_mean);
  *running_variance += momentum * (unbiased - *running_variance);
}

/** Row by row over this thread's columns. */
static void normalise_table(const Call *call, const Channels *c) {
  const float *x = operand(call, 0), *gamma = operand(call, 1), *beta = operand(call, 2);
  float *y = operand(call, 3), *mean = operand(call, 4), *inverse = operand(call, 5);
  for (int j = c->start; j < c->end; j++) mean[j] = inverse[j] = 0;
  for (int row = 0; row < c->outer; row++) {
    const float *restrict from = x + (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) mean[j] += from[j];
  }
  for (int j = c->start; j < c->end; j++) mean[j] /= c->outer;
  for (int row = 0; row < c->outer; row++) {
    const float *restrict from = x + (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) inverse[j] += (from[j] - mean[j]) * (from[j] - mean[j]);
  }
  for (int j = c->start; j < c->end; j++) keep_statistics(call, j, c->outer, mean[j], inverse[j]);
  for (int row = 0; row < c->outer; row++) {
    const float *restrict from = x + (ptrdiff_t)row * c->channels;
    float *restrict to = y + (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) to[j] = (from[j] - mean[j]) * (inverse[j] * gamma[j]) + beta[j];
  }
}

/**
 * Some channels of images. Their sums are taken in one pass, about the mean k of the first image, which no more than n·variance =
 * Σ(x − k)² − n·(mean − k)² can lose by: (mean − k)² is at most `outer` times the variance.
 */
static void normalise_images(const Call *call, const Channels *c, int first, int count) {
  const float *x = operand(call, 0), *gamma = operand(call, 1), *beta = operand(call, 2);
  const float *mean = operand(call, 4), *inverse = operand(call, 5);
  float *y = operand(call, 3);
  const int size = c->outer * c->inner;
  Sums sums[MOST_TOGETHER];
  float centres[MOST_TOGETHER];
  memset(sums, 0, sizeof(Sums) * (size_t)count);
  for (int k = 0; k < count; k++) centres[k] = sum_of(x + plane_start(c, 0, first + k), c->inner) / c->inner;
  for (int o = 0; o < c->outer; o++) {
    for (int k = 0; k < count; k++) add_plane(NULL, x + plane_start(c, o, first + k), c->inner, centres[k], &sums[k]);
  }
  for (int k = 0; k < count; k++) {
    const double sum = total_of(sums[k].first, sums[k].rest_first);
    const double squares = total_of(sums[k].second, sums[k].rest_second) - sum * sum / size;
    keep_statistics(call, first + k, size, (float)(centres[k] + sum / size), squares > 0 ? (float)squares : 0);
  }
  for (int o = 0; o < c->outer; o++) {
    for (int channel = first; channel < first + count; channel++) {
      const ptrdiff_t at = plane_start(c, o, channel);
      scale_plane(x + at, y + at, c->inner, mean[channel], inverse[channel] * gamma[channel], beta[channel]);
    }
  }
}

static void batch_norm(const Call *call) {
  const Channels c = share_channels(call, 8);
  if (c.inner == 1) {
    normalise_table(call, &c);
    return;
  }
  const int together = channels_together(&c);
  for (int channel = c.start; channel < c.end; channel += together) {
    normalise_images(call, &c, channel, smaller(together, c.end - channel));
  }
}

/** dx = dy·scale + (x − mean)·slope + shift */
static void gradient_plane(const float *restrict dy, const float *restrict x, float *restrict dx, int count, float mean,
                           float scale, float slope, float shift) {
  for (int i = 0; i < count; i++) dx[i] = dy[i] * scale + ((x[i] - mean) * slope + shift);
}

/** Row by row over this thread's columns. dbeta = Σdy, dgamma = Σdy·x̂ */
static void table_gradient(const Call *call, const Channels *c) {
  const float *dy = operand(call, 0), *x = operand(call, 1), *gamma = operand(call, 2);
  const float *mean = operand(call, 3), *inverse = operand(call, 4);
  float *dx = operand(call, 5), *dgamma = operand(call, 6), *dbeta = operand(call, 7);
  const float share = 1.0f / c->outer;
  for (int j = c->start; j < c->end; j++) dgamma[j] = dbeta[j] = 0;
  for (int row = 0; row < c->outer; row++) {
    const float *restrict g = dy + (ptrdiff_t)row * c->channels, *restrict from = x + (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) {
      dbeta[j] += g[j];
      dgamma[j] += g[j] * ((from[j] - mean[j]) * inverse[j]);
    }
  }
  for (int row = 0; row < c->outer; row++) {
    const ptrdiff_t first = (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) {
      const float normalised = (x[first + j] - mean[j]) * inverse[j];
      const float centred = dy[first + j] - dbeta[j] * share - normalised * dgamma[j] * share;
      dx[first + j] = centred * (gamma[j] * inverse[j]);
    }
  }
}

/** Some channels of images. */
static void images_gradient(const Call *call, const Channels *c, int first, int count) {
  const float *dy = operand(call, 0), *x = operand(call, 1), *gamma = operand(call, 2);
  const float *mean = operand(call, 3), *inverse = operand(call, 4);
  float *dx = operand(call, 5), *dgamma = operand(call, 6), *dbeta = operand(call, 7);
  const float share = 1.0f / ((float)c->outer * c->inner);
  Sums sums[MOST_TOGETHER];
  memset(sums, 0, sizeof(Sums) * (size_t)count);
  for (int o = 0; o < c->outer; o++) {
    for (int k = 0; k < count; k++) {
      const ptrdiff_t at = plane_start(c, o, first + k);
      add_plane(dy + at, x + at, c->inner, mean[first + k], &sums[k]);
    }
  }
  for (int k = 0; k < count; k++) {
    dbeta[first + k] = (float)total_of(sums[k].first, sums[k].rest_first);
    dgamma[first + k] = (float)(total_of(sums[k].second, sums[k].rest_second) * inverse[first + k]);
  }
  for (int o = 0; o < c->outer; o++) {
    for (int channel = first; channel < first + count; channel++) {
      const ptrdiff_t at = plane_start(c, o, channel);
      const float scale = gamma[channel] * inverse[channel];
      const float slope = -scale * inverse[channel] * dgamma[channel] * share, shift = -scale * dbeta[channel] * share;
      gradient_plane(dy + at, x + at, dx + at, c->inner, mean[channel], scale, slope, shift);
    }
  }
}

static void batch_norm_grad(const Call *call) {
  const Channels c = share_channels(call, 8);
  if (c.inner == 1) {
    table_gradient(call, &c);
    return;
  }
  const int together = channels_together(&c);
  for (int channel = c.start; channel < c.end; channel += together) {
    images_gradient(call, &c, channel, smaller(together, c.end - channel));
  }
}
