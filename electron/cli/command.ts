// What a command of the command line is: its usage, its options and what it does. `--help` is made from the same
// declaration that parses the arguments.

import { parseArgs, type ParseArgsConfig } from 'node:util';
import { InputError } from '../../engine/protocol/errors.ts';
import { twoColumns, wrapped } from './help-lines.ts';
import type { Interruption } from './interruption.ts';
import type { Output } from './output.ts';
import type { Services } from './services.ts';
import { ownValue } from '../../engine/protocol/own.ts';

export interface OptionDef {
  readonly type: 'string' | 'boolean';
  /** How the value is written in the help: `NAME`, `0.8,0.1,0.1`. */
  readonly value?: string;
  readonly help: string;
  /** Names it may be given that the value's own word does not tell, as of presets: shells complete them. */
  readonly names?: readonly string[];
  readonly multiple?: boolean;
  /** It names a file: an empty value, as of a variable that is not set, is refused. */
  readonly path?: boolean;
}

export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface CommandContext {
  readonly positionals: readonly string[];
  readonly options: OptionValues;
  readonly output: Output;
  readonly services: Services;
  readonly interruption: Interruption;
  /** Says which exit code this command has when it is done; else it is 0. */
  readonly endWith: (code: number) => void;
  /** Every command there is. */
  readonly allCommands: () => Promise<readonly Command[]>;
}

export interface Command {
  readonly name: string;
  /** Positional arguments as written in the usage line. */
  readonly usage: string;
  readonly summary: string;
  /** Number of positional arguments, at least and at most. */
  readonly positionals: readonly [number, number];
  readonly options: Readonly<Record<string, OptionDef>>;
  readonly run: (context: CommandContext) => Promise<void>;
}

export const commonOptions = {
  json: { type: 'boolean', help: 'one JSON object a line on standard output' },
  help: { type: 'boolean', help: 'show this' },
} as const satisfies Record<string, OptionDef>;

/** Parses a command's arguments. Throws InputError `usage.arguments`. */
export function parseCommand(
  command: Command,
  args: readonly string[],
): { positionals: readonly string[]; options: OptionValues } {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...commonOptions }).map(([name, option]: [string, OptionDef]) => [
      name,
      { type: option.type, multiple: option.multiple ?? false },
    ]),
  ) as NonNullable<ParseArgsConfig['options']>;
  const hint = `See \`trainyard ${command.name} --help\`.`;
  try {
    const { values, positionals } = parseArgs({ args: withNegatives(args, options), options, allowPositionals: true });
    const [least, most] = command.positionals;
    if ((values as OptionValues).help !== true && (positionals.length < least || positionals.length > most)) {
      const wanted = least === most ? String(least) : most === Infinity ? `at least ${least}` : `${least} to ${most}`;
      throw new InputError(
        'usage.arguments',
        `${command.name} takes ${wanted} argument${wanted === '1' ? '' : 's'} (${command.usage || 'none'}), got ${positionals.length}.`,
        hint,
      );
    }
    refuseEmpty(command, positionals, values as OptionValues);
    return { positionals, options: values as OptionValues };
  } catch (error) {
    if (error instanceof InputError) throw error;
    const message = (error as Error).message.split('. ')[0];
    throw new InputError('usage.arguments', `${message}.`, hint);
  }
}

/** An empty path would be the folder the command is called in, or as if nothing had been given. */
function refuseEmpty({ name, usage, options }: Command, positionals: readonly string[], values: OptionValues): void {
  const hint = `See \`trainyard ${name} --help\`.`;
  const place = positionals.indexOf('');
  if (place >= 0) {
    const words = usage.split(' ');
    const which = words[Math.min(place, words.length - 1)] ?? '';
    throw new InputError('usage.arguments', `The argument ${which.replace(/[[\].…]/g, '')} of ${name} is empty.`, hint);
  }
  const empty = Object.entries(options).find(([option, { path }]) => path && ownValue(values, option) === '');
  if (empty) throw new InputError('usage.option', `--${empty[0]} is empty: it takes the name of a file.`, hint);
}

/** The help text of a command, in lines of `width` characters. */
export function helpOf(command: Command, width = Infinity): string {
  const all: Readonly<Record<string, OptionDef>> = { ...command.options, ...commonOptions };
  const rows = Object.entries(all).map(([name, { value, help }]) => {
    return [`  --${name}${value ? ` ${value}` : ''}`, help] as const;
  });
  return [
    ...wrapped(command.summary, width),
    '',
    `usage: trainyard ${[command.name, command.usage].filter(Boolean).join(' ')} [options]`,
    '',
    ...twoColumns(rows, width),
  ].join('\n');
}

/** How a number begins that a person writes: 0x10 is none. */
const decimal = /^\s*[-+]?(?!0[xbo])[\d.]/i;

/** A number option; throws InputError when it is none or outside its range. */
export function numberOption(
  options: OptionValues,
  name: string,
  { minimum, maximum = Infinity, whole = false }: { minimum: number; maximum?: number; whole?: boolean },
): number | undefined {
  const text = ownValue(options, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (
    !decimal.test(String(text)) ||
    !Number.isFinite(value) ||
    value < minimum ||
    value > maximum ||
    (whole && !Number.isInteger(value))
  ) {
    const kind = whole ? 'a whole number' : 'a number';
    const range = maximum === Infinity ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
    throw new InputError('usage.option', `--${name} is “${String(text)}”.`, `It has to be ${kind} ${range}.`);
  }
  return value;
}

/** `--card -1` as `--card=-1`: a negative number is a value, whatever it begins with, and is refused as one. */
function withNegatives(args: readonly string[], options: NonNullable<ParseArgsConfig['options']>): string[] {
  const joined: string[] = [];
  for (const argument of args) {
    const before = joined.at(-1) ?? '';
    const takes = Object.entries(options).some(([name, { type }]) => before === `--${name}` && type === 'string');
    if (takes && /^-[\d.]/.test(argument)) joined[joined.length - 1] = `${before}=${argument}`;
    else joined.push(argument);
  }
  return joined;
}

/** An option with a fixed set of values. */
export function choiceOption<T extends string>(
  options: OptionValues,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = ownValue(options, name);
  if (value === undefined) return undefined;
  if (choices.includes(value as T)) return value as T;
  throw new InputError(
    'usage.option',
    `--${name} is “${String(value)}”.`,
    `It has to be one of ${choices.join(', ')}.`,
  );
}

export function textOption(options: OptionValues, name: string): string | undefined {
  const value = ownValue(options, name);
  return typeof value === 'string' ? value : undefined;
}

/** The number of a run, as `12` or `#12`. */
export function runNumber(text: string): number {
  const match = /^#?(\d+)$/.exec(text);
  if (match) return Number(match[1]);
  throw new InputError('usage.run', `“${text}” is no run number.`, 'List the runs with `trainyard runs`.');
}
