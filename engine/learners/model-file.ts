// `model.json` of a run, read as its learner declares it: its settings by their table, and what the learner says there is more.

import { predictsTokens } from '../model/spec.ts';
import { InputError } from '../protocol/errors.ts';
import { checkModelFile, parseModelFile, type Members, type ModelFile } from '../protocol/model-file.ts';
import { ownValue } from '../protocol/own.ts';
import { storedSchemaOf } from '../settings/schema.ts';
import { declarations } from './declared/registry.ts';
import { files } from './file-list.ts';

const known = new Map<string, Members | undefined>();

/** The same object each time. */
function membersOf(learner: string): Members | undefined {
  if (!known.has(learner)) known.set(learner, declaredMembers(learner));
  return known.get(learner);
}

function declaredMembers(learner: string): Members | undefined {
  const declared = declarations.find(({ name }) => name === learner);
  if (declared === undefined) return undefined;
  const more: Members = ownValue<Members>(files, learner) ?? {};
  return { [declared.own]: storedSchemaOf(declared.fields), ...more };
}

/** Throws TrainyardError `run.damaged_file` when the text is no model file. */
export function readModelFile(text: string, run: number): ModelFile {
  return parseModelFile(text, run, membersOf);
}

/** The same of what was read already. */
export function checkedModelFile(found: unknown, run: number): ModelFile {
  return checkModelFile(found, run, membersOf);
}

/** Throws InputError `run.language` for a run that writes text. */
export function refuseWriter({ input }: Pick<ModelFile, 'input'>, run: number): void {
  if (!predictsTokens(input)) return;
  throw new InputError(
    'run.language',
    `Run ${run} is a language model: it writes text, and answers no rows.`,
    `Let it write: trainyard generate ${run}, or on its page.`,
  );
}
