// A search's space as the form edits it: what is written in its field, one setting changed at a time.

import { ready, spaceOf, type SearchSettings } from '../../../engine/learners/search/declaration.ts';
import { searchedFields } from '../../../engine/learners/declared/searched-fields.ts';
import type { TrainyardError } from '../../../engine/protocol/errors.ts';
import { parseJson } from '../../../engine/protocol/json.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { checkSpace, type Asked } from '../../../engine/search/read-space.ts';
import { readySpace } from '../../../engine/search/ready.ts';
import type { Dimension } from '../../../engine/search/space.ts';
import type { Field, Value } from '../../../engine/settings/field.ts';
import type { TrainedOn } from '../../../engine/settings/training.ts';
import { choicesOf, fieldsOf } from '../../../engine/settings/values.ts';

type Of = Pick<SearchSettings, 'of' | 'space'>;

/** From this ratio of its ends on a number is drawn by ratio: each half of it is as likely as the one before. */
const ratioDrawn = 50;

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
export function problemOf(settings: Of, about: TrainedOn): string | undefined {
  try {
    checkSpace(spaceOf(settings), searchedFields[settings.of], about);
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

/** Settings that could be chosen too, with the dimension they would begin with, by their labels. */
export function addable(
  of: Of['of'],
  asked: Asked,
  about: TrainedOn,
): readonly (readonly [string, Dimension, Field])[] {
  return fieldsOf(searchedFields[of])
    .filter(([name, { fits }]) => !Object.hasOwn(asked, name) && (fits?.(about) ?? true))
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
  const [low, high] = [field.minimum, Math.min(field.maximum, field.most?.(about) ?? Infinity)];
  const log = low > 0 && high / low >= ratioDrawn;
  return { kind: field.whole ? 'integer' : 'float', low, high, ...(log ? { log } : {}) };
}

/** A setting's values in words. */
export function valuesText(values: readonly Value[], field: Field | undefined): string {
  const word = (value: Value): string => {
    if (field?.kind === 'switch') return (field.words ?? ['no', 'yes'])[value ? 1 : 0];
    const choice = field?.kind === 'choice' ? ownValue(field.choices, String(value)) : undefined;
    return typeof choice === 'string' ? choice : (choice?.label ?? String(value));
  };
  return values.map(word).join(', ');
}
