// Layer norm forward and backward. Rows are shared for values, columns for the gradients of gamma and beta, as in
// kernels/layer_norm*/cpu.ts.

#pragma once
#include "kernels.h"
#include "normalization.h"
#include "vectors.h"

/** Σ(x − center)² */
static float squared_differences(const float *x, int count, float center) {
  Vector sums = splat(0);
  int i = 0;
  for (; i + LANES <= count; i += LANES) {
    const Vector difference = load(x + i) - center;
    sums += difference * difference;
  }
  float total = sum_lanes(sums);
  for (; i < count; i++) total += (x[i] - center) * (x[i] - center);
  return total;
}

static void layer_norm(const Call *call) {
  const float *x = operand(call, 0), *restrict gamma = operand(call, 1), *restrict beta = operand(call, 2);
  float *y = operand(call, 3), *mean = operand(call, 4), *inverse = operand(call, 5);
  const int rows = integer(call, 6), width = integer(call, 7);
  const float epsilon = real(call, 8);
  const int end = share_start(rows, 1, call->thread + 1, call->threads);
  for (int row = share_start(rows, 1, call->thread, call->threads); row < end; row++) {
    const float *restrict from = x + (ptrdiff_t)row * width;
    float *restrict to = y + (ptrdiff_t)row * width;
    const float average = sum_of(from, width) / (float)width;
    const float scale = 1 / sqrtf(squared_differences(from, width, average) / (float)width + epsilon);
    for (int j = 0; j < width; j++) to[j] = (from[j] - average) * scale * gamma[j] + beta[j];
    mean[row] = average;
    inverse[row] = scale;
  }
}

/** dx = scale·(g − avg(g) − x̂·avg(g·x̂)) of one row, g = dy·gamma. */
static void layer_norm_row_grad(const float *restrict dy, const float *restrict x, const float *restrict gamma,
                                float *restrict dx, int width, float average, float scale) {
  Vector sums = splat(0), products = splat(0);
  float sum = 0, product = 0;
  int j = 0;
  for (; j + LANES <= width; j += LANES) {
    const Vector g = load(dy + j) * load(gamma + j);
    sums += g;
    products += g * ((load(x + j) - average) * scale);
  }
  sum = sum_lanes(sums);
  product = sum_lanes(products);
  for (; j < width; j++) {
    const float g = dy[j] * gamma[j];
    sum += g;
    product += g * ((x[j] - average) * scale);
  }
  sum /= (float)width;
  product /= (float)width;
  for (j = 0; j < width; j++) dx[j] = scale * (dy[j] * gamma[j] - sum - (x[j] - average) * scale * product);
}

/** dgamma and dbeta of `count` columns, up to COLUMN_BLOCK, whose sums stay in registers. */
#define COLUMN_VECTORS 4
#define COLUMN_BLOCK (COLUMN_VECTORS * LANES)

static void layer_norm_columns(const float *dy, const float *x, const float *mean, const float *inverse, int rows,
                               int width, int count, float *dgamma, float *dbeta) {
  if (count == COLUMN_BLOCK) {
    Vector gammas[COLUMN_VECTORS] = {{0}}, betas[COLUMN_VECTORS] = {{0}};
    for (int row = 0; row < rows; row++, dy += width, x += width) {
      for (int v = 0; v < COLUMN_VECTORS; v++) {
        const Vector g = load(dy + v * LANES);
        betas[v] += g;
        gammas[v] += g * ((load(x + v * LANES) - mean[row]) * inverse[row]);
      }
    }
    for (int v = 0; v < COLUMN_VECTORS; v++) {
      store(dgamma + v * LANES, gammas[v]);
      store(dbeta + v * LANES, betas[v]);
    }
    return;
  }
  for (int j = 0; j < count; j++) dgamma[j] = dbeta[j] = 0;
  for (int row = 0; row < rows; row++, dy += width, x += width) {
    for (int j = 0; j < count; j++) {
      dbeta[j] += dy[j];
      dgamma[j] += dy[j] * ((x[j] - mean[row]) * inverse[row]);
    }
  }
}

static void layer_norm_grad(const Call *call) {
  const float *dy = operand(call, 0), *x = operand(call, 1), *gamma = operand(call, 2);
  const float *mean = operand(call, 3), *inverse = operand(call, 4);
  float *dx = operand(call, 5), *dgamma = operand(call, 6), *dbeta = operand(call, 7);
  const int rows = integer(call, 8), width = integer(call, 9);
  const int last = share_start(rows, 1, call->thread + 1, call->threads);
  for (int row = share_start(rows, 1, call->thread, call->threads); row < last; row++) {
    const ptrdiff_t at = (ptrdiff_t)row * width;
    layer_norm_row_grad(dy + at, x + at, gamma, dx + at, width, mean[row], inverse[row]);
  }
  const int end = share_start(width, COLUMN_BLOCK, call->thread + 1, call->threads);
  for (int j = share_start(width, COLUMN_BLOCK, call->thread, call->threads); j < end; j += COLUMN_BLOCK) {
    layer_norm_columns(dy + j, x + j, mean, inverse, rows, width, smaller(COLUMN_BLOCK, end - j), dgamma + j, dbeta + j);
  }
}
