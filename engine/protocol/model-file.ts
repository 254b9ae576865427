// `model.json` of a run: what its weights belong to. It is read strictly: a file that was changed must not become a model that
// predicts something else.

import { z } from 'zod';
import type { OutputSpec, Task } from '../model/spec.ts';
import { tasks } from '../settings/dataset.ts';
import { TrainyardError } from './errors.ts';
import type { PreparedData } from './data.ts';

/** What every model file holds, whatever learned; beside it what its learner declares. */
export interface ModelFile {
  readonly learner: string;
  readonly input: PreparedData['input'];
  readonly output: OutputSpec;
  readonly task: Task;
}

const count = z
  .int()
  .min(1)
  .max(2 ** 31);

const input = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('table'),
    width: z
      .int()
      .min(0)
      .max(2 ** 31),
    numeric: z
      .int()
      .min(0)
      .max(2 ** 31),
    embeddings: z.array(z.object({ name: z.string(), vocabulary: count, dimensions: count })),
    numbers: z.array(z.int().min(0)).optional(),
    texts: z
      .array(z.object({ name: z.string(), vocabulary: count, length: count, predicted: z.literal(true).optional() }))
      .optional(),
  }),
  z.object({ kind: z.literal('image'), channels: count, height: count, width: count }),
  z.object({
    kind: z.literal('columns'),
    columns: z.array(
      z.discriminatedUnion('kind', [
        z.object({ name: z.string(), kind: z.enum(['number', 'boolean', 'datetime']) }),
        z.object({ name: z.string(), kind: z.literal('category'), categories: z.array(z.string()) }),
      ]),
    ),
    texts: z.array(z.object({ name: z.string(), width: count })).optional(),
  }),
]);

const output = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('classes'), classes: z.array(z.string()).min(1) }),
  z.object({ kind: z.literal('value'), name: z.string(), offset: z.number(), scale: z.number() }),
]);

const schema = z.looseObject({ learner: z.string(), input, output, task: z.enum(tasks) });

/** What `read` has to be, besides what every model file is. */
export type Members = Readonly<Record<string, z.ZodType>>;

const anyLearner = z.object({ learner: z.string() });
const unknownLearner: Members = { learner: z.never('no learner of this version') };
const schemas = new WeakMap<Members, z.ZodType>();

/** Made once: a search reads a model each fold, and making the checks takes far longer than checking. */
function schemaWith(members: Members): z.ZodType {
  const made = schemas.get(members) ?? schema.extend(members);
  schemas.set(members, made);
  return made;
}

/**
 * Reads a model file; `membersOf` tells what that of a learner holds, undefined where there is no such learner. Throws
 * TrainyardError `run.damaged_file` when the text is no model file.
 */
export function parseModelFile(
  text: string,
  run: number,
  membersOf: (learner: string) => Members | undefined,
): ModelFile {
  return checkModelFile(parseRunJson(text, run, 'model.json'), run, membersOf);
}

/** Networks do not name their learner. */
export const namedModelFile = (found: object | null): object => ({ learner: 'network', ...found });

/** The same of what was read already. */
export function checkModelFile(
  found: unknown,
  run: number,
  membersOf: (learner: string) => Members | undefined,
): ModelFile {
  const file: unknown = typeof found === 'object' ? namedModelFile(found) : found;
  const named = anyLearner.safeParse(file);
  const members = named.success ? membersOf(named.data.learner) : undefined;
  const parsed = schemaWith(members ?? unknownLearner).safeParse(file);
  if (parsed.success) return file as ModelFile;
  const [issue] = parsed.error.issues;
  throw damagedRunFile(run, 'model.json', `${issue.path.join('.')}: ${issue.message}`);
}

/** JSON of a run's folder. Throws TrainyardError `run.damaged_file`. */
export function parseRunJson(text: string, run: number, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damagedRunFile(run, file, 'it is not JSON');
  }
}

/** `what` is part of a sentence. */
export function damagedRunFile(run: number, file: string, what: string): TrainyardError {
  return new TrainyardError(
    'run.damaged_file',
    `The file ${file} of run ${run} is damaged: ${what}.`,
    'Put a copy of it back if you have one, or train again with the settings of the run.',
  );
}
