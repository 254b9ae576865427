// Settings as values: reading and changing them by their names, their defaults, which of them matter, and what is wrong with
// one. Nothing here knows a single setting; all of it works on any table.

import type { Choice, ChoiceField, Field, FieldTable, NumberField, SettingsOf, Value, WordsBy } from './field.ts';

/** Fields of a table with their names, in order. */
export function fieldsOf<About>(table: FieldTable<About>): readonly (readonly [name: string, field: Field<About>])[] {
  return Object.entries(table);
}

const places = new Map<string, readonly [first: string, second?: string]>();

/** Where the setting `name` stands: itself, or its group and itself. */
function placeOf(name: string): readonly [first: string, second?: string] {
  const known = places.get(name);
  if (known) return known;
  const dot = name.indexOf('.');
  const place = dot < 0 ? ([name] as const) : ([name.slice(0, dot), name.slice(dot + 1)] as const);
  places.set(name, place);
  return place;
}

/** The value of the setting `name`; undefined where it was left out. */
export function valueAt(settings: object, name: string): Value | undefined {
  const [first, second] = placeOf(name);
  const value = own(settings, first);
  return (
    second === undefined ? value : typeof value === 'object' && value !== null ? own(value, second) : undefined
  ) as Value | undefined;
}

/** The settings with another value under `name`; undefined takes it out. */
export function withValue<S extends object>(settings: S, name: string, value: Value | undefined): S {
  const [first, second] = placeOf(name);
  if (second === undefined) return { ...settings, [first]: value };
  return { ...settings, [first]: { ...((own(settings, first) as object | undefined) ?? {}), [second]: value } };
}

/** The settings with all that was chosen. */
export function withChosen<S extends object>(settings: S, chosen: Readonly<Record<string, Value | undefined>>): S {
  return Object.entries(chosen)
    .filter(([, value]) => value !== undefined)
    .reduce((changed, [name, value]) => withValue(changed, name, value), settings);
}

/** The settings a careful colleague would start from. */
export function defaultsOf<About, const T extends FieldTable<About>>(table: T, about: About): SettingsOf<T> {
  return withChosen(
    {},
    Object.fromEntries(
      fieldsOf<About>(table).map(([name, field]) => {
        const usual = field.default;
        return [name, typeof usual === 'function' ? usual(about) : usual];
      }),
    ),
  ) as SettingsOf<T>;
}

/** Settings written down before some of the table's were there, with the values those had without saying so: their constants, or what they were before there was a choice. */
export function completed<S extends object>(table: FieldTable, settings: S): S {
  return fieldsOf(table).reduce((whole, [name, { default: usual, before: earlier }]) => {
    const before = typeof usual === 'function' ? earlier : usual;
    return before === undefined || valueAt(whole, name) !== undefined ? whole : withValue(whole, name, before);
  }, settings);
}

/** The values with which nothing is asked for: those a comparison leaves out. */
export function quietOf<const T extends FieldTable>(table: T): SettingsOf<T> {
  return withChosen({}, Object.fromEntries(fieldsOf(table).map(([name, { quiet }]) => [name, quiet]))) as SettingsOf<T>;
}

/** Whether a setting has an effect beside the others. */
export function matters(field: Field, settings: object): boolean {
  const conditions = Object.entries(field.when ?? {});
  if (field.kind === 'number' && field.switchedBy !== undefined) conditions.push([field.switchedBy, [true]]);
  return conditions.every(([name, values]) => values.includes(valueAt(settings, name) as Value));
}

/** The fields that have an effect beside the others and mean something for this data, in order. */
export function shownFields<About>(
  table: FieldTable<About>,
  settings: object,
  about: About,
): readonly (readonly [name: string, field: Field<About>])[] {
  return fieldsOf(table).filter(([, field]) => (field.fits?.(about) ?? true) && matters(field, settings));
}

/** Words that may depend on another setting. */
export function wordsFor(words: string | WordsBy | undefined, settings: object): string | undefined {
  if (words === undefined || typeof words === 'string') return words;
  return (own(words, String(valueAt(settings, words.by))) as string | undefined) ?? words.else;
}

/** What stands under the control of a setting. */
export function hintFor(field: Field, settings: object): string | undefined {
  const zero = field.kind === 'number' && field.zero !== undefined ? `0: ${field.zero}` : undefined;
  return wordsFor(field.hint, settings) ?? zero;
}

/** Values and words of a choice; with `about` those that mean something for this data. */
export function choicesOf<About>(
  { choices }: Pick<ChoiceField<About>, 'choices'>,
  about?: About,
): readonly { readonly value: string; readonly label: string }[] {
  return Object.entries<string | Choice<About>>(choices).flatMap(([value, choice]) => {
    if (typeof choice === 'string') return [{ value, label: choice }];
    return about === undefined || (choice.fits?.(about) ?? true) ? [{ value, label: choice.label }] : [];
  });
}

/** How a setting reads where settings are listed. */
export interface SettingFact {
  readonly label: string;
  readonly value: string;
  /** It has the value that need not be said. */
  readonly quiet: boolean;
}

/** What the settings of a table are, those that have an effect, in order; `write` makes words of a number. */
export function settingFacts(
  table: FieldTable,
  settings: object,
  write: (value: number, whole: boolean) => string,
): readonly SettingFact[] {
  return fieldsOf(table).flatMap(([name, field]) => {
    const value = valueAt(settings, name);
    if (value === undefined || !matters(field, settings)) return [];
    const unit = value === 0 ? undefined : wordsFor(field.unit, settings);
    const words = [valueWord(field, value, write), unit].filter(Boolean).join(' ');
    return [{ label: field.label, value: words, quiet: value === field.quiet }];
  });
}

/** A value in words, numbers through `write`. */
export function valueWord(field: Field, value: Value, write: (value: number, whole: boolean) => string): string {
  switch (field.kind) {
    case 'number':
      if (value === 0 && field.zero !== undefined) return field.zero;
      return field.ungrouped ? String(value) : write(Number(value), field.whole ?? false);
    case 'switch':
      return (field.words ?? ['no', 'yes'])[Number(value)];
    case 'choice':
      return choicesOf(field).find((choice) => choice.value === value)?.label ?? String(value);
    case 'text':
      return (field.offered && (own(field.offered, String(value)) as string | undefined)) ?? String(value);
  }
}

/** `a whole number from 1 to 256`. */
export function rangeWords({ whole, minimum, maximum }: Pick<NumberField, 'whole' | 'minimum' | 'maximum'>): string {
  return `${whole ? 'a whole number' : 'a number'} from ${minimum} to ${maximum}`;
}

/** What a value has to be, if this one is not that. */
export function expectedInstead(field: Field, value: unknown): string | undefined {
  switch (field.kind) {
    case 'number': {
      const fits = typeof value === 'number' && value >= field.minimum && value <= field.maximum;
      return fits && (!field.whole || Number.isInteger(value)) ? undefined : rangeWords(field);
    }
    case 'switch':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'choice': {
      const values = Object.keys(field.choices);
      return values.includes(value as string) ? undefined : `one of ${values.join(', ')}`;
    }
    case 'text': {
      const fits = typeof value === 'string' && value.length > 0 && value.length <= field.longest;
      return fits ? undefined : `a text of 1 to ${field.longest} characters`;
    }
  }
}

function own(values: object, key: string): unknown {
  return Object.hasOwn(values, key) ? values[key as keyof typeof values] : undefined;
}
