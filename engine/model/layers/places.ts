// What places of a sequence look like without learning them: waves that are added (Vaswani et al. 2017) and angles that pairs of values
// are turned by (Su et al. 2021). Computed in float64, kept as states.

/** Frequency of pair `i` of `pairs`: 1 for the first, almost 1/base for the last. */
const frequency = (i: number, pairs: number, base: number): number => base ** (-i / pairs);

/** [length, dimensions]: sine and cosine in turn, as in "Attention Is All You Need", 3.5. */
export function waves(length: number, dimensions: number): Float32Array {
  return Float32Array.from({ length: length * dimensions }, (_, at) => {
    const column = at % dimensions;
    const angle = Math.floor(at / dimensions) * frequency(column >> 1, dimensions / 2, 10_000);
    return column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}

/** [length, size]: cosines of the size/2 angles of each place, then their sines. */
export function turns(length: number, size: number, base: number): Float32Array {
  const half = size / 2;
  return Float32Array.from({ length: length * size }, (_, at) => {
    const column = at % size;
    const angle = Math.floor(at / size) * frequency(column % half, half, base);
    return column < half ? Math.cos(angle) : Math.sin(angle);
  });
}
