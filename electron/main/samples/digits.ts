// Digits as a hand would write them: strokes as lines between a few points, which are moved, turned, slanted and thickened a little
// differently each time. Drawn rather than copied: the well-known collections would add megabytes to the app.

import fs from 'node:fs/promises';
import path from 'node:path';
import { bitmap, generator, normal, type Colour } from './drawn.ts';

const side = 24;
const picturesOfEach = 60;

type Point = readonly [x: number, y: number];

/** Strokes of each digit in a box of −1 … 1, y down. */
const strokes: Readonly<Record<string, readonly (readonly Point[])[]>> = {
  0: [arc(0, 0, 0.62, 0.95, 0, 360)],
  1: [
    [
      [-0.35, -0.55],
      [0.08, -0.95],
      [0.08, 0.95],
    ],
  ],
  2: [[...arc(0, -0.42, 0.58, 0.52, 190, 400), [-0.62, 0.92], [0.66, 0.92]]],
  3: [[...arc(-0.05, -0.47, 0.55, 0.47, 205, 450), ...arc(-0.05, 0.45, 0.62, 0.5, 270, 510)]],
  4: [
    [
      [0.28, 0.95],
      [0.28, -0.95],
      [-0.68, 0.38],
      [0.7, 0.38],
    ],
  ],
  5: [[[0.58, -0.92], [-0.45, -0.92], [-0.52, -0.08], ...arc(-0.05, 0.38, 0.62, 0.55, 235, 500)]],
  6: [[[0.42, -0.92], [-0.2, -0.5], ...arc(0, 0.4, 0.58, 0.53, 180, 540)]],
  7: [
    [
      [-0.62, -0.9],
      [0.62, -0.9],
      [-0.12, 0.95],
    ],
  ],
  8: [arc(0, -0.48, 0.46, 0.44, 0, 360), arc(0, 0.46, 0.58, 0.5, 0, 360)],
  9: [[...arc(0, -0.4, 0.56, 0.52, 0, 360), [0.5, 0.3], [0.24, 0.95]]],
};

/** Points on an ellipse, by degrees from the right, clockwise. */
function arc(x: number, y: number, width: number, height: number, from: number, to: number): readonly Point[] {
  const count = Math.ceil((to - from) / 30);
  return Array.from({ length: count + 1 }, (_, i) => {
    const angle = ((from + ((to - from) * i) / count) * Math.PI) / 180;
    return [x + width * Math.cos(angle), y + height * Math.sin(angle)] as const;
  });
}

/** Writes a folder with a sub-folder a digit. */
export async function writeDigits(folder: string): Promise<void> {
  const random = generator(4_711);
  for (const [digit, lines] of Object.entries(strokes)) {
    const place = path.join(folder, digit);
    await fs.mkdir(place, { recursive: true });
    const files = Array.from({ length: picturesOfEach }, (_, i) => ({
      file: path.join(place, `${digit}-${String(i + 1).padStart(3, '0')}.bmp`),
      content: bitmap(side, written(lines, random)),
    }));
    await Promise.all(files.map(({ file, content }) => fs.writeFile(file, content)));
  }
}

/** Dark ink on light paper. */
function written(lines: readonly (readonly Point[])[], random: () => number): (x: number, y: number) => Colour {
  const size = 7.2 + 2 * random();
  const [left, top] = [side / 2 + normal(random), side / 2 + normal(random)];
  const turn = 0.14 * normal(random);
  const slant = 0.2 * normal(random);
  const narrow = 0.75 + 0.3 * random();
  const thickness = 0.8 + 0.9 * random();
  const [cos, sin] = [Math.cos(turn) * size, Math.sin(turn) * size];
  const placed = lines.map((line) =>
    line.map(([x, y]): Point => {
      const [across, down] = [narrow * (x + 0.05 * normal(random)) - slant * y, y + 0.05 * normal(random)];
      return [left + across * cos - down * sin, top + across * sin + down * cos];
    }),
  );
  const [paper, ink] = [215 + 35 * random(), 20 + 60 * random()];
  return (column, row) => {
    const far = distance(placed, [column + 0.5, row + 0.5]);
    const covered = Math.min(1, Math.max(0, thickness + 0.5 - far));
    const level = paper + (ink - paper) * covered + 16 * (random() - 0.5);
    return [level, level, level];
  };
}

/** From a point to the nearest of the lines, in pixels. */
function distance(lines: readonly (readonly Point[])[], [x, y]: Point): number {
  let nearest = Infinity;
  for (const line of lines) {
    for (let i = 1; i < line.length; i++) {
      const [[ax, ay], [bx, by]] = [line[i - 1], line[i]];
      const [dx, dy] = [bx - ax, by - ay];
      const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
      nearest = Math.min(nearest, Math.hypot(x - ax - along * dx, y - ay - along * dy));
    }
  }
  return nearest;
}
