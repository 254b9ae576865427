// AssemblyScript twin of kernels/draws.ts: how one image is changed. State lives in globals, one thread each.

import { firstWords, secondWords, threefry } from './threefry';
import { integer, real } from './vectors';

let seed: i32 = 0;
let stream: i32 = 0;
let flip: bool = false;
let crop: i32 = 0;
let rotation: f32 = 0;
let zoomLimit: f32 = 0;
let brightnessLimit: f32 = 0;
let contrastLimit: f32 = 0;
let saturationLimit: f32 = 0;
let centreRow: f32 = 0;
let centreColumn: f32 = 0;
let rows: i32 = 0;
let columns: i32 = 0;
export let cutout: i32 = 0;

/** The image drawn last. */
export let mirrored: bool = false;
export let shiftColumns: i32 = 0;
export let shiftRows: i32 = 0;
export let brightness: f32 = 1;
export let contrast: f32 = 1;
export let saturation: f32 = 1;
export let coverLeft: i32 = 0;
export let coverTop: i32 = 0;
let cos: f32 = 1;
let sin: f32 = 0;
let zoom: f32 = 1;

/** Words of the image's counters 0 … 3 and 4 … 7. */
let first0: v128 = i32x4.splat(0);
let second0: v128 = i32x4.splat(0);
let first1: v128 = i32x4.splat(0);

/** `first` is the position of `seed` among the arguments. */
export function readLimits(args: usize, first: usize, height: i32, width: i32): void {
  seed = integer(args, first);
  stream = integer(args, first + 1);
  flip = integer(args, first + 2) != 0;
  crop = integer(args, first + 3);
  rotation = real(args, first + 4);
  zoomLimit = real(args, first + 5);
  brightnessLimit = real(args, first + 6);
  contrastLimit = real(args, first + 7);
  saturationLimit = real(args, first + 8);
  cutout = integer(args, first + 9);
  rows = height;
  columns = width;
  centreRow = <f32>(height - 1) * 0.5;
  centreColumn = <f32>(width - 1) * 0.5;
}

/** Places change by other than whole pixels. */
@inline
export function isTurned(): bool {
  return rotation > 0 || zoomLimit > 0;
}

@inline
export function isColoured(): bool {
  return brightnessLimit > 0 || contrastLimit > 0 || saturationLimit > 0;
}

/** A whole number from 0 to limit − 1. */
@inline
function whole(word: i32, limit: i32): i32 {
  return <i32>(((<u32>word >>> 16) * <u32>limit) >>> 16);
}

/** A number from −1 to 1. */
@inline
function sided(word: i32): f32 {
  return 2 * (<f32>(<u32>word >>> 8) * <f32>5.9604644775390625e-8) - 1;
}

export function drawImage(index: i32, counter: i32): void {
  threefry(seed, stream, i32x4.add(i32x4.splat(8 * index), i32x4(0, 1, 2, 3)), counter);
  first0 = firstWords;
  second0 = secondWords;
  threefry(seed, stream, i32x4.add(i32x4.splat(8 * index + 4), i32x4(0, 1, 2, 3)), counter);
  first1 = firstWords;
  mirrored = flip && i32x4.extract_lane(first0, 0) < 0;
  shiftColumns = crop > 0 ? whole(i32x4.extract_lane(second0, 0), 2 * crop + 1) - crop : 0;
  shiftRows = crop > 0 ? whole(i32x4.extract_lane(first0, 1), 2 * crop + 1) - crop : 0;
  const angle = sided(i32x4.extract_lane(second0, 1)) * rotation;
  const square = angle * angle;
  const half = <f32>(1.0 / 40320.0) * square;
  cos = 1 - square * (<f32>0.5 - square * (<f32>(1.0 / 24.0) - square * (<f32>(1.0 / 720.0) - half)));
  const tail = <f32>(1.0 / 5040.0) * square;
  sin = angle * (1 - square * (<f32>(1.0 / 6.0) - square * (<f32>(1.0 / 120.0) - tail)));
  zoom = 1 + sided(i32x4.extract_lane(first0, 2)) * zoomLimit;
  brightness = 1 + sided(i32x4.extract_lane(second0, 2)) * brightnessLimit;
  contrast = 1 + sided(i32x4.extract_lane(first0, 3)) * contrastLimit;
  saturation = 1 + sided(i32x4.extract_lane(second0, 3)) * saturationLimit;
  coverLeft = whole(i32x4.extract_lane(first1, 0), columns) - (cutout >> 1);
  coverTop = whole(i32x4.extract_lane(secondWords, 0), rows) - (cutout >> 1);
}

/** The row of the image that an output pixel shows. */
@inline
export function sourceRow(row: i32, column: i32): f32 {
  const u = (mirrored ? <f32>-1 : <f32>1) * (<f32>column - centreColumn);
  const v = <f32>row - centreRow;
  return (v * cos - u * sin) / zoom + centreRow + <f32>shiftRows;
}

@inline
export function sourceColumn(row: i32, column: i32): f32 {
  const u = (mirrored ? <f32>-1 : <f32>1) * (<f32>column - centreColumn);
  const v = <f32>row - centreRow;
  return (u * cos + v * sin) / zoom + centreColumn + <f32>shiftColumns;
}
