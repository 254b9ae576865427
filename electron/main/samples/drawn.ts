// What the samples that are made when they are asked for have in common: one row of random numbers, the same on every machine, and
// pictures as BMP, which is a header and the pixels.

/** Numbers in 0 … 1 by Lehmer's generator (multiplier 48271, modulus 2³¹ − 1). `seed`: 1 … 2³¹ − 2. */
export function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** Numbers of the normal distribution, mean 0 and deviation 1, near enough for a sample: twelve even ones (Irwin and Hall). */
export function normal(random: () => number): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random();
  return sum;
}

export function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)];
}

export type Colour = readonly [red: number, green: number, blue: number];

/** BMP of `side` × `side` pixels with 24 bits each (BITMAPINFOHEADER): blue, green, red, from the lowest row up. */
export function bitmap(side: number, colourAt: (x: number, y: number) => Colour): Buffer {
  const header = 54;
  const width = Math.ceil((side * 3) / 4) * 4;
  const file = Buffer.alloc(header + width * side);
  file.write('BM', 0, 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(header, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(side, 18);
  file.writeInt32LE(side, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const level = colourAt(x, y).map((value) => Math.round(Math.min(255, Math.max(0, value))));
      file.set(level.reverse(), header + (side - 1 - y) * width + x * 3);
    }
  }
  return file;
}
