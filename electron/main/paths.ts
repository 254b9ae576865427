// Paths a person has chosen, by drop or by dialog. The page only ever holds tokens; a token that was not handed out here
// stands for nothing.

import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { InputError } from '../../engine/protocol/errors.ts';

export class ChosenPaths {
  readonly #paths = new Map<string, string>();

  /** Remembers a chosen path and returns the token that stands for it, with the name to show. */
  add(chosen: string): { token: string; name: string } {
    if (chosen === '' || !path.isAbsolute(chosen) || !fs.existsSync(chosen)) {
      throw new InputError(
        'input.no_file',
        'What was dropped is not a file or folder on this machine.',
        'Save it to a folder first, then drop it from there.',
      );
    }
    const token = randomUUID();
    this.#paths.set(token, chosen);
    return { token, name: path.basename(chosen) };
  }

  /** The path behind a token. */
  resolve(token: string): string {
    const chosen = this.#paths.get(token);
    if (chosen === undefined) {
      throw new InputError('input.unknown_token', 'This file has not been opened in this session.', 'Open it again.');
    }
    return chosen;
  }
}
