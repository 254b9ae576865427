// A search's space as the form edits it: what is written in its field, one setting changed at a time.

import {
  aboutSearched,
  checkSearched,
  ready,
  type SearchSettings,
} from '../../../engine/learners/search/declaration.ts';
import { searchedFields } from '../../../engine/learners/declared/searched-fields.ts';
import type { DatasetShape } from '../../../engine/protocol/app.ts';
import type { TrainyardError } from '../../../engine/protocol/errors.ts';
import { parseJson } from '../../../engine/protocol/json.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import type { Asked } from '../../../engine/search/read-space.ts';
import { readySpace } from '../../../engine/search/ready.ts';
import type { Dimension } from '../../../engine/search/space.ts';
import type { Field } from '../../../engine/settings/field.ts';
import type { TrainedOn } from '../../../engine/settings/training.ts';
import { choicesOf, fieldsOf } from '../../../engine/settings/values.ts';
import { missing } from '../../lib/format.ts';

type Of = Pick<SearchSettings, 'of' | 'space'>;
type Shape = Pick<DatasetShape, 'counts' | 'output'>;

/** So many times its usual value, and such a part of it, a number is tried at first: its limits may be a million trees. */
const around = 10;
/** They change how it is computed or kept, not what is learned. */
const ofComputing: ReadonlySet<string> = new Set([
  'accumulate',
  'bucketing',
  'checkpointing',
  'checkpoints.budget',
  'precision',
]);

/** What stands in the space, right or wrong; null: that is no list of settings. */
export function askedOf({ of, space }: Of): Asked | null {
  if (space === ready) return readySpace(of);
  try {
    const found: unknown = parseJson(space);
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Asked) : null;
  } catch {
    return null;
  }
}

/** What is wrong with it for this data; undefined: nothing. */
export function problemOf(settings: Of, shape: Shape): string | undefined {
  try {
    checkSearched(settings, shape);
    return undefined;
  } catch (error) {
    const { message, hint } = error as TrainyardError;
    return [message, hint].filter(Boolean).join(' ');
  }
}

/** As it is written: the ready-made one by its name. */
export function spaceText(of: Of['of'], asked: Asked): string {
  const text = JSON.stringify(asked);
  return text === JSON.stringify(readySpace(of)) ? ready : text;
}

/** Settings that are offered to be tried too, with the dimension they begin with; a space that is written may have others. */
export function addable(of: Of['of'], asked: Asked, shape: Shape): readonly (readonly [string, Dimension, Field])[] {
  const about = aboutSearched(shape);
  return fieldsOf(searchedFields[of])
    .filter(([name, { fits }]) => !Object.hasOwn(asked, name) && !ofComputing.has(name) && (fits?.(about) ?? true))
    .flatMap(([name, field]): (readonly [string, Dimension, Field])[] => {
      const dimension = usualDimension(field, about);
      return dimension === null ? [] : [[name, dimension, field as Field]];
    });
}

function usualDimension(field: Field<TrainedOn>, about: TrainedOn): Dimension | null {
  if (field.kind === 'switch') return { kind: 'choice', values: [false, true] };
  if (field.kind === 'choice') {
    const values = choicesOf(field, about).map(({ value }) => value);
    return values.length < 2 ? null : { kind: 'choice', values };
  }
  if (field.kind === 'text') return null;
  const kind = field.whole ? 'integer' : 'float';
  const [least, most] = [field.minimum, Math.min(field.maximum, field.most?.(about) ?? Infinity)];
  const usual = typeof field.default === 'function' ? field.default(about) : field.default;
  // What is usually none, and has no end, nobody can guess a range of: it can be written.
  if (usual === undefined || !(usual > 0)) return most > 1 ? null : { kind, low: least, high: most };
  const low = field.whole ? Math.ceil(usual / around) : usual / around;
  return { kind, low: Math.max(least, low), high: Math.min(most, usual * around), log: true };
}

/** A setting's values in words; what is no list of them is told above. */
export function valuesText(values: unknown, field: Field | undefined): string {
  const word = (value: unknown): string => {
    if (field?.kind === 'switch') return (field.words ?? ['no', 'yes'])[value ? 1 : 0];
    const choice = field?.kind === 'choice' ? ownValue(field.choices, String(value)) : undefined;
    return typeof choice === 'string' ? choice : (choice?.label ?? String(value));
  };
  return Array.isArray(values) ? values.map(word).join(', ') : missing;
}
