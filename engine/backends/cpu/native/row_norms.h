// Layer norm forward and backward. Rows are shared for values, columns for the gradients of gamma and beta, as in
// kernels/layer_norm*/cpu.ts.

#pragma once
#include "kernels.h"
#include "normalization.h"
#include "vectors.h"

/** Σ(x − center)² */
static float squared_differences(const float *x, int count, float center) {
  Vector sums[4] = {{0}};
  int i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
    for (int j = 0; j < 4; j++) {
      const Vector difference = load(x + i + j * LANES) - center;
      sums[j] += difference * difference;
    }
  }
  for (; i + LANES <= count; i += LANES) {
    const Vector difference = load(x + i) - center;
    sums[0] += difference * difference;
  }
  float total = sum_lanes(sums[0] + sums[1] + (sums[2] + sums[3]));
  for (; i < count; i++) total += (x[i] - center) * (x[i] - center);
  return total;
}

/** Rows that take each step together, while they are in the first-level cache: none waits for its own sums. */
#define ROWS_TOGETHER 4

static void layer_norm(const Call *call) {
  const float *x = operand(call, 0), *restrict gamma = operand(call, 1), *restrict beta = operand(call, 2);
  float *y = operand(call, 3), *mean = operand(call, 4), *inverse = operand(call, 5);
  const int rows = integer(call, 6), width = integer(call, 7);
  const float epsilon = real(call, 8);
  const int end = share_start(rows, 1, call->thread + 1, call->threads);
  for (int row = share_start(rows, 1, call->thread, call->threads); row < end; row += ROWS_TOGETHER) {
    const int last = smaller(row + ROWS_TOGETHER, end);
    for (int i = row; i < last; i++) mean[i] = sum_of(x + (ptrdiff_t)i * width, width) / (float)width;
    for (int i = row; i < last; i++) {
      const float squares = squared_differences(x + (ptrdiff_t)i * width, width, mean[i]);
      inverse[i] = 1 / sqrtf(squares / (float)width + epsilon);
    }
    for (int i = row; i < last; i++) {
      const float *restrict from = x + (ptrdiff_t)i * width;
      float *restrict to = y + (ptrdiff_t)i * width;
      const float average = mean[i], scale = inverse[i];
      for (int j = 0; j < width; j++) to[j] = (from[j] - average) * scale * gamma[j] + beta[j];
    }
  }
}

/** Σg and Σg·x̂ of one row by its width, g = dy·gamma. */
INLINE void average_row_gradient(const float *restrict dy, const float *restrict x, const float *restrict gamma, int width,
                                 float average, float scale, float *sum, float *product) {
  Vector sums[2] = {{0}}, products[2] = {{0}};
  int j = 0;
  for (; j + 2 * LANES <= width; j += 2 * LANES) {
    for (int v = 0; v < 2; v++) {
      const Vector g = load(dy + j + v * LANES) * load(gamma + j + v * LANES);
      sums[v] += g;
      products[v] += g * ((load(x + j + v * LANES) - average) * scale);
    }
  }
  float total = sum_lanes(sums[0] + sums[1]), total_product = sum_lanes(products[0] + products[1]);
  for (; j < width; j++) {
    const float g = dy[j] * gamma[j];
    total += g;
    total_product += g * ((x[j] - average) * scale);
  }
  *sum = total / (float)width;
  *product = total_product / (float)width;
}

/** dx = scale·(g − avg(g) − x̂·avg(g·x̂)) of up to ROWS_TOGETHER rows, g = dy·gamma. */
static void layer_norm_rows_grad(const float *dy, const float *x, const float *restrict gamma, const float *mean,
                                 const float *inverse, float *dx, int width, int count) {
  float sums[ROWS_TOGETHER], products[ROWS_TOGETHER];
  for (int r = 0; r < count; r++) {
    const ptrdiff_t at = (ptrdiff_t)r * width;
    average_row_gradient(dy + at, x + at, gamma, width, mean[r], inverse[r], &sums[r], &products[r]);
  }
  for (int r = 0; r < count; r++) {
    const float *restrict given = dy + (ptrdiff_t)r * width, *restrict from = x + (ptrdiff_t)r * width;
    float *restrict to = dx + (ptrdiff_t)r * width;
    const float average = mean[r], scale = inverse[r], sum = sums[r], product = products[r];
    for (int j = 0; j < width; j++) to[j] = scale * (given[j] * gamma[j] - sum - (from[j] - average) * scale * product);
  }
}

/** Rows whose columns are added up while they are in the cache, vectors of columns at a time: dgamma += Σdy·x̂, dbeta += Σdy. */
#define ROW_BLOCK 8
#define COLUMN_VECTORS 4
#define COLUMN_BLOCK (COLUMN_VECTORS * LANES)

INLINE void add_columns(const float *dy, const float *x, const float *mean, const float *inverse, int rows, int width,
                        const int vectors, float *dgamma, float *dbeta) {
  Vector gammas[COLUMN_VECTORS], betas[COLUMN_VECTORS];
  for (int v = 0; v < vectors; v++) {
    gammas[v] = load(dgamma + v * LANES);
    betas[v] = load(dbeta + v * LANES);
  }
  for (int row = 0; row < rows; row++, dy += width, x += width) {
    for (int v = 0; v < vectors; v++) {
      const Vector g = load(dy + v * LANES);
      betas[v] += g;
      gammas[v] += g * ((load(x + v * LANES) - mean[row]) * inverse[row]);
    }
  }
  for (int v = 0; v < vectors; v++) {
    store(dgamma + v * LANES, gammas[v]);
    store(dbeta + v * LANES, betas[v]);
  }
}

static void layer_norm_columns(const float *dy, const float *x, const float *mean, const float *inverse, int rows,
                               int width, int count, float *dgamma, float *dbeta) {
  int j = 0;
  for (; j + COLUMN_BLOCK <= count; j += COLUMN_BLOCK) {
    add_columns(dy + j, x + j, mean, inverse, rows, width, COLUMN_VECTORS, dgamma + j, dbeta + j);
  }
  for (; j + LANES <= count; j += LANES) add_columns(dy + j, x + j, mean, inverse, rows, width, 1, dgamma + j, dbeta + j);
  const int last = count - j;
  float *restrict gammas = dgamma + j, *restrict betas = dbeta + j;
  for (int row = 0; last > 0 && row < rows; row++) {
    const float *given = dy + (ptrdiff_t)row * width + j, *from = x + (ptrdiff_t)row * width + j;
    for (int k = 0; k < last; k++) {
      betas[k] += given[k];
      gammas[k] += given[k] * ((from[k] - mean[row]) * inverse[row]);
    }
  }
}

/** Columns add up row after row, however rows are shared: of a thread's own rows right after their dx, while they are in the cache. */
static void layer_norm_grad(const Call *call) {
  const float *dy = operand(call, 0), *x = operand(call, 1), *gamma = operand(call, 2);
  const float *mean = operand(call, 3), *inverse = operand(call, 4);
  float *dx = operand(call, 5), *dgamma = operand(call, 6), *dbeta = operand(call, 7);
  const int rows = integer(call, 8), width = integer(call, 9);
  const int start = share_start(rows, 1, call->thread, call->threads);
  const int end = share_start(rows, 1, call->thread + 1, call->threads);
  const int column = share_start(width, LINE, call->thread, call->threads);
  const int columns = share_start(width, LINE, call->thread + 1, call->threads) - column;
  memset(dgamma + column, 0, sizeof(float) * (size_t)columns);
  memset(dbeta + column, 0, sizeof(float) * (size_t)columns);
  for (int row = 0, next; row < rows; row = next) {
    const int own = row >= start && row < end;
    next = own ? smaller(row + ROW_BLOCK, end) : row < start ? start : rows;
    for (int i = row; own && i < next; i += ROWS_TOGETHER) {
      const ptrdiff_t at = (ptrdiff_t)i * width;
      layer_norm_rows_grad(dy + at, x + at, gamma, mean + i, inverse + i, dx + at, width, smaller(ROWS_TOGETHER, next - i));
    }
    const ptrdiff_t at = (ptrdiff_t)row * width + column;
    layer_norm_columns(dy + at, x + at, mean + row, inverse + row, next - row, width, columns, dgamma + column, dbeta + column);
  }
}
