// Convolution as an implicit product: rows × (channels · taps) · positions. A band of the image is copied between borders of
// zeros, one plane a phase of the stride, so that what a tap reads at neighbouring positions lies side by side: tiles load it
// from there, nothing like the product's right-hand matrix is ever stored. Positions count the band's padded rows; the few
// beyond the end of a row are computed and dropped. Used forwards and, phase by phase, for the gradient of the input.

#pragma once
#include "conv_results.h"

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

/** Results that are read from one band: those of a convolution, or of a phase of its input's gradient. */
typedef struct {
  const View *view;
  Filters filters;
  Target target;
} Part;

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
