// Reading a plain object by a word that came from outside: a column, a class, a folder. `types[column]` finds `Object`
// where the column is called "constructor"; the lint rule of scripts/lint-word-lookup.js refuses that.

/** The value that `values` itself holds under `key`. */
export function ownValue<T>(values: Readonly<Record<string, T>>, key: string): T | undefined {
  // eslint-disable-next-line trainyard/no-word-lookup -- this is the one place that may.
  return Object.hasOwn(values, key) ? values[key] : undefined;
}
