// AssemblyScript: what most CPU kernels need. Reading arguments, sharing work between threads, and moving up to four float32
// elements at a time. A loop calls its body with 4 lanes, where the tests for a tail fold away, and once with the lanes left.

/** Threads share elements in blocks of a cache line, so that no two write to the same line. */
export const LINE = 16;

/** Address argument: an operand, 0 if absent. Arguments count from 0, inputs first, then outputs, then parameters. */
@inline
export function pointer(args: usize, index: usize): usize {
  return load<u32>(args + (index << 2));
}

/** Parameter of kind i32. */
@inline
export function integer(args: usize, index: usize): i32 {
  return load<i32>(args + (index << 2));
}

/** Parameter of kind f32. */
@inline
export function real(args: usize, index: usize): f32 {
  return load<f32>(args + (index << 2));
}

/** Where the share of a thread begins when `count` items are shared in blocks of `grain`; it ends where the next begins. */
export function shareStart(count: i32, grain: i32, thread: i32, threads: i32): i32 {
  const blocks = (count + grain - 1) / grain;
  return min(count, ((blocks / threads) * thread + min(thread, blocks % threads)) * grain);
}

/** Address of element `index`. */
@inline
export function at(base: usize, index: i32): usize {
  return base + ((<usize>index) << 2);
}

/** Elements index … index + lanes − 1, then zeros. `lanes` may be more than 4. */
@inline
export function read(base: usize, index: i32, lanes: i32): v128 {
  return lanes >= 4 ? v128.load(at(base, index)) : readSome(at(base, index), lanes);
}

/** Writes the first `lanes` elements of a vector. */
@inline
export function write(base: usize, index: i32, value: v128, lanes: i32): void {
  if (lanes >= 4) v128.store(at(base, index), value);
  else writeSome(at(base, index), value, lanes);
}

function readSome(address: usize, lanes: i32): v128 {
  if (lanes == 1) return v128.load32_zero(address);
  const two = v128.load64_zero(address);
  return lanes == 2 ? two : v128.load32_lane(address, two, 2, 8);
}

function writeSome(address: usize, value: v128, lanes: i32): void {
  if (lanes == 1) {
    v128.store32_lane(address, value, 0);
    return;
  }
  v128.store64_lane(address, value, 0);
  if (lanes == 3) v128.store32_lane(address, value, 2, 8);
}

/** The lanes below `lanes` of one vector, the others of another. */
@inline
export function firstLanes(value: v128, lanes: i32, others: v128): v128 {
  return v128.bitselect(value, others, i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(lanes)));
}

/** The sum of the lanes, in a fixed order. */
@inline
export function sumLanes(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
  );
}

/** x = scale·x for `count` elements. */
export function scaleRow(x: usize, count: i32, scale: f32): void {
  const factor = f32x4.splat(scale);
  for (let i = 0; i < count; i += 4) write(x, i, f32x4.mul(read(x, i, count - i), factor), count - i);
}

/** Copies `count` elements. */
@inline
export function copy(target: usize, source: usize, count: i32): void {
  if (count > 64) {
    memory.copy(target, source, (<usize>count) << 2);
    return;
  }
  let i = 0;
  for (; i + 4 <= count; i += 4) write(target, i, read(source, i, 4), 4);
  if (i < count) write(target, i, read(source, i, count - i), count - i);
}
