// AssemblyScript: the slot that a thread of tree_forest works at, and the numbers it draws. The layouts are those of tree_forest/kernel.ts.

import { scratch } from './scratch';
import { at, integer, pointer } from './vectors';

/** Bytes of a state before its stack, and of a place in that; of a state; of a row in a list. */
export const HEAD = 64;
export const PLACE = 32;
const STATE = 2048;
export const ENTRY = 12;

// A module's globals belong to one thread.
export let bins: usize = 0;
export let targets: usize = 0;
export let weights: usize = 0;
export let kinds: usize = 0;
export let width: i32 = 0;
export let rows: i32 = 0;
export let outputs: i32 = 0;
export let minRows: u32 = 0;
export let mostDepth: u32 = 0;
export let columns: i32 = 0;
export let randomCuts = false;
export let bootstrap = false;
export let state: usize = 0;
export let list: usize = 0;
export let spare: usize = 0;
export let order: usize = 0;
export let sums: usize = 0;
export let whole: usize = 0;
export let side: usize = 0;
export let nodes: usize = 0;
export let gains: usize = 0;
export let masks: usize = 0;
export let leaves: usize = 0;
export let values: usize = 0;
export let classes: usize = 0;
// Scratch: of the bins that a node has, of its best set of bins, and of its classes.
export let means: usize = 0;
export let used: usize = 0;
export let drawnBy: usize = 0;
export let goesLeft: usize = 0;
export let bestMask: usize = 0;
export let present: usize = 0;

/** What all slots of a call have. */
export function useJob(args: usize): void {
  const job = pointer(args, 4);
  bins = pointer(args, 0);
  targets = pointer(args, 1);
  weights = pointer(args, 2);
  kinds = pointer(args, 3);
  rows = integer(args, 15);
  width = integer(args, 16);
  outputs = integer(args, 18);
  minRows = load<u32>(job);
  mostDepth = load<u32>(job, 4);
  columns = load<i32>(job, 8);
  randomCuts = load<u32>(job, 12) != 0;
  bootstrap = load<u32>(job, 16) != 0;
  means = scratch;
  used = scratch + 2048;
  drawnBy = scratch + 4096;
  goesLeft = scratch + 5120;
  bestMask = scratch + 5376;
  present = scratch + 8192;
  memory.fill(drawnBy, 0, 1024);
}

/** Makes slot `i` the one at work. */
export function useSlot(args: usize, i: i32): void {
  const slot = <usize>i;
  const entries = <usize>max(2, outputs);
  const capacity = <usize>integer(args, 19);
  const sets = <usize>integer(args, 20);
  const room = <usize>integer(args, 21);
  state = pointer(args, 5) + slot * STATE;
  list = pointer(args, 6) + 2 * slot * <usize>rows * ENTRY;
  spare = list + <usize>rows * ENTRY;
  order = pointer(args, 7) + ((slot * <usize>width) << 2);
  sums = pointer(args, 8) + 2064 * slot * entries;
  whole = sums + 2048 * entries;
  side = sums + 2056 * entries;
  nodes = pointer(args, 9) + ((slot * capacity) << 4);
  gains = pointer(args, 10) + ((slot * capacity) << 3);
  masks = pointer(args, 11) + ((slot * sets) << 5);
  leaves = pointer(args, 12) + ((slot * capacity) << 4);
  values = pointer(args, 13) + ((slot * room) << 3);
  classes = pointer(args, 14) + ((slot * room) << 2);
}

/** A whole number below another: sfc32, its words from `words` on. */
export function draw(words: usize, below: u32): u32 {
  const a = load<u32>(words);
  const b = load<u32>(words, 4);
  const c = load<u32>(words, 8);
  const d = load<u32>(words, 12);
  const result = a + b + d;
  store<u32>(words, b ^ (b >> 9));
  store<u32>(words, c + (c << 3), 4);
  store<u32>(words, rotl<u32>(c, 21) + result, 8);
  store<u32>(words, d + 1, 12);
  return <u32>(<f64>result * 2.3283064365386963e-10 * <f64>below);
}

@inline
export function entryAt(index: u32): usize {
  return list + <usize>index * ENTRY;
}
