// Flags and their help made from tables of settings, and settings read from flags.

import type { Chosen, Field, FieldTable, NumberField, Value } from '../../engine/settings/field.ts';
import { choicesOf, expectedInstead, fieldsOf, shownFields } from '../../engine/settings/values.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import type { OptionDef, OptionValues } from './command.ts';

/** The flags of a table's settings, in its order. */
export function flagsOf(table: FieldTable): Readonly<Record<string, OptionDef>> {
  return Object.fromEntries(
    fieldsOf(table).flatMap(([name, field]) => {
      const flag = flagOf(name, field);
      return flag === null ? [] : [[flag, optionOf(field, flag)]];
    }),
  );
}

/** What the flags choose, by the names of the settings. Throws InputError for a value out of its limits. */
export function chosenByFlags<const T extends FieldTable>(table: T, options: OptionValues): Chosen<T> {
  return Object.fromEntries(
    fieldsOf(table).flatMap(([name, field]): (readonly [string, Value])[] => {
      const flag = flagOf(name, field);
      const given = flag === null ? undefined : ownValue(options, flag);
      if (flag === null || given === undefined) return [];
      const switched = field.kind === 'number' ? field.switchedBy : undefined;
      if (switched === undefined) return [[name, valueOf(field, flag, given)]];
      if (Number(given) === 0) return [[switched, false]];
      return [
        [switched, true],
        [name, valueOf(field, flag, given, 'or 0')],
      ];
    }),
  ) as Chosen<T>;
}

/** Refuses a choice that means nothing for this data. */
export function checkChoicesFit<About>(table: FieldTable<About>, options: OptionValues, about: About): void {
  for (const [name, field] of fieldsOf(table)) {
    const flag = flagOf(name, field);
    const given = flag === null ? undefined : ownValue(options, flag);
    if (field.kind !== 'choice' || given === undefined) continue;
    const values = choicesOf(field, about).map(({ value }) => value);
    if (!values.includes(String(given))) throw wrong(String(flag), given, `one of ${values.join(', ')}`);
  }
}

/** Refuses a flag that has no effect beside the settings it leads to: of other data, or of another choice than is made. */
export function checkFlagsCount<About>(
  table: FieldTable<About>,
  options: OptionValues,
  settings: object,
  about: About,
): void {
  const counting = new Set(shownFields(table, settings, about).map(([name]) => name));
  for (const [name, field] of fieldsOf(table)) {
    const flag = flagOf(name, field);
    const given = flag === null ? undefined : ownValue(options, flag);
    // What is the default anyway does no harm.
    if (given === undefined || counting.has(name) || String(given) === String(field.default)) continue;
    const [[other, values] = []] = Object.entries(field.when ?? {});
    const fits = field.fits?.(about) ?? true;
    const condition = other === undefined ? undefined : ownValue(table, other);
    const needed = fits && condition && values ? `--${flagOf(other!, condition)} ${values.join(' or ')}` : null;
    throw new InputError(
      'usage.option',
      needed === null ? `--${flag} means nothing for this target.` : `--${flag} means nothing without ${needed}.`,
      needed === null ? 'Leave it out, or choose another target.' : `Give ${needed} too, or leave it out.`,
    );
  }
}

function flagOf(name: string, { flag }: Field): string | null {
  if (flag !== undefined) return flag;
  return name
    .split('.')
    .at(-1)!
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** A switch that is off unless turned on, or on unless turned off, takes no value. */
const isBare = (field: Field, flag: string): boolean =>
  field.kind === 'switch' && (flag.startsWith('no-') || field.default === undefined || field.default === false);

/** Characters of choices that stand beside their flag; of more the help tells. */
const longestChoices = 32;

function optionOf(field: Field, flag: string): OptionDef {
  if (isBare(field, flag)) return { type: 'boolean', help: field.help };
  switch (field.kind) {
    case 'number':
      return { type: 'string', value: field.whole ? 'N' : 'X', help: withLimits(field) };
    case 'switch':
      return { type: 'string', value: 'yes|no', help: field.help };
    case 'choice': {
      const values = Object.keys(field.choices);
      const short = values.join('|');
      if (short.length <= longestChoices) return { type: 'string', value: short, help: field.help };
      return { type: 'string', value: 'NAME', help: `${field.help}: ${values.join(', ')}` };
    }
    case 'text':
      return { type: 'string', value: 'TEXT', help: field.help };
  }
}

/** `rows a step (1 to 1,000,000)` */
function withLimits({ help, minimum, maximum, switchedBy }: NumberField): string {
  const range = `${limitText(switchedBy === undefined ? minimum : 0)} to ${limitText(maximum)}`;
  return help.endsWith(')') ? `${help.slice(0, -1)}; ${range})` : `${help} (${range})`;
}

function limitText(limit: number): string {
  return limit !== 0 && Math.abs(limit) < 1e-3 ? limit.toExponential() : limit.toLocaleString('en-US', allDigits);
}

const allDigits = { maximumFractionDigits: 9 };

function valueOf(field: Field, flag: string, given: unknown, orElse = ''): Value {
  const text = String(given);
  const value = isBare(field, flag) ? !flag.startsWith('no-') : read(field, text);
  const expected = field.kind === 'switch' && typeof value !== 'boolean' ? 'yes or no' : expectedInstead(field, value);
  if (expected !== undefined) throw wrong(flag, text, [expected, orElse].filter(Boolean).join(' '));
  return value as Value;
}

/** What stands in a text, whether it fits or not. */
function read(field: Field, text: string): unknown {
  switch (field.kind) {
    case 'number':
      return text.trim() === '' ? Number.NaN : Number(text);
    case 'switch':
      return text === 'yes' ? true : text === 'no' ? false : text;
    case 'choice':
      return text;
    case 'text':
      return text === '\\t' ? '\t' : text;
  }
}

function wrong(flag: string, given: unknown, expected: string): InputError {
  return new InputError('usage.option', `--${flag} is “${String(given)}”.`, `It has to be ${expected}.`);
}
