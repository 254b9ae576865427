// Convolution forwards and the gradient of its input; threads share the images, or the filters of few images, or planes. (The
// weight's: conv_weights.h, conv_depthwise_weights.h.)

#pragma once
#include "conv_depthwise.h"
#include "conv_points.h"
#include "conv_winograd.h"

/** A thread's share of the images; of fewer than threads it takes all, and its share of the `rows` that a group has of weights. */
typedef struct {
  int start, end, first, rows;
} Share;

static Share share_images(const Call *call, int batch, int rows) {
  if (batch >= call->threads) {
    const int start = share_start(batch, 1, call->thread, call->threads);
    return (Share){start, share_start(batch, 1, call->thread + 1, call->threads), 0, rows};
  }
  const int first = share_start(rows, 4, call->thread, call->threads);
  return (Share){0, batch, first, share_start(rows, 4, call->thread + 1, call->threads) - first};
}

static void conv2d(const Call *call) {
  const Shape s = read_shape(call, 4);
  const int channels = s.channels / s.groups, filters = s.filters / s.groups, area = s.kernel * s.kernel;
  const ptrdiff_t plane = (ptrdiff_t)s.height * s.width, out_plane = (ptrdiff_t)s.out_height * s.out_width;
  const float *x = operand(call, 0), *bias = operand(call, 2);
  const Tiling tiling = open_tiling(s.height, s.width, s.padding);
  if (winograd_pays(call, &s, &tiling, s.channels, s.filters)) {
    const float *weights = operand(call, 1), *end = weights + (ptrdiff_t)s.filters * s.channels * area;
    const Weights3 w = {weights, s.filters, s.channels, (ptrdiff_t)s.channels * area, area, 0, end};
    const Target target = {
        .planes = operand(call, 3),
        .plane_floats = out_plane,
        .bias = bias,
        .activation = integer(call, 14),
        .slope = real(call, 15),
        .step = 1,
    };
    winograd_share(call, &tiling, &w, x, target, s.filters * out_plane, s.batch);
    return;
  }
  PlaneWork planes = {
      .planes = {s.height, s.width, s.out_height, s.out_width, s.padding, NULL},
      .channels = s.channels,
      .weights = operand(call, 1),
      .target = {.planes = operand(call, 3), .bias = bias, .activation = integer(call, 14), .slope = real(call, 15)},
  };
  if (goes_by_planes(&s, &planes.planes)) {
    convolve_planes(call, &planes, s.batch, x, s.stride == 1 ? STRIDE_1 : STRIDE_2);
    return;
  }
  const Share share = share_images(call, s.batch, filters);
  if (goes_by_points(&s)) {
    const Points points = {
        .weights = operand(call, 1) + (ptrdiff_t)share.first * channels,
        .row_stride = channels,
        .depth_stride = 1,
        .rows = share.rows,
        .depth = channels,
        .images = x + share.start * channels * plane,
        .image_floats = channels * plane,
        .plane = (int)plane,
        .count = share.end - share.start,
        .end = x + s.batch * channels * plane,
        .target =
            {
                .planes = operand(call, 3) + (share.start * filters + share.first) * plane,
                .plane_floats = plane,
                .step = 1,
                .bias = bias ? bias + share.first : NULL,
                .activation = integer(call, 14),
                .slope = real(call, 15),
            },
        .target_floats = filters * plane,
    };
    multiply_points(&points, call->scratch);
    return;
  }
  const View view = forward_view(&s);
  for (int group = 0; share.rows > 0 && group < s.groups; group++) {
    const int first = group * filters + share.first;
    Part part = {.view = &view};
    part.filters = (Filters){
        .weights = operand(call, 1) + (ptrdiff_t)first * channels * area,
        .rows = share.rows,
        .channels = channels,
        .row_stride = (ptrdiff_t)channels * area,
        .channel_stride = area,
    };
    prepare_filters(&view, &part.filters, call->scratch + BAND_FLOATS + TILE_COLUMNS + GRID_FLOATS);
    part.target = (Target){
        .planes = operand(call, 3) + ((ptrdiff_t)share.start * s.filters + first) * out_plane,
        .plane_floats = out_plane,
        .width = s.out_width,
        .step = 1,
        .bias = bias ? bias + first : NULL,
        .activation = integer(call, 14),
        .slope = real(call, 15),
    };
    const float *image = x + ((ptrdiff_t)share.start * s.channels + group * channels) * plane;
    convolve_images(&part, 1, share.end - share.start, image, s.channels * plane, s.filters * out_plane, call->scratch);
  }
}

/** The view of dy by the elements of dx at the rows and columns `phase` modulo the stride; it may have no taps. */
static void see_phase(const Shape *s, int phase_row, int phase_column, View *view) {
  view->height = s->out_height;
  view->width = s->out_width;
  view->stride = 1;
  view->rows = (s->height - phase_row + s->stride - 1) / s->stride;
  view->columns = (s->width - phase_column + s->stride - 1) / s->stride;
  view->count = view->top = view->left = view->bottom = view->right = 0;
  view->border = 0;
  for (int ky = 0; ky < s->kernel; ky++) {
    const int row = phase_row + s->padding - ky * s->dilation;
    if (row % s->stride != 0) continue;
    for (int kx = 0; kx < s->kernel; kx++) {
      const int column = phase_column + s->padding - kx * s->dilation;
      if (column % s->stride == 0) add_tap(view, row / s->stride, column / s->stride, ky * s->kernel + kx);
    }
  }
}

/** Lets views of one image read the same band: each reaches as far as any of them. */
static void share_reach(View *views, int count) {
  View all = {.count = 0};
  for (int i = 0; i < count; i++) {
    for (int tap = 0; tap < views[i].count; tap++) {
      const Tap *t = &views[i].taps[tap];
      const int first = all.count++ == 0;
      all.top = first ? t->row : smaller(all.top, t->row);
      all.left = first ? t->column : smaller(all.left, t->column);
      all.bottom = first ? t->row : -smaller(-all.bottom, -t->row);
      all.right = first ? t->column : -smaller(-all.right, -t->column);
    }
  }
  for (int i = 0; i < count; i++) {
    views[i].top = all.top, views[i].left = all.left, views[i].bottom = all.bottom, views[i].right = all.right;
  }
}

static void conv2d_input_grad(const Call *call) {
  const Shape s = read_shape(call, 5);
  const int channels = s.channels / s.groups, filters = s.filters / s.groups, area = s.kernel * s.kernel;
  const ptrdiff_t plane = (ptrdiff_t)s.height * s.width, out_plane = (ptrdiff_t)s.out_height * s.out_width;
  const float *dy = operand(call, 0), *bias = operand(call, 2), *saved = operand(call, 3);
  const int gradient = integer(call, 17);
  const Tiling tiling = open_tiling(s.out_height, s.out_width, 2 - s.padding);
  if (winograd_pays(call, &s, &tiling, s.filters, s.channels)) {
    const float *weights = operand(call, 1), *end = weights + (ptrdiff_t)s.filters * s.channels * area;
    const Weights3 w = {weights, s.channels, s.filters, area, (ptrdiff_t)s.channels * area, 1, end};
    const Target target = {
        .planes = operand(call, 4),
        .plane_floats = plane,
        .bias = gradient ? NULL : bias,
        .saved = gradient ? saved : NULL,
        .activation = integer(call, 15),
        .slope = real(call, 16),
        .step = 1,
    };
    winograd_share(call, &tiling, &w, dy, target, s.channels * plane, s.batch);
    return;
  }
  PlaneWork planes = {
      .planes = {s.out_height, s.out_width, s.height, s.width, 2 - s.padding, NULL},
      .channels = s.channels,
      .weights = operand(call, 1),
      .turned = s.stride == 1,
      .target =
          {
              .planes = operand(call, 4),
              .bias = gradient ? NULL : bias,
              .saved = gradient ? saved : NULL,
              .activation = integer(call, 15),
              .slope = real(call, 16),
          },
  };
  if (goes_by_planes(&s, &planes.planes) && (s.stride == 1 || s.padding == 1)) {
    convolve_planes(call, &planes, s.batch, dy, s.stride == 1 ? STRIDE_1 : STRIDE_2_BACK);
    return;
  }
  const Share share = share_images(call, s.batch, channels);
  if (goes_by_points(&s)) {
    const ptrdiff_t first = (share.start * channels + share.first) * plane;
    const Points points = {
        .weights = operand(call, 1) + share.first,
        .row_stride = 1,
        .depth_stride = channels,
        .rows = share.rows,
        .depth = filters,
        .images = dy + share.start * filters * plane,
        .image_floats = filters * plane,
        .plane = (int)plane,
        .count = share.end - share.start,
        .end = dy + s.batch * filters * plane,
        .target =
            {
                .planes = operand(call, 4) + first,
                .plane_floats = plane,
                .step = 1,
                .bias = bias && !gradient ? bias + share.first : NULL,
                .saved = gradient ? saved + first : NULL,
                .activation = integer(call, 15),
                .slope = real(call, 16),
            },
        .target_floats = channels * plane,
    };
    multiply_points(&points, call->scratch);
    return;
  }
  // Elements that no product reaches are 0: cleared at once, unless a bias or an activation makes something of them.
  const int clear = s.kernel < s.stride && (gradient || (!bias && integer(call, 15) == NONE));
  const ptrdiff_t image_floats = s.channels * plane, dy_floats = s.filters * out_plane;
  const int images = share.end - share.start;
  // The phases of stride 2 read one band, if their weights fit in scratch memory together.
  const int most = s.stride == 2 && s.kernel > 1 && (ptrdiff_t)share.rows * filters * area <= PACKED_FLOATS ? MAX_PARTS : 1;
  View views[MAX_PARTS];
  Part parts[MAX_PARTS];
  for (int group = 0; share.rows > 0 && group < s.groups; group++) {
    const int channel = group * channels + share.first;
    const ptrdiff_t first = share.start * image_floats + channel * plane;
    const float *image = dy + share.start * dy_floats + group * filters * out_plane;
    for (int n = 0; clear && n < images; n++) {
      memset(operand(call, 4) + first + n * image_floats, 0, sizeof(float) * (size_t)(share.rows * plane));
    }
    // The phases of a group follow each other: they write between one another's elements.
    for (int phase = 0; phase < s.stride * s.stride;) {
      int count = 0;
      for (; count < most && phase < s.stride * s.stride; phase++) {
        const int phase_row = phase / s.stride, phase_column = phase % s.stride;
        if (phase_row >= s.height || phase_column >= s.width) continue;
        see_phase(&s, phase_row, phase_column, &views[count]);
        if (clear && views[count].count == 0) continue;
        parts[count].view = &views[count];
        parts[count].filters = (Filters){
            .weights = operand(call, 1) + ((ptrdiff_t)group * filters * channels + share.first) * area,
            .rows = share.rows,
            .channels = filters,
            .row_stride = area,
            .channel_stride = (ptrdiff_t)channels * area,
        };
        parts[count].target = (Target){
            .planes = operand(call, 4) + first,
            .plane_floats = plane,
            .width = s.width,
            .step = s.stride,
            .origin = phase_row * s.width + phase_column,
            .bias = bias && !gradient ? bias + channel : NULL,
            .saved = gradient ? saved + first : NULL,
            .activation = integer(call, 15),
            .slope = real(call, 16),
        };
        count++;
      }
      if (count == 0) continue;
      share_reach(views, count);
      float *room = call->scratch + BAND_FLOATS + TILE_COLUMNS + GRID_FLOATS;
      for (int i = 0; i < count; i++) {
        if (views[i].count == 0) continue;
        prepare_filters(&views[i], &parts[i].filters, room);
        room += (ptrdiff_t)share.rows * filters * views[i].count;
      }
      convolve_images(parts, count, images, image, dy_floats, image_floats, call->scratch);
    }
  }
}
