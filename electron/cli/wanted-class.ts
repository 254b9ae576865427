// The option --class: a class by its name.

import type { OutputSpec } from '../../engine/model/spec.ts';
import { InputError } from '../../engine/protocol/errors.ts';

/** Its place; undefined: none was named. Throws InputError `usage.option`. */
export function wantedClass(output: OutputSpec, name: string | undefined): number | undefined {
  if (name === undefined) return undefined;
  const place = output.kind === 'classes' ? output.classes.indexOf(name) : -1;
  if (place >= 0) return place;
  throw new InputError(
    'usage.option',
    `--class is “${name}”.`,
    output.kind === 'classes'
      ? `It has to be one of ${output.classes.slice(0, 20).join(', ')}.`
      : 'This run predicts a number.',
  );
}
