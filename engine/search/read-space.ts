// A space as a person writes it: JSON of settings by their names, each a dimension or a value that stays. Held against the tables of settings
// before anything is trained; each refusal says where it is and what would do.

import { InputError } from '../protocol/errors.ts';
import { parseJson } from '../protocol/json.ts';
import { ownValue } from '../protocol/own.ts';
import type { Field, FieldTable, Value } from '../settings/field.ts';
import { choicesOf, expectedInstead } from '../settings/values.ts';
import type { Dimension, Space } from './space.ts';

/** By the names of settings. */
export type Asked = Readonly<Record<string, Dimension | Value>>;

export interface ReadSpace {
  readonly space: Space;
  /** What every trial has. */
  readonly fixed: Readonly<Record<string, Value>>;
}

/** Dimensions of a space at most. */
const mostDimensions = 100;

/** Throws InputError `input.space`. `fields`: what may be chosen, by name. */
export function parseSpace(text: string, fields: FieldTable): ReadSpace {
  let found: unknown;
  try {
    found = parseJson(text);
  } catch (error) {
    throw refused(`it is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(found)) throw refused('it is no object');
  return readSpace(found as Asked, fields);
}

/** Throws likewise. */
export function readSpace(asked: Asked, fields: FieldTable): ReadSpace {
  const space: Record<string, Dimension> = {};
  const fixed: Record<string, Value> = {};
  for (const [name, given] of Object.entries(asked)) {
    const field = ownValue<Field>(fields, name);
    if (field === undefined)
      throw refused(`“${name}” is no setting of it`, `Settings: ${Object.keys(fields).join(', ')}.`);
    if (!isObject(given)) {
      checkValue(name, field, given);
      fixed[name] = given as Value;
    } else space[name] = dimensionOf(name, field, given as unknown as Readonly<Record<string, unknown>>, space);
  }
  const count = Object.keys(space).length;
  if (count === 0) throw refused('there is nothing to choose in it', example);
  if (count > mostDimensions) throw refused(`${count} dimensions are too many`, `Choose ${mostDimensions} at most.`);
  return { space, fixed };
}

/**
 * Throws likewise where a dimension has what those of another kind alone have. Apart from reading: searches of before may have it, and are shown.
 */
export function checkKinds(text: string): void {
  for (const [name, given] of Object.entries(parseJson(text) as Asked)) {
    if (!isObject(given)) continue;
    const others = given.kind === 'choice' ? ['low', 'high', 'log'] : ['values'];
    const other = others.find((one) => Object.hasOwn(given, one));
    if (other !== undefined)
      throw refused(
        `${name} has “${other}”, which means nothing there`,
        'A choice has values; a number has low, high and log.',
      );
  }
}

/**
 * Throws likewise for what means nothing for this data, and for what has no effect as nothing in the space makes it count. `fields`: as it was
 * read by.
 */
export function checkSpace<About>({ space, fixed }: ReadSpace, fields: FieldTable<About>, about: About): void {
  const all: Readonly<Record<string, Dimension | Value>> = { ...fixed, ...space };
  for (const [name, given] of Object.entries(all)) {
    const field = fields[name];
    const values = valuesOf(given);
    // What is the default anyway does no harm.
    if (values?.length === 1 && values[0] === field.default) continue;
    if (!(field.fits?.(about) ?? true))
      throw refused(`${name} means nothing for this target`, 'Leave it out, or choose another target.');
    if (field.kind === 'choice') {
      const fitting = choicesOf(field, about).map(({ value }) => value);
      const odd = values?.find((value) => !fitting.includes(String(value)));
      if (odd !== undefined)
        throw refused(`${name} cannot be ${written(odd)} for this target`, `It takes one of ${fitting.join(', ')}.`);
    }
    for (const [other, needed] of Object.entries(field.when ?? {})) {
      const preset = fields[other]?.default;
      const may = Object.hasOwn(all, other) ? valuesOf(all[other]) : typeof preset === 'function' ? null : [preset];
      if (may === null || needed.some((value) => may.includes(value))) continue;
      const words = needed.map(written).join(' or ');
      throw refused(
        `${name} has no effect, as ${other} is never ${words}`,
        `Let ${other} be ${words} too, or leave ${name} out.`,
      );
    }
  }
}

/** What it may be; null: any of a range. */
function valuesOf(given: Dimension | Value): readonly unknown[] | null {
  if (!isObject(given)) return [given];
  return given.kind === 'choice' ? given.values : null;
}

const example =
  'Write {"learningRate": {"kind": "float", "low": 0.01, "high": 0.3, "log": true}, "leaves": {"kind": "integer", "low": 4, "high": 64}}.';

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function refused(what: string, hint = example): InputError {
  return new InputError('input.space', `The space of the search cannot be used: ${what}.`, hint);
}

/** JSON has no word for a number that is too large to be one here, as 1e999 is. */
const written = (value: unknown): string =>
  value === undefined ? 'left out' : typeof value === 'number' ? String(value) : JSON.stringify(value);

function checkValue(name: string, field: Field, value: unknown): void {
  const expected = expectedInstead(field, value);
  if (expected !== undefined) throw refused(`${name} cannot be ${written(value)}`, `It takes ${expected}.`);
}

function dimensionOf(name: string, field: Field, given: Readonly<Record<string, unknown>>, before: Space): Dimension {
  const { kind, low, high, log = false, values, when, ...odd } = given;
  const [unknown] = Object.keys(odd);
  if (unknown !== undefined)
    throw refused(`${name} has “${unknown}”`, 'A dimension has kind, low, high, log, values, when.');
  const condition = when === undefined ? {} : { when: conditionOf(name, when, before) };
  if (kind === 'choice') {
    if (!Array.isArray(values) || values.length === 0 || new Set(values).size < values.length)
      throw refused(`the values of ${name} are no list of different ones`);
    values.forEach((value) => checkValue(name, field, value));
    return { kind, values: values as Value[], ...condition };
  }
  if (kind !== 'float' && kind !== 'integer')
    throw refused(
      `${name} is ${kind === undefined ? 'of no kind' : `a ${JSON.stringify(kind)}`}`,
      'Kinds: float, integer, choice.',
    );
  if (field.kind !== 'number') throw refused(`${name} is no number`, 'Give it as {"kind": "choice", "values": […]}.');
  if (kind === 'float' && field.whole) throw refused(`${name} is a whole number`, 'Give it as "integer".');
  if (typeof log !== 'boolean') throw refused(`log of ${name} is neither true nor false`);
  for (const [end, value] of Object.entries({ low, high })) checkValue(`${end} of ${name}`, field, value);
  const [from, to] = [low as number, high as number];
  if (from >= to) throw refused(`${name} goes from ${from} to ${to}`, 'Low has to be below high.');
  if (kind === 'integer' && !(Number.isInteger(from) && Number.isInteger(to)))
    throw refused(`the ends of ${name} are no whole numbers`);
  if (log && from <= 0) throw refused(`${name} is logarithmic from ${from}`, 'Logarithms begin above 0.');
  return { kind, low: from, high: to, ...(log ? { log } : {}), ...condition };
}

function conditionOf(name: string, when: unknown, before: Space): Readonly<Record<string, readonly Value[]>> {
  if (!isObject(when)) throw refused(`“when” of ${name} is no object`, conditionHint);
  for (const [other, values] of Object.entries(when)) {
    const dimension = ownValue<Dimension>(before, other);
    if (dimension === undefined)
      throw refused(`${name} hangs on ${other}, which is not chosen before it`, conditionHint);
    if (!Array.isArray(values) || values.length === 0)
      throw refused(`“when” of ${name} has no list of values`, conditionHint);
    for (const value of values as readonly unknown[])
      if (!mayTake(dimension, value))
        throw refused(`${name} hangs on ${other} being ${written(value)}, which it never is`, conditionHint);
  }
  return when as Readonly<Record<string, readonly Value[]>>;
}

function mayTake(dimension: Dimension, value: unknown): boolean {
  if (dimension.kind === 'choice') return dimension.values.some((each) => each === value);
  // A float is hardly ever one number.
  return dimension.kind === 'integer' && Number.isInteger(value) && within(dimension, value as number);
}

const within = ({ low, high }: { readonly low: number; readonly high: number }, value: number): boolean =>
  value >= low && value <= high;

const conditionHint = 'Write "when": {"optimizer.name": ["sgd"]} behind the dimension it hangs on.';
