// The specification a run leaves in: one JSON text of its record, its model, its preprocessing and its weights as numbers. The members
// of the model stand beside these; they are read as `model.json` is (model-file.ts).

import { z } from 'zod';

const schema = z.looseObject({
  version: z.literal(1),
  run: z.looseObject({ id: z.int(), name: z.string(), dataset: z.string(), config: z.looseObject({}) }),
  weights: z.record(z.string(), z.object({ shape: z.array(z.int().min(0)), values: z.array(z.number()) })),
});

export type Specification = z.infer<typeof schema>;

/** What its schema does not accept, in words, instead of a specification. */
export function parseSpecification(text: string): Specification | string {
  const parsed = schema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `${issue.path.join('.')}: ${issue.message}`;
}
