// The sums of batch norm over images, forwards and backward: a channel's planes one after the other, or, where they are small, element
// by element of some neighbouring channels, which lie side by side in an image.

#pragma once
#include "kernels.h"
#include "vectors.h"

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

/** By halves: few additions wait for each other. */
static float sum_lanes(Vector v) {
  Four sums = {0};
  for (int i = 0; i < LANES; i += 4) sums += (Four){v[i], v[i + 1], v[i + 2], v[i + 3]};
  return sums[0] + sums[2] + (sums[1] + sums[3]);
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
/** So many elements at a time, the next image's plane is fetched: it lies too far away for the processor to see it coming. */
#define FETCHED 64
#define LINE 16
#define MOST_TOGETHER 128
/** Elements of a plane up to which its channels are summed up element by element. */
#define SMALL_INNER 64

static int channels_together(const Channels *c) {
  const int most = STRETCH_FLOATS / c->inner;
  return most < 1 ? 1 : smaller(most, MOST_TOGETHER);
}

INLINE void fetch_lines(const float *from, const int to_write) {
#pragma GCC unroll 4
  for (int j = 0; j < FETCHED; j += LINE) __builtin_prefetch(from + j, to_write);
}

/** From a plane of an image to the next image's; of the last one to itself. */
INLINE ptrdiff_t plane_ahead(const Channels *c, int o) { return o + 1 < c->outer ? plane_start(c, 1, 0) : 0; }

/** Two sums of a channel, of its planes one after the other: by lane, and of what is left of each plane. */
typedef struct {
  Vector first, second;
  float rest_first, rest_second;
} Sums;

/** Adds a plane: first += Σa, second += Σa·(x − centre), where a = dy, or x − centre without dy. The one `ahead` is fetched. */
INLINE void add_plane(const float *dy, const float *x, int count, float centre, ptrdiff_t ahead, Sums *sums) {
  Vector first[4] = {{0}}, second[4] = {{0}};
  int i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
    for (int j = i; j < i + 4 * LANES; j += LINE) {
      __builtin_prefetch(x + j + ahead);
      if (dy) __builtin_prefetch(dy + j + ahead);
    }
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

/** Planes of some channels of an image, which lie side by side: what belongs to a channel stands beside each of its elements. */
typedef float Stretch[STRETCH_FLOATS + LANES] __attribute__((aligned(4 * LANES)));

/** Whether the channels that are summed up together go by stretches: planes are too small for loops of their own. */
static int goes_by_stretches(const Channels *c) { return c->inner <= SMALL_INNER; }

/** By whole vectors: what they write too much belongs to channels that follow. */
static void spread_channels(const float *values, int count, int inner, float *stretch) {
  for (int k = 0; k < count; k++) for (int i = 0; i < inner; i += LANES) store(stretch + k * inner + i, splat(values[k]));
}

/** Adds up each channel of a stretch, some channels side by side: an addition would wait for the one before. */
static void total_channels(const float *stretch, int count, int inner, double *totals) {
  enum { SIDE_BY_SIDE = 8 };
  int k = 0;
  for (; k + SIDE_BY_SIDE <= count; k += SIDE_BY_SIDE) {
    double sums[SIDE_BY_SIDE] = {0};
    for (int i = 0; i < inner; i++) {
#pragma GCC unroll 8
      for (int u = 0; u < SIDE_BY_SIDE; u++) sums[u] += stretch[(k + u) * inner + i];
    }
    memcpy(totals + k, sums, sizeof(sums));
  }
  for (; k < count; k++) {
    totals[k] = 0;
    for (int i = 0; i < inner; i++) totals[k] += stretch[k * inner + i];
  }
}

/** As add_plane for each element of a stretch by itself, over the images: first += Σa, second += Σa·(x − centre). */
INLINE void add_stretch(const float *dy, const float *x, ptrdiff_t apart, const int images, int count, const float *centre,
                        float *first, float *second) {
  int i = 0;
  for (; i + LANES <= count; i += LANES) {
    Vector sum = splat(0), product = splat(0);
#pragma GCC unroll 4
    for (int n = 0; n < images; n++) {
      const Vector centred = load(x + n * apart + i) - load(centre + i), a = dy ? load(dy + n * apart + i) : centred;
      sum += a;
      product += a * centred;
    }
    store(first + i, load(first + i) + sum);
    store(second + i, load(second + i) + product);
  }
  for (; i < count; i++) {
    float sum = 0, product = 0;
    for (int n = 0; n < images; n++) {
      const float centred = x[n * apart + i] - centre[i], a = dy ? dy[n * apart + i] : centred;
      sum += a;
      product += a * centred;
    }
    first[i] += sum;
    second[i] += product;
  }
}

/** Sums of the channels first … first + count over all images, by channel. */
INLINE void sum_stretches(const Channels *c, const float *dy, const float *x, const float *centres, int first, int count,
                          double *sums, double *products) {
  enum { IMAGES = 4 };
  Stretch centre, sum, product;
  const int length = count * c->inner;
  const ptrdiff_t apart = (ptrdiff_t)c->channels * c->inner;
  spread_channels(centres, count, c->inner, centre);
  memset(sum, 0, sizeof(float) * (size_t)length);
  memset(product, 0, sizeof(float) * (size_t)length);
  x += plane_start(c, 0, first);
  if (dy) dy += plane_start(c, 0, first);
  int o = 0;
  for (; o + IMAGES <= c->outer; o += IMAGES) {
    add_stretch(dy ? dy + o * apart : NULL, x + o * apart, apart, IMAGES, length, centre, sum, product);
  }
  for (; o < c->outer; o++) add_stretch(dy ? dy + o * apart : NULL, x + o * apart, apart, 1, length, centre, sum, product);
  total_channels(sum, count, c->inner, sums);
  total_channels(product, count, c->inner, products);
}

/** Of the channels first … first + count: Σa and Σa·(x − centre), where a = dy, or x − centre without dy. */
INLINE void sum_channels(const Channels *c, const float *dy, const float *x, const float *centres, int first, int count,
                         double *sums, double *products) {
  if (goes_by_stretches(c)) {
    sum_stretches(c, dy, x, centres, first, count, sums, products);
    return;
  }
  Sums lanes[MOST_TOGETHER];
  memset(lanes, 0, sizeof(Sums) * (size_t)count);
  for (int o = 0; o < c->outer; o++) {
    for (int k = 0; k < count; k++) {
      const ptrdiff_t at = plane_start(c, o, first + k);
      add_plane(dy ? dy + at : NULL, x + at, c->inner, centres[k], plane_ahead(c, o), &lanes[k]);
    }
  }
  for (int k = 0; k < count; k++) {
    sums[k] = total_of(lanes[k].first, lanes[k].rest_first);
    products[k] = total_of(lanes[k].second, lanes[k].rest_second);
  }
}
