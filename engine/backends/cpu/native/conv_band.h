// What convolutions and pooling read: an image as a product sees it, and a band of it between borders, one plane a phase of the stride.

#pragma once
#include "gemm.h"

#define MAX_TAPS 1024
/** Views that read one band: the phases of stride 2. */
#define MAX_PARTS 4
/** Parts of the scratch memory, in floats: the band, the results of a block of rows, weights packed once a call. */
#define BAND_FLOATS (96 * 1024)
#define GRID_FLOATS (80 * 1024)
#define PACKED_FLOATS (640 * 1024)
/** Channels that are packed at once. */
#define PACKED_CHANNELS 4
/** Where a column of a tile lies side by side anyway, weights are packed only up to so many. */
#define SMALL_FLOATS (128 * 1024)
/** Positions of a band: enough for some tiles, few enough to stay in the cache. */
#define LEAST_POSITIONS 128
#define MOST_POSITIONS 2048
/** Small images share a band until it has about so many positions: the weights are read once for all of them. */
#define SHARED_POSITIONS 256
/** Longest sum (channels · taps) of a block: its offsets and a row of tiles of packed weights have to fit as well. */
#define MOST_DEPTH 8192
_Static_assert(BAND_FLOATS + TILE_COLUMNS + GRID_FLOATS + PACKED_FLOATS + (TILE_ROWS + 1) * MOST_DEPTH <= SCRATCH_FLOATS,
               "scratch memory of convolutions");

/** A convolution's sizes, in the contract's order (kernels/convolution.ts), and those of its output. */
typedef struct {
  int batch, channels, height, width, filters, kernel, stride, padding, dilation, groups;
  int out_height, out_width;
} Shape;

static Shape read_shape(const Call *call, int first) {
  Shape s;
  memcpy(&s, call->args + first, 10 * sizeof(int));
  const int reach = s.dilation * (s.kernel - 1) + 1;
  s.out_height = (s.height + 2 * s.padding - reach) / s.stride + 1;
  s.out_width = (s.width + 2 * s.padding - reach) / s.stride + 1;
  return s;
}

/** At grid position (i, j) a tap reads element (i·stride + row, j·stride + column); its weight stands at `weight`. */
typedef struct {
  int row, column, weight;
} Tap;

/** The image as the product sees it. */
typedef struct {
  int height, width, stride;
  /** The grid of results. */
  int rows, columns;
  int count;
  int top, left, bottom, right;
  /** What lies beyond the border: 0 for convolutions. */
  float border;
  Tap taps[MAX_TAPS];
} View;

static void add_tap(View *v, int row, int column, int weight) {
  if (v->count == MAX_TAPS) return;
  v->top = v->count ? smaller(v->top, row) : row;
  v->left = v->count ? smaller(v->left, column) : column;
  v->bottom = v->count && v->bottom > row ? v->bottom : row;
  v->right = v->count && v->right > column ? v->right : column;
  v->taps[v->count++] = (Tap){row, column, weight};
}

/** The view of x by the elements of y. */
static View forward_view(const Shape *s) {
  View view = {
      .height = s->height,
      .width = s->width,
      .stride = s->stride,
      .rows = s->out_height,
      .columns = s->out_width,
  };
  for (int ky = 0; ky < s->kernel; ky++) {
    for (int kx = 0; kx < s->kernel; kx++) {
      add_tap(&view, ky * s->dilation - s->padding, kx * s->dilation - s->padding, ky * s->kernel + kx);
    }
  }
  return view;
}

/**
 * How a band of grid rows of some images is laid out in scratch memory: a channel has a plane for each phase of row and column,
 * in it the images one below the other. The rows between two images are computed and dropped.
 */
typedef struct {
  int images, first_row, rows;
  int row_phases, column_phases;
  /** Of one image. */
  int plane_rows, plane_columns;
  int channel_floats;
} Band;

static Band open_band(const View *v, int images, int first_row, int rows) {
  Band b = {.images = images, .first_row = first_row, .rows = rows};
  b.row_phases = smaller(v->stride, v->bottom - v->top + 1);
  b.column_phases = smaller(v->stride, v->right - v->left + 1);
  b.plane_rows = rows + (v->bottom - v->top) / v->stride;
  b.plane_columns = v->columns + (v->right - v->left) / v->stride;
  b.channel_floats = b.row_phases * b.column_phases * images * b.plane_rows * b.plane_columns;
  return b;
}

/** Where a tap of the band's first channel reads at the band's first position. */
static int tap_offset(const View *v, const Band *b, int tap) {
  const int row = v->taps[tap].row - v->top, column = v->taps[tap].column - v->left;
  const int plane = (row % v->stride) * b->column_phases + column % v->stride;
  return (plane * b->images * b->plane_rows + row / v->stride) * b->plane_columns + column / v->stride;
}

/** Copies a row of an image. Rows are short: a call of memcpy would cost more than the copy. */
INLINE void copy_floats(float *to, const float *from, int count) {
  int j = 0;
  for (; j + LANES <= count; j += LANES) store(to + j, load(from + j));
  for (; j + 4 <= count; j += 4) *(FourInMemory *)(to + j) = *(const FourInMemory *)(from + j);
  for (; j < count; j++) to[j] = from[j];
}

INLINE void fill_floats(float *to, int count, float value) {
  for (int j = 0; j < count; j++) to[j] = value;
}

/** target[j] = row[first + j·stride], `border` beyond the `width` elements of the row. */
INLINE void copy_band_row(const float *row, int width, int first, int stride, int count, float border, float *target) {
  // No division for the usual stride: rows are short.
  const int before = first >= 0 ? 0 : smaller(count, stride == 1 ? -first : (-first + stride - 1) / stride);
  const int left = width - first, reached = stride == 1 ? left : left > 0 ? (left - 1) / stride + 1 : 0;
  const int end = reached > before ? smaller(count, reached) : before;
  fill_floats(target, before, border);
  if (stride == 1) copy_floats(target + before, row + first + before, end - before);
  else for (int j = before; j < end; j++) target[j] = row[first + j * stride];
  fill_floats(target + end, count - end, border);
}

/**
 * Both phases of a row for stride 2: as copy_band_row for `first` into `low`, for first + 1 into `high`; first is 0 or less.
 * Elements 0, 2, … of the row go to one of them, 1, 3, … to the other, from where the border on the left ends.
 */
static void split_band_row(const float *row, int width, int first, int count, float border, float *low, float *high) {
  const int odd = first & 1;
  float *even_to = odd ? high : low, *odd_to = odd ? low : high;
  const int even_start = smaller(count, -first / 2), odd_start = smaller(count, (1 - first) / 2);
  const int evens = smaller((width + 1) / 2, count - even_start), odds = smaller(width / 2, count - odd_start);
  fill_floats(even_to, even_start, border);
  fill_floats(odd_to, odd_start, border);
  fill_floats(even_to + even_start + evens, count - even_start - evens, border);
  fill_floats(odd_to + odd_start + odds, count - odd_start - odds, border);
  even_to += even_start, odd_to += odd_start;
  const int pairs = smaller(evens, odds);
  int j = 0;
  for (; j < pairs && pairs >= LANES; j += LANES) {
    j = smaller(j, pairs - LANES);  // the last elements once more rather than one by one
    Vector even, odds_of;
    split_pairs(row + 2 * j, &even, &odds_of);
    store(even_to + j, even);
    store(odd_to + j, odds_of);
  }
  for (; j + 4 <= pairs; j += 4) {
    const Four a = *(const FourInMemory *)(row + 2 * j), b = *(const FourInMemory *)(row + 2 * j + 4);
    *(FourInMemory *)(even_to + j) = MIX(FourIntegers, a, b, 0, 2, 4, 6);
    *(FourInMemory *)(odd_to + j) = MIX(FourIntegers, a, b, 1, 3, 5, 7);
  }
  for (int k = j; k < evens; k++) even_to[k] = row[2 * k];
  for (int k = j; k < odds; k++) odd_to[k] = row[2 * k + 1];
}

/** Copies the rows that a band reads of `channels` channels; its images stand `image_floats` apart. */
static void fill_band(const View *v, const Band *b, const float *first_image, ptrdiff_t image_floats, int channels,
                      float *target) {
  const int top = b->first_row * v->stride + v->top, plane_floats = b->plane_rows * b->plane_columns;
  const int whole = v->stride == 1 && v->left == 0 && b->plane_columns == v->width && top >= 0 && top + b->plane_rows <= v->height;
  const int split = v->stride == 2 && b->column_phases == 2 && v->left <= 0, count = b->plane_columns;
  const ptrdiff_t apart = (ptrdiff_t)b->images * plane_floats;
  for (int channel = 0; channel < channels; channel++, target += b->channel_floats) {
    for (int n = 0; n < b->images; n++) {
      const float *image = first_image + n * image_floats + (ptrdiff_t)channel * v->height * v->width;
      if (whole) {
        copy_floats(target + n * plane_floats, image + (ptrdiff_t)top * v->width, plane_floats);
        continue;
      }
      // Row by row as they stand in memory.
      for (int i = 0; i < b->plane_rows; i++) {
        float *to = target + n * plane_floats + i * count;
        for (int row_phase = 0; row_phase < b->row_phases; row_phase++) {
          const int row = top + i * v->stride + row_phase, width = row >= 0 && row < v->height ? v->width : 0;
          const float *from = image + (ptrdiff_t)row * v->width;
          if (split) {
            split_band_row(from, width, v->left, count, v->border, to, to + apart);
            to += 2 * apart;
            continue;
          }
          for (int phase = 0; phase < b->column_phases; phase++, to += apart) {
            copy_band_row(from, width, v->left + phase, v->stride, count, v->border, to);
          }
        }
      }
    }
  }
}
