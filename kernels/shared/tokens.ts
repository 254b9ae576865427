// AssemblyScript: tokens, stored as whole float32 numbers among the other columns of a row: code 0 is padding.

import { at } from './vectors';

/**
 * The row of the table for the code at element `index`, −1 for padding; codes past the vocabulary count as the last. With `pairs` that for it
 * and the code behind it (`rowAt` of ../token-codes.ts); `last`: there is none behind it.
 */
@inline
export function tokenAt(codes: usize, index: i32, vocabulary: i32, pairs: i32, last: bool): i32 {
  const code = <i32>load<f32>(at(codes, index));
  if (pairs == 0) return min(code, vocabulary) - 1;
  if (last || code == 0) return -1;
  const next = <i32>load<f32>(at(codes, index + 1));
  return next == 0 ? -1 : (code * 2003 + next) % vocabulary;
}

/** Tokens of row `index`: all of them without `lengths`. */
@inline
export function tokensOf(lengths: usize, index: i32, length: i32): i32 {
  return lengths == 0 ? length : <i32>load<f32>(at(lengths, index));
}
