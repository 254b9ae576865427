// Batch norm on the CPU: forward, at inference and backward. As in kernels/batch_norm*/cpu.ts threads share the channels: of a
// table (inner 1) they lie side by side and are summed up row by row, of images each is a set of planes.

#pragma once
#include "activations.h"
#include "normalization_sums.h"
#include <math.h>

/** What memory limits is done in registers. `code`: NONE, RELU or RELU6. */
INLINE Vector finish_norm(Vector y, const int code) {
  if (code == RELU) return largest(y, splat(0));
  return code == RELU6 ? smallest(largest(y, splat(0)), splat(6)) : y;
}

/** y = f((x − mean)·scale + shift) */
INLINE void scale_plane(const float *restrict x, float *restrict y, int count, float mean, float scale, float shift,
                        ptrdiff_t ahead, const int code) {
  int i = 0;
  for (; i + FETCHED <= count; i += FETCHED) {
    fetch_lines(y + i + ahead, 1);
#pragma GCC unroll 16
    for (int j = i; j < i + FETCHED; j += LANES) store(y + j, finish_norm((load(x + j) - mean) * scale + shift, code));
  }
  for (; i + LANES <= count; i += LANES) store(y + i, finish_norm((load(x + i) - mean) * scale + shift, code));
  if (i < count) store_lanes(y + i, finish_norm((load_lanes(x + i, count - i) - mean) * scale + shift, code), count - i);
}

/** The same past the caches. */
INLINE void stream_scaled(const float *restrict x, float *restrict y, int count, float mean, float scale, float shift,
                          const int code) {
  int i = floats_to_line(y, count);
  scale_plane(x, y, i, mean, scale, shift, 0, code);
  for (; i + LANES <= count; i += LANES) stream(y + i, finish_norm((load(x + i) - mean) * scale + shift, code));
  scale_plane(x + i, y + i, count - i, mean, scale, shift, 0, code);
}

INLINE void scale_stretch(const float *restrict x, float *restrict y, int count, const float *restrict mean,
                          const float *restrict scale, const float *restrict shift, const int code) {
  int i = 0;
  for (; i + LANES <= count; i += LANES) {
    store(y + i, finish_norm((load(x + i) - load(mean + i)) * load(scale + i) + load(shift + i), code));
  }
  if (i == count) return;
  const Vector centred = load_lanes(x + i, count - i) - load(mean + i);
  store_lanes(y + i, finish_norm(centred * load(scale + i) + load(shift + i), code), count - i);
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
  const int code = integer(call, 13);
  const float slope = real(call, 14);
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
    if (code != NONE) activate_range(to + c->start, to + c->start, c->end - c->start, code, slope, 0);
  }
}

/** The second pass over some channels of images: y from their statistics, finished by `code` in registers. */
INLINE void scale_channels(const Call *call, const Channels *c, int first, int count, const int code, int past) {
  const float *x = operand(call, 0), *gamma = operand(call, 1), *beta = operand(call, 2);
  const float *mean = operand(call, 4), *inverse = operand(call, 5);
  float *y = operand(call, 3);
  if (goes_by_stretches(c)) {
    Stretch centre, scale, shift;
    float scales[MOST_TOGETHER];
    for (int k = 0; k < count; k++) scales[k] = inverse[first + k] * gamma[first + k];
    spread_channels(mean + first, count, c->inner, centre);
    spread_channels(scales, count, c->inner, scale);
    spread_channels(beta + first, count, c->inner, shift);
    for (int o = 0; o < c->outer; o++) {
      const ptrdiff_t at = plane_start(c, o, first);
      scale_stretch(x + at, y + at, count * c->inner, centre, scale, shift, code);
    }
    return;
  }
  for (int o = 0; o < c->outer; o++) {
    for (int channel = first; channel < first + count; channel++) {
      const ptrdiff_t at = plane_start(c, o, channel);
      const float scale = inverse[channel] * gamma[channel];
      if (past) stream_scaled(x + at, y + at, c->inner, mean[channel], scale, beta[channel], code);
      else scale_plane(x + at, y + at, c->inner, mean[channel], scale, beta[channel], plane_ahead(c, o), code);
    }
  }
  if (past) end_streams();
}

/** The same with any activation: one that memory limits in a loop of its own, others channel by channel after it. */
static void scale_images(const Call *call, const Channels *c, int first, int count) {
  const int code = integer(call, 13);
  const int past = goes_past_caches((ptrdiff_t)c->outer * c->channels * c->inner);
  float *y = operand(call, 3);
  if (code == RELU) scale_channels(call, c, first, count, RELU, past);
  else if (code == RELU6) scale_channels(call, c, first, count, RELU6, past);
  else if (code == NONE) scale_channels(call, c, first, count, NONE, past);
  else {
    scale_channels(call, c, first, count, NONE, 0);
    for (int o = 0; o < c->outer; o++) {
      float *planes = y + plane_start(c, o, first);
      activate_range(planes, planes, count * c->inner, code, real(call, 14), 0);
    }
  }
}

/**
 * Some channels of images. Their sums are taken in one pass, about the mean k of the first image, which no more than n·variance =
 * Σ(x − k)² − n·(mean − k)² can lose by: (mean − k)² is at most `outer` times the variance.
 */
static void normalise_images(const Call *call, const Channels *c, int first, int count) {
  const float *x = operand(call, 0);
  const int size = c->outer * c->inner;
  float centres[MOST_TOGETHER];
  double sums[MOST_TOGETHER], squares[MOST_TOGETHER];
  for (int k = 0; k < count; k++) centres[k] = sum_of(x + plane_start(c, 0, first + k), c->inner) / c->inner;
  sum_channels(c, NULL, x, centres, first, count, sums, squares);
  for (int k = 0; k < count; k++) {
    const double around_mean = squares[k] - sums[k] * sums[k] / size;
    keep_statistics(call, first + k, size, (float)(centres[k] + sums[k] / size), around_mean < 0 ? 0 : (float)around_mean);
  }
  scale_images(call, c, first, count);
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
                           float scale, float slope, float shift, ptrdiff_t ahead) {
  int i = 0;
  for (; i + FETCHED <= count; i += FETCHED) {
    fetch_lines(dx + i + ahead, 1);
    for (int j = i; j < i + FETCHED; j++) dx[j] = dy[j] * scale + ((x[j] - mean) * slope + shift);
  }
  for (; i < count; i++) dx[i] = dy[i] * scale + ((x[i] - mean) * slope + shift);
}

/** The same past the caches. */
static void stream_gradient(const float *restrict dy, const float *restrict x, float *restrict dx, int count, float mean,
                            float scale, float slope, float shift) {
  const int before = floats_to_line(dx, count);
  int i = 0;
  for (; i < before; i++) dx[i] = dy[i] * scale + ((x[i] - mean) * slope + shift);
  for (; i + LANES <= count; i += LANES) stream(dx + i, load(dy + i) * scale + ((load(x + i) - mean) * slope + shift));
  for (; i < count; i++) dx[i] = dy[i] * scale + ((x[i] - mean) * slope + shift);
}

static void gradient_stretch(const float *restrict dy, const float *restrict x, float *restrict dx, int count,
                             const float *restrict mean, const float *restrict scale, const float *restrict slope,
                             const float *restrict shift) {
  for (int i = 0; i < count; i++) dx[i] = dy[i] * scale[i] + ((x[i] - mean[i]) * slope[i] + shift[i]);
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
  double sums[MOST_TOGETHER], products[MOST_TOGETHER];
  sum_channels(c, dy, x, mean + first, first, count, sums, products);
  const int past = goes_past_caches((ptrdiff_t)c->outer * c->channels * c->inner);
  for (int k = 0; k < count; k++) {
    dbeta[first + k] = (float)sums[k];
    dgamma[first + k] = (float)(products[k] * inverse[first + k]);
  }
  if (goes_by_stretches(c)) {
    Stretch centre, scale, slope, shift;
    float scales[MOST_TOGETHER], slopes[MOST_TOGETHER], shifts[MOST_TOGETHER];
    for (int k = 0; k < count; k++) {
      scales[k] = gamma[first + k] * inverse[first + k];
      slopes[k] = -scales[k] * inverse[first + k] * dgamma[first + k] * share;
      shifts[k] = -scales[k] * dbeta[first + k] * share;
    }
    spread_channels(mean + first, count, c->inner, centre);
    spread_channels(scales, count, c->inner, scale);
    spread_channels(slopes, count, c->inner, slope);
    spread_channels(shifts, count, c->inner, shift);
    for (int o = 0; o < c->outer; o++) {
      const ptrdiff_t at = plane_start(c, o, first);
      gradient_stretch(dy + at, x + at, dx + at, count * c->inner, centre, scale, slope, shift);
    }
    return;
  }
  for (int o = 0; o < c->outer; o++) {
    for (int channel = first; channel < first + count; channel++) {
      const ptrdiff_t at = plane_start(c, o, channel);
      const float scale = gamma[channel] * inverse[channel];
      const float slope = -scale * inverse[channel] * dgamma[channel] * share, shift = -scale * dbeta[channel] * share;
      const ptrdiff_t ahead = plane_ahead(c, o);
      if (past) stream_gradient(dy + at, x + at, dx + at, c->inner, mean[channel], scale, slope, shift);
      else gradient_plane(dy + at, x + at, dx + at, c->inner, mean[channel], scale, slope, shift, ahead);
    }
  }
  if (past) end_streams();
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
