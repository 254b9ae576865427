// 3 × 3 convolutions of one channel each (depthwise), forwards and to the input, straight from plane to plane: nothing is copied.
// A strip of LANES columns is walked from top to bottom; each row of the image is loaded once for all rows of results that it goes
// into. Lanes beyond a border are masked and rows beyond one read from a row of zeros, so the loops have no branches.
//
// Whole vectors are read and written: what they write beyond the end of a row belongs to elements that are written later (strips
// go from right to left, rows down, planes upwards). The last planes of a thread's share go through scratch memory instead.

#pragma once
#include "conv.h"

/** Floats that may be read and written beyond a plane's end, and read before its beginning. */
#define PLANE_SLACK (2 * LANES + 4)
#define PLANE_LEAD 16

/** Planes of images and of results. `padding` is that of the results' convolution with the images. */
typedef struct {
  int height, width, out_height, out_width, padding;
  /** A row of zeros that stands in for those beyond the borders. */
  const float *zeros;
} Planes;

/** Channels whose weights' gradients are summed side by side, so that neighbouring planes of an image are read together. */
#define SUMMED_CHANNELS 16

/** What becomes of the sums in registers. Anything else is done to the finished plane. */
enum { AS_THEY_ARE, RELU_APPLIED, RELU_REVERSED };

INLINE Vector finish_lanes(Vector sum, const float *saved, const int finish) {
  if (finish == RELU_APPLIED) return largest(sum, splat(0));
  if (finish == RELU_REVERSED) return sum * derivative_of_output(RELU, load(saved), 0);
  return sum;
}

/** A mask of the lanes i with 0 ≤ first + i < count. */
INLINE IntVector lanes_within(int first, int count) {
  static const int32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const IntVector lanes = (IntVector)load((const float *)numbers) + first;
  return (lanes >= 0) & (lanes < count);
}

INLINE Vector load_masked(const float *from, IntVector mask) { return (Vector)((IntVector)load(from) & mask); }

/** How far right of what the first tap reads for a strip's first result the strip's vector `i` of a row begins. */
INLINE int tap_column(int i, const int stride) { return stride == 1 ? i : (i & 1) * LANES + (i & 2); }

/** What the three taps read of one row, from element `first` on: its vectors side by side, stride 2: every other element of two. */
INLINE void load_taps(const Planes *p, const float *image, int row, ptrdiff_t first, const IntVector *masks, const int stride,
                      Vector *taps) {
  const float *from = (row >= 0 && row < p->height ? image + (ptrdiff_t)row * p->width : p->zeros) + first;
  if (stride == 1) {
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) taps[i] = load_masked(from + i, masks[i]);
  } else {
    const Vector low = load_masked(from, masks[0]), high = load_masked(from + LANES, masks[1]);
    taps[0] = MIX(IntVector, low, high, EVEN_LANES);
    taps[1] = MIX(IntVector, low, high, ODD_LANES);
    taps[2] = MIX(IntVector, load_masked(from + 2, masks[2]), load_masked(from + 2 + LANES, masks[3]), EVEN_LANES);
  }
}

INLINE Vector add_taps(Vector sum, const Vector *weights, const Vector *taps) {
  return sum + weights[0] * taps[0] + weights[1] * taps[1] + weights[2] * taps[2];
}

/** One plane of results. Three rows of them are under way: the one that is finished next, and two that have begun. */
INLINE void convolve_plane(const Planes *p, const float *image, const Vector *weights, Vector bias, float *result,
                           const float *saved, const int stride, const int finish) {
  for (int column = (p->out_width - 1) / LANES * LANES; column >= 0; column -= LANES) {
    const ptrdiff_t first = (ptrdiff_t)column * stride - p->padding;
    IntVector masks[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) masks[i] = lanes_within((int)first + tap_column(i, stride), p->width);
    Vector taps[3];
    load_taps(p, image, -p->padding, first, masks, stride, taps);
    Vector sum = add_taps(bias, weights, taps), next = bias;
    if (stride == 1) {
      load_taps(p, image, 1 - p->padding, first, masks, stride, taps);
      next = add_taps(bias, weights, taps);
      sum = add_taps(sum, weights + 3, taps);
    }
    ptrdiff_t at = column;
    for (int i = 0; i < p->out_height; i++, at += p->out_width) {
      const int row = i * stride - p->padding;
      if (stride == 2) {
        load_taps(p, image, row + 1, first, masks, stride, taps);
        sum = add_taps(sum, weights + 3, taps);
      }
      load_taps(p, image, row + 2, first, masks, stride, taps);
      store(result + at, finish_lanes(add_taps(sum, weights + 6, taps), saved + at, finish));
      const Vector begun = add_taps(bias, weights, taps);
      sum = stride == 1 ? add_taps(next, weights + 3, taps) : begun;
      next = begun;
    }
  }
}

/**
 * One plane of the gradient of the input, stride 2 and padding 1; `image` is dy. Of each 2 × 2 elements one is read by one tap, two
 * by two, one by four.
 */
INLINE void convolve_plane_back(const Planes *p, const float *image, const Vector *w, Vector bias, float *result,
                                const float *saved, const int finish) {
  for (int column = (p->width - 1) / LANES * LANES; column >= 0; column -= LANES) {
    const IntVector here = lanes_within(column, p->width), right = lanes_within(column + 1, p->width);
    const int wide = 2 * column + LANES < p->out_width;
    Vector above = load_masked(image + column, here), above_right = load_masked(image + column + 1, right);
    for (int i = 0; i < p->height; i++) {
      const float *from = (i + 1 < p->height ? image + (ptrdiff_t)(i + 1) * p->width : p->zeros) + column;
      const Vector below = load_masked(from, here), below_right = load_masked(from + 1, right);
      ptrdiff_t at = 2 * ((ptrdiff_t)i * p->out_width + column);
      for (int odd = 0; odd < 2 && 2 * i + odd < p->out_height; odd++, at += p->out_width) {
        const Vector even = odd ? bias + w[7] * above + w[1] * below : bias + w[4] * above;
        const Vector other = odd ? bias + w[8] * above + w[6] * above_right + w[2] * below + w[0] * below_right
                                 : bias + w[5] * above + w[3] * above_right;
        store(result + at, finish_lanes(MIX(IntVector, even, other, LOW_PAIRS), saved + at, finish));
        if (!wide) continue;
        store(result + at + LANES, finish_lanes(MIX(IntVector, even, other, HIGH_PAIRS), saved + at + LANES, finish));
      }
      above = below;
      above_right = below_right;
    }
  }
}

/** A convolution of planes, and where they stand: `target` is that of the first. */
typedef struct {
  Planes planes;
  int channels;
  const float *weights;
  /** Taps are counted from the end. */
  int turned;
  Target target;
} PlaneWork;

/** How planes are turned into others. */
enum { STRIDE_1, STRIDE_2, STRIDE_2_BACK };

/** Does it for planes first … last, of which `image`, `result` and `saved` are the first's. */
INLINE void run_planes(const PlaneWork *w, int first, int last, const float *image, float *result, const float *saved,
                       const int way, const int finish) {
  const PlaneWork own = *w;
  const Planes planes = own.planes;
  const ptrdiff_t plane = (ptrdiff_t)planes.height * planes.width, out_plane = (ptrdiff_t)planes.out_height * planes.out_width;
  const int others = finish == AS_THEY_ARE && (saved || own.target.activation != NONE);
  for (int i = first, channel = first % own.channels; i < last; i++, channel++, image += plane, result += out_plane) {
    if (channel == own.channels) channel = 0;
    const float *nine = own.weights + 9 * (ptrdiff_t)channel;
    Vector weights[9];
#pragma GCC unroll 9
    for (int tap = 0; tap < 9; tap++) weights[tap] = splat(nine[own.turned ? 8 - tap : tap]);
    const Vector bias = splat(own.target.bias ? own.target.bias[channel] : 0);
    if (way == STRIDE_2_BACK) convolve_plane_back(&planes, image, weights, bias, result, saved, finish);
    else convolve_plane(&planes, image, weights, bias, result, saved, way == STRIDE_1 ? 1 : 2, finish);
    for (ptrdiff_t j = 0; others && j < out_plane; j += LANES) {
      store(result + j, finish_sum(&own.target, load(result + j), saved ? saved + j : NULL));
    }
    if (saved) saved += out_plane;
  }
}

typedef void (*PlaneFunction)(const PlaneWork *w, int first, int last, const float *image, float *result, const float *saved);

#define DEFINE_PLANES(name, way, finish)                                                                               \
  static void name(const PlaneWork *w, int first, int last, const float *x, float *y, const float *saved) {            \
    run_planes(w, first, last, x, y, saved, way, finish);                                                              \
  }

DEFINE_PLANES(planes_1, STRIDE_1, AS_THEY_ARE)
DEFINE_PLANES(planes_2, STRIDE_2, AS_THEY_ARE)
DEFINE_PLANES(planes_2_back, STRIDE_2_BACK, AS_THEY_ARE)
DEFINE_PLANES(planes_1_relu, STRIDE_1, RELU_APPLIED)
DEFINE_PLANES(planes_2_relu, STRIDE_2, RELU_APPLIED)
DEFINE_PLANES(planes_2_back_relu, STRIDE_2_BACK, RELU_APPLIED)
DEFINE_PLANES(planes_1_relu_grad, STRIDE_1, RELU_REVERSED)
DEFINE_PLANES(planes_2_relu_grad, STRIDE_2, RELU_REVERSED)
DEFINE_PLANES(planes_2_back_relu_grad, STRIDE_2_BACK, RELU_REVERSED)

/** By the way and by what becomes of the sums. */
static const PlaneFunction plane_functions[3][3] = {
    {planes_1, planes_1_relu, planes_1_relu_grad},
    {planes_2, planes_2_relu, planes_2_relu_grad},
    {planes_2_back, planes_2_back_relu, planes_2_back_relu_grad},
};

/** Planes at the end of a share that whole vectors might reach beyond. */
INLINE int last_planes(const Planes *p) {
  const int floats = smaller(p->height * p->width, p->out_height * p->out_width);
  return (PLANE_SLACK + floats - 1) / floats;
}

/** Scratch memory that the last planes take, in floats. */
INLINE double plane_scratch(const Planes *p) {
  const double floats = (double)p->height * p->width + 2.0 * p->out_height * p->out_width;
  return last_planes(p) * floats + p->width + p->out_width + 5 * (PLANE_LEAD + PLANE_SLACK) + SUMMED_CHANNELS * 9 * LANES;
}

/** A 3 × 3 convolution of one filter a channel that goes from plane to plane. */
static int goes_by_planes(const Shape *s, const Planes *p) {
  return s->groups > 1 && s->groups == s->channels && s->groups == s->filters && s->kernel == 3 && s->dilation == 1 &&
         (s->stride == 1 || s->stride == 2) && s->padding <= 2 && plane_scratch(p) <= SCRATCH_FLOATS;
}

/** Clears the row of zeros at the beginning of the scratch memory; returns what is free behind it. */
static float *clear_zeros(Planes *p, float *scratch) {
  const size_t floats = PLANE_LEAD + (size_t)(p->width + p->out_width) + PLANE_SLACK;
  p->zeros = memset(scratch, 0, sizeof(float) * floats);
  p->zeros += PLANE_LEAD;
  return scratch + floats + PLANE_LEAD;
}

/** Convolves this thread's share of the planes of `batch` images. */
static void convolve_planes(const Call *call, PlaneWork *w, int batch, const float *image, int way) {
  Planes *p = &w->planes;
  const Target *t = &w->target;
  const ptrdiff_t plane = (ptrdiff_t)p->height * p->width, out_plane = (ptrdiff_t)p->out_height * p->out_width;
  const int start = share_start(batch * w->channels, 1, call->thread, call->threads);
  const int end = share_start(batch * w->channels, 1, call->thread + 1, call->threads);
  const int last = smaller(end - start, last_planes(p)), middle = end - last;
  const PlaneFunction run = plane_functions[way][t->activation != RELU ? AS_THEY_ARE : t->saved ? RELU_REVERSED : RELU_APPLIED];
  float *images = clear_zeros(p, call->scratch), *kept = images + last * plane + PLANE_SLACK;
  float *results = kept + last * out_plane + PLANE_SLACK;
  run(w, start, middle, image + start * plane, t->planes + start * out_plane, t->saved ? t->saved + start * out_plane : NULL);
  memcpy(images, image + middle * plane, sizeof(float) * (size_t)(last * plane));
  if (t->saved) memcpy(kept, t->saved + middle * out_plane, sizeof(float) * (size_t)(last * out_plane));
  run(w, middle, end, images, results, t->saved ? kept : NULL);
  memcpy(t->planes + middle * out_plane, results, sizeof(float) * (size_t)(last * out_plane));
}
