// Learned vectors for category codes. The codes stand as whole float32 numbers in a column of the batch matrix.

import type { AttributesOf, EmbeddingAttributes } from '../attributes.ts';
import { defineOp, ranked } from '../op.ts';

export const embeddingOps = {
  /** y[N,D]: row code[n] of the table [V,D]; inputs table, codes [N,width]. */
  embedding: defineOp<EmbeddingAttributes>({
    shape: ([table, codes]) => [[ranked(codes, 2, 'embedding codes')[0], ranked(table, 2, 'embedding table')[1]]],
    gradient: (graph, { inputs: [table, codes], attributes }, [dy]) => [
      dy === null
        ? null
        : graph.one('embedding_grad', [dy, codes], { ...attributes, vocabulary: graph.shape(table!)[0] }),
      null,
    ],
    lower: ({ attributes: { column }, inputs, outputs, shapes: [table, codes] }) => [
      {
        kernel: 'embedding',
        inputs,
        outputs,
        params: {
          batch: codes![0],
          vocabulary: table![0],
          width: table![1],
          codesWidth: codes![1],
          codesColumn: column,
        },
      },
    ],
  }),

  /** dtable[V,D]: rows of dy summed by code. */
  embedding_grad: defineOp<AttributesOf<'embedding_grad'>>({
    shape: ([dy], { vocabulary }) => [[vocabulary, ranked(dy, 2, 'embedding gradient')[1]]],
    gradient: 'none',
    lower: ({ attributes: { column, vocabulary }, inputs, outputs, shapes: [dy, codes] }) => [
      {
        kernel: 'embedding_grad',
        inputs,
        outputs,
        params: { batch: dy![0], vocabulary, width: dy![1], codesWidth: codes![1], codesColumn: column },
      },
    ],
  }),
};
