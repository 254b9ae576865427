// 3 × 3 convolutions of stride 1 by Winograd's F(4×4, 3×3) (winograd.h), forwards and for the gradient of the input. Rows of tiles,
// over all images of a thread, are taken in blocks: image → transformed tiles [point][tile][channel] → a product with the
// transformed weights at each of the 36 points → [point][tile][filter] → results. Sums run over the channels in order, so the
// bits of a result do not depend on the block, and so not on the number of threads.

#pragma once
#include "conv.h"
#include "winograd.h"

/** Parts of the scratch memory, in floats, beside POINT_TILES: transformed weights, transposed pixels, rows under way. */
#define POINT_WEIGHTS (POINTS * (64 * 64 + 64))
#define PIXEL_FLOATS (128 * 1024)
#define LINE_FLOATS (SIDE * LANES * 280)
/** Channels and filters of a block of weights where not all fit. */
#define WEIGHT_BLOCK 64
/** Widest image. */
#define MOST_COLUMNS 256
/** Fewest channels and filters: the transforms of fewer cost more than the products they save. */
#define LEAST_CHANNELS 12
/** Fewest multiply-adds of a call (some 30 µs): below, direct sums cost little and round less. */
#define LEAST_PRODUCTS (2.0 * 1024 * 1024)

_Static_assert(POINT_WEIGHTS + POINT_TILES + PIXEL_FLOATS + LINE_FLOATS <= SCRATCH_FLOATS, "Winograd's scratch memory");

INLINE int round_up(int count, int grain) { return (count + grain - 1) / grain * grain; }

/** Images and the tiles that cover the results of a 3 × 3 convolution. */
typedef struct {
  int height, width, padding;
  int out_height, out_width;
  /** Tiles a column and a row of an image. */
  int rows, columns;
} Tiling;

static Tiling open_tiling(int height, int width, int padding) {
  Tiling t = {.height = height, .width = width, .padding = padding};
  t.out_height = height + 2 * padding - 2;
  t.out_width = width + 2 * padding - 2;
  t.rows = (t.out_height + STEP - 1) / STEP;
  t.columns = (t.out_width + STEP - 1) / STEP;
  return t;
}

/** Transformed tiles: the channel c of tile t at point p is at[p · point + t · row + c]. */
typedef struct {
  float *at;
  ptrdiff_t point, row;
} Tiles;

/** Room for `count` tiles of `channels`; points are kept from falling into the same lines of the cache. */
static Tiles open_tiles(float *at, int count, int channels) {
  const ptrdiff_t row = round_up(channels, LANES);
  return (Tiles){at, count * row + LANES, row};
}

/** pixels[p][lane] = planes[lane][p] for `channels` lanes, 0 for the others. */
static void spread_pixels(const float *planes, ptrdiff_t plane, int channels, int count, float *pixels) {
  for (int p = 0; p < count; p += LANES) {
    if (p + LANES > count) p = count - LANES;
    Vector square[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) square[i] = i < channels ? load(planes + i * plane + p) : splat(0);
    transpose_square(square);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) store(pixels + (ptrdiff_t)(p + i) * LANES, square[i]);
  }
}

/**
 * The rows first … last of an image's planes (no less than LANES pixels) with lanes for channels. Returns where row 0 would stand.
 */
static const float *spread_rows(const float *planes, int height, int width, int channels, int first, int last,
                                float *pixels) {
  const int start = smaller(first * width, height * width - LANES);
  const int count = last * width - start > LANES ? last * width - start : LANES;
  spread_pixels(planes + start, (ptrdiff_t)height * width, channels, count, pixels);
  return pixels - (ptrdiff_t)start * LANES;
}

/** Transformed tiles of the rows of tiles first … last of one image, for LANES channels. */
static void transform_tiles(const Tiling *t, const float *planes, int channels, int first, int last, Tiles to,
                            float *pixels, float *line) {
  const int top = first * STEP - t->padding, bottom = (last - 1) * STEP - t->padding + SIDE;
  const float *image = spread_rows(planes, t->height, t->width, channels, top > 0 ? top : 0, smaller(bottom, t->height), pixels);
  const int columns = t->columns * STEP + SIDE - STEP, end = smaller(t->width, columns - t->padding);
  const ptrdiff_t line_row = (ptrdiff_t)columns * LANES;
  for (int i = 0; i < SIDE; i++) {
    float *row = line + i * line_row;
    for (int x = 0; x < t->padding; x++) store(row + x * LANES, splat(0));
    for (int x = end + t->padding; x < columns; x++) store(row + (ptrdiff_t)x * LANES, splat(0));
  }
  for (int tile_row = first; tile_row < last; tile_row++) {
    const int y = tile_row * STEP - t->padding;
    for (int x = 0; x < end; x++) {
      Vector d[SIDE], v[SIDE];
#pragma GCC unroll 6
      for (int i = 0; i < SIDE; i++) {
        const int inside = y + i >= 0 && y + i < t->height;
        d[i] = inside ? load(image + ((ptrdiff_t)(y + i) * t->width + x) * LANES) : splat(0);
      }
      transform_image(d, v);
#pragma GCC unroll 6
      for (int i = 0; i < SIDE; i++) store(line + i * line_row + (ptrdiff_t)(x + t->padding) * LANES, v[i]);
    }
    for (int tile = 0; tile < t->columns; tile++, to.at += to.row) {
      for (int i = 0; i < SIDE; i++) {
        const float *from = line + i * line_row + (ptrdiff_t)tile * STEP * LANES;
        Vector d[SIDE], v[SIDE];
#pragma GCC unroll 6
        for (int j = 0; j < SIDE; j++) d[j] = load(from + j * LANES);
        transform_image(d, v);
#pragma GCC unroll 6
        for (int j = 0; j < SIDE; j++) store(to.at + (i * SIDE + j) * to.point, v[j]);
      }
    }
  }
}

/** planes[lane][p] = pixels[p][lane] and what follows the sums, for `planes` of them from `plane` on: elements from `start` on. */
static void store_pixels(const Target *target, int plane, int planes, int start, int count, const float *pixels) {
  for (int p = 0; p < count; p += LANES) {
    const int some = count < LANES;
    if (!some && p + LANES > count) p = count - LANES;
    Vector square[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) square[i] = load(pixels + (ptrdiff_t)(p + i) * LANES);
    transpose_square(square);
    float sums[LANES * LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) store(sums + i * LANES, square[i]);
    for (int i = 0; i < planes; i++) {
      const Vector sum = load(sums + i * LANES) + splat(target->bias ? target->bias[plane + i] : 0);
      const ptrdiff_t at = (plane + i) * target->plane_floats + start + p;
      if (some) store_some(target, sum, at, count);
      else store(target->planes + at, finish_sum(target, sum, target->saved ? target->saved + at : NULL));
    }
  }
}

/** Results of the rows of tiles first … last of one image, for up to LANES filters from `filter` on. */
static void finish_tiles(const Tiling *t, Tiles from, int first, int last, const Target *target, int filter, int filters,
                         float *pixels) {
  const int start = first * STEP, end = smaller(t->out_height, last * STEP);
  for (int tile_row = first; tile_row < last; tile_row++) {
    for (int tile = 0; tile < t->columns; tile++, from.at += from.row) {
      Vector half[STEP][SIDE];
#pragma GCC unroll 6
      for (int i = 0; i < SIDE; i++) {
        Vector m[SIDE], y[STEP];
#pragma GCC unroll 6
        for (int j = 0; j < SIDE; j++) m[j] = load(from.at + (i * SIDE + j) * from.point);
        finish_results(m, y);
#pragma GCC unroll 4
        for (int j = 0; j < STEP; j++) half[j][i] = y[j];
      }
      const int rows = smaller(STEP, t->out_height - tile_row * STEP), columns = smaller(STEP, t->out_width - tile * STEP);
      float *to = pixels + ((ptrdiff_t)(tile_row - first) * STEP * t->out_width + tile * STEP) * LANES;
#pragma GCC unroll 4
      for (int j = 0; j < STEP; j++) {
        Vector y[STEP];
        finish_results(half[j], y);
        if (j >= columns) continue;
#pragma GCC unroll 4
        for (int i = 0; i < STEP; i++) {
          if (i < rows) store(to + ((ptrdiff_t)i * t->out_width + j) * LANES, y[i]);
        }
      }
    }
  }
  store_pixels(target, filter, filters, start * t->out_width, (end - start) * t->out_width, pixels);
}

/** The weights as the product sees them: element (row, channel, tap) at weights + row·row_stride + channel·channel_stride + tap. */
typedef struct {
  const float *weights;
  int rows, channels;
  ptrdiff_t row_stride, channel_stride;
  /** For the gradient of the input: taps are counted from the end. */
  int turned;
  /** Where the tensor ends. */
  const float *end;
} Weights3;

/** to[i] = from[i · apart], a lane each: put together in registers, since a vector load of elements just stored has to wait. */
INLINE Vector gather_lanes(const float *from, ptrdiff_t apart) {
#if LANES == 8
  return (Vector){from[0], from[apart], from[2 * apart], from[3 * apart], from[4 * apart], from[5 * apart],
                  from[6 * apart], from[7 * apart]};
#else
  return (Vector){from[0], from[apart], from[2 * apart], from[3 * apart]};
#endif
}

/** taps[tap] of LANES rows of a channel, zeros from `lanes` on: squares of taps and rows are transposed, a tap left over gathered. */
INLINE void gather_taps(const Weights3 *w, int row, int lanes, int channel, Vector *taps) {
  const float *first = w->weights + row * w->row_stride + channel * w->channel_stride;
#pragma GCC unroll 3
  for (int tap = 0; tap < 9; tap += LANES) {
    Vector square[LANES];
    if (tap == 8 && lanes == LANES) {
      taps[8] = gather_lanes(first + 8, w->row_stride);
      continue;
    }
    if (tap == 8) {
      float left[LANES];
      for (int i = 0; i < LANES; i++) left[i] = i < lanes ? first[i * w->row_stride + 8] : 0;
      taps[8] = load(left);
      continue;
    }
    const float *from = first + tap;
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++, from += w->row_stride) {
      square[i] = i < lanes ? w->end - from < LANES ? load_lanes(from, (int)(w->end - from)) : load(from) : splat(0);
    }
    transpose_square(square);
#pragma GCC unroll 16
    for (int i = 0; i < smaller(LANES, 9 - tap); i++) taps[tap + i] = square[i];
  }
  if (!w->turned) return;
#pragma GCC unroll 4
  for (int tap = 0; tap < 4; tap++) {
    const Vector kept = taps[tap];
    taps[tap] = taps[8 - tap];
    taps[8 - tap] = kept;
  }
}

/** u[point][channel][row] of a block of rows and channels; rows are filled up to whole vectors. */
static void transform_filters(const Weights3 *w, int row, int rows, int channel, int channels, Tiles to) {
  for (int r = 0; r < rows; r += LANES) {
    for (int c = 0; c < channels; c++) {
      Vector taps[9], half[3][SIDE];
      gather_taps(w, row + r, smaller(LANES, rows - r), channel + c, taps);
#pragma GCC unroll 3
      for (int j = 0; j < 3; j++) {
        const Vector g[3] = {taps[j], taps[3 + j], taps[6 + j]};
        transform_weights(g, half[j]);
      }
      float *at = to.at + c * to.row + r;
#pragma GCC unroll 6
      for (int i = 0; i < SIDE; i++) {
        const Vector g[3] = {half[0][i], half[1][i], half[2][i]};
        Vector u[SIDE];
        transform_weights(g, u);
#pragma GCC unroll 6
        for (int j = 0; j < SIDE; j++) store(at + (i * SIDE + j) * to.point, u[j]);
      }
    }
  }
}

/** c[i, j] (+)= Σ a[i, p]·b[p, j] at one point; columns are whole vectors. */
static void multiply_point(const float *a, ptrdiff_t a_row, ptrdiff_t a_column, int rows, const float *b, ptrdiff_t b_row,
                           int depth, float *c, ptrdiff_t c_row, int columns, int accumulate) {
  for (int j = 0; j < columns; j += TILE_COLUMNS) {
    const int vectors = smaller(TILE_VECTORS, (columns - j) / LANES);
    for (int i = 0; i < rows; i += TILE_ROWS) {
      const Tile tile = {
          .a = a + i * a_row,
          .a_row = a_row,
          .a_column = a_column,
          .b = b + j,
          .b_row = b_row,
          .depth = depth,
          .c = c + i * c_row + j,
          .c_row = c_row,
          .accumulate = accumulate,
      };
      tiles[smaller(TILE_ROWS, rows - i) - 1][vectors - 1](&tile);
    }
  }
}

/** Rows of tiles in a block, at least one: where all weights fit as many as stay in the cache, else as many as there is room for. */
static int rows_of_block(const Tiling *t, int channels, int filters, int room) {
  const int each = POINTS * t->columns * (round_up(channels, LANES) + round_up(filters, LANES));
  const int rows = (room - 2 * POINTS * LANES) / each;
  return rows > 1 ? rows : 1;
}

static int weights_fit(int channels, int filters) {
  return POINTS * (channels * round_up(filters, LANES) + LANES) <= POINT_WEIGHTS;
}

/** Whether a convolution can be done this way, and is faster so. `channels` are summed over; images are as summed over. */
static int winograd_pays(const Call *call, const Shape *s, const Tiling *t, int channels, int filters) {
  if (!call->winograd || s->kernel != 3 || s->stride != 1 || s->dilation != 1 || s->groups != 1) return 0;
  if (t->padding < 0 || t->padding > 2 || t->width > MOST_COLUMNS || t->height * t->width < LANES) return 0;
  if (t->out_height * t->out_width < LANES) return 0;
  if ((t->width * (SIDE + STEP) + LANES) * LANES > PIXEL_FLOATS) return 0;
  const int results = t->out_height * t->out_width;
  if (channels < LEAST_CHANNELS || filters < LEAST_CHANNELS || results * 2 < t->rows * t->columns * STEP * STEP) return 0;
  if (9.0 * s->batch * channels * filters * results < LEAST_PRODUCTS) return 0;
  const int block = weights_fit(channels, filters) ? filters : WEIGHT_BLOCK;
  const int each = POINTS * t->columns * (round_up(channels, LANES) + round_up(block, LANES));
  return each + 2 * POINTS * LANES <= POINT_TILES;
}

/** The rows of tiles `start` … `end` of all images of [N, channels, height, width]; targets stand `image_floats` apart. */
static void winograd_tiles(const Tiling *t, const Weights3 *w, const float *x, Target target, ptrdiff_t image_floats,
                           int start, int end, float *scratch) {
  const int fits = weights_fit(w->channels, w->rows);
  const int filter_block = fits ? w->rows : WEIGHT_BLOCK, channel_block = fits ? w->channels : WEIGHT_BLOCK;
  float *products = scratch + POINT_WEIGHTS, *pixels = products + POINT_TILES, *line = pixels + PIXEL_FLOATS;
  const ptrdiff_t plane = (ptrdiff_t)t->height * t->width;
  // A stretch of an image's rows has to fit the transposed pixels too, forwards and back.
  const int stretch = (PIXEL_FLOATS / LANES - LANES) / ((t->width > t->out_width ? t->width : t->out_width) * STEP) - 1;
  int block = rows_of_block(t, w->channels, filter_block, fits ? CACHED_TILES : POINT_TILES);
  block = smaller(block, end - start);
  const int most = block * t->columns;
  const Tiles image = open_tiles(products, most, w->channels);
  const Tiles sums = open_tiles(products + POINTS * image.point, most, filter_block);
  const Tiles weights = open_tiles(scratch, channel_block, filter_block);
  if (fits) transform_filters(w, 0, w->rows, 0, w->channels, weights);
  for (int first = start, last; first < end; first = last) {
    last = smaller(first + block, end);
    const int count = (last - first) * t->columns;
    for (int from = first, to; from < last; from = to) {
      const int n = from / t->rows, tile_row = from % t->rows;
      to = smaller(smaller(last, from + stretch), (n + 1) * t->rows);
      for (int c = 0; c < w->channels; c += LANES) {
        const Tiles part = {image.at + (from - first) * t->columns * image.row + c, image.point, image.row};
        const float *planes = x + ((ptrdiff_t)n * w->channels + c) * plane;
        transform_tiles(t, planes, smaller(LANES, w->channels - c), tile_row, tile_row + to - from, part, pixels, line);
      }
    }
    for (int filter = 0; filter < w->rows; filter += filter_block) {
      const int filters = smaller(filter_block, w->rows - filter);
      for (int channel = 0; channel < w->channels; channel += channel_block) {
        const int channels = smaller(channel_block, w->channels - channel);
        if (!fits) transform_filters(w, filter, filters, channel, channels, weights);
        for (int point = 0; point < POINTS; point++) {
          multiply_point(image.at + point * image.point + channel, image.row, 1, count, weights.at + point * weights.point,
                         weights.row, channels, sums.at + point * sums.point, sums.row, round_up(filters, LANES), channel > 0);
        }
      }
      for (int from = first, to; from < last; from = to) {
        const int n = from / t->rows, tile_row = from % t->rows;
        to = smaller(smaller(last, from + stretch), (n + 1) * t->rows);
        Target each = target;
        each.planes += n * image_floats;
        if (each.saved) each.saved += n * image_floats;
        for (int f = 0; f < filters; f += LANES) {
          const Tiles part = {sums.at + (from - first) * t->columns * sums.row + f, sums.point, sums.row};
          finish_tiles(t, part, tile_row, tile_row + to - from, &each, filter + f, smaller(LANES, filters - f), pixels);
        }
      }
    }
  }
}

/**
 * This thread's share of all images: whole images, or where there are fewer than threads the rows of some weights, or some rows of
 * tiles. A result is the same sum whoever computes it.
 */
static void winograd_share(const Call *call, const Tiling *t, const Weights3 *all, const float *x, Target target,
                           ptrdiff_t image_floats, int batch) {
  // Sharing filters has every thread transform all tiles, sharing tiles all weights: the fewer are those; tiles go by whole rows.
  const int few = batch < call->threads, rows = batch * t->rows;
  const int tiles_pay = few && rows * t->columns >= all->rows && rows >= 4 * call->threads;
  const int by_filters = few && !tiles_pay && all->rows >= call->threads * LANES;
  const int grain = few ? 1 : t->rows;
  int start = 0, end = rows;
  Weights3 w = *all;
  if (by_filters) {
    const int first = share_start(all->rows, LANES, call->thread, call->threads);
    w.rows = share_start(all->rows, LANES, call->thread + 1, call->threads) - first;
    w.weights += first * w.row_stride;
    target.planes += first * target.plane_floats;
    if (target.bias) target.bias += first;
    if (target.saved) target.saved += first * target.plane_floats;
  } else {
    start = share_start(rows, grain, call->thread, call->threads);
    end = share_start(rows, grain, call->thread + 1, call->threads);
  }
  if (start < end && w.rows > 0) winograd_tiles(t, &w, x, target, image_floats, start, end, call->scratch);
}
