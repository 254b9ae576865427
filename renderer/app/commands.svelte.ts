// The registry of commands: palette, shortcuts, the shortcut sheet and the system's menu all use these same objects.
// Views add their own while they are open.

import { untrack } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import type { IconName } from '../lib/icons.ts';
import { ofTextFields, shortcutOf, takesKeys } from '../lib/keys.ts';

export interface Command {
  readonly id: string;
  readonly title: string;
  readonly group: 'File' | 'Go to' | 'View' | 'Run' | 'Runs' | 'Dataset' | 'Model' | 'Help';
  readonly icon?: IconName;
  /** Other words a person may look for it by. */
  readonly words?: readonly string[];
  /** "Mod+K"; the first is shown. */
  readonly keys?: readonly string[];
  /** Why it cannot run now; undefined = it can. */
  readonly unavailable?: () => string | undefined;
  /** Kept out of the palette: keys that only make sense where the focus is. */
  readonly hidden?: boolean;
  run(): void;
}

export class CommandRegistry {
  /** By id, the one in force last: a view's own stands above the app's while the view is open. */
  readonly #commands = new SvelteMap<string, readonly Command[]>();
  /** Ids, most recently used first. */
  recent: readonly string[] = $state.raw([]);

  /** Adds commands; later ones stand above earlier ones of the same id. Returns the function that takes them out again. */
  add(commands: readonly Command[]): () => void {
    // Whoever adds them in an effect is not to be called again for what others add.
    untrack(() => {
      for (const command of commands) this.#commands.set(command.id, [...this.#of(command.id), command]);
    });
    return () =>
      untrack(() => {
        for (const command of commands) {
          const left = this.#of(command.id).filter((other) => other !== command);
          if (left.length > 0) this.#commands.set(command.id, left);
          else this.#commands.delete(command.id);
        }
      });
  }

  get all(): Command[] {
    return [...this.#commands.values()].flatMap((commands) => commands.at(-1) ?? []);
  }

  find(id: string): Command | undefined {
    return this.#of(id).at(-1);
  }

  #of(id: string): readonly Command[] {
    return this.#commands.get(id) ?? [];
  }

  run(id: string): void {
    const command = this.find(id);
    if (!command || command.unavailable?.()) return;
    this.recent = [id, ...this.recent.filter((other) => other !== id)].slice(0, 20);
    command.run();
  }

  /** Runs the command of a key event, unless the focused element uses that key itself. */
  handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const shortcut = shortcutOf(event);
    const plain =
      ofTextFields.has(shortcut) || (!shortcut.startsWith('Mod+') && !/^(Alt\+|Shift\+)*F\d+$/.test(shortcut));
    if (plain && takesKeys(event.target, shortcut)) return;
    for (const command of this.all) {
      if (!command.keys?.includes(shortcut)) continue;
      if (command.unavailable?.()) continue;
      event.preventDefault();
      this.run(command.id);
      return;
    }
  }
}
