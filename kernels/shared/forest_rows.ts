// AssemblyScript: what a node of tree_forest has in all: weight and draws of its rows, sums of their targets, its classes.

import { ENTRY, entryAt, outputs, present, weights, whole } from './forest_slot';
import { at64 } from './tree_math';
import { at } from './vectors';

// Of the node at work.
export let weight: f64 = 0;
export let drawn: u32 = 0;
export let presents: i32 = 0;
export let pure = false;

@inline
export function weightOf(entry: usize): f64 {
  const own = <f64>load<u32>(entry, 4);
  return weights == 0 ? own : own * load<f64>(at64(weights, <i32>load<f32>(entry, 8)));
}

/** Sums of some rows into `whole`, and the classes there are, in order. */
export function sumRows(from: u32, to: u32): void {
  weight = 0;
  drawn = 0;
  pure = true;
  if (outputs == 1) {
    const first = load<f32>(entryAt(from), 8);
    let sum: f64 = 0;
    let total: f64 = 0;
    for (let entry = entryAt(from); entry < entryAt(to); entry += ENTRY) {
      const own = weightOf(entry);
      const target = load<f32>(entry, 8);
      total += own;
      drawn += load<u32>(entry, 4);
      sum += own * <f64>target;
      pure = pure && target == first;
    }
    weight = total;
    store<f64>(whole, sum);
    store<u32>(present, 0);
    presents = 1;
    return;
  }
  presents = 0;
  for (let entry = entryAt(from); entry < entryAt(to); entry += ENTRY) {
    const own = weightOf(entry);
    const k = <u32>load<f32>(entry, 8);
    weight += own;
    drawn += load<u32>(entry, 4);
    const before = load<f64>(at64(whole, k));
    if (before == 0) {
      let place = presents++;
      for (; place > 0 && load<u32>(at(present, place - 1)) > k; place--) {
        store<u32>(at(present, place), load<u32>(at(present, place - 1)));
      }
      store<u32>(at(present, place), k);
    }
    store<f64>(at64(whole, k), before + own);
  }
  pure = presents == 1;
}

export function clear(base: usize): void {
  for (let j = 0; j < presents; j++) store<f64>(at64(base, load<i32>(at(present, j))), 0);
}

export function squares(): f64 {
  let sum: f64 = 0;
  for (let j = 0; j < presents; j++) {
    const one = load<f64>(at64(whole, load<i32>(at(present, j))));
    sum += one * one;
  }
  return sum;
}
