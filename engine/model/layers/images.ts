// What layers over images have in common.

import type { Shape } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';

/** The shape as [channels, height, width]. Throws ModelError when it is none. */
export function imageShape(input: Shape, what: string): readonly [channels: number, height: number, width: number] {
  if (input.length === 3) return [input[0], input[1], input[2]];
  throw new ModelError(
    `${what} needs images (channels × height × width), got ${input.join(' × ')}.`,
    'It works on image data, before Flatten, Global average pool and Dense layers.',
  );
}
