// The weight gradient of a depthwise convolution: a product of one row and one column a channel, so no product at all, but long
// sums. dy is spread to the width of the band with zeros between its rows; then each tap's gradient is one sum over neighbours.

#pragma once
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

static void conv2d_weight_grad(const Call *call) {
  const Shape s = read_shape(call, 4);
  const View view = forward_view(&s);
  const Tiling tiling = open_tiling(s.height, s.width, s.padding);
  if (winograd_pays(call, &s, &tiling, s.channels, s.filters)) winograd_weights(call, &s, &tiling);
  else if (is_depthwise(&s, &view)) depthwise_weights(call, &s, &view);
  else weight_products(call, &s, &view);
  bias_gradient(call, &s);
}
