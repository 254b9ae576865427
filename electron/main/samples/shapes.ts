// A sample of pictures that needs no files: bright shapes on grainy ground, drawn the same way every time, so that it is one
// and the same dataset on every machine.

import fs from 'node:fs/promises';
import path from 'node:path';
import { bitmap, generator, type Colour } from './drawn.ts';

const side = 32;
const picturesOfEach = 120;

/** Whether a place, seen from the middle of a shape of radius 1, is inside it. */
const shapes: Readonly<Record<string, (x: number, y: number) => boolean>> = {
  cross: (x, y) => Math.min(Math.abs(x), Math.abs(y)) < 0.3 && Math.max(Math.abs(x), Math.abs(y)) < 1,
  disc: (x, y) => Math.hypot(x, y) < 0.95,
  frame: (x, y) => Math.max(Math.abs(x), Math.abs(y)) < 0.85 && Math.max(Math.abs(x), Math.abs(y)) > 0.5,
  ring: (x, y) => Math.hypot(x, y) < 0.95 && Math.hypot(x, y) > 0.55,
  square: (x, y) => Math.max(Math.abs(x), Math.abs(y)) < 0.8,
  triangle: (x, y) => y < 0.7 && Math.abs(x) < (y + 1) * 0.55,
};

/** Writes a folder with a sub-folder a shape. */
export async function writeShapes(folder: string): Promise<void> {
  const random = generator(20_231);
  for (const [name, inside] of Object.entries(shapes)) {
    const place = path.join(folder, name);
    await fs.mkdir(place, { recursive: true });
    const files = Array.from({ length: picturesOfEach }, (_, i) => ({
      file: path.join(place, `${name}-${String(i + 1).padStart(3, '0')}.bmp`),
      content: bitmap(side, drawing(inside, random)),
    }));
    await Promise.all(files.map(({ file, content }) => fs.writeFile(file, content)));
  }
}

/** Somewhere, in some size, turn and colour; some a little faint. */
function drawing(inside: (x: number, y: number) => boolean, random: () => number): (x: number, y: number) => Colour {
  const radius = 6 + 6 * random();
  const [left, top] = [radius + (side - 2 * radius) * random(), radius + (side - 2 * radius) * random()];
  const turn = (random() - 0.5) * 0.9;
  const [cos, sin] = [Math.cos(turn) / radius, Math.sin(turn) / radius];
  const ground = 20 + 70 * random();
  const colour = [0, 0, 0].map(() => ground + 40 + 110 * random());
  return (column, row) => {
    const [x, y] = [column + 0.5 - left, row + 0.5 - top];
    const light = (random() - 0.5) * 46;
    const [red, green, blue] = inside(x * cos + y * sin, y * cos - x * sin) ? colour : [ground, ground, ground];
    return [red + light, green + light, blue + light];
  };
}
