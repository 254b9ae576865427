// The registry of commands: palette, shortcuts, the shortcut sheet and the system's menu all use these same objects.
// Views add their own while they are open.

import { SvelteMap } from 'svelte/reactivity';
import type { IconName } from '../components/icons.ts';
import { shortcutOf, takesKeys } from './keys.ts';

export interface Command {
  readonly id: string;
  readonly title: string;
  readonly group: 'File' | 'Go to' | 'View' | 'Run' | 'Runs' | 'Dataset' | 'Model' | 'Help';
  readonly icon?: IconName;
  /** "Mod+K"; the first is shown. */
  readonly keys?: readonly string[];
  /** Why it cannot run now; undefined = it can. */
  readonly unavailable?: () => string | undefined;
  /** Kept out of the palette: keys that only make sense where the focus is. */
  readonly hidden?: boolean;
  run(): void;
}

export class CommandRegistry {
  readonly #commands = new SvelteMap<string, Command>();
  /** Ids, most recently used first. */
  recent: readonly string[] = $state.raw([]);

  /** Adds commands; later ones replace earlier ones of the same id. Returns the function that takes them out again. */
  add(commands: readonly Command[]): () => void {
    for (const command of commands) this.#commands.set(command.id, command);
    return () => {
      for (const command of commands) {
        if (this.#commands.get(command.id) === command) this.#commands.delete(command.id);
      }
    };
  }

  get all(): Command[] {
    return [...this.#commands.values()];
  }

  find(id: string): Command | undefined {
    return this.#commands.get(id);
  }

  run(id: string): void {
    const command = this.#commands.get(id);
    if (!command || command.unavailable?.()) return;
    this.recent = [id, ...this.recent.filter((other) => other !== id)].slice(0, 20);
    command.run();
  }

  /** Runs the command of a key event, unless the focused element uses that key itself. */
  handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const shortcut = shortcutOf(event);
    const plain = !shortcut.startsWith('Mod+') && !/^(Alt\+|Shift\+)*F\d+$/.test(shortcut);
    if (plain && takesKeys(event.target, shortcut)) return;
    for (const command of this.#commands.values()) {
      if (!command.keys?.includes(shortcut)) continue;
      if (command.unavailable?.()) continue;
      event.preventDefault();
      this.run(command.id);
      return;
    }
  }
}
