// What the model file of trees holds beside the settings: the bins of its columns, and the trees as arrays (tree.ts).

import { z } from 'zod';

const whole = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);
const count = z.number().min(0);

export const columnSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('number'), edges: z.array(z.number()).max(254) }),
  z.strictObject({ kind: z.literal('category'), codes: z.array(z.int().min(0)).max(255) }),
]);

export const treeSchema = z.strictObject({
  column: z.array(whole),
  cut: z.array(whole),
  missingLeft: z.array(z.int().min(0).max(1)),
  left: z.array(whole),
  right: z.array(whole),
  gain: z.array(z.number()),
  sets: z.array(z.array(z.int().min(0).max(255))),
  value: z.array(z.number()),
  /** Of trees with several outputs: how many values each leaf has, and of which outputs they are. */
  spread: z.strictObject({ counts: z.array(z.int().min(0)), outputs: z.array(z.int().min(0)) }).optional(),
  rows: z.array(count),
});

/** Of the run: its seed, the bins of its columns, its trees. */
export const treesFile = {
  seed: z.int().min(0),
  columns: z.array(columnSchema),
  trees: z.array(treeSchema),
};

export type ColumnFile = z.infer<typeof columnSchema>;
export type TreeFile = z.infer<typeof treeSchema>;
