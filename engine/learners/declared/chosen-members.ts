// Members that somebody has chosen, instead of those of every kind: a list of learners with settings of their own, as JSON. The best trials
// of a search are written so.

import { InputError } from '../../protocol/errors.ts';
import { parseJson } from '../../protocol/json.ts';
import { ownValue } from '../../protocol/own.ts';
import type { TrialSettings } from '../../protocol/search.ts';
import type { Field } from '../../settings/field.ts';
import { expectedInstead } from '../../settings/values.ts';
import { searchedFields, type Searched } from './searched-fields.ts';

/** What `members` is where models of every kind are tried. */
export const everyKind = 'of every kind';

/** What is not said of it is as usual. */
export interface ChosenMember {
  readonly title: string;
  readonly learner: Searched;
  readonly settings: TrialSettings;
}

/** Members at most: what each says of each row is kept until the mix is chosen. */
export const mostChosen = 100;

/** Null: those of every kind. Throws InputError `input.members`. */
export function chosenMembers({ members }: { readonly members: string }): readonly ChosenMember[] | null {
  if (members === everyKind) return null;
  let found: unknown;
  try {
    found = parseJson(members);
  } catch (error) {
    throw refused(`they are not JSON: ${(error as Error).message}`);
  }
  if (!Array.isArray(found) || found.length === 0) throw refused('they are no list');
  if (found.length > mostChosen) throw refused(`${found.length} are too many`, `Choose ${mostChosen} at most.`);
  return found.map(checked);
}

/** How many members were chosen; 0: they are of every kind, or the words cannot be read. */
export function countChosen(settings: { readonly members: string }): number {
  try {
    return chosenMembers(settings)?.length ?? 0;
  } catch {
    return 0;
  }
}

const example = 'Write [{"title": "Deep", "learner": "boosted", "settings": {"leaves": 63}}].';

const refused = (what: string, hint = example): InputError =>
  new InputError('input.members', `The members of the ensemble cannot be used: ${what}.`, hint);

function checked(given: unknown): ChosenMember {
  const { title, learner, settings } = (given ?? {}) as Partial<Record<keyof ChosenMember, unknown>>;
  if (typeof title !== 'string' || title === '') throw refused('one has no title');
  const fields = typeof learner === 'string' ? ownValue(searchedFields, learner) : undefined;
  if (fields === undefined)
    throw refused(
      `“${title}” is of no learner that can be one`,
      `Learners: ${Object.keys(searchedFields).join(', ')}.`,
    );
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw refused(`“${title}” has no settings`);
  for (const [name, value] of Object.entries(settings)) {
    const field = ownValue<Field>(fields, name);
    if (field === undefined)
      throw refused(
        `“${title}” has “${name}”, which is no setting of it`,
        `Settings: ${Object.keys(fields).join(', ')}.`,
      );
    const expected = expectedInstead(field, value);
    if (expected !== undefined)
      throw refused(`${name} of “${title}” cannot be ${JSON.stringify(value)}`, `It takes ${expected}.`);
  }
  return { title, learner: learner as Searched, settings: settings as TrialSettings };
}
