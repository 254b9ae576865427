// Sequences of positions: the tokens of a text looked up, attention over them, one vector of all. N batch, L positions, D values a
// position. Padding stands behind the last token of a row; `lengths` [N] says how many it has (none: all L are real).

import { attentionProblem } from '../../../kernels/attention-shape.ts';
import { poolCodes } from '../../../kernels/pool_positions/kernel.ts';
import type {
  AttentionAttributes,
  AttributesOf,
  RotaryAttributes,
  TextAttributes,
  TokenAttributes,
  WindowAttributes,
} from '../attributes.ts';
import { GraphError, formatShape } from '../errors.ts';
import type { Shape } from '../graph.ts';
import { defineOp, expectEqual, ranked, reserved } from '../op.ts';

function textOf(codes: Shape | null, { column, length }: TextAttributes): { batch: number; codesWidth: number } {
  const [batch, codesWidth] = ranked(codes, 2, 'codes of a text');
  if (column + length > codesWidth) {
    throw new GraphError(`a text of ${length} codes from column ${column} on in rows of ${codesWidth}`);
  }
  return { batch, codesWidth };
}

function tokenParams(codes: Shape | null, attributes: TokenAttributes, vocabulary: number, width: number) {
  const { batch, codesWidth } = textOf(codes, attributes);
  const { length, column: codesColumn, pairs } = attributes;
  return { batch, length, vocabulary, width, codesWidth, codesColumn, pairs: pairs ? 1 : 0 };
}

/** The parameters of attention on qkv [N,L,(heads + 2·groups)·size]. */
function attentionParams(qkv: Shape | null, { heads, groups, causal, scale, dropout }: AttentionAttributes) {
  const [batch, length, width] = ranked(qkv, 3, 'attention input');
  const size = width / (heads + 2 * groups);
  const { rate, seed, stream, steps } = dropout ?? { rate: 0, seed: 0, stream: 0, steps: 1 };
  const params = { batch, length, heads, groups, size, causal: causal ? 1 : 0, scale, rate, seed, stream, steps };
  const problem = attentionProblem(params);
  if (problem !== null || !Number.isInteger(size)) {
    throw new GraphError(problem ?? `attention of ${heads} and 2 · ${groups} heads over ${formatShape(qkv!)}`);
  }
  return params;
}

/** What the random numbers of dropped weights are drawn by. */
const draws = ({ dropout }: AttentionAttributes) => [
  dropout ? reserved('step.counters') : null,
  dropout?.scheduled ? reserved('step.scalars') : null,
];

export const sequenceOps = {
  /** lengths[N]: tokens of a text, 1 at least; input codes [N,width]. */
  text_lengths: defineOp<TextAttributes>({
    shape: ([codes], attributes) => [[textOf(codes, attributes).batch]],
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, shapes: [codes] }) => {
      const { batch, codesWidth } = textOf(codes, attributes);
      const params = { batch, length: attributes.length, codesWidth, codesColumn: attributes.column };
      return [{ kernel: 'text_lengths', inputs, outputs, params }];
    },
  }),

  /** y[N,L,D]: the row of the table [V,D] for each token, 0 for padding; inputs table, codes [N,width]. */
  token_embedding: defineOp<TokenAttributes>({
    shape: ([table, codes], attributes) => {
      const { batch } = textOf(codes, attributes);
      return [[batch, attributes.length, ranked(table, 2, 'token table')[1]]];
    },
    gradient: (graph, { inputs: [table, codes], attributes }, [dy]) => [
      dy === null
        ? null
        : graph.one('token_embedding_grad', [dy, codes], { ...attributes, vocabulary: graph.shape(table!)[0] }),
      null,
    ],
    lower: ({ attributes, inputs, outputs, shapes: [table, codes] }) => [
      {
        kernel: 'token_embedding',
        inputs,
        outputs,
        params: tokenParams(codes, attributes, table![0], table![1]),
      },
    ],
  }),

  /** dtable[V,D]: rows of dy summed by token. */
  token_embedding_grad: defineOp<AttributesOf<'token_embedding_grad'>>({
    shape: ([dy], { vocabulary }) => [[vocabulary, ranked(dy, 3, 'token gradient')[2]]],
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, shapes: [dy, codes] }) => [
      {
        kernel: 'token_embedding_grad',
        inputs,
        outputs,
        params: tokenParams(codes, attributes, attributes.vocabulary, dy![2]),
      },
    ],
  }),

  /**
   * y[N,L,heads·size] = dropout(softmax(scale·q·kᵀ))·v; inputs qkv [N,L,(heads + 2·groups)·size], lengths?. The second output [N,heads,L] is
   * the logarithm of each softmax's sum, which the gradient needs.
   */
  attention: defineOp<AttentionAttributes>({
    shape: ([qkv, lengths], attributes) => {
      const { batch, length, heads, size } = attentionParams(qkv, attributes);
      if (lengths) expectEqual(lengths, [batch], 'lengths');
      return [
        [batch, length, heads * size],
        [batch, heads, length],
      ];
    },
    gradient: (graph, { inputs: [qkv, lengths], outputs: [y, logsum], attributes }, [dy]) => [
      dy === null ? null : graph.one('attention_grad', [dy, qkv, y, logsum, lengths], attributes),
      null,
    ],
    lower: ({ attributes, inputs, outputs, shapes: [qkv] }) => [
      {
        kernel: 'attention',
        inputs: [...inputs, ...draws(attributes)],
        outputs,
        params: attentionParams(qkv, attributes),
      },
    ],
  }),

  /** dqkv; inputs dy, qkv, y, logsum, lengths?. */
  attention_grad: defineOp<AttentionAttributes>({
    shape: ([dy, qkv, y], attributes) => {
      expectEqual(dy!, y!, 'attention output gradient');
      attentionParams(qkv, attributes);
      return [qkv!];
    },
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, shapes: [, qkv] }) => [
      {
        kernel: 'attention_grad',
        inputs: [...inputs, ...draws(attributes)],
        outputs,
        params: attentionParams(qkv, attributes),
      },
    ],
  }),

  /** y[N,L,K·D]: the windows of x [N,L,D] beside each other, zeros beyond the real positions; inputs x, lengths?. */
  unfold: defineOp<WindowAttributes>({
    shape: ([x], { taps }) => {
      const [batch, length, width] = ranked(x, 3, 'sequence of windows');
      return [[batch, length, taps * width]];
    },
    gradient: (graph, { inputs: [, lengths], attributes }, [dy]) => [
      dy === null ? null : graph.one('unfold_grad', [dy, lengths], attributes),
      null,
    ],
    lower: ({ attributes, inputs, outputs, shapes: [x] }) => {
      const [batch, length, width] = x!;
      return [{ kernel: 'unfold', inputs, outputs, params: { batch, length, width, ...attributes } }];
    },
  }),

  /** dx[N,L,D]; inputs dy [N,L,K·D], lengths?. */
  unfold_grad: defineOp<WindowAttributes>({
    shape: ([dy], { taps }) => {
      const [batch, length, width] = ranked(dy, 3, 'gradient of windows');
      return [[batch, length, width / taps]];
    },
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, outputShapes: [[batch, length, width]] }) => [
      { kernel: 'unfold_grad', inputs, outputs, params: { batch, length, width, ...attributes } },
    ],
  }),

  /** The first heads of x [N,L,W] turned by a table [L,size] of cosines and sines; inputs x, table. */
  rotary: defineOp<RotaryAttributes>({
    shape: ([x, table], { size }) => {
      const [, length] = ranked(x, 3, 'turned positions');
      expectEqual(table!, [length, size], 'table of angles');
      return [x!];
    },
    gradient: (graph, { inputs: [, table], attributes }, [dy]) => [
      dy === null ? null : graph.one('rotary', [dy, table], { ...attributes, inverse: !attributes.inverse }),
      null,
    ],
    lower: ({ attributes: { heads, size, inverse }, inputs, outputs, shapes: [x] }) => {
      const [batch, length, width] = x!;
      const params = { batch, length, width, heads, size, inverse: inverse ? 1 : 0 };
      return [{ kernel: 'rotary', inputs, outputs, params }];
    },
  }),

  /** y[N,L]: `inside` for the first lengths[N] positions, `outside` for the others. */
  positions_mask: defineOp<AttributesOf<'positions_mask'>>({
    shape: ([lengths], { length }) => [[ranked(lengths, 1, 'lengths')[0], length]],
    gradient: 'none',
    lower: ({ attributes, inputs, outputs, shapes: [lengths] }) => [
      { kernel: 'positions_mask', inputs, outputs, params: { batch: lengths![0], ...attributes } },
    ],
  }),

  /** y[N,D]: the mean of the real positions of x [N,L,D], the first or the last of them; inputs x, lengths?. */
  pool_positions: defineOp<AttributesOf<'pool_positions'>>({
    shape: ([x]) => {
      const [batch, , width] = ranked(x, 3, 'pooled positions');
      return [[batch, width]];
    },
    gradient: (graph, { inputs: [x, lengths], attributes: { pool } }, [dy]) => [
      dy === null ? null : graph.one('pool_positions_grad', [dy, lengths], { pool, length: graph.shape(x!)[1] }),
      null,
    ],
    lower: ({ attributes: { pool }, inputs, outputs, shapes: [x] }) => {
      const [batch, length, width] = x!;
      return [{ kernel: 'pool_positions', inputs, outputs, params: { batch, length, width, pool: poolCodes[pool] } }];
    },
  }),

  /** dx[N,L,D]; inputs dy [N,D], lengths?. */
  pool_positions_grad: defineOp<AttributesOf<'pool_positions_grad'>>({
    shape: ([dy], { length }) => {
      const [batch, width] = ranked(dy, 2, 'pooled gradient');
      return [[batch, length, width]];
    },
    gradient: 'none',
    lower: ({ attributes: { pool, length }, inputs, outputs, shapes: [dy] }) => {
      const [batch, width] = dy!;
      return [
        { kernel: 'pool_positions_grad', inputs, outputs, params: { batch, length, width, pool: poolCodes[pool] } },
      ];
    },
  }),
};
