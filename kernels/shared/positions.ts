// AssemblyScript: which positions of a sequence are pooled (the codes of kernels/pool_positions/kernel.ts).

@inline
export function firstPooled(pool: i32, tokens: i32): i32 {
  return pool == 2 ? tokens - 1 : 0;
}

@inline
export function endOfPooled(pool: i32, tokens: i32): i32 {
  return pool == 1 ? 1 : tokens;
}
