// Attention and its gradient, by the scheme of kernels/attention*/cpu.ts: a strip of scores at a time, tiles of keys in the order of the
// keys, one owner for every result. Products go by the tiles of gemm_tile.h over packed panels.

#pragma once
#include "gemm.h"
#include "normalization.h"
#include "threefry.h"
#include <float.h>

/** Queries and keys of a block: the strips of both products stay in the first-level cache or close to it. */
#define QUERY_BLOCK (4 * TILE_ROWS)
#define KEY_BLOCK 128

typedef struct {
  int length, heads, groups, size, causal;
  float scale;
  /** Floats from a position to the next, of qkv and of y; values of a head in whole vectors. */
  ptrdiff_t stride, y_stride;
  int padded;
  const float *lengths;
} Attention;

/** Arguments from `first` on: batch, length, heads, groups, size, causal, scale. */
static Attention attention_of(const Call *call, int first, int lengths) {
  Attention of = {
      .length = integer(call, first + 1),
      .heads = integer(call, first + 2),
      .groups = integer(call, first + 3),
      .size = integer(call, first + 4),
      .causal = integer(call, first + 5),
      .scale = real(call, first + 6),
      .lengths = operand(call, lengths),
  };
  of.stride = (ptrdiff_t)(of.heads + 2 * of.groups) * of.size;
  of.y_stride = (ptrdiff_t)of.heads * of.size;
  of.padded = (of.size + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
  return of;
}

INLINE int tokens_of(const Attention *of, int row) { return of->lengths ? (int)of->lengths[row] : of->length; }

/** Keys of the block from `first` on that a query sees. */
INLINE int keys_seen(const Attention *of, int query, int first, int keys) {
  if (!of->causal) return keys;
  const int own = query - first + 1;
  return own < 0 ? 0 : smaller(own, keys);
}

/** Dropout of weights (kernels/attention-shape.ts). */
typedef struct {
  int on;
  uint32_t seed, stream, counter;
  int32_t threshold;
  float factor;
} Dropping;

/** Operands from `first` on: counters, scalars; arguments from `rate` on: rate, seed, stream. */
static Dropping dropping_of(const Call *call, int first, int rate) {
  const uint32_t *counters = (const uint32_t *)operand(call, first);
  if (!counters) return (Dropping){0};
  const float *scalars = operand(call, first + 1);
  const float share = real(call, rate) * (scalars ? scalars[4 * (ptrdiff_t)call->step + 3] : 1);
  return (Dropping){
      .on = 1,
      .seed = call->args[rate + 1],
      .stream = call->args[rate + 2],
      .counter = counters[call->step],
      .threshold = (int32_t)ceilf(share * 16777216.0f),
      .factor = 1 / (1 - share),
  };
}

/** Factors of a query's weights for the keys from `key`, a multiple of KEY_BLOCK, on; `query`: its number among those of all rows and heads. */
static void draw_factors(const Dropping *drop, const Attention *of, uint32_t query, int key, int keys, float *factors) {
  enum { BLOCK = 2 * LANES * CHAINS };
  _Static_assert(KEY_BLOCK % BLOCK == 0, "factors of a block of keys");
  const uint32_t begin = query * (uint32_t)((of->length + 1) / 2) + (uint32_t)key / 2;
  for (int j = 0; j < keys; j += BLOCK) {
    Words first[CHAINS], second[CHAINS];
    threefry(drop->seed, drop->stream, begin + (uint32_t)j / 2, drop->counter, first, second);
    for (int chain = 0; chain < CHAINS; chain++) {
      float *to = factors + j + 2 * LANES * chain;
      const IntVector low = (IntVector)(interleave_low(first[chain], second[chain]) >> 8) >= drop->threshold;
      const IntVector high = (IntVector)(interleave_high(first[chain], second[chain]) >> 8) >= drop->threshold;
      store(to, (Vector)((IntVector)splat(drop->factor) & low));
      store(to + LANES, (Vector)((IntVector)splat(drop->factor) & high));
    }
  }
}

/** Panels of the rows of x as columns: [size, rows]. */
static void pack_as_columns(const float *x, ptrdiff_t stride, int rows, int size, float *panels) {
  for (int row = 0; row < rows; row += TILE_COLUMNS, panels += (ptrdiff_t)size * TILE_COLUMNS) {
    pack_transposed(x + row * stride, stride, size, smaller(TILE_COLUMNS, rows - row), TILE_COLUMNS, panels);
  }
}

/** Panels of the rows of x as they are: [rows, size]. */
static void pack_as_rows(const float *x, ptrdiff_t stride, int rows, int size, float *panels) {
  for (int column = 0; column < size; column += TILE_COLUMNS, panels += (ptrdiff_t)rows * TILE_COLUMNS) {
    pack_straight(x + column, stride, rows, smaller(TILE_COLUMNS, size - column), TILE_COLUMNS, panels);
  }
}

/** c[rows, columns] = a·panels, or that added to c; c has room for whole vectors. */
static void multiply_panels(const float *a, ptrdiff_t a_row, ptrdiff_t a_column, const float *panels, int depth, float *c,
                            ptrdiff_t c_row, int rows, int columns, int add) {
  for (int column = 0; column < columns; column += TILE_COLUMNS, panels += (ptrdiff_t)depth * TILE_COLUMNS) {
    const int vectors = (smaller(TILE_COLUMNS, columns - column) + LANES - 1) / LANES;
    for (int row = 0; row < rows; row += TILE_ROWS) {
      const Tile tile = {
          .a = a + row * a_row,
          .a_row = a_row,
          .a_column = a_column,
          .b = panels,
          .b_row = TILE_COLUMNS,
          .depth = depth,
          .c = c + row * c_row + column,
          .c_row = c_row,
          .accumulate = add,
      };
      tiles[smaller(TILE_ROWS, rows - row) - 1][vectors - 1](&tile);
    }
  }
}

static void clear_rows(float *x, ptrdiff_t stride, int rows, int count) {
  for (int row = 0; row < rows; row++) memset(x + row * stride, 0, 4 * (size_t)count);
}

/** The lanes below `count`, the others 0. */
INLINE Vector first_lanes(Vector x, int count) {
  IntVector number;
  for (int lane = 0; lane < LANES; lane++) number[lane] = lane;
  return count >= LANES ? x : (Vector)((IntVector)x & (number < count));
}

/** A query's largest score, sum and mixed values over the keys so far. */
typedef struct {
  float largest, total;
} Running;

/** A row of scores becomes exponentials over the largest so far; what is mixed and summed already follows it. */
static void weigh(float *scores, int keys, int visible, float scale, Running *running, float *mixed, int size) {
  float top = running->largest;
  int j = 0;
  Vector most = splat(top);
  for (; j + LANES <= visible; j += LANES) {
    const Vector score = load(scores + j) * scale;
    most = largest(score, most);
  }
  for (int lane = 0; lane < LANES; lane++) top = most[lane] > top ? most[lane] : top;
  for (; j < visible; j++) top = scores[j] * scale > top ? scores[j] * scale : top;
  Vector sum = splat(0);
  for (j = 0; j < visible; j += LANES) {
    const Vector weight = first_lanes(exponential(load(scores + j) * scale - top), visible - j);
    sum += weight;
    store(scores + j, weight);
  }
  for (; j < keys; j += LANES) store(scores + j, splat(0));
  const float before = running->largest;
  running->largest = top;
  if (top > before) {
    const float follow = before == -FLT_MAX ? 0 : expf(before - top);
    running->total *= follow;
    for (int s = 0; s < size; s++) mixed[s] *= follow;
  }
  running->total += sum_lanes(sum);
}

static void attention(const Call *call) {
  const Attention of = attention_of(call, 6, 1);
  const Dropping drop = dropping_of(call, 2, 13);
  float factors[KEY_BLOCK];
  const float *qkv = operand(call, 0);
  float *y = operand(call, 4), *logsum = operand(call, 5);
  float *scores = call->scratch, *mixed = scores + QUERY_BLOCK * KEY_BLOCK;
  float *packed = mixed + (ptrdiff_t)QUERY_BLOCK * of.padded;
  Running running[QUERY_BLOCK];
  const int tasks = integer(call, 6) * of.heads;
  const int end = share_start(tasks, 1, call->thread + 1, call->threads);
  for (int task = share_start(tasks, 1, call->thread, call->threads); task < end; task++) {
    const int row = task / of.heads, head = task % of.heads, group = head * of.groups / of.heads;
    const int tokens = tokens_of(&of, row);
    const float *q = qkv + (ptrdiff_t)row * of.length * of.stride + head * of.size;
    const float *k = qkv + (ptrdiff_t)row * of.length * of.stride + (of.heads + group) * of.size;
    const float *v = k + of.groups * of.size;
    float *to = y + (ptrdiff_t)row * of.length * of.y_stride + head * of.size;
    float *sums = logsum + (ptrdiff_t)task * of.length;
    for (int query = 0; query < tokens; query += QUERY_BLOCK) {
      const int rows = smaller(QUERY_BLOCK, tokens - query), seen = of.causal ? query + rows : tokens;
      memset(mixed, 0, 4 * (size_t)rows * of.padded);
      for (int i = 0; i < rows; i++) running[i] = (Running){-FLT_MAX, 0};
      for (int key = 0; key < seen; key += KEY_BLOCK) {
        const int keys = smaller(KEY_BLOCK, seen - key);
        pack_as_columns(k + key * of.stride, of.stride, keys, of.size, packed);
        multiply_panels(q + query * of.stride, of.stride, 1, packed, of.size, scores, KEY_BLOCK, rows, keys, 0);
        for (int i = 0; i < rows; i++) {
          float *own = scores + i * KEY_BLOCK;
          const int visible = keys_seen(&of, query + i, key, keys);
          weigh(own, keys, visible, of.scale, &running[i], mixed + (ptrdiff_t)i * of.padded, of.size);
          if (!drop.on) continue;
          draw_factors(&drop, &of, (uint32_t)(task * of.length + query + i), key, visible, factors);
          for (int j = 0; j < visible; j++) own[j] *= factors[j];
        }
        pack_as_rows(v + key * of.stride, of.stride, keys, of.size, packed);
        multiply_panels(scores, KEY_BLOCK, 1, packed, keys, mixed, of.padded, rows, of.size, 1);
      }
      for (int i = 0; i < rows; i++) {
        const float share = 1 / running[i].total, *from = mixed + (ptrdiff_t)i * of.padded;
        float *values = to + (query + i) * of.y_stride;
        for (int s = 0; s < of.size; s++) values[s] = from[s] * share;
        sums[query + i] = running[i].largest + logf(running[i].total);
      }
    }
    clear_rows(to + tokens * of.y_stride, of.y_stride, of.length - tokens, of.size);
    memset(sums + tokens, 0, 4 * (size_t)(of.length - tokens));
  }
}

/** Scratch memory of the gradient: strips of weights and of slopes, a block of keys and values packed, and sums. */
typedef struct {
  float *weights, *slopes, *keys_as_columns, *values_as_columns, *keys_as_rows, *dk, *dv, *queries_as_rows, *dy_as_rows;
  float *dq;
} GradientScratch;

static GradientScratch gradient_scratch(float *scratch, int padded) {
  const ptrdiff_t strip = QUERY_BLOCK * KEY_BLOCK, keys = (ptrdiff_t)KEY_BLOCK * padded;
  const ptrdiff_t queries = (ptrdiff_t)QUERY_BLOCK * padded;
  GradientScratch s = {.weights = scratch, .slopes = scratch + strip, .keys_as_columns = scratch + 2 * strip};
  s.values_as_columns = s.keys_as_columns + keys;
  s.keys_as_rows = s.values_as_columns + keys;
  s.dk = s.keys_as_rows + keys;
  s.dv = s.dk + keys;
  s.queries_as_rows = s.dv + keys;
  s.dy_as_rows = s.queries_as_rows + queries;
  s.dq = s.dy_as_rows + queries;
  return s;
}

/**
 * A row: scores become weights, products of dy and values the slopes of scores; both 0 for keys that it does not see. `factors`: of weights
 * that are dropped or kept, or NULL.
 */
INLINE void weigh_slopes(float *weights, float *slopes, int keys, int visible, float scale, float logsum, float delta,
                         const float *factors) {
  int j = 0;
  for (; j < visible; j += LANES) {
    const Vector weight = first_lanes(exponential(load(weights + j) * scale - logsum), visible - j);
    const Vector slope = factors ? load(slopes + j) * load(factors + j) : load(slopes + j);
    store(slopes + j, first_lanes(weight * (slope - delta) * scale, visible - j));
    store(weights + j, factors ? weight * load(factors + j) : weight);
  }
  for (; j < keys; j += LANES) {
    store(weights + j, splat(0));
    store(slopes + j, splat(0));
  }
}

static float dot_of(const float *a, const float *b, int count) {
  float lanes[4] = {0};
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int j = 0; j < 4; j++) lanes[j] += a[i + j] * b[i + j];
  }
  for (; i < count; i++) lanes[0] += a[i] * b[i];
  return lanes[0] + lanes[1] + (lanes[2] + lanes[3]);
}

static void attention_grad(const Call *call) {
  const Attention of = attention_of(call, 8, 4);
  const Dropping drop = dropping_of(call, 5, 15);
  float factors[KEY_BLOCK];
  const float *dy = operand(call, 0), *qkv = operand(call, 1), *y = operand(call, 2), *logsum = operand(call, 3);
  float *dqkv = operand(call, 7);
  const GradientScratch s = gradient_scratch(call->scratch, of.padded);
  const int tasks = integer(call, 8) * of.groups, shared = of.heads / of.groups, size = of.size, padded = of.padded;
  const int end = share_start(tasks, 1, call->thread + 1, call->threads);
  for (int task = share_start(tasks, 1, call->thread, call->threads); task < end; task++) {
    const int row = task / of.groups, group = task % of.groups, tokens = tokens_of(&of, row);
    const ptrdiff_t start = (ptrdiff_t)row * of.length * of.stride;
    const ptrdiff_t k_at = start + (of.heads + group) * size, v_at = k_at + of.groups * size;
    clear_rows(dqkv + start + group * shared * size, of.stride, of.length, shared * size);
    clear_rows(dqkv + k_at + tokens * of.stride, of.stride, of.length - tokens, size);
    clear_rows(dqkv + v_at + tokens * of.stride, of.stride, of.length - tokens, size);
    for (int key = 0; key < tokens; key += KEY_BLOCK) {
      const int keys = smaller(KEY_BLOCK, tokens - key);
      const ptrdiff_t past = key * of.stride;
      pack_as_columns(qkv + k_at + past, of.stride, keys, size, s.keys_as_columns);
      pack_as_columns(qkv + v_at + past, of.stride, keys, size, s.values_as_columns);
      pack_as_rows(qkv + k_at + past, of.stride, keys, size, s.keys_as_rows);
      memset(s.dk, 0, 4 * (size_t)keys * padded);
      memset(s.dv, 0, 4 * (size_t)keys * padded);
      for (int head = group * shared; head < (group + 1) * shared; head++) {
        const float *sums = logsum + ((ptrdiff_t)row * of.heads + head) * of.length;
        for (int query = of.causal ? key - key % QUERY_BLOCK : 0; query < tokens; query += QUERY_BLOCK) {
          const int rows = smaller(QUERY_BLOCK, tokens - query);
          const ptrdiff_t q_at = start + query * of.stride + head * size;
          const ptrdiff_t y_at = ((ptrdiff_t)row * of.length + query) * of.y_stride + head * size;
          multiply_panels(qkv + q_at, of.stride, 1, s.keys_as_columns, size, s.weights, KEY_BLOCK, rows, keys, 0);
          multiply_panels(dy + y_at, of.y_stride, 1, s.values_as_columns, size, s.slopes, KEY_BLOCK, rows, keys, 0);
          for (int i = 0; i < rows; i++) {
            const float delta = dot_of(dy + y_at + i * of.y_stride, y + y_at + i * of.y_stride, size);
            float *weights = s.weights + i * KEY_BLOCK, *slopes = s.slopes + i * KEY_BLOCK;
            const int visible = keys_seen(&of, query + i, key, keys);
            if (!drop.on) {
              weigh_slopes(weights, slopes, keys, visible, of.scale, sums[query + i], delta, NULL);
              continue;
            }
            draw_factors(&drop, &of, (uint32_t)((row * of.heads + head) * of.length + query + i), key, visible, factors);
            weigh_slopes(weights, slopes, keys, visible, of.scale, sums[query + i], delta, factors);
          }
          pack_as_rows(qkv + q_at, of.stride, rows, size, s.queries_as_rows);
          pack_as_rows(dy + y_at, of.y_stride, rows, size, s.dy_as_rows);
          multiply_panels(s.weights, 1, KEY_BLOCK, s.dy_as_rows, rows, s.dv, padded, keys, size, 1);
          multiply_panels(s.slopes, 1, KEY_BLOCK, s.queries_as_rows, rows, s.dk, padded, keys, size, 1);
          copy_rows(dqkv + q_at, of.stride, s.dq, padded, rows, size);
          multiply_panels(s.slopes, KEY_BLOCK, 1, s.keys_as_rows, keys, s.dq, padded, rows, size, 1);
          copy_rows(s.dq, padded, dqkv + q_at, of.stride, rows, size);
        }
      }
      copy_rows(s.dk, padded, dqkv + k_at + past, of.stride, keys, size);
      copy_rows(s.dv, padded, dqkv + v_at + past, of.stride, keys, size);
    }
  }
}
