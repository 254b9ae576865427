// AssemblyScript: tokens, stored as whole float32 numbers among the other columns of a row: code 0 is padding.

import { at } from './vectors';

/** The row of the table for the code at element `index`, −1 for padding; codes past the vocabulary count as the last. */
@inline
export function tokenAt(codes: usize, index: i32, vocabulary: i32): i32 {
  return min(<i32>load<f32>(at(codes, index)), vocabulary) - 1;
}

/** Tokens of row `index`: all of them without `lengths`. */
@inline
export function tokensOf(lengths: usize, index: i32, length: i32): i32 {
  return lengths == 0 ? length : <i32>load<f32>(at(lengths, index));
}
