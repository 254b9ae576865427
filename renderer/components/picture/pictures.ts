// Pictures on a canvas: bytes as they cross the border to pixels, and evidence laid over them.

/** A picture to be shown in a grid. */
export interface GridPicture {
  /** Row of the dataset. */
  readonly row: number;
  readonly file: string;
  /** Two short lines under the picture; the figure stands beside the title and is never cut. */
  readonly title: string;
  readonly figure?: string;
  readonly note: string;
  /** Marks a mistake. */
  readonly wrong?: boolean;
  /** RGBA [height, width, 4] */
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Cuts the pictures of a page apart. */
export function pixelsOf(
  page: { readonly pixels: Uint8Array; readonly width: number; readonly height: number },
  index: number,
): Uint8Array {
  const size = page.width * page.height * 4;
  return page.pixels.subarray(index * size, (index + 1) * size);
}

/** Draws RGBA in the size it has. */
export function draw(canvas: HTMLCanvasElement, pixels: Uint8Array, width: number, height: number): void {
  canvas.width = width;
  canvas.height = height;
  if (pixels.length !== width * height * 4) return;
  canvas.getContext('2d')?.putImageData(new ImageData(Uint8ClampedArray.from(pixels), width, height), 0, 0);
}

/** The strongest evidence covers this much of the picture. */
const strongestCover = 0.8;

/**
 * Draws a map of values 0 … 1 as veils of a colour (`rgb(r, g, b)`), [height, width] values smoothly enlarged by the canvas.
 */
export function drawMap(
  canvas: HTMLCanvasElement,
  values: Float32Array,
  width: number,
  height: number,
  colour: string,
): void {
  const [red, green, blue] = (colour.match(/[\d.]+/g) ?? ['0', '0', '0']).map(Number);
  const pixels = new Uint8Array(values.length * 4);
  values.forEach((value, place) => pixels.set([red, green, blue, Math.round(255 * strongestCover * value)], 4 * place));
  draw(canvas, pixels, width, height);
}

/** RGBA pictures as planes [pictures, channels, size]; grey ones have three equal channels. */
export function planesOf(pixels: Uint8Array, channels: number, size: number): Uint8Array {
  const pictures = pixels.length / (4 * size);
  const planes = new Uint8Array(pictures * channels * size);
  for (let picture = 0; picture < pictures; picture++) {
    for (let channel = 0; channel < channels; channel++) {
      const target = (picture * channels + channel) * size;
      for (let i = 0; i < size; i++) planes[target + i] = pixels[4 * (picture * size + i) + channel];
    }
  }
  return planes;
}

/** The way back: each picture by itself. */
export function rgbaOf(planes: Uint8Array, channels: number, size: number): readonly Uint8Array[] {
  return Array.from({ length: planes.length / (channels * size) }, (_, picture) => {
    const pixels = new Uint8Array(4 * size).fill(255);
    for (let colour = 0; colour < 3; colour++) {
      const source = (picture * channels + Math.min(colour, channels - 1)) * size;
      for (let i = 0; i < size; i++) pixels[4 * i + colour] = planes[source + i];
    }
    return pixels;
  });
}
