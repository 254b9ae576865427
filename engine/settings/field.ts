// A setting is declared once, as a field of a table: its kind, limits, default and all the words about it. Types, the checks of
// requests, flags and `--help`, forms, comparisons and defaults are derived from the tables of this folder. A table's names are
// the places in its settings: `epochs`, or `optimizer.name` for the `name` within `optimizer`.

/** Values another setting has to have for this one to matter: `{ 'optimizer.name': ['sgd'] }`. */
export type Condition = Readonly<Record<string, readonly (string | number | boolean)[]>>;

/** Words that depend on another setting: `{ by: 'optimizer.name', adamw: '…', else: '…' }`. */
export type WordsBy = { readonly by: string; readonly else: string } & Readonly<Record<string, string>>;

/** `About` is what defaults and limits depend on: of training, the data and the model. */
interface Common<About, Value> {
  /** What the form and a comparison call it. */
  readonly label: string;
  /** What `--help` says of it, without its limits. */
  readonly help: string;
  /** What stands under its control. */
  readonly hint?: string | WordsBy;
  /** Name of its flag, if not the last part of its own; null = it has none. A switch that `no-x` turns off has that name. */
  readonly flag?: string | null;
  /** Not among the few that matter most. */
  readonly advanced?: boolean;
  readonly when?: Condition;
  /** Whether it means anything for this data. Default: always. */
  readonly fits?: (about: About) => boolean;
  /** What a comparison says after its value. */
  readonly unit?: string | WordsBy;
  /** A comparison leaves it out while it has this value. */
  readonly quiet?: Value;
  /** What runs had that were recorded before it was a setting, where its default is no constant. */
  readonly before?: Value;
  /** What a form calls leaving it out, where that is offered. */
  readonly unset?: string;
  /** Without one the setting may be left out. */
  readonly default?: Value | ((about: About) => Value);
}

export interface NumberField<About = never> extends Common<About, number> {
  readonly kind: 'number';
  readonly whole?: boolean;
  /** It is a name rather than an amount: written without separators. */
  readonly ungrouped?: boolean;
  /** Values the form offers instead of a field to type in. */
  readonly offered?: readonly number[];
  readonly minimum: number;
  readonly maximum: number;
  /** What 0 stands for, where it is no amount: `never`. */
  readonly zero?: string;
  /** A lower maximum for this data. */
  readonly most?: (about: About) => number;
  /** The switch without which it does not matter. Its flag turns that on, and off at 0. */
  readonly switchedBy?: string;
}

export interface SwitchField<About = never> extends Common<About, boolean> {
  readonly kind: 'switch';
  /** Its two positions where yes and no are not clear: `['never', 'when validation stalls']`. */
  readonly words?: readonly [no: string, yes: string];
}

export interface Choice<About = never> {
  readonly label: string;
  readonly fits?: (about: About) => boolean;
}

export interface ChoiceField<About = never> extends Common<About, string> {
  readonly kind: 'choice';
  /** Values and their words, in order. */
  readonly choices: Readonly<Record<string, string | Choice<About>>>;
}

export interface TextField<About = never> extends Common<About, string> {
  readonly kind: 'text';
  /** Characters. */
  readonly longest: number;
  /** Values the form offers, and their words. */
  readonly offered?: Readonly<Record<string, string>>;
}

export type Field<About = never> = NumberField<About> | SwitchField<About> | ChoiceField<About> | TextField<About>;
export type FieldTable<About = never> = Readonly<Record<string, Field<About>>>;
export type Value = number | boolean | string;

export type ValueOf<F> = F extends { readonly kind: 'number' }
  ? number
  : F extends { readonly kind: 'switch' }
    ? boolean
    : F extends { readonly kind: 'choice'; readonly choices: infer Choices }
      ? keyof Choices & string
      : string;

type Grouped<Name> = Name extends `${infer Group}.${string}` ? Group : never;
type Within<Name, Group extends string> = Name extends `${Group}.${infer Rest}` ? Rest : never;
type Plain<Name> = Name extends `${string}.${string}` ? never : Name;
type Needed<T, Name extends keyof T = keyof T> = Name extends keyof T
  ? T[Name] extends { readonly default: unknown }
    ? Name
    : never
  : never;
type Free<T, Name extends keyof T = keyof T> = Exclude<Name, Needed<T, Name>>;
/** Groups of which every setting may be left out. */
type FreeGroup<T> = Exclude<Grouped<keyof T>, Grouped<Needed<T>>>;
type GroupOf<T, Group extends string> = Shown<
  { readonly [Name in keyof T as Within<Needed<T, Name>, Group>]: ValueOf<T[Name]> } & {
    readonly [Name in keyof T as Within<Free<T, Name>, Group>]?: ValueOf<T[Name]>;
  }
>;
type Shown<T> = { readonly [Name in keyof T]: T[Name] };

/** The settings a table describes. */
export type SettingsOf<T> = Shown<
  { readonly [Name in keyof T as Plain<Needed<T, Name>>]: ValueOf<T[Name]> } & {
    readonly [Name in keyof T as Plain<Free<T, Name>>]?: ValueOf<T[Name]>;
  } & { readonly [Group in Exclude<Grouped<keyof T>, FreeGroup<T>>]: GroupOf<T, Group> } & {
    readonly [Group in FreeGroup<T>]?: GroupOf<T, Group>;
  }
>;

/** Some of a table's settings, by their names. */
export type Chosen<T> = { readonly [Name in keyof T]?: ValueOf<T[Name]> };

type ConditionOf<F> = F extends { readonly when: infer When } ? When : object;

/** What a table has to hold by itself: defaults and conditions that the fields they speak of can have. */
type Checked<T, About> = {
  readonly [Name in keyof T]: {
    readonly default?: ValueOf<T[Name]> | ((about: About) => ValueOf<T[Name]>);
    readonly quiet?: ValueOf<T[Name]>;
    readonly before?: ValueOf<T[Name]>;
    readonly when?: {
      readonly [Other in keyof ConditionOf<T[Name]>]: Other extends keyof T ? readonly ValueOf<T[Other]>[] : never;
    };
    readonly switchedBy?: keyof T;
    readonly unit?: string | { readonly by: keyof T };
    readonly hint?: string | { readonly by: keyof T };
  };
};

/** Declares a table: `fieldsFor<About>()({ … })`. A default or condition that its field cannot have does not compile. */
export function fieldsFor<About>() {
  return <const T extends FieldTable<About>>(table: T & Checked<T, About>): T => table;
}
