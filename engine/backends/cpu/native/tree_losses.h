// The losses of boosting: gradients and hessians (tree_gradients), and what they sum up to (tree_loss). Included by trees.c.

#pragma once
#include "tree_math.h"
#include "trees.h"

enum { SQUARED, ABSOLUTE, HUBER, QUANTILE, POISSON, LOGISTIC, SOFTMAX };
enum { CHUNK = 64, SUMS = 8 };

/** The loss as a call has it. */
typedef struct {
  const double *scores;
  const float *targets;
  const double *weights, *constants;
  size_t outputs;
} Loss;

INLINE double weight_of(const Loss *loss, size_t row) {
  return loss->weights ? loss->weights[(int)loss->targets[row]] : 1;
}

/** e^0.7: LightGBM's longer steps of Poisson. */
#define POISSON_STEP 2.0137527074704766

INLINE double count_of(double target, const double *constants) {
  return larger(0, target * constants[2] + constants[1]);
}

/** Derivatives by the score of a loss with one output. */
INLINE void derive(int kind, double score, double target, const double *constants, double *g, double *h) {
  const double error = score - target;
  *h = 1;
  if (kind == SQUARED) *g = error;
  if (kind == ABSOLUTE) *g = error > 0 ? 1 : error < 0 ? -1 : 0;
  if (kind == HUBER) *g = lesser(constants[0], larger(-constants[0], error));
  if (kind == QUANTILE) *g = error >= 0 ? 1 - constants[0] : -constants[0];
  if (kind == POISSON) {
    const double expected = exponential(score);
    *g = expected - count_of(target, constants);
    *h = expected * POISSON_STEP;
  }
  if (kind == LOGISTIC) {
    const double p = 1 / (1 + exponential(-score));
    *g = p - target;
    *h = p * (1 - p);
  }
}

/** Shares of the classes by their scores. */
static void share_out(const double *scores, double *shares, size_t outputs) {
  double most = scores[0], sum = 0;
  for (size_t k = 1; k < outputs; k++) most = larger(most, scores[k]);
  for (size_t k = 0; k < outputs; k++) sum += shares[k] = exponential(scores[k] - most);
  for (size_t k = 0; k < outputs; k++) shares[k] = shares[k] / sum;
}

/** Derivatives of the rows in `list`, CHUNK at most; `largest` grows with them. */
INLINE void derive_rows(int kind, const Loss *loss, const uint32_t *list, int rows, size_t output, double *shares,
                        double *pairs, double *largest) {
  double score[CHUNK] = {0}, target[CHUNK] = {0}, weight[CHUNK] = {0}, g[CHUNK], h[CHUNK];
  const double factor = (double)loss->outputs / (double)(loss->outputs - (kind == SOFTMAX));
  for (int i = 0; i < rows; i++) {
    const size_t row = list[i];
    target[i] = loss->targets[row];
    weight[i] = weight_of(loss, row);
    if (kind != SOFTMAX) {
      score[i] = loss->scores[row];
      continue;
    }
    double *own = shares + row * loss->outputs;
    if (output == 0) share_out(loss->scores + row * loss->outputs, own, loss->outputs);
    score[i] = own[output];
  }
  for (int i = 0; i < CHUNK; i++) {
    if (kind == SOFTMAX) {
      g[i] = score[i] - (target[i] == (double)output ? 1 : 0);
      h[i] = factor * score[i] * (1 - score[i]);
    } else derive(kind, score[i], target[i], loss->constants, &g[i], &h[i]);
    g[i] = weight[i] * g[i];
    h[i] = weight[i] * h[i];
  }
  for (int i = 0; i < rows; i++) {
    const size_t row = list[i];
    pairs[2 * row] = g[i];
    pairs[2 * row + 1] = h[i];
    largest[0] = larger(largest[0], absolute(g[i]));
    largest[1] = larger(largest[1], absolute(h[i]));
  }
}

#define EACH_KIND(DO) DO(SQUARED) DO(ABSOLUTE) DO(HUBER) DO(QUANTILE) DO(POISSON) DO(LOGISTIC) DO(SOFTMAX)

void tree_gradients(const Call *call) {
  const uint32_t *list = (const uint32_t *)operand(call, 4), *job = (const uint32_t *)operand(call, 5);
  double *pairs = (double *)operand(call, 6), *shares = (double *)operand(call, 7);
  double *maxima = (double *)operand(call, 8);
  const Loss loss = {(const double *)operand(call, 0), operand(call, 1), (const double *)operand(call, 2),
                     (const double *)operand(call, 3), (size_t)integer(call, 10)};
  const int count = (int)job[0], kind = integer(call, 11);
  const int end = share_start(count, BLOCK, call->thread + 1, call->threads);
  for (int start = share_start(count, BLOCK, call->thread, call->threads); start < end; start += BLOCK) {
    const int stop = smaller(end, start + BLOCK);
    double *largest = maxima + 2 * (start / BLOCK);
    largest[0] = largest[1] = 0;
    for (int i = start; i < stop; i += CHUNK) {
      const int rows = smaller(CHUNK, stop - i);
#define DERIVE(name)                                                                                                   \
  case name: derive_rows(name, &loss, list + i, rows, job[1], shares, pairs, largest); break;
      switch (kind) { EACH_KIND(DERIVE) }
    }
  }
}

/** Of one row; `scores` are its own. */
INLINE double loss_of(int kind, const double *scores, size_t outputs, double target, const double *constants) {
  const double score = scores[0], error = score - target, size = absolute(error), shape = constants[0];
  if (kind == SQUARED) return error * error;
  if (kind == ABSOLUTE) return size;
  if (kind == HUBER) return size <= shape ? 0.5 * error * error : shape * (size - 0.5 * shape);
  if (kind == QUANTILE) return error * (error >= 0 ? 1 - shape : -shape);
  if (kind == POISSON) return exponential(score) - count_of(target, constants) * score;
  if (kind == LOGISTIC) return larger(score, 0) - score * target + logarithm(1 + exponential(-absolute(score)));
  double most = score, sum = 0;
  for (size_t k = 1; k < outputs; k++) most = larger(most, scores[k]);
  for (size_t k = 0; k < outputs; k++) sum += exponential(scores[k] - most);
  return most + logarithm(sum) - scores[(size_t)target];
}

/** Adds the losses of consecutive rows, CHUNK at most, and their weights, row i to sum i modulo SUMS. */
INLINE void add_losses(int kind, const Loss *loss, size_t first, int rows, double *sums, double *weights) {
  double score[CHUNK] = {0}, target[CHUNK] = {0}, weight[CHUNK] = {0}, lost[CHUNK];
  for (int i = 0; i < rows; i++) {
    const size_t row = first + (size_t)i;
    target[i] = loss->targets[row];
    weight[i] = weight_of(loss, row);
    if (kind != SOFTMAX) score[i] = loss->scores[row];
    else lost[i] = loss_of(kind, loss->scores + row * loss->outputs, loss->outputs, target[i], loss->constants);
  }
  if (kind == SOFTMAX) for (int i = rows; i < CHUNK; i++) lost[i] = 0;
  if (kind != SOFTMAX) for (int i = 0; i < CHUNK; i++) lost[i] = loss_of(kind, score + i, 1, target[i], loss->constants);
  // What has no row counts for nothing.
  for (int i = 0; i < CHUNK; i += SUMS) {
    for (int j = 0; j < SUMS; j++) {
      sums[j] += weight[i + j] * lost[i + j];
      weights[j] += weight[i + j];
    }
  }
}

void tree_loss(const Call *call) {
  const uint32_t *job = (const uint32_t *)operand(call, 4);
  double *totals = (double *)operand(call, 5);
  const Loss loss = {(const double *)operand(call, 0), operand(call, 1), (const double *)operand(call, 2),
                     (const double *)operand(call, 3), (size_t)integer(call, 7)};
  const int count = (int)(job[1] - job[0]), kind = integer(call, 8);
  const int end = share_start(count, BLOCK, call->thread + 1, call->threads);
  for (int start = share_start(count, BLOCK, call->thread, call->threads); start < end; start += BLOCK) {
    const int rows = smaller(BLOCK, end - start);
    double sums[SUMS] = {0}, weights[SUMS] = {0};
    for (int i = 0; i < rows; i += CHUNK) {
      const int own = smaller(CHUNK, rows - i);
#define ADD(name)                                                                                                      \
  case name: add_losses(name, &loss, job[0] + (size_t)(start + i), own, sums, weights); break;
      switch (kind) { EACH_KIND(ADD) }
    }
    double *total = totals + 2 * (start / BLOCK);
    total[0] = total[1] = 0;
    for (int j = 0; j < SUMS; j++) total[0] += sums[j], total[1] += weights[j];
  }
}
