// Reads JSON and remembers on which line each value stands, so that an error in a file a person wrote can name its line.

import { withoutMark } from '../../protocol/json.ts';

/** A place in a value: `['devices', 14, 'memory']`. */
export type Place = readonly (string | number)[];

/** The text is no JSON. `line` counts from 1. */
export class JsonError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.name = 'JsonError';
    this.line = line;
  }
}

export interface LocatedJson {
  readonly value: unknown;
  /** The line of the value there, or of the nearest one around it. */
  readonly lineOf: (place: Place) => number;
}

/** Throws JsonError. A name given twice is refused: one of the two would be lost. */
export function readJson(text: string): LocatedJson {
  const reader = new Reader(withoutMark(text));
  const value = reader.read();
  return {
    value,
    lineOf: (place) => {
      for (let length = place.length; length >= 0; length--) {
        const line = reader.lines.get(keyOf(place.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

/** `devices[14].memory` */
export function nameOf(place: Place): string {
  return place.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}

const keyOf = (place: Place): string => JSON.stringify(place);

/** Deeper than any file of ours, and far from the end of the stack. */
const deepest = 100;

class Reader {
  readonly lines = new Map<string, number>();
  readonly #text: string;
  readonly #place: (string | number)[] = [];
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail(`nothing more expected, got ${this.#next()}`);
    return value;
  }

  #value(): unknown {
    this.#space();
    this.lines.set(keyOf(this.#place), this.#line);
    if (this.#place.length > deepest) this.#fail('nested too deep');
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      default:
        return this.#word();
    }
  }

  #object(): object {
    const entries = new Map<string, unknown>();
    this.#at++;
    this.#space();
    if (this.#take('}')) return {};
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') this.#fail(`a name in double quotes expected, got ${this.#next()}`);
      const name = this.#string();
      if (entries.has(name)) this.#fail(`“${name}” stands here twice`);
      this.#space();
      if (!this.#take(':')) this.#fail(`“:” expected, got ${this.#next()}`);
      entries.set(name, this.#within(name));
      this.#space();
      if (this.#take('}')) return Object.fromEntries(entries);
      if (!this.#take(',')) this.#fail(`“,” or “}” expected, got ${this.#next()}`);
    }
  }

  #array(): unknown[] {
    const values: unknown[] = [];
    this.#at++;
    this.#space();
    if (this.#take(']')) return values;
    for (;;) {
      values.push(this.#within(values.length));
      this.#space();
      if (this.#take(']')) return values;
      if (!this.#take(',')) this.#fail(`“,” or “]” expected, got ${this.#next()}`);
    }
  }

  #within(part: string | number): unknown {
    this.#place.push(part);
    const value = this.#value();
    this.#place.pop();
    return value;
  }

  #string(): string {
    const match = /"(?:[^"\\\n\r]|\\.)*"/y;
    match.lastIndex = this.#at;
    const found = match.exec(this.#text)?.[0];
    if (found === undefined) return this.#fail('a text without its closing quote');
    this.#at += found.length;
    return this.#parse(found) as string;
  }

  /** A number, `true`, `false` or `null`. */
  #word(): unknown {
    const match = /[\w.+-]+/y;
    match.lastIndex = this.#at;
    const found = match.exec(this.#text)?.[0];
    if (found === undefined) return this.#fail(`a value expected, got ${this.#next()}`);
    const value = this.#parse(found);
    this.#at += found.length;
    return value;
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return this.#fail(`${text.slice(0, 40)} is no JSON value`);
    }
  }

  #space(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const letter = this.#text[this.#at];
      if (letter === '\n') this.#line++;
      else if (letter !== ' ' && letter !== '\t' && letter !== '\r') return;
    }
  }

  #take(letter: string): boolean {
    if (this.#text[this.#at] !== letter) return false;
    this.#at++;
    return true;
  }

  #next(): string {
    return this.#at < this.#text.length ? `“${this.#text[this.#at]}”` : 'the end of the file';
  }

  #fail(message: string): never {
    throw new JsonError(this.#line, message);
  }
}
