// The native kernels. Compiled once for each instruction set with -DTABLE=name; each follows its contract in kernels/NAME.

#include "kernels.h"
#include "attention.h"
#include "conv_depthwise_weights.h"
#include "conv_kernels.h"
#include "gemm.h"
#include "normalization.h"
#include "row_norms.h"
#include "pooling_backward.h"
#include "threefry.h"
#include "trees.h"
#include <math.h>

static void matmul(const Call *call) {
  const Product product = {
      .a = operand(call, 0),
      .b = operand(call, 1),
      .bias = operand(call, 2),
      .saved = integer(call, 12) ? operand(call, 3) : NULL,
      .c = operand(call, 4),
      .m = integer(call, 5),
      .n = integer(call, 6),
      .k = integer(call, 7),
      .transpose_a = integer(call, 8),
      .transpose_b = integer(call, 9),
      .activation = integer(call, 10),
      .slope = real(call, 11),
  };
  const Block block = share_block(product.m, product.n, call->thread, call->threads);
  compute_product(&product, &block, call->scratch);
}

static void dense_weight_grad(const Call *call) {
  const float *dy = operand(call, 1);
  float *db = operand(call, 3);
  const int batch = integer(call, 4), inputs = integer(call, 5), units = integer(call, 6);
  const Product gradient = {
      .a = operand(call, 0),
      .transpose_a = 1,
      .b = dy,
      .c = operand(call, 2),
      .m = inputs,
      .n = units,
      .k = batch,
  };
  const Block block = share_block(inputs, units, call->thread, call->threads);
  compute_product(&gradient, &block, call->scratch);
  if (!db) return;
  const int start = share_start(units, LANES, call->thread, call->threads);
  const int end = share_start(units, LANES, call->thread + 1, call->threads);
  for (int j = start; j < end; j += LANES) {
    if (j + LANES <= end) {
      Vector sum = splat(0);
      for (int i = 0; i < batch; i++) sum += load(dy + (ptrdiff_t)i * units + j);
      store(db + j, sum);
      continue;
    }
    for (int column = j; column < end; column++) {
      float sum = 0;
      for (int i = 0; i < batch; i++) sum += dy[(ptrdiff_t)i * units + column];
      db[column] = sum;
    }
  }
}

/** Whether a result is written past the caches; threads' shares of it begin at lines if it does. */
static int streams(const float *y, int count) { return goes_past_caches(count) && floats_to_line(y, 1) == 0; }

static void activation(const Call *call) {
  const int count = integer(call, 2), code = integer(call, 3), start = share_start(count, 16, call->thread, call->threads);
  const int own = share_start(count, 16, call->thread + 1, call->threads) - start;
  const float *x = operand(call, 0) + start, slope = real(call, 4);
  float *y = operand(call, 1) + start;
  // Loops of their own for what memory limits.
  const int past = streams(y, count);
  if (code == RELU && past) activate_range(x, y, own, RELU, 0, 1);
  else if (code == RELU) activate_range(x, y, own, RELU, 0, 0);
  else if (code == RELU6) activate_range(x, y, own, RELU6, 0, 0);
  else activate_range(x, y, own, code, slope, 0);
  if (past) end_streams();
}

static void activation_grad(const Call *call) {
  const float *dy = operand(call, 0), *saved = operand(call, 1);
  float *dx = operand(call, 2);
  const int count = integer(call, 3), code = integer(call, 4), from_output = integer(call, 6);
  const float slope = real(call, 5);
  const int end = share_start(count, 16, call->thread + 1, call->threads);
  int i = share_start(count, 16, call->thread, call->threads);
  if (code == RELU) {
    const int past = streams(dx, count);
    for (; past && i + LANES <= end; i += LANES) stream(dx + i, load(dy + i) * derivative(RELU, load(saved + i), 0));
    for (; i + LANES <= end; i += LANES) store(dx + i, load(dy + i) * derivative(RELU, load(saved + i), 0));
    if (past) end_streams();
  }
  for (; i < end; i += LANES) {
    const Vector kept = load_lanes(saved + i, end - i);
    const Vector factor = from_output ? derivative_of_output(code, kept, slope) : derivative(code, kept, slope);
    store_lanes(dx + i, load_lanes(dy + i, end - i) * factor, end - i);
  }
}

/** Threads share the rows of a table, or the planes of images. */
static void batch_norm_inference(const Call *call) {
  const float *restrict x = operand(call, 0), *gamma = operand(call, 1), *beta = operand(call, 2);
  const float *mean = operand(call, 3), *variance = operand(call, 4);
  float *restrict y = operand(call, 5);
  const int outer = integer(call, 6), channels = integer(call, 7), inner = integer(call, 8);
  const float epsilon = real(call, 9);
  const int count = inner == 1 ? outer : outer * channels;
  const int end = share_start(count, 1, call->thread + 1, call->threads);
  for (int i = share_start(count, 1, call->thread, call->threads); i < end; i++) {
    if (inner == 1) {
      const float *restrict from = x + (ptrdiff_t)i * channels;
      float *restrict to = y + (ptrdiff_t)i * channels;
      for (int c = 0; c < channels; c++) to[c] = (from[c] - mean[c]) * (gamma[c] / sqrtf(variance[c] + epsilon)) + beta[c];
      continue;
    }
    const int c = i % channels;
    const float scale = gamma[c] / sqrtf(variance[c] + epsilon), centre = mean[c], shift = beta[c];
    const float *restrict from = x + (ptrdiff_t)i * inner;
    float *restrict to = y + (ptrdiff_t)i * inner;
    for (int j = 0; j < inner; j++) to[j] = (from[j] - centre) * scale + shift;
  }
}

/** Constants of one Adam step. */
typedef struct {
  float scale, beta1, beta2, epsilon, step_size, correction, gradient_decay, parameter_decay;
} AdamStep;

/** One pass over `count` elements; plain loops that the compiler vectorises. */
static void adam_range(const AdamStep s, int count, const float *restrict gradient, float *restrict parameters,
                       float *restrict mean, float *restrict variance) {
  for (int i = 0; i < count; i++) {
    float p = parameters[i];
    const float g = s.gradient_decay * p + gradient[i] * s.scale;
    p = s.parameter_decay * p + p;
    const float m = s.beta1 * mean[i] + (1 - s.beta1) * g;
    const float v = s.beta2 * variance[i] + (1 - s.beta2) * (g * g);
    mean[i] = m;
    variance[i] = v;
    parameters[i] = s.step_size * (m / (sqrtf(v) * s.correction + s.epsilon)) + p;
  }
}

/** factor·min(1, clip/(factor·√Σpartials + 1e-6)), without partial sums the factor alone: scaling[2], or 1. */
static float gradient_scale(const float *scaling, const float *partials, int chunks, float clip) {
  const float factor = scaling ? scaling[2] : 1;
  if (!partials) return factor;
  float lanes[4] = {0};
  for (int i = 0; i < chunks; i++) lanes[i & 3] += partials[i];
  return factor * fminf(1, clip / (factor * sqrtf(lanes[0] + lanes[1] + (lanes[2] + lanes[3])) + 1e-6f));
}

static void adam(const Call *call) {
  // Of a scaled loss (kernels/loss_scale): factor of the gradients, 0 where the step is skipped, and bias corrections.
  const float *scaling = operand(call, 3);
  if (scaling && scaling[2] == 0) return;
  const float *gradient = operand(call, 0);
  const float *scalars = operand(call, 1) + 4 * (ptrdiff_t)call->step;
  float *parameters = operand(call, 4), *mean = operand(call, 5), *variance = operand(call, 6);
  float *copies = operand(call, 7);
  const int count = integer(call, 8), decay_count = integer(call, 9);
  const float decay = real(call, 13) * (integer(call, 18) ? scalars[3] : 1);
  const int decoupled = integer(call, 14);
  AdamStep step = {
      .scale = gradient_scale(scaling, operand(call, 2), integer(call, 16), real(call, 15)),
      .beta1 = real(call, 10),
      .beta2 = real(call, 11),
      .epsilon = real(call, 12),
      .step_size = -scalars[0] / (scaling ? scaling[3] : scalars[1]),
      .correction = 1 / sqrtf(scaling ? scaling[4] : scalars[2]),
      .gradient_decay = decoupled ? 0 : decay,
      .parameter_decay = decoupled ? -scalars[0] * decay : 0,
  };
  const int begin = share_start(count, 16, call->thread, call->threads);
  const int end = share_start(count, 16, call->thread + 1, call->threads);
  int start = begin;
  for (int decayed = 1; decayed >= 0; decayed--) {
    const int stop = decayed ? smaller(decay_count, end) : end;
    const int length = stop - start;
    if (length > 0) adam_range(step, length, gradient + start, parameters + start, mean + start, variance + start);
    if (length > 0) start = stop;
    step.gradient_decay = step.parameter_decay = 0;
  }
  if (copies && end > begin) memcpy(copies + begin, parameters + begin, (size_t)(end - begin) * sizeof(float));
}

/** Elements first … first + 2·LANES − 1 of y = dropout(x); whole vectors are read and written. */
INLINE void drop_elements(const float *x, float *y, Words first, Words second, int32_t threshold, float scale) {
  // Words of counter j belong to elements 2j and 2j + 1.
  const IntVector low = (IntVector)(interleave_low(first, second) >> 8) >= threshold;
  const IntVector high = (IntVector)(interleave_high(first, second) >> 8) >= threshold;
  store(y, (Vector)((IntVector)(load(x) * scale) & low));
  store(y + LANES, (Vector)((IntVector)(load(x + LANES) * scale) & high));
}

static void dropout(const Call *call) {
  enum { BLOCK = 2 * LANES * CHAINS };
  const float *x = operand(call, 0);
  const uint32_t counter = ((const uint32_t *)operand(call, 1))[call->step];
  const float *scalars = operand(call, 2);
  float *y = operand(call, 3);
  const int count = integer(call, 4);
  const float share = scalars ? scalars[4 * (ptrdiff_t)call->step + 3] : 1;
  const float rate = real(call, 5) * share, scale = 1 / (1 - rate);
  const uint32_t seed = call->args[6], stream = call->args[7];
  // (word >> 8)·2⁻²⁴ ≥ rate, in whole numbers.
  const int32_t threshold = (int32_t)ceilf(rate * 16777216.0f);
  const int end = share_start(count, 16, call->thread + 1, call->threads);
  for (int i = share_start(count, 16, call->thread, call->threads); i < end; i += BLOCK) {
    Words first[CHAINS], second[CHAINS];
    threefry(seed, stream, (uint32_t)i / 2, counter, first, second);
    float tail[BLOCK];
    const int whole = i + BLOCK <= end;
    const float *from = whole ? x + i : memcpy(tail, x + i, 4 * (size_t)(end - i));
    float *to = whole ? y + i : tail;
    for (int j = 0; j < CHAINS; j++) {
      drop_elements(from + 2 * LANES * j, to + 2 * LANES * j, first[j], second[j], threshold, scale);
    }
    if (!whole) memcpy(y + i, tail, 4 * (size_t)(end - i));
  }
}

static void gather_rows(const Call *call) {
  const float *x = operand(call, 0), *y = operand(call, 1);
  float *batch_x = operand(call, 3), *batch_y = operand(call, 4);
  const size_t width = integer(call, 6), targets = integer(call, 7);
  const int batch = integer(call, 8);
  const uint32_t *indices = (const uint32_t *)operand(call, 2) + (size_t)call->step * batch;
  // A single row is the calling thread's, whose cache has it where it was written a moment ago.
  const int thread = call->threads - 1 - call->thread, end = share_start(batch, 1, thread + 1, call->threads);
  for (int i = share_start(batch, 1, thread, call->threads); i < end; i++) {
    memcpy(batch_x + i * width, x + indices[i] * width, 4 * width);
    if (y && batch_y) memcpy(batch_y + i * targets, y + indices[i] * targets, 4 * targets);
  }
}

static void store_rows(const Call *call) {
  const float *x = operand(call, 0);
  const int count = integer(call, 2), start = share_start(count, 16, call->thread, call->threads);
  const int end = share_start(count, 16, call->thread + 1, call->threads);
  float *y = operand(call, 1) + (ptrdiff_t)call->step * count;
  if (end > start) memcpy(y + start, x + start, 4 * (size_t)(end - start));
}

static void add(const Call *call) {
  const float *restrict a = operand(call, 0), *restrict b = operand(call, 1);
  float *restrict c = operand(call, 2);
  const int count = integer(call, 3);
  const int end = share_start(count, 16, call->thread + 1, call->threads);
  int i = share_start(count, 16, call->thread, call->threads);
  if (streams(c, count)) {
    for (; i + LANES <= end; i += LANES) stream(c + i, load(a + i) + load(b + i));
    end_streams();
  }
  for (; i < end; i++) c[i] = a[i] + b[i];
}

/** Chains that do not wait for each other: more than two units need to hide a latency of four. */
#define PEAK_CHAINS 12

static double multiply_adds(int rounds) {
  enum { UNROLLED = 64 };
  Vector chains[PEAK_CHAINS];
  // Read from memory, so that nothing can be computed ahead.
  volatile float factor = 0.999f, addend = 0.001f;
  const Vector a = splat(factor), b = splat(addend);
  for (int i = 0; i < PEAK_CHAINS; i++) chains[i] = splat((float)i);
  for (int round = 0; round < rounds; round++) {
    for (int step = 0; step < UNROLLED; step++) {
      for (int i = 0; i < PEAK_CHAINS; i++) chains[i] = chains[i] * a + b;
    }
  }
  Vector sum = {0};
  for (int i = 0; i < PEAK_CHAINS; i++) sum += chains[i];
  volatile float sink = sum[0];
  (void)sink;
  return 2.0 * LANES * PEAK_CHAINS * UNROLLED * rounds;
}

static const NamedKernel kernels[] = {
    {"activation", activation},
    {"activation_grad", activation_grad},
    {"adam", adam},
    {"add", add},
    {"attention", attention},
    {"attention_grad", attention_grad},
    {"average_pool", average_pool},
    {"average_pool_grad", average_pool_grad},
    {"batch_norm", batch_norm},
    {"batch_norm_grad", batch_norm_grad},
    {"batch_norm_inference", batch_norm_inference},
    {"conv2d", conv2d},
    {"conv2d_input_grad", conv2d_input_grad},
    {"conv2d_weight_grad", conv2d_weight_grad},
    {"dense_weight_grad", dense_weight_grad},
    {"dropout", dropout},
    {"gather_rows", gather_rows},
    {"layer_norm", layer_norm},
    {"layer_norm_grad", layer_norm_grad},
    {"matmul", matmul},
    {"max_pool", max_pool},
    {"max_pool_grad", max_pool_grad},
    {"store_rows", store_rows},
    {"tree_bins", tree_bins},
    {"tree_forest", tree_forest},
    {"tree_gradients", tree_gradients},
    {"tree_grid", tree_grid},
    {"tree_histogram", tree_histogram},
    {"tree_loss", tree_loss},
    {"tree_move", tree_move},
    {"tree_partition", tree_partition},
    {"tree_predict", tree_predict},
    {"tree_scores", tree_scores},
    {"tree_sort", tree_sort},
    {"tree_split", tree_split},
};

#if LANES == 16
#define INSTRUCTIONS "AVX-512"
#elif LANES == 8
#define INSTRUCTIONS "AVX2"
#else
#define INSTRUCTIONS "NEON"
#endif

const KernelTable TABLE = {INSTRUCTIONS, sizeof(kernels) / sizeof(kernels[0]), kernels, multiply_adds};
