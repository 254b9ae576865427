// Threefry-2x32 with 20 rounds (kernels/threefry.ts) for CHAINS · LANES counters at once: one chain of rounds alone would wait
// for its own results.

#pragma once
#include "vectors.h"

#define CHAINS 2

typedef uint32_t Words __attribute__((vector_size(4 * LANES)));

/** a₀ b₀ a₁ b₁ … of the lower and of the upper halves. */
INLINE Words interleave_low(Words a, Words b) { return MIX(IntVector, a, b, LOW_PAIRS); }
INLINE Words interleave_high(Words a, Words b) { return MIX(IntVector, a, b, HIGH_PAIRS); }

/** The two words of each of the counters (counter0 + 0, 1, 2, …; counter1). */
INLINE void threefry(uint32_t key0, uint32_t key1, uint32_t counter0, uint32_t counter1, Words *first, Words *second) {
  static const int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const uint32_t keys[3] = {key0, key1, 0x1bd11bda ^ key0 ^ key1};
  uint32_t lanes[LANES];
  for (int j = 0; j < LANES; j++) lanes[j] = (uint32_t)j;
  Words number;
  memcpy(&number, lanes, sizeof number);
  for (int j = 0; j < CHAINS; j++) {
    first[j] = number + (counter0 + (uint32_t)(j * LANES) + key0);
    second[j] = (Words){0} + (counter1 + key1);
  }
#pragma GCC unroll 20
  for (int round = 0; round < 20; round++) {
    const int rotation = rotations[round & 7];
#pragma GCC unroll 2
    for (int j = 0; j < CHAINS; j++) {
      first[j] += second[j];
      second[j] = ((second[j] << rotation) | (second[j] >> (32 - rotation))) ^ first[j];
      if ((round & 3) != 3) continue;
      const int injection = (round + 1) >> 2;
      first[j] += keys[injection % 3];
      second[j] += keys[(injection + 1) % 3] + (uint32_t)injection;
    }
  }
}
