// The weight gradient of a depthwise convolution: a product of one row and one column a channel, so no product at all, but long
// sums. 3 × 3: nine vectors of sums are kept while strips of a plane are walked as in conv_depthwise.h. Other kernels: dy is
// spread to the width of the band with zeros between its rows; then each tap's gradient is one sum over neighbours.

#pragma once
#include "conv_depthwise.h"
#include "conv_points.h"
#include "conv_weights.h"
#include "winograd_weights.h"

/** Σ a·b */
static float sum_products(const float *a, const float *b, int count) {
  Vector sums[4] = {{0}};
  int i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) sums[j] += load(a + i + j * LANES) * load(b + i + j * LANES);
  }
  for (; i + LANES <= count; i += LANES) sums[0] += load(a + i) * load(b + i);
  const Vector all = sums[0] + sums[1] + (sums[2] + sums[3]);
  float total = 0;
  for (int j = 0; j < LANES; j++) total += all[j];
  for (; i < count; i++) total += a[i] * b[i];
  return total;
}

/** Each channel has one filter, and a whole plane fits the scratch memory. */
static int is_depthwise(const Shape *s, const View *v) {
  const Band band = open_band(v, 1, 0, s->out_height);
  const ptrdiff_t spread = (ptrdiff_t)s->out_height * band.plane_columns;
  return s->groups > 1 && s->groups == s->channels && s->groups == s->filters && band.channel_floats <= BAND_FLOATS &&
         spread <= DY_FLOATS;
}

/** target[row, column] = dy[row, column] in rows of `columns`, zeros to the end of `rows` of them. */
static void spread_plane(const float *dy, const Shape *s, int rows, int columns, float *target) {
  for (int row = 0; row < s->out_height; row++, dy += s->out_width, target += columns) {
    copy_floats(target, dy, s->out_width);
    for (int j = s->out_width; j < columns; j++) target[j] = 0;
  }
  memset(target, 0, sizeof(float) * (size_t)((rows - s->out_height) * columns));
}

/** dw for this thread's share of the channels. Small images are summed together, as many as the shape says. */
static void depthwise_weights(const Call *call, const Shape *s, const View *v) {
  const int together = images_together(v, s->batch);
  const ptrdiff_t plane = (ptrdiff_t)s->height * s->width, out_plane = (ptrdiff_t)s->out_height * s->out_width;
  float *floats = call->scratch, *spread = floats + BAND_FLOATS + TILE_COLUMNS;
  const int end = share_start(s->channels, 1, call->thread + 1, call->threads);
  for (int channel = share_start(s->channels, 1, call->thread, call->threads); channel < end; channel++) {
    float *dw = operand(call, 2) + (ptrdiff_t)channel * v->count;
    memset(dw, 0, sizeof(float) * (size_t)v->count);
    for (int n = 0; n < s->batch; n += together) {
      const Band band = open_band(v, smaller(together, s->batch - n), 0, s->out_height);
      const ptrdiff_t image = (ptrdiff_t)n * s->channels + channel;
      const int span = band.plane_rows * band.plane_columns;
      fill_band(v, &band, operand(call, 0) + image * plane, s->channels * plane, 1, floats);
      for (int i = 0; i < band.images; i++) {
        const float *dy = operand(call, 1) + (image + (ptrdiff_t)i * s->channels) * out_plane;
        const int rows = i + 1 < band.images ? band.plane_rows : s->out_height;
        spread_plane(dy, s, rows, band.plane_columns, spread + (ptrdiff_t)i * span);
      }
      const int length = (band.images - 1) * span + (s->out_height - 1) * band.plane_columns + s->out_width;
      for (int tap = 0; tap < v->count; tap++) {
        dw[tap] += sum_products(floats + tap_offset(v, &band, tap), spread, length);
      }
    }
  }
}

/** sums[tap] += Σ dy·x over a plane, in lanes. */
INLINE void sum_plane(const Planes *planes, const float *image, const float *dy, float *sums, const int stride) {
  const Planes own = *planes, *p = &own;
  Vector partial[9];
#pragma GCC unroll 9
  for (int tap = 0; tap < 9; tap++) partial[tap] = splat(0);
  for (int column = 0; column < p->out_width; column += LANES) {
    const ptrdiff_t first = (ptrdiff_t)column * stride - p->padding;
    const IntVector here = lanes_within(column, p->out_width);
    IntVector masks[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) masks[i] = lanes_within((int)first + tap_column(i, stride), p->width);
    Vector taps[3];
    if (stride == 1) {
      // A row of the image meets three rows of dy.
      const float *row = dy + column;
      Vector above = p->padding > 1 ? load_masked(row, here) : splat(0);
      Vector level = p->padding > 0 ? load_masked(row + (p->padding - 1) * (ptrdiff_t)p->out_width, here) : splat(0);
      for (int i = 0; i < p->height; i++) {
        const int next = i + p->padding;
        const float *from = next < p->out_height ? row + (ptrdiff_t)next * p->out_width : p->zeros;
        const Vector below = load_masked(from, here);
        load_taps(p, image, i, first, masks, stride, taps);
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
          partial[k] += below * taps[k];
          partial[3 + k] += level * taps[k];
          partial[6 + k] += above * taps[k];
        }
        above = level;
        level = below;
      }
      continue;
    }
    load_taps(p, image, -p->padding, first, masks, stride, taps);
    for (int i = 0; i < p->out_height; i++) {
      const Vector gradient = load_masked(dy + (ptrdiff_t)i * p->out_width + column, here);
#pragma GCC unroll 3
      for (int k = 0; k < 3; k++) partial[k] += gradient * taps[k];
      load_taps(p, image, i * stride + 1 - p->padding, first, masks, stride, taps);
#pragma GCC unroll 3
      for (int k = 0; k < 3; k++) partial[3 + k] += gradient * taps[k];
      load_taps(p, image, i * stride + 2 - p->padding, first, masks, stride, taps);
#pragma GCC unroll 3
      for (int k = 0; k < 3; k++) partial[6 + k] += gradient * taps[k];
    }
  }
#pragma GCC unroll 9
  for (int tap = 0; tap < 9; tap++) store(sums + tap * LANES, load(sums + tap * LANES) + partial[tap]);
}

/** dw for this thread's share of the channels: image by image, a plane's sums by themselves first, since short sums round less. */
INLINE void sum_planes(const Call *call, Planes *p, int channels, int batch, const int stride) {
  const ptrdiff_t plane = (ptrdiff_t)p->height * p->width, out_plane = (ptrdiff_t)p->out_height * p->out_width;
  const ptrdiff_t last = (ptrdiff_t)batch * channels - last_planes(p);
  float *sums = clear_zeros(p, call->scratch), *image = sums + SUMMED_CHANNELS * 9 * LANES, *gradient = image + plane + PLANE_SLACK;
  const int end = share_start(channels, 1, call->thread + 1, call->threads);
  for (int first = share_start(channels, 1, call->thread, call->threads); first < end; first += SUMMED_CHANNELS) {
    const int count = smaller(SUMMED_CHANNELS, end - first);
    memset(sums, 0, sizeof(float) * 9 * LANES * (size_t)count);
    for (int n = 0; n < batch; n++) {
      for (int i = 0; i < count; i++) {
        const ptrdiff_t at = (ptrdiff_t)n * channels + first + i;
        const float *x = operand(call, 0) + at * plane, *dy = operand(call, 1) + at * out_plane;
        if (at >= last) {
          x = memcpy(image, x, sizeof(float) * (size_t)plane);
          dy = memcpy(gradient, dy, sizeof(float) * (size_t)out_plane);
        }
        sum_plane(p, x, dy, sums + 9 * LANES * i, stride);
      }
    }
    float *dw = operand(call, 2) + 9 * (ptrdiff_t)first;
    for (int tap = 0; tap < 9 * count; tap++) {
      float *lanes = sums + tap * LANES;
      for (int half = LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
      }
      dw[tap] = lanes[0];
    }
  }
}

static void conv2d_weight_grad(const Call *call) {
  const Shape s = read_shape(call, 4);
  const View view = forward_view(&s);
  const Tiling tiling = open_tiling(s.height, s.width, s.padding);
  Planes planes = {s.height, s.width, s.out_height, s.out_width, s.padding, NULL};
  if (winograd_pays(call, &s, &tiling, s.channels, s.filters)) winograd_weights(call, &s, &tiling);
  else if (goes_by_planes(&s, &planes)) {
    if (s.stride == 1) sum_planes(call, &planes, s.channels, s.batch, 1);
    else sum_planes(call, &planes, s.channels, s.batch, 2);
  } else if (is_pointwise(&s)) {
    const Block block = share_block(s.filters, s.channels, call->thread, call->threads);
    point_weights(&s, &block, operand(call, 0), operand(call, 1), operand(call, 2), call->scratch);
  } else if (is_depthwise(&s, &view)) depthwise_weights(call, &s, &view);
  else weight_products(call, &s, &view);
  bias_gradient(call, &s);
}
