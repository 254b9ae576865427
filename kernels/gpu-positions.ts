// WGSL for sequences with padding behind: how many tokens a row has, and which of its positions are pooled.

/** `fn tokens_of(row) -> u32`: all `length` positions where there are no lengths. */
export const tokensOfRow = (length: number, has: boolean): string =>
  `fn tokens_of(row: u32) -> u32 { return ${has ? 'u32(lengths[row])' : `${length}u`}; }`;

/** The lengths as an operand that a pass reads, where there are some. */
export const lengthsRead = (has: (operand: string) => boolean): Readonly<Record<string, 'f32'>> =>
  has('lengths') ? { lengths: 'f32' } : {};

/** Expressions for the first pooled position and the one behind the last, of a row of `tokens`. */
export function pooledRange(pool: number): { readonly first: string; readonly end: string } {
  return { first: pool === 2 ? 'tokens - 1u' : '0u', end: pool === 1 ? '1u' : 'tokens' };
}
