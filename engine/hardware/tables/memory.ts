// What fitting a model of a table that is no network holds in memory.

import { binsOf, drawnOnce, fewParameters, largestSystem, outputsOf, type TableTask } from './work.ts';

/** Bytes that a fit holds. */
export interface TableMemory {
  /** Rows as the learner holds them: a byte a value for trees, four for a linear model. */
  readonly rows: number;
  /** Gradients, scores, lists, histograms; or the system that is solved. */
  readonly work: number;
  /** The trees, or the weights. */
  readonly model: number;
  readonly total: number;
}

/** Histograms that are kept, bytes at most. */
const mostHistograms = 2 ** 28;
/** A leaf with the node above it. */
const leafBytes = 41;
/** Leaves of a tree grown to the end, by rows. */
const leafShare = { classes: 0.25, numbers: 0.65 } as const;

/** Null: what it trains is decided as it goes on. */
export function tableMemory(task: TableTask): TableMemory | null {
  const { model, counts, columns, classes } = task;
  const K = outputsOf(classes);
  const all = counts.train + counts.validation + counts.test;
  const rows = all * (columns + 4);
  const of = (parts: Omit<TableMemory, 'total'>): TableMemory => ({
    ...parts,
    total: parts.rows + parts.work + parts.model,
  });
  switch (model.learner) {
    case 'boosted': {
      const { leaves, trees } = model.boosted;
      const seen = counts.train + counts.validation;
      const histograms = Math.min(mostHistograms, 16 * binsOf(task) * leaves);
      // Rows are copied to where the kernels compute: a word of 16 bytes for their gradients packed, as many before.
      const lists = seen * (columns + 4 + 8 * K * (K > 1 ? 2 : 1) + 32 + 8);
      return of({ rows, work: lists + histograms, model: (task.grown ?? trees) * K * leaves * leafBytes });
    }
    case 'forest':
    case 'extra': {
      const settings = model.learner === 'forest' ? model.forest : model.extra;
      const drawn = counts.train * (settings.bootstrap === 'yes' ? drawnOnce : 1);
      const leaves = Math.max(1, (drawn * (classes > 0 ? leafShare.classes : leafShare.numbers)) / settings.minRows);
      const work = counts.train * 33 + all * 8 * K;
      return of({ rows, work, model: (task.grown ?? settings.trees) * leaves * (leafBytes + (K > 1 ? 16 : 0)) });
    }
    case 'linear': {
      const side = classes === 0 ? Math.min(counts.train, columns) : (columns + 1) * K;
      const system = side <= (classes === 0 ? largestSystem : fewParameters) ? 16 * side ** 2 : 30 * 8 * side;
      return of({ rows: 4 * all * (columns + 1), work: system, model: 4 * (columns + 1) * K });
    }
    case 'auto':
      return null;
    default:
      return model satisfies never;
  }
}
