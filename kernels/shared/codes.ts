// AssemblyScript: category codes, stored as whole float32 numbers among the other columns of a row.

import { at } from './vectors';

/** The code at element `index`, clamped to 0 … vocabulary − 1; not a number counts as 0. */
@inline
export function codeAt(codes: usize, index: i32, vocabulary: i32): i32 {
  const code = <i32>load<f32>(at(codes, index));
  return max(0, min(code, vocabulary - 1));
}
