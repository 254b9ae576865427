// How a table becomes bins: columns sorted, numbers put between edges. Contracts in kernels/tree_sort and kernels/tree_bins.

#include "vectors.h"
#include "trees.h"

/** Bits of a digit, digits, passes over 64 bits; rows at a time; numbers of a column that are looked up side by side; edges of a column. */
enum { BITS = 11, DIGITS = 1 << BITS, PASSES = 6, PASS = 128, SIDE = 8, EDGES = 256 };

/** Words that stand in the order of the numbers: negative ones with all bits turned, others with the first. */
INLINE uint64_t key_of(uint64_t word) { return word ^ ((uint64_t)((int64_t)word >> 63) | 1ull << 63); }
INLINE uint64_t word_of(uint64_t key) { return key ^ ((uint64_t)((int64_t)~key >> 63) | 1ull << 63); }

static void sort(uint64_t *values, uint64_t *spare, uint32_t count, uint32_t (*counts)[DIGITS]) {
  memset(counts, 0, PASSES * sizeof *counts);
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t key = values[i] = key_of(values[i]);
    for (int pass = 0; pass < PASSES; pass++) counts[pass][(key >> (pass * BITS)) & (DIGITS - 1)]++;
  }
  uint64_t *own = values, *other = spare;
  for (int pass = 0; pass < PASSES; pass++) {
    uint32_t *places = counts[pass];
    const int shift = pass * BITS;
    // All alike, as the last bits of few digits are.
    if (places[(own[0] >> shift) & (DIGITS - 1)] == count) continue;
    for (uint32_t digit = 0, sum = 0; digit < DIGITS; digit++) {
      const uint32_t some = places[digit];
      places[digit] = sum;
      sum += some;
    }
    for (uint32_t i = 0; i < count; i++) other[places[(own[i] >> shift) & (DIGITS - 1)]++] = own[i];
    uint64_t *swapped = own;
    own = other, other = swapped;
  }
  for (uint32_t i = 0; i < count; i++) values[i] = word_of(own[i]);
  memset(spare, 0, 8 * (size_t)count);
}

void tree_sort(const Call *call) {
  const uint32_t *counts = (const uint32_t *)operand(call, 0), *job = (const uint32_t *)operand(call, 1);
  uint64_t *values = (uint64_t *)operand(call, 2), *spare = (uint64_t *)operand(call, 3);
  const size_t rows = (size_t)integer(call, 4);
  const int columns = (int)job[0];
  const int end = share_start(columns, 1, call->thread + 1, call->threads);
  for (int column = share_start(columns, 1, call->thread, call->threads); column < end; column++) {
    if (counts[column] < 2) continue;
    const size_t first = (size_t)column * rows;
    sort(values + first, spare + first, counts[column], (uint32_t(*)[DIGITS])(void *)call->scratch);
  }
}

void tree_bins(const Call *call) {
  const double *x = (const double *)operand(call, 0), *edges = (const double *)operand(call, 1);
  const uint32_t *missing = (const uint32_t *)operand(call, 2), *job = (const uint32_t *)operand(call, 3);
  uint8_t *bins = (uint8_t *)operand(call, 4);
  const size_t width = (size_t)integer(call, 6);
  const int rows = (int)job[0];
  const int end = share_start(rows, PASS, call->thread + 1, call->threads);
  for (int first = share_start(rows, PASS, call->thread, call->threads); first < end; first += PASS) {
    const int last = smaller(end, first + PASS);
    for (size_t column = 0; column < width; column++) {
      if (missing[column] == UINT32_MAX) continue;
      const double *own = edges + column * EDGES;
      // Several numbers side by side: each waits for its own edges only.
      for (int start = first; start < last; start += SIDE) {
        double value[SIDE];
        uint32_t bin[SIDE];
        const int side = smaller(SIDE, last - start);
        for (int j = 0; j < SIDE; j++) value[j] = x[(size_t)(start + (j < side ? j : 0)) * width + column], bin[j] = 0;
        for (uint32_t half = EDGES / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
          for (int j = 0; j < SIDE; j++) bin[j] += own[bin[j] + half - 1] < value[j] ? half : 0;
        }
        for (int j = 0; j < side; j++) {
          bins[(size_t)(start + j) * width + column] = (uint8_t)(value[j] == value[j] ? bin[j] : missing[column]);
        }
      }
    }
  }
}
