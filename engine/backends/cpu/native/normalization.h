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

/** Σ a·(b − center); with a = b − center too when `a` is NULL. */
INLINE float centred_sum(const float *a, const float *b, int count, float center) {
  Vector sums[4] = {{0}};
  int i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
    for (int j = 0; j < 4; j++) {
      const Vector difference = load(b + i + j * LANES) - center;
      sums[j] += (a ? load(a + i + j * LANES) : difference) * difference;
    }
  }
  for (; i + LANES <= count; i += LANES) {
    const Vector difference = load(b + i) - center;
    sums[0] += (a ? load(a + i) : difference) * difference;
  }
  float total = sum_lanes(sums[0] + sums[1] + (sums[2] + sums[3]));
  for (; i < count; i++) total += (a ? a[i] : b[i] - center) * (b[i] - center);
  return total;
}

/** y = (x − mean)·scale + shift */
static void scale_plane(const float *restrict x, float *restrict y, int count, float mean, float scale, float shift) {
  for (int i = 0; i < count; i++) y[i] = (x[i] - mean) * scale + shift;
}

/** Mean and Σ(x − mean)² of every channel, into `mean` and `squares`. */
static void channel_moments(const Channels *c, const float *x, float *mean, float *squares) {
  const int rows = c->outer * c->inner;
  if (c->inner > 1) {
    for (int channel = c->start; channel < c->end; channel++) {
      float total = 0, square = 0;
      for (int o = 0; o < c->outer; o++) total += sum_of(x + plane_start(c, o, channel), c->inner);
      mean[channel] = total / rows;
      for (int o = 0; o < c->outer; o++) {
        square += centred_sum(NULL, x + plane_start(c, o, channel), c->inner, mean[channel]);
      }
      squares[channel] = square;
    }
    return;
  }
  for (int j = c->start; j < c->end; j++) mean[j] = squares[j] = 0;
  for (int row = 0; row < rows; row++) {
    const float *restrict from = x + (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) mean[j] += from[j];
  }
  for (int j = c->start; j < c->end; j++) mean[j] /= rows;
  for (int row = 0; row < rows; row++) {
    const float *restrict from = x + (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) squares[j] += (from[j] - mean[j]) * (from[j] - mean[j]);
  }
}

/** y = (x − mean)·inverse·gamma + beta */
static void normalise(const Channels *c, const float *x, float *y, const float *mean, const float *inverse,
                      const float *gamma, const float *beta) {
  if (c->inner > 1) {
    for (int channel = c->start; channel < c->end; channel++) {
      const float scale = inverse[channel] * gamma[channel];
      for (int o = 0; o < c->outer; o++) {
        const ptrdiff_t first = plane_start(c, o, channel);
        scale_plane(x + first, y + first, c->inner, mean[channel], scale, beta[channel]);
      }
    }
    return;
  }
  for (int row = 0; row < c->outer; row++) {
    const float *restrict from = x + (ptrdiff_t)row * c->channels;
    float *restrict to = y + (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) to[j] = (from[j] - mean[j]) * (inverse[j] * gamma[j]) + beta[j];
  }
}

static void batch_norm(const Call *call) {
  const Channels c = share_channels(call, 8);
  const float *x = operand(call, 0);
  float *mean = operand(call, 4), *inverse = operand(call, 5);
  float *running_mean = operand(call, 6), *running_variance = operand(call, 7);
  const float epsilon = real(call, 11), momentum = real(call, 12);
  const int size = c.outer * c.inner;
  channel_moments(&c, x, mean, inverse);
  for (int j = c.start; j < c.end; j++) {
    const float squares = inverse[j], unbiased = squares / (size > 1 ? size - 1 : 1);
    inverse[j] = 1 / sqrtf(squares / size + epsilon);
    running_mean[j] += momentum * (mean[j] - running_mean[j]);
    running_variance[j] += momentum * (unbiased - running_variance[j]);
  }
  normalise(&c, x, operand(call, 3), mean, inverse, operand(call, 1), operand(call, 2));
}

/** dbeta = Σdy, dgamma = Σdy·x̂ */
static void parameter_gradients(const Channels *c, const float *dy, const float *x, const float *mean,
                                const float *inverse, float *dgamma, float *dbeta) {
  if (c->inner > 1) {
    for (int channel = c->start; channel < c->end; channel++) {
      float sum = 0, product = 0;
      for (int o = 0; o < c->outer; o++) {
        const ptrdiff_t first = plane_start(c, o, channel);
        sum += sum_of(dy + first, c->inner);
        product += centred_sum(dy + first, x + first, c->inner, mean[channel]);
      }
      dbeta[channel] = sum;
      dgamma[channel] = product * inverse[channel];
    }
    return;
  }
  for (int j = c->start; j < c->end; j++) dgamma[j] = dbeta[j] = 0;
  for (int row = 0; row < c->outer; row++) {
    const float *restrict g = dy + (ptrdiff_t)row * c->channels, *restrict from = x + (ptrdiff_t)row * c->channels;
    for (int j = c->start; j < c->end; j++) {
      dbeta[j] += g[j];
      dgamma[j] += g[j] * ((from[j] - mean[j]) * inverse[j]);
    }
  }
}

/** dx = dy·scale + (x − mean)·slope + shift */
static void gradient_plane(const float *restrict dy, const float *restrict x, float *restrict dx, int count, float mean,
                           float scale, float slope, float shift) {
  for (int i = 0; i < count; i++) dx[i] = dy[i] * scale + ((x[i] - mean) * slope + shift);
}

static void batch_norm_grad(const Call *call) {
  const Channels c = share_channels(call, 8);
  const float *dy = operand(call, 0), *x = operand(call, 1), *gamma = operand(call, 2);
  const float *mean = operand(call, 3), *inverse = operand(call, 4);
  float *dx = operand(call, 5), *dgamma = operand(call, 6), *dbeta = operand(call, 7);
  const float share = 1.0f / ((float)c.outer * c.inner);
  parameter_gradients(&c, dy, x, mean, inverse, dgamma, dbeta);
  if (c.inner > 1) {
    for (int channel = c.start; channel < c.end; channel++) {
      const float scale = gamma[channel] * inverse[channel];
      const float slope = -scale * inverse[channel] * dgamma[channel] * share;
      const float shift = -scale * dbeta[channel] * share;
      for (int o = 0; o < c.outer; o++) {
        const ptrdiff_t first = plane_start(&c, o, channel);
        gradient_plane(dy + first, x + first, dx + first, c.inner, mean[channel], scale, slope, shift);
      }
    }
    return;
  }
  for (int row = 0; row < c.outer; row++) {
    const ptrdiff_t first = (ptrdiff_t)row * c.channels;
    for (int j = c.start; j < c.end; j++) {
      const float normalised = (x[first + j] - mean[j]) * inverse[j];
      const float centred = dy[first + j] - dbeta[j] * share - normalised * dgamma[j] * share;
      dx[first + j] = centred * (gamma[j] * inverse[j]);
    }
  }
}
