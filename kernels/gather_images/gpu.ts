// gather_images: workgroups over the pixels of one image; the first thread draws how the image is changed, all read its
// bytes. A thread makes one pixel in all channels. Random numbers and places as draws.ts has them.

import type { GpuKernel, WgslElement } from '../gpu-contract.ts';
import { threefryFunction } from '../gpu-random.ts';
import { defaultThreads, float, foldedGrid, groupIndex } from '../gpu-wgsl.ts';

type Params = Readonly<Record<string, number>>;

const isTurned = (p: Params): boolean => p.rotation > 0 || p.zoom > 0;

export const gpu: GpuKernel = {
  passes: (p, context) => {
    const { channels, height, width, batch } = p;
    const pixels = height * width;
    const groupsPerImage = Math.ceil(pixels / defaultThreads);
    const grid = foldedGrid(batch * groupsPerImage, context.limits);
    const mixes = p.mixup !== 0 && context.has('scalars');
    const targets = context.has('y') && context.has('batchY');
    const code = `const THREADS = ${defaultThreads}u;
const CHANNELS = ${channels}u;
const PIXELS = ${pixels}u;
const BATCH = ${batch}u;
alias Colour = array<f32, CHANNELS>;
${threefryFunction(p.seed, p.stream)}
${drawFunction(p)}
${renderFunction(p)}
var<workgroup> draws: array<Draw, 2>;
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let part = ${groupIndex(grid)};
  let image = min(part / ${groupsPerImage}u, BATCH - 1u);
  let partner = BATCH - 1u - image;
  let pixel = part % ${groupsPerImage}u * THREADS + thread;
  if (thread == 0u) {
    draws[0] = draw_image(image, counters[step]);
    ${mixes ? 'draws[1] = draw_image(partner, counters[step]);' : ''}
  }
  workgroupBarrier();
  let row = indices[step * BATCH + image];
  ${mixes ? 'let partner_row = indices[step * BATCH + partner];\n  let share = scalars[step * 4u + 3u];' : ''}
  if (part / ${groupsPerImage}u >= BATCH) { return; }
  ${targets ? `if (pixel == 0u) { ${targetCode(p, mixes)} }` : ''}
  if (pixel >= PIXELS) { return; }
  var colour = render(draws[0], row, pixel / ${width}u, pixel % ${width}u);
  ${mixes ? mixCode(width) : ''}
  for (var k = 0u; k < CHANNELS; k++) { batchX[(image * CHANNELS + k) * PIXELS + pixel] = colour[k]; }
}
`;
    return [
      {
        label: `gather_images ${channels}×${height}×${width}`,
        reads: readsOf(targets, mixes),
        writes: { batchX: 'f32', ...(targets ? { batchY: 'f32' } : {}) },
        usesStep: true,
        code,
        workgroups: grid.workgroups,
      },
    ];
  },
};

function readsOf(targets: boolean, mixes: boolean): Readonly<Record<string, WgslElement>> {
  return {
    // Four bytes a word.
    x: 'u32',
    ...(targets ? { y: 'f32' as const } : {}),
    indices: 'u32',
    normalization: 'f32',
    ...(mixes ? { scalars: 'f32' as const } : {}),
    counters: 'u32',
  };
}

/** A share of 1 leaves the image alone: the partner is not even read. */
const mixCode = (width: number): string => `if (share < 1f) {
    let other = render(draws[1], partner_row, pixel / ${width}u, pixel % ${width}u);
    for (var k = 0u; k < CHANNELS; k++) { colour[k] = share * colour[k] + (1f - share) * other[k]; }
  }`;

function targetCode({ classes, targets }: Params, mixes: boolean): string {
  const own = mixes ? 'share' : '1f';
  if (classes > 0) {
    const other = mixes ? `+ select(0f, 1f - share, share < 1f && c == u32(y[partner_row * ${targets}u]))` : '';
    return `for (var c = 0u; c < ${classes}u; c++) {
      batchY[image * ${classes}u + c] = select(0f, ${own}, c == u32(y[row * ${targets}u])) ${other};
    }`;
  }
  const value = `y[row * ${targets}u + j]`;
  const mixed = `${own} * ${value} + select(0f, (1f - share) * y[partner_row * ${targets}u + j], share < 1f)`;
  return `for (var j = 0u; j < ${targets}u; j++) {
      batchY[image * ${targets}u + j] = ${mixes ? mixed : value};
    }`;
}

/** `fn draw_image(index, counter) -> Draw`; words that no limit asks for are not drawn. */
function drawFunction(p: Params): string {
  const { width, height, flip, crop, rotation, zoom, brightness, contrast, saturation, cutout } = p;
  const blocks = [
    flip || crop > 0,
    crop > 0 || rotation > 0,
    zoom > 0 || brightness > 0,
    contrast > 0 || saturation > 0,
    cutout > 0,
  ];
  const draws = blocks.flatMap((wanted, b) =>
    wanted ? [`let words${b} = threefry(8u * index + ${b}u, counter);`] : [],
  );
  const word = (k: number): string => `words${k >> 1}.${k & 1 ? 'y' : 'x'}`;
  const set = (condition: boolean | number, code: string): readonly string[] => (condition ? [code] : []);
  const lines = [
    ...draws,
    ...set(flip, `if ((${word(0)} >> 31u) == 1u) { draw.side = -1f; }`),
    ...set(crop > 0, `draw.columns = f32(whole(${word(1)}, ${2 * crop + 1}u) - ${crop});`),
    ...set(crop > 0, `draw.rows = f32(whole(${word(2)}, ${2 * crop + 1}u) - ${crop});`),
    ...set(rotation > 0, turnCode(rotation, word(3))),
    ...set(zoom > 0, `draw.zoom = 1f + sided(${word(4)}) * ${float(zoom)};`),
    ...set(brightness > 0, `draw.brightness = 1f + sided(${word(5)}) * ${float(brightness)};`),
    ...set(contrast > 0, `draw.contrast = 1f + sided(${word(6)}) * ${float(contrast)};`),
    ...set(saturation > 0, `draw.saturation = 1f + sided(${word(7)}) * ${float(saturation)};`),
    ...set(cutout > 0, `draw.left = whole(${word(8)}, ${width}u) - ${cutout >> 1};`),
    ...set(cutout > 0, `draw.top = whole(${word(9)}, ${height}u) - ${cutout >> 1};`),
  ];
  return `struct Draw {
  side: f32, columns: f32, rows: f32, cos: f32, sin: f32, zoom: f32,
  brightness: f32, contrast: f32, saturation: f32, left: i32, top: i32,
}
// A whole number from 0 to limit − 1.
fn whole(word: u32, limit: u32) -> i32 { return i32(((word >> 16u) * limit) >> 16u); }
// A number from −1 to 1.
fn sided(word: u32) -> f32 { return 2f * (f32(word >> 8u) * ${float(2 ** -24)}) - 1f; }
fn draw_image(index: u32, counter: u32) -> Draw {
  var draw = Draw(1f, 0f, 0f, 1f, 0f, 1f, 1f, 1f, 1f, 0, 0);
  ${lines.join('\n  ')}
  return draw;
}`;
}

/** Taylor series, as draws.ts has them: the same on every device. */
const turnCode = (rotation: number, word: string): string => `let angle = sided(${word}) * ${float(rotation)};
  let square = angle * angle;
  draw.cos = 1f - square * (0.5f - square * (${float(1 / 24)} - square * (${float(1 / 720)} - square * ${float(1 / 40320)})));
  draw.sin = angle * (1f - square * (${float(1 / 6)} - square * (${float(1 / 120)} - square * ${float(1 / 5040)})));`;

/** `fn render(draw, image, r, c) -> Colour`: one output pixel of an image, normalised. */
function renderFunction(p: Params): string {
  const { channels, height, width, brightness, contrast, saturation, cutout } = p;
  const covered = `if (i32(r) >= draw.top && i32(r) < draw.top + ${cutout} &&
    i32(c) >= draw.left && i32(c) < draw.left + ${cutout}) { return colour; }`;
  const recolour = brightness > 0 || contrast > 0 || (saturation > 0 && channels === 3);
  const grey = `let grey = 0.299f * colour[0] + 0.587f * colour[1] + 0.114f * colour[2];
  for (var k = 0u; k < CHANNELS; k++) { colour[k] = grey + (colour[k] - grey) * draw.saturation; }`;
  return `fn value_at(image: u32, channel: u32, row: i32, column: i32) -> f32 {
  if (row < 0 || row >= ${height} || column < 0 || column >= ${width}) { return normalization[2u * channel]; }
  let position = (image * CHANNELS + channel) * PIXELS + u32(row * ${width} + column);
  return f32((x[position / 4u] >> (8u * (position % 4u))) & 255u) / 255f;
}
fn render(draw: Draw, image: u32, r: u32, c: u32) -> Colour {
  var colour = Colour();
  ${cutout > 0 ? covered : ''}
  let u = draw.side * (f32(c) - ${float((width - 1) / 2)});
  let v = f32(r) - ${float((height - 1) / 2)};
  ${isTurned(p) ? turnedSample(width, height) : straightSample(width, height)}
  ${recolour ? recolourCode : ''}
  ${saturation > 0 && channels === 3 ? grey : ''}
  for (var k = 0u; k < CHANNELS; k++) {
    colour[k] = (clamp(colour[k], 0f, 1f) - normalization[2u * k]) / normalization[2u * k + 1u];
  }
  return colour;
}`;
}

const recolourCode = `for (var k = 0u; k < CHANNELS; k++) {
    let mean = normalization[2u * k];
    colour[k] = (colour[k] * draw.brightness - mean) * draw.contrast + mean;
  }`;

/** Whole pixels: halves cancel exactly. */
const straightSample = (
  width: number,
  height: number,
): string => `let column = i32(u + ${float((width - 1) / 2)} + draw.columns);
  let row = i32(v + ${float((height - 1) / 2)} + draw.rows);
  for (var k = 0u; k < CHANNELS; k++) { colour[k] = value_at(image, k, row, column); }`;

/** Between four pixels. */
const turnedSample = (
  width: number,
  height: number,
): string => `let column = (u * draw.cos + v * draw.sin) / draw.zoom + ${float((width - 1) / 2)} + draw.columns;
  let row = (v * draw.cos - u * draw.sin) / draw.zoom + ${float((height - 1) / 2)} + draw.rows;
  let left = floor(column);
  let top = floor(row);
  let right = column - left;
  let bottom = row - top;
  for (var k = 0u; k < CHANNELS; k++) {
    let upper = value_at(image, k, i32(top), i32(left)) * (1f - right) + value_at(image, k, i32(top), i32(left) + 1) * right;
    let lower = value_at(image, k, i32(top) + 1, i32(left)) * (1f - right) +
      value_at(image, k, i32(top) + 1, i32(left) + 1) * right;
    colour[k] = upper * (1f - bottom) + lower * bottom;
  }`;
