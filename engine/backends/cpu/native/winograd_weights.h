// The gradient of the weight of a 3 × 3 convolution by Winograd's transforms: at each of 36 points the products of transformed tiles
// of x, [tile][channel], with transformed tiles of dy, [tile][filter], summed over the tiles of all images. Threads share the
// channels; the blocks of tiles follow from the shape alone, so every sum has one order.

#pragma once
#include "conv_winograd.h"

/** Transformed gradients of the results in the rows of tiles first … last of one image, for LANES filters. */
static void transform_gradients(const Tiling *t, const float *planes, int filters, int first, int last, Tiles to,
                                float *pixels, float *line) {
  const float *image = spread_rows(planes, t->out_height, t->out_width, filters, first * STEP,
                                   smaller(last * STEP, t->out_height), pixels);
  const ptrdiff_t line_row = (ptrdiff_t)t->columns * STEP * LANES;
  for (int i = 0; i < SIDE; i++) {
    for (int x = t->out_width; x < t->columns * STEP; x++) store(line + i * line_row + (ptrdiff_t)x * LANES, splat(0));
  }
  for (int tile_row = first; tile_row < last; tile_row++) {
    for (int x = 0; x < t->out_width; x++) {
      Vector g[STEP], m[SIDE];
#pragma GCC unroll 4
      for (int i = 0; i < STEP; i++) {
        const int y = tile_row * STEP + i;
        g[i] = y < t->out_height ? load(image + ((ptrdiff_t)y * t->out_width + x) * LANES) : splat(0);
      }
      transform_gradient(g, m);
#pragma GCC unroll 6
      for (int i = 0; i < SIDE; i++) store(line + i * line_row + (ptrdiff_t)x * LANES, m[i]);
    }
    for (int tile = 0; tile < t->columns; tile++, to.at += to.row) {
      for (int i = 0; i < SIDE; i++) {
        const float *from = line + i * line_row + (ptrdiff_t)tile * STEP * LANES;
        Vector g[STEP], m[SIDE];
#pragma GCC unroll 4
        for (int j = 0; j < STEP; j++) g[j] = load(from + j * LANES);
        transform_gradient(g, m);
#pragma GCC unroll 6
        for (int j = 0; j < SIDE; j++) store(to.at + (i * SIDE + j) * to.point, m[j]);
      }
    }
  }
}

/** dw of a block of filters and channels from its sums at the points, [point][channel][filter]. */
static void finish_filters(Tiles sums, int channels, int filters, float *dw, ptrdiff_t filter_floats) {
  for (int c = 0; c < channels; c++, dw += 9) {
    for (int f = 0; f < filters; f += LANES) {
      const float *from = sums.at + c * sums.row + f;
      Vector half[3][SIDE];
#pragma GCC unroll 6
      for (int i = 0; i < SIDE; i++) {
        Vector u[SIDE], w[3];
#pragma GCC unroll 6
        for (int j = 0; j < SIDE; j++) u[j] = load(from + (i * SIDE + j) * sums.point);
        finish_weights(u, w);
#pragma GCC unroll 3
        for (int j = 0; j < 3; j++) half[j][i] = w[j];
      }
      float taps[9][LANES];
#pragma GCC unroll 3
      for (int j = 0; j < 3; j++) {
        Vector w[3];
        finish_weights(half[j], w);
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++) store(taps[3 * i + j], w[i]);
      }
      for (int lane = 0; lane < smaller(LANES, filters - f); lane++) {
        for (int tap = 0; tap < 9; tap++) dw[(f + lane) * filter_floats + tap] = taps[tap][lane];
      }
    }
  }
}

/** dw for this thread's share of the channels. */
static void winograd_weights(const Call *call, const Shape *s, const Tiling *t) {
  const float *x = operand(call, 0), *dy = operand(call, 1);
  float *dw = operand(call, 2);
  const ptrdiff_t plane = (ptrdiff_t)t->height * t->width, out_plane = (ptrdiff_t)t->out_height * t->out_width;
  const int first_channel = share_start(s->channels, 4, call->thread, call->threads);
  const int last_channel = share_start(s->channels, 4, call->thread + 1, call->threads);
  const int channel_block = smaller(WEIGHT_BLOCK, s->channels), filter_block = smaller(WEIGHT_BLOCK, s->filters);
  float *products = call->scratch + POINT_WEIGHTS, *pixels = products + POINT_TILES, *line = pixels + PIXEL_FLOATS;
  const int stretch = (PIXEL_FLOATS / LANES - LANES) / ((t->width > t->out_width ? t->width : t->out_width) * STEP) - 1;
  const int block = smaller(rows_of_block(t, channel_block, filter_block, CACHED_TILES), s->batch * t->rows);
  const int most = block * t->columns;
  const Tiles image = open_tiles(products, most, channel_block);
  const Tiles gradient = open_tiles(products + POINTS * image.point, most, filter_block);
  const Tiles sums = open_tiles(call->scratch, channel_block, filter_block);
  for (int channel = first_channel; channel < last_channel; channel += channel_block) {
    const int channels = smaller(channel_block, last_channel - channel);
    for (int filter = 0; filter < s->filters; filter += filter_block) {
      const int filters = smaller(filter_block, s->filters - filter);
      for (int first = 0, last; first < s->batch * t->rows; first = last) {
        last = smaller(first + block, s->batch * t->rows);
        for (int from = first, to; from < last; from = to) {
          const int n = from / t->rows, row = from % t->rows, tile = (from - first) * t->columns;
          to = smaller(smaller(last, from + stretch), (n + 1) * t->rows);
          for (int c = 0; c < channels; c += LANES) {
            const Tiles part = {image.at + tile * image.row + c, image.point, image.row};
            const float *planes = x + ((ptrdiff_t)n * s->channels + channel + c) * plane;
            transform_tiles(t, planes, smaller(LANES, channels - c), row, row + to - from, part, pixels, line);
          }
          for (int f = 0; f < filters; f += LANES) {
            const Tiles part = {gradient.at + tile * gradient.row + f, gradient.point, gradient.row};
            const float *planes = dy + ((ptrdiff_t)n * s->filters + filter + f) * out_plane;
            transform_gradients(t, planes, smaller(LANES, filters - f), row, row + to - from, part, pixels, line);
          }
        }
        for (int point = 0; point < POINTS; point++) {
          multiply_point(image.at + point * image.point, 1, image.row, channels, gradient.at + point * gradient.point,
                         gradient.row, (last - first) * t->columns, sums.at + point * sums.point, sums.row,
                         round_up(filters, LANES), first > 0 ? ADD_AFTER : 0);
        }
      }
      float *to = dw + ((ptrdiff_t)filter * s->channels + channel) * 9;
      finish_filters(sums, channels, filters, to, (ptrdiff_t)s->channels * 9);
    }
  }
}
