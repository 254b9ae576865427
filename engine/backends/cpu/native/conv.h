// Convolution as an implicit product: rows × (channels · taps) · positions. A band of the image is copied between borders of
// zeros, one plane a phase of the stride, so that what a tap reads at neighbouring positions lies side by side: tiles load it
// from there, nothing like the product's right-hand matrix is ever stored. Positions count the band's padded rows; the few
// beyond the end of a row are computed and dropped. Used forwards and, phase by phase, for the gradient of the input.

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

/** The weights: element (row, channel, tap) at weights + row·row_stride + channel·channel_stride + taps[tap].weight. */
typedef struct {
  const float *weights;
  int rows, channels;
  ptrdiff_t row_stride, channel_stride;
  /** Rows of (channel, tap) as tiles read them; NULL: packed for each block anew. */
  const float *packed;
  ptrdiff_t packed_row;
} Filters;

/** Some channels at once: weights of neighbouring rows may share a line of the cache, and a row's target takes whole lines. */
static void pack_filters(const View *v, const Filters *f, int row, int rows, int channel, int channels, float *target) {
  const ptrdiff_t target_row = (ptrdiff_t)channels * v->count;
  for (int first = 0; first < channels; first += PACKED_CHANNELS) {
    const int last = smaller(first + PACKED_CHANNELS, channels);
    for (int i = 0; i < rows; i++) {
      const float *from = f->weights + (row + i) * f->row_stride + (channel + first) * f->channel_stride;
      float *to = target + i * target_row + (ptrdiff_t)first * v->count;
      for (int c = first; c < last; c++, from += f->channel_stride, to += v->count) {
        for (int tap = 0; tap < v->count; tap++) to[tap] = from[v->taps[tap].weight];
      }
    }
  }
}

/** Uses the weights where they are if they stand in the order of (channel, tap), else packs them if there is room. */
static void prepare_filters(const View *v, Filters *f, float *room) {
  f->packed_row = (ptrdiff_t)f->channels * v->count;
  f->packed = NULL;
  if (f->channel_stride == v->count && v->taps[v->count - 1].weight == v->count - 1) {
    f->packed = f->weights;
    f->packed_row = f->row_stride;
  } else if (f->rows * f->packed_row <= (v->count == 1 && f->row_stride == 1 ? SMALL_FLOATS : PACKED_FLOATS)) {
    pack_filters(v, f, 0, f->rows, 0, f->channels, room);
    f->packed = room;
  }
}

/** What follows the sums, and where they go: grid position (i, j) is element origin + (i·width + j)·step of a plane. */
typedef struct {
  float *planes;
  ptrdiff_t plane_floats;
  int width, step, origin;
  const float *bias;
  const float *saved;
  int activation;
  float slope;
} Target;

/** Results that are read from one band: those of a convolution, or of a phase of its input's gradient. */
typedef struct {
  const View *view;
  Filters filters;
  Target target;
} Part;

INLINE Vector finish_sum(const Target *t, Vector sum, const float *saved) {
  if (saved) return sum * derivative_of_output(t->activation, load(saved), t->slope);
  if (t->activation == NONE) return sum;
  if (t->activation == RELU) return largest(sum, splat(0));
  return activate(t->activation, sum, t->slope);
}

/** As finish_sum for fewer elements than a vector has, or elements apart from each other. */
static void store_some(const Target *t, Vector sum, ptrdiff_t first, int count) {
  float kept[LANES] = {0}, results[LANES];
  for (int i = 0; t->saved && i < count; i++) kept[i] = t->saved[first + (ptrdiff_t)i * t->step];
  store(results, finish_sum(t, sum, t->saved ? kept : NULL));
  for (int i = 0; i < count; i++) t->planes[first + (ptrdiff_t)i * t->step] = results[i];
}

/**
 * Writes sums to every second element of a row of `pairs` pairs, as many as vectors hold, and returns how many: the first of each
 * pair (column 0) with 0 beside it, then the second (column 1) to those.
 */
INLINE int weave_sums(float *row, int pairs, int column, const float *sums, float bias) {
  const Vector shift = splat(bias);
  int j = 0;
  for (; j + LANES <= pairs; j += LANES) {
    const Vector sum = load(sums + j) + shift;
    float *to = row + 2 * j;
    if (column == 0) {
      join_pairs(sum, splat(0), to);
      continue;
    }
    Vector first, second;
    split_pairs(to, &first, &second);
    join_pairs(first, sum, to);
  }
  return j;
}

/**
 * Finishes rows first … first + rows of a plane, from sums that stand `sums_row` floats apart. Where results lie side by side,
 * whole vectors are stored as long as they end within the plane: what they write too much belongs to a row that follows.
 */
static void store_results(const Target *t, int plane, int first, int rows, int columns, const float *sums,
                          ptrdiff_t sums_row) {
  const float bias = t->bias ? t->bias[plane] : 0;
  const Vector shift = splat(bias);
  const ptrdiff_t start = plane * t->plane_floats, end = start + t->plane_floats;
  const int apart = t->step > 1 && !t->saved && t->activation == NONE;
  for (int i = 0; i < rows; i++, sums += sums_row) {
    const ptrdiff_t row = start + t->origin + (ptrdiff_t)(first + i) * t->width * t->step;
    if (apart) {
      const int column = t->origin % t->width;
      int j = t->step == 2 ? weave_sums(t->planes + row - column, t->width / 2, column, sums, bias) : 0;
      float *to = t->planes + row + (ptrdiff_t)j * t->step;
      for (; j < columns; j++, to += t->step) *to = sums[j] + bias;
      continue;
    }
    for (int j = 0; j < columns; j += LANES) {
      const ptrdiff_t at = row + (ptrdiff_t)j * t->step;
      const Vector sum = load(sums + j) + shift;
      if (t->step == 1 && at + LANES <= end) {
        store(t->planes + at, finish_sum(t, sum, t->saved ? t->saved + at : NULL));
      } else {
        store_some(t, sum, at, smaller(LANES, columns - j));
      }
    }
  }
}

/** Images that share a band: one, unless the whole grid is small. A matter of the shape alone. */
static int images_together(const View *v, int batch) {
  const Band b = open_band(v, 1, 0, v->rows);
  const int most = smaller(SHARED_POSITIONS / (b.plane_rows * b.plane_columns), BAND_FLOATS / b.channel_floats);
  return smaller(batch, most > 1 ? most : 1);
}

/** Channels in a block, so that the band fits. */
static int choose_block(const View *v, const Band *b, int channels) {
  const int affordable = smaller(BAND_FLOATS / b->channel_floats, MOST_DEPTH / (v->count + 1));
  return smaller(channels, affordable > 1 ? affordable : 1);
}

/** Rows of the grid of one image in a band, and channels in a block, so that the band fits. */
static void choose_band(const View *v, int channels, int *rows, int *block) {
  const int width = open_band(v, 1, 0, 1).plane_columns;
  const int least = smaller(v->rows, (LEAST_POSITIONS + width - 1) / width);
  *rows = smaller(v->rows, MOST_POSITIONS / width > 1 ? MOST_POSITIONS / width : 1);
  while (*rows > least && (ptrdiff_t)channels * open_band(v, 1, 0, *rows).channel_floats > BAND_FLOATS) *rows -= 1;
  while (*rows > 1 && open_band(v, 1, 0, *rows).channel_floats > BAND_FLOATS) *rows -= 1;
  const Band b = open_band(v, 1, 0, *rows);
  *block = choose_block(v, &b, channels);
}

/** As tiles do, for a single row of weights: positions are what there is to do side by side. `grid` has room for whole tiles. */
static void sum_taps(const float *weights, const float *band, const int32_t *offsets, int depth, int positions, int accumulate,
                     float *grid) {
  int j = 0;
  for (; j + 4 * LANES <= positions; j += 4 * LANES) {
    Vector sums[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) sums[k] = accumulate ? load(grid + j + k * LANES) : splat(0);
    for (int p = 0; p < depth; p++) {
      const Vector weight = splat(weights[p]);
      const float *from = band + offsets[p] + j;
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) sums[k] += weight * load(from + k * LANES);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) store(grid + j + k * LANES, sums[k]);
  }
  for (; j < positions; j += LANES) {
    Vector sum = accumulate ? load(grid + j) : splat(0);
    for (int p = 0; p < depth; p++) sum += splat(weights[p]) * load(band + offsets[p] + j);
    store(grid + j, sum);
  }
}

/** Multiplies a block of rows by a band: grid[row, position] (+)= Σ weights · band. */
static void multiply_band(const View *v, const Band *b, const Filters *f, int row, int rows, int channel, int channels,
                          const float *band, int positions, ptrdiff_t grid_row, float *grid, float *room) {
  const int depth = channels * v->count;
  int32_t *offsets = (int32_t *)room;
  for (int c = 0, p = 0; c < channels; c++) {
    for (int tap = 0; tap < v->count; tap++) offsets[p++] = c * b->channel_floats + tap_offset(v, b, tap);
  }
  float *packed = room + depth;
  for (int i = 0; i < rows; i += TILE_ROWS) {
    const int height = smaller(TILE_ROWS, rows - i);
    Tile tile = {.a_column = 1, .offsets = offsets, .depth = depth, .c_row = grid_row, .accumulate = channel > 0};
    if (f->packed) {
      tile.a = f->packed + (row + i) * f->packed_row + (ptrdiff_t)channel * v->count;
      tile.a_row = f->packed_row;
    } else if (v->count == 1 && f->row_stride == 1) {
      // One tap, and rows side by side: a column of the tile at a time.
      const float *from = f->weights + v->taps[0].weight + row + i + channel * f->channel_stride;
      for (int c = 0; c < channels; c++) copy_floats(packed + c * height, from + c * f->channel_stride, height);
      tile.a = packed;
      tile.a_row = 1;
      tile.a_column = height;
    } else {
      pack_filters(v, f, row + i, height, channel, channels, packed);
      tile.a = packed;
      tile.a_row = depth;
    }
    if (rows == 1) {
      sum_taps(tile.a, band, offsets, depth, positions, tile.accumulate, grid);
      return;
    }
    for (int position = 0; position < positions; position += TILE_COLUMNS) {
      const int vectors = smaller(TILE_VECTORS, (positions - position + LANES - 1) / LANES);
      tile.b = band + position;
      tile.c = grid + i * grid_row + position;
      tap_tiles[height - 1][vectors - 1](&tile);
    }
  }
}

/**
 * Finishes a block of rows of all images of a band, whose targets stand `target_floats` apart; a view may end before its band.
 * In line: as a function of its own it cost the convolutions of 16 channels a tenth of their time.
 */
INLINE void store_band(const View *v, const Band *b, const Target *first, ptrdiff_t target_floats, int row, int rows,
                       const float *grid, ptrdiff_t grid_row) {
  // Rows of a grid that lie side by side, in the band and in the plane, are one long row.
  const int joined = b->plane_columns == v->columns && first->width == v->columns && first->step == 1;
  const int kept = smaller(b->rows, v->rows - b->first_row);
  for (int n = 0; n < b->images; n++, grid += b->plane_rows * b->plane_columns) {
    Target target = *first;
    target.planes += n * target_floats;
    if (target.saved) target.saved += n * target_floats;
    if (joined) target.origin += b->first_row * v->columns;
    for (int i = 0; i < rows; i++) {
      const float *sums = grid + i * grid_row;
      if (joined) store_results(&target, row + i, 0, 1, kept * v->columns, sums, 0);
      else store_results(&target, row + i, b->first_row, kept, v->columns, sums, b->plane_columns);
    }
  }
}

/** The band of some images, copied once for all parts if all channels fit: all rows of the filters at its positions. */
static void convolve_band(const Part *parts, int count, const Band *b, int block, ptrdiff_t at, const float *image,
                          ptrdiff_t image_floats, ptrdiff_t target_floats, float *scratch) {
  float *band_floats = scratch;
  float *grid = band_floats + BAND_FLOATS + TILE_COLUMNS;
  float *room = grid + GRID_FLOATS + PACKED_FLOATS;
  const int positions = ((b->images - 1) * b->plane_rows + b->rows - 1) * b->plane_columns + parts[0].view->columns;
  const ptrdiff_t grid_row = (positions + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
  const int fitting = (int)(GRID_FLOATS / grid_row);
  const int most = fitting > TILE_ROWS ? fitting / TILE_ROWS * TILE_ROWS : fitting;
  for (const Part *part = parts; part < parts + count; part++) {
    const View *v = part->view;
    const Filters *f = &part->filters;
    Target target = part->target;
    target.planes += at;
    if (target.saved) target.saved += at;
    for (int row = 0; row < f->rows; row += most) {
      const int rows = smaller(most, f->rows - row);
      for (int channel = 0; channel < f->channels; channel += block) {
        const int channels = smaller(block, f->channels - channel);
        const int filled = block == f->channels && (row > 0 || part > parts);
        if (!filled) fill_band(v, b, image + (ptrdiff_t)channel * v->height * v->width, image_floats, channels, band_floats);
        multiply_band(v, b, f, row, rows, channel, channels, band_floats, positions, grid_row, grid, room);
      }
      store_band(v, b, &target, target_floats, row, rows, grid, grid_row);
    }
  }
}

/** As images_together; fewer, whose channels all fit, where the band would be filled anew for every block of rows. */
static int images_of_band(const Part *first, int batch) {
  const int together = images_together(first->view, batch);
  const ptrdiff_t image = open_band(first->view, 1, 0, first->view->rows).channel_floats;
  const int fitting = (int)(BAND_FLOATS / (image * first->filters.channels));
  const int again = together * image * first->filters.rows > GRID_FLOATS;
  return again && fitting * image >= LEAST_POSITIONS ? smaller(together, fitting) : together;
}

/**
 * Convolves images that stand `image_floats` apart into targets `target_floats` apart: all rows at all positions of the grid. All
 * parts read the same channels in the same reach (top, left, bottom, right), and the first has the largest grid.
 * Which images and parts share a band changes no sum: each goes through its terms in one order, in one accumulator.
 */
static void convolve_images(const Part *parts, int count, int images, const float *image, ptrdiff_t image_floats,
                            ptrdiff_t target_floats, float *scratch) {
  const View *v = parts[0].view;
  const int channels = parts[0].filters.channels, together = images_of_band(parts, images);
  int most = channels, band_rows = v->rows, block;
  for (int i = 0; i < count; i++) most = smaller(most, MOST_DEPTH / (parts[i].view->count + 1));
  if (together == 1) choose_band(v, channels, &band_rows, &block);
  for (int n = 0; n < images; n += together) {
    for (int first = 0; first < v->rows; first += band_rows) {
      const Band b = open_band(v, smaller(together, images - n), first, smaller(band_rows, v->rows - first));
      if (together > 1) block = choose_block(v, &b, channels);
      convolve_band(parts, count, &b, smaller(block, most), n * target_floats, image + n * image_floats, image_floats,
                    target_floats, scratch);
    }
  }
}
