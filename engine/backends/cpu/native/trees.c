// How trees grow: gradients to whole numbers, rows to their sides, histograms, cuts. Contracts in kernels/tree_*; float64 is computed in
// the order of the WASM kernels, without fusing, so that both give the same bits.

#include "tree_math.h"
#include "trees.h"

/** Positions that a thread takes at a time, columns that are counted at a time, bins of a column, numbers of a split. */
enum { BLOCK = 4096, TILE = 8, BINS = 256, SPLIT = 8 };

#include "tree_losses.h"

/** A row's two words, or a bin's. */
typedef int64_t Pair __attribute__((vector_size(16), may_alias));

static inline const uint32_t *words(const Call *call, int index) { return (const uint32_t *)operand(call, index); }
static inline double *doubles(const Call *call, int index) { return (double *)operand(call, index); }
static inline int blocks_of(int count) { return (count + BLOCK - 1) / BLOCK; }

/** The power of two that is not below the largest of the maxima, over 2^bits. */
static double step_of(const double *maxima, int blocks, int bits) {
  double largest = 0;
  for (int block = 0; block < blocks; block++) largest = larger(largest, maxima[2 * block]);
  if (largest == 0) return 1;
  uint64_t word = bits_of(largest);
  if (word & 0xfffffffffffffull) word = (word & ~0xfffffffffffffull) + (1ull << 52);
  return of_bits(word - ((uint64_t)bits << 52));
}

void tree_grid(const Call *call) {
  const uint32_t *list = words(call, 0), *job = words(call, 3);
  const double *pairs = doubles(call, 1), *maxima = doubles(call, 2);
  int64_t *packed = (int64_t *)operand(call, 4);
  double *steps = doubles(call, 5);
  const int count = (int)job[0], blocks = blocks_of(count);
  const double g_step = step_of(maxima, blocks, (int)job[1]), h_step = step_of(maxima + 1, blocks, (int)job[2]);
  const double g_scale = 1 / g_step, h_scale = 1 / h_step;
  if (call->thread == 0) steps[0] = g_step, steps[1] = h_step;
  const int end = share_start(count, BLOCK, call->thread + 1, call->threads);
  for (int i = share_start(count, BLOCK, call->thread, call->threads); i < end; i++) {
    const size_t row = list[i];
    // 1.5 · 2⁵²: what is added to it is rounded, and stands in its lower bits.
    const double shift = 0x1.8p52;
    const uint64_t base = bits_of(shift);
    packed[2 * row] = (int64_t)(bits_of(pairs[2 * row] * g_scale + shift) - base);
    packed[2 * row + 1] = (int64_t)(((bits_of(pairs[2 * row + 1] * h_scale + shift) - base) << job[3]) + 1);
  }
}

void tree_partition(const Call *call) {
  const uint8_t *bins = (const uint8_t *)operand(call, 0), *goes_left = (const uint8_t *)operand(call, 2);
  const uint32_t *list = words(call, 1), *job = words(call, 3);
  uint32_t *spare = (uint32_t *)operand(call, 4), *counts = (uint32_t *)operand(call, 5);
  uint32_t *right = (uint32_t *)call->scratch;
  const size_t width = (size_t)integer(call, 7);
  const int from = (int)job[0], to = (int)job[1];
  bins += job[2];
  const int blocks = blocks_of(to - from);
  const int last = share_start(blocks, 1, call->thread + 1, call->threads);
  for (int block = share_start(blocks, 1, call->thread, call->threads); block < last; block++) {
    const int start = from + block * BLOCK, end = smaller(to, start + BLOCK);
    uint32_t *left = spare + start;
    int lefts = 0, rights = 0;
    for (int i = start; i < end; i++) {
      const uint32_t row = list[i];
      // Both are written, one of them counts: no branch to be guessed.
      const int goes = goes_left[bins[row * width]];
      left[lefts] = row;
      right[rights] = row;
      lefts += goes;
      rights += 1 - goes;
    }
    memcpy(left + lefts, right, 4 * (size_t)rights);
    counts[block] = (uint32_t)lefts;
  }
}

void tree_move(const Call *call) {
  const uint32_t *spare = words(call, 0), *counts = words(call, 1), *job = words(call, 2);
  uint32_t *list = (uint32_t *)operand(call, 3);
  const int from = (int)job[0], to = (int)job[1];
  const int blocks = blocks_of(to - from);
  const int first = share_start(blocks, 1, call->thread, call->threads);
  const int last = share_start(blocks, 1, call->thread + 1, call->threads);
  size_t left = (size_t)from, right = job[3];
  for (int block = 0; block < last; block++) {
    const size_t start = (size_t)(from + block * BLOCK), count = (size_t)smaller(BLOCK, to - (int)start);
    if (block >= first) {
      memcpy(list + left, spare + start, 4 * (size_t)counts[block]);
      memcpy(list + right, spare + start + counts[block], 4 * (count - counts[block]));
    }
    left += counts[block];
    right += count - counts[block];
  }
}

/** Adds rows to up to TILE columns: `count` is known where this is put in. */
INLINE void add_tile(const uint8_t *bins, size_t width, const uint32_t *list, const Pair *pairs, int rows,
                     Pair *const *places, const uint32_t *columns, int count, int neighbours) {
  Pair *place[TILE];
  uint32_t column[TILE];
  for (int j = 0; j < count; j++) place[j] = places[j], column[j] = neighbours ? (uint32_t)j : columns[j];
  if (neighbours) bins += columns[0];
  for (int i = 0; i < rows; i++) {
    const uint8_t *row = bins + list[i] * width;
    const Pair pair = pairs[i];
#pragma GCC unroll 8
    for (int j = 0; j < count; j++) place[j][row[column[j]]] += pair;
  }
}

static void add_columns(const uint8_t *bins, size_t width, const uint32_t *list, const Pair *pairs, int rows,
                        Pair *const *places, const uint32_t *columns, int count) {
  int neighbours = 1;
  for (int j = 1; j < count; j++) neighbours &= columns[j] == columns[0] + (uint32_t)j;
#define WITH(n)                                                                                                        \
  case n:                                                                                                              \
    if (neighbours) add_tile(bins, width, list, pairs, rows, places, columns, n, 1);                                    \
    else add_tile(bins, width, list, pairs, rows, places, columns, n, 0);                                               \
    break;
  switch (count) {
    WITH(1) WITH(2) WITH(3) WITH(4) WITH(5) WITH(6) WITH(7) WITH(8)
  }
#undef WITH
}

void tree_histogram(const Call *call) {
  const uint8_t *bins = (const uint8_t *)operand(call, 0);
  const Pair *packed = (const Pair *)operand(call, 1);
  const uint32_t *list = words(call, 2), *columns = words(call, 3), *starts = words(call, 4), *job = words(call, 5);
  const size_t width = (size_t)integer(call, 8), total = (size_t)integer(call, 9);
  const int from = (int)job[0], to = (int)job[1];
  Pair *histogram = (Pair *)operand(call, 6) + job[3] * total;
  Pair *parent = job[4] == UINT32_MAX ? NULL : (Pair *)operand(call, 6) + job[4] * total;
  Pair *gathered = (Pair *)call->scratch;
  const int first = share_start((int)job[2], 1, call->thread, call->threads);
  const int count = share_start((int)job[2], 1, call->thread + 1, call->threads) - first;
  columns += first;
  for (int j = 0; j < count; j++) {
    const uint32_t start = starts[columns[j]];
    memset(histogram + start, 0, sizeof(Pair) * (starts[columns[j] + 1] - start));
  }
  // As many columns at a time as the first-level cache holds, all alike.
  const int tiles = (count + TILE - 1) / TILE;
  for (int start = from; start < to && count > 0; start += BLOCK) {
    const int rows = smaller(BLOCK, to - start);
    for (int i = 0; i < rows; i++) gathered[i] = packed[list[start + i]];
    for (int tile = 0; tile < tiles; tile++) {
      const int begin = count * tile / tiles, end = count * (tile + 1) / tiles;
      Pair *places[TILE];
      for (int j = begin; j < end; j++) places[j - begin] = histogram + starts[columns[j]];
      add_columns(bins, width, list + start, gathered, rows, places, columns + begin, end - begin);
    }
  }
  if (!parent) return;
  for (int j = 0; j < count; j++) {
    for (uint32_t bin = starts[columns[j]]; bin < starts[columns[j] + 1]; bin++) parent[bin] -= histogram[bin];
  }
}

typedef struct {
  double l1, l2, min_gain, min_rows, min_hessian, low, high;
  /** Values keep to bounds. */
  int bound;
} Rules;

INLINE double shrunk(double gradient, double l1) {
  const double size = larger(0, absolute(gradient) - l1);
  return gradient < 0 ? -size : size;
}

/** What a leaf adds to the scores of its rows. */
INLINE double leaf_value(double gradient, double hessian, const Rules *rules) {
  const double below = hessian + rules->l2;
  const double value = below > 0 ? -shrunk(gradient, rules->l1) / below : 0;
  return lesser(rules->high, larger(rules->low, value));
}

/** Twice what a leaf takes off the loss. */
INLINE double leaf_score(double gradient, double hessian, const Rules *rules, int bound) {
  const double t = shrunk(gradient, rules->l1), below = hessian + rules->l2;
  double score = t * t / below;
  if (bound) {
    const double value = leaf_value(gradient, hessian, rules);
    score = -(2 * t * value + below * value * value);
  }
  return below > 0 ? score : 0;
}

/** Sums over the rows of a side. */
typedef struct {
  double gradient, hessian, rows;
} Sums;

INLINE double gain_of(double g, double h, double n, Sums all, const Rules *rules, double parent, int bound) {
  const double rg = all.gradient - g, rh = all.hessian - h, rn = all.rows - n;
  const double gain = leaf_score(g, h, rules, bound) + leaf_score(rg, rh, rules, bound) - parent;
  const int fits = (n >= rules->min_rows) & (rn >= rules->min_rows) & (h >= rules->min_hessian) & (rh >= rules->min_hessian);
  return fits ? gain : -INFINITY;
}

/** Gains of all cuts, what is missing on the right and on the left. */
INLINE void gains_of(const double *g, const double *h, const double *n, int bins, Sums missing, Sums all,
                     const Rules *rules, double *right, double *left, int bound) {
  const double parent = leaf_score(all.gradient, all.hessian, rules, bound);
  for (int b = 0; b < bins; b++) right[b] = gain_of(g[b], h[b], n[b], all, rules, parent, bound);
  if (missing.rows == 0) return;
  for (int b = 0; b < bins; b++) {
    left[b] = gain_of(g[b] + missing.gradient, h[b] + missing.hessian, n[b] + missing.rows, all, rules, parent, bound);
  }
}

/** Of the words of a bin; or of sums of them. */
INLINE Sums sums_of(int64_t gradient, int64_t hessian, const double *steps, uint32_t count_bits) {
  const uint64_t mask = (1ull << count_bits) - 1;
  const Sums sums = {(double)gradient * steps[0], (double)(hessian >> count_bits) * steps[1],
                     (double)(int64_t)((uint64_t)hessian & mask)};
  return sums;
}

static Sums find_cut(const Pair *histogram, int bins, Rules *rules, double direction, const double *steps,
                     uint32_t count_bits, double *split) {
  double g[BINS], h[BINS], n[BINS], right[BINS], left[BINS];
  int64_t gradient = 0, hessian = 0;
  for (int b = 0; b < bins; b++) {
    gradient += histogram[b][0];
    hessian += histogram[b][1];
    const Sums known = sums_of(gradient, hessian, steps, count_bits);
    g[b] = known.gradient, h[b] = known.hessian, n[b] = known.rows;
  }
  const Pair last = histogram[bins];
  const Sums missing = sums_of(last[0], last[1], steps, count_bits);
  const Sums all = sums_of(gradient + last[0], hessian + last[1], steps, count_bits);
  memset(split, 0, SPLIT * sizeof(double));
  if (rules->bound) gains_of(g, h, n, bins, missing, all, rules, right, left, 1);
  else gains_of(g, h, n, bins, missing, all, rules, right, left, 0);
  const int holes = missing.rows > 0;
  double best = 0;
  // With all that is known on the left, what is missing is alone on the right.
  for (int b = 0; b < bins - 1 + holes; b++) {
    for (int side = 0; side <= (holes && b + 1 < bins); side++) {
      const double gain = side ? left[b] : right[b];
      if (!(gain - rules->min_gain > best)) continue;
      const double lg = g[b] + (side ? missing.gradient : 0), lh = h[b] + (side ? missing.hessian : 0);
      const double ln = n[b] + (side ? missing.rows : 0);
      if (direction != 0) {
        const double low = leaf_value(lg, lh, rules), high = leaf_value(all.gradient - lg, all.hessian - lh, rules);
        if (direction * (high - low) < 0) continue;
      }
      best = gain - rules->min_gain;
      split[0] = gain, split[1] = b, split[2] = holes ? side : 2 * ln >= all.rows;
      split[3] = lg, split[4] = lh, split[5] = ln;
    }
  }
  return all;
}

void tree_split(const Call *call) {
  const uint32_t *columns = words(call, 0), *starts = words(call, 2), *numbers = words(call, 3), *job = words(call, 8);
  const Pair *histograms = (const Pair *)operand(call, 1);
  const int32_t *monotone = (const int32_t *)operand(call, 4);
  const double *rule = doubles(call, 5), *steps = doubles(call, 6), *bounds = doubles(call, 7);
  double *splits = doubles(call, 9), *sums = doubles(call, 10);
  const size_t width = (size_t)integer(call, 11), total = (size_t)integer(call, 12);
  const int leaves = (int)job[0], count = (int)job[1];
  const int end = share_start(leaves * count, 1, call->thread + 1, call->threads);
  for (int item = share_start(leaves * count, 1, call->thread, call->threads); item < end; item++) {
    const int leaf = item / count;
    const uint32_t column = columns[item % count];
    Rules rules = {rule[0], rule[1], rule[2], rule[3], rule[4], -INFINITY, INFINITY, 0};
    if (monotone) rules.low = bounds[2 * leaf], rules.high = bounds[2 * leaf + 1];
    rules.bound = rules.low > -INFINITY || rules.high < INFINITY;
    const Pair *histogram = histograms + job[3 + leaf] * total + starts[column];
    const int bins = (int)(starts[column + 1] - starts[column]) - 1;
    double *split = splits + (leaf * width + column) * SPLIT;
    const double direction = monotone ? monotone[column] : 0;
    // Of categories there is no order to cut: only the sums are asked for.
    const Sums all = find_cut(histogram, bins, &rules, direction, steps, job[2], split);
    if (!numbers[column]) memset(split, 0, SPLIT * sizeof(double));
    if (item % count > 0) continue;
    double *sum = sums + 4 * leaf;
    sum[0] = all.gradient, sum[1] = all.hessian, sum[2] = all.rows, sum[3] = 0;
  }
}

void tree_scores(const Call *call) {
  const uint32_t *list = words(call, 0), *ends = words(call, 1), *job = words(call, 3);
  const double *values = doubles(call, 2);
  double *scores = doubles(call, 4) + job[1];
  const size_t outputs = (size_t)integer(call, 6);
  const int count = (int)ends[job[0] - 1];
  const int end = share_start(count, BLOCK, call->thread + 1, call->threads);
  int i = share_start(count, BLOCK, call->thread, call->threads);
  for (uint32_t leaf = 0; i < end; leaf++) {
    const double value = values[leaf];
    for (; i < end && i < (int)ends[leaf]; i++) scores[list[i] * outputs] += value;
  }
}

enum { LANES_OF_ROWS = 8 };

/** Where a row goes on from an inner node. */
INLINE int32_t next_node(const uint32_t *node, const uint32_t *masks, uint32_t bin) {
  const uint32_t test = node[1];
  const int left = test >> 31 ? (int)((masks[(test & 0x7fffffff) + (bin >> 5)] >> (bin & 31)) & 1)
                              : (bin <= (test & 0xffff)) | (bin == test >> 16);
  return (int32_t)node[3 - left];
}

void tree_predict(const Call *call) {
  const uint8_t *bins = (const uint8_t *)operand(call, 0);
  const uint32_t *list = words(call, 1), *nodes = words(call, 2), *masks = words(call, 3), *job = words(call, 6);
  const int32_t *roots = (const int32_t *)operand(call, 4);
  const double *values = doubles(call, 5);
  double *scores = doubles(call, 7);
  const size_t width = (size_t)integer(call, 9);
  const uint32_t outputs = (uint32_t)integer(call, 10), trees = job[3];
  const int count = (int)job[0], listed = (int)job[1];
  // Rows that pass all trees before the next ones do: their bins stay in the cache.
  enum { PASS = 512 };
  const int end = share_start(count, PASS, call->thread + 1, call->threads);
  for (int start = share_start(count, PASS, call->thread, call->threads); start < end; start += PASS) {
    const int stop = smaller(end, start + PASS);
    for (uint32_t tree = 0, output = job[4] % outputs; tree < trees; tree++, output = output + 1 < outputs ? output + 1 : 0) {
      for (int i = start; i < stop; i += LANES_OF_ROWS) {
        const int lanes = smaller(LANES_OF_ROWS, stop - i);
        // Several rows side by side: each waits for its own nodes only.
        size_t row[LANES_OF_ROWS];
        int32_t node[LANES_OF_ROWS];
        for (int j = 0; j < LANES_OF_ROWS; j++) {
          const int at = i + (j < lanes ? j : 0);
          row[j] = listed ? list[at] : job[2] + (uint32_t)at;
          node[j] = roots[tree];
        }
        int open = roots[tree] >= 0;
        while (open) {
          open = 0;
#pragma GCC unroll 8
          for (int j = 0; j < LANES_OF_ROWS; j++) {
            const int32_t own = node[j], inner = own >= 0 ? own : 0;
            const uint32_t *at = nodes + 4 * (size_t)inner;
            const int32_t next = next_node(at, masks, bins[row[j] * width + at[0]]);
            node[j] = own >= 0 ? next : own;
            open |= node[j] >= 0;
          }
        }
        for (int j = 0; j < lanes; j++) scores[row[j] * outputs + output] += values[~node[j]];
      }
    }
  }
}
