// What leads from the system to this app (a command in the path, an entry of a menu) is changed alike: looked at first, done only where it may be.

import fs from 'node:fs';
import type { SystemLink } from '../../engine/protocol/app.ts';
import { InputError } from '../../engine/protocol/errors.ts';

export interface Change {
  readonly wish: 'link' | 'unlink';
  readonly look: () => Promise<SystemLink>;
  readonly act: () => Promise<void>;
  /** Of what is thrown where that is not to be: code and message. */
  readonly refusal: readonly [code: 'input.command_link' | 'input.menu_entry', message: string];
}

/** How it stands then. Throws InputError where it cannot be changed so, unless it stands so already. */
export async function changeLink({ wish, look, act, refusal: [code, message] }: Change): Promise<SystemLink> {
  const before = await look();
  if (before.can !== wish) {
    if (before.state === (wish === 'link' ? 'linked' : 'absent')) return before;
    throw new InputError(code, message, before.note);
  }
  await act();
  return look();
}

/** Null: the disk says no. */
export function attempt<Result>(look: () => Result): Result | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** The file behind all links, or the name where there is none. */
export const realOf = (file: string): string => attempt(() => fs.realpathSync(file)) ?? file;

/** Within double quotes of a shell, or of an entry of a menu. */
export const quotable = (text: string): string => text.replace(/["`$\\]/g, '\\$&');
