// WGSL for tensors of up to six dimensions (sizes.ts): where an element of an operand lies, by its number in row-major order.

/**
 * `fn NAME(i: u32) -> u32`: Σ index_k · stride_k for the element `i` of the sizes. Dimensions of size 1 cost nothing.
 */
export function offsetFunction(name: string, sizes: readonly number[], strides: readonly number[]): string {
  const lines: string[] = [];
  const used = sizes.map((_, k) => k).filter((k) => sizes[k] > 1);
  const last = used.findLastIndex((k) => strides[k] !== 0);
  if (last < 0) return `fn ${name}(i: u32) -> u32 { return 0u; }\n`;
  [...used].reverse().forEach((k, position) => {
    const first = position === used.length - 1;
    if (strides[k] !== 0) {
      const index = first ? 'left' : `(left % ${sizes[k]}u)`;
      lines.push(`  offset += ${strides[k] === 1 ? index : `${index} * ${strides[k]}u`};`);
    }
    if (!first) lines.push(`  left /= ${sizes[k]}u;`);
  });
  return `fn ${name}(i: u32) -> u32 {
  var left = i;
  var offset = 0u;
${lines.join('\n')}
  return offset;
}
`;
}
