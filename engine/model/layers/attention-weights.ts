// Attention whose weights are dropped while it trains (Vaswani et al. 2017). The fused kernel never has them, so it is put together of products, softmax
// and dropout: all scores of a layer are kept, and memory grows with the square of the length.

import type { AttentionAttributes, DropoutAttributes } from '../../graph/attributes.ts';
import type { GraphBuilder, ValueId } from '../../graph/graph.ts';

/** What a score is lowered by where a position does not see another. */
export const unseen = -1e30;

/** How many positions each of `length` sees where it sees none behind itself: 1, 2, …. */
export const seenInOrder = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => i + 1);

/**
 * y [N,L,H·S] of qkv [N,L,(H + 2G)·S], as the op `attention`. `lengths` [N]: real positions; `inOrder` [L]: positions that each sees; null: all.
 */
export function attentionWithDropout(
  graph: GraphBuilder,
  qkv: ValueId,
  { heads, groups, scale }: Omit<AttentionAttributes, 'causal'>,
  lengths: ValueId | null,
  inOrder: ValueId | null,
  dropout: DropoutAttributes,
): ValueId {
  const [batch, length, width] = graph.shape(qkv);
  const size = width / (heads + 2 * groups);
  const each = heads / groups;
  // [N, G, heads of each, L, S]; keys and values serve all heads of their group.
  const part = (first: number, count: number): ValueId => {
    const band = graph.one('slice', [qkv], { axis: 2, offset: first * size, size: count * size });
    const split = graph.one('reshape', [band], { shape: [batch, length, groups, count / groups, size] });
    return graph.one('transpose', [split], { permutation: [0, 2, 3, 1, 4] });
  };
  const [q, k, v] = [part(0, heads), part(heads, groups), part(heads + groups, groups)];
  let scores = graph.one('matmul', [q, k], { transposeA: false, transposeB: true, scale });
  const hide = (seen: ValueId, shape: readonly number[]): void => {
    const mask = graph.one('positions_mask', [seen], { length, inside: 0, outside: unseen });
    scores = graph.one('add', [scores, graph.one('reshape', [mask], { shape })], {});
  };
  if (lengths !== null) hide(lengths, [batch, 1, 1, 1, length]);
  if (inOrder !== null) hide(inOrder, [1, 1, 1, length, length]);
  const weights = graph.one('dropout', [graph.one('softmax', [scores], {})], dropout);
  const mixed = graph.one('matmul', [weights, v], { transposeA: false, transposeB: false, scale: 1 });
  const turned = graph.one('transpose', [mixed], { permutation: [0, 3, 1, 2, 4] });
  return graph.one('reshape', [turned], { shape: [batch, length, groups * each * size] });
}
