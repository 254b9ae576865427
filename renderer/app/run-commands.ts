// What can be done with one run: the same commands in its menu, on its page, in the table of runs and in the palette. Where
// no run is in view they stand in the palette all the same, grey, with the reason.

import type { MenuItem } from '../lib/menu.ts';
import type { Command } from './commands.svelte.ts';

const named = {
  'edit-run': { title: 'Name, tags and notes…', icon: 'pencil', words: ['rename', 'label', 'comment'] },
  'again-run': { title: 'Run again with changes', icon: 'again', keys: ['Mod+D'], words: ['duplicate', 'copy'] },
  'continue-run': { title: 'Continue…', icon: 'play', words: ['extend', 'more epochs', 'go on', 'transfer'] },
  'predict-run': { title: 'Predict for a file…', icon: 'play', words: ['inference', 'apply'] },
  'export-safetensors': { title: 'Export as safetensors…', icon: 'export', words: ['save', 'weights', 'model'] },
  'export-json': { title: 'Export as JSON…', icon: 'export', words: ['save', 'weights', 'model'] },
  'delete-run': { title: 'Move to trash', icon: 'trash', words: ['delete', 'remove'] },
} as const satisfies Record<string, Pick<Command, 'title' | 'icon' | 'keys' | 'words'>>;

/** On the page of a run alone: what can be done while it lives. */
export const whileLive = {
  'pause-run': { title: 'Pause this run', icon: 'pause', words: ['hold', 'wait'] },
  'stop-run': { title: 'Stop this run', icon: 'stop', words: ['cancel', 'abort', 'end', 'kill'] },
} as const satisfies Record<string, Pick<Command, 'title' | 'icon' | 'words'>>;

export type RunCommandId = keyof typeof named;

export interface RunAction {
  /** Why it cannot be done now. */
  readonly unavailable?: () => string | undefined;
  readonly keys?: readonly string[];
  run(): void;
}

/** The commands on a run in view. */
export function runCommands(actions: Readonly<Record<RunCommandId, RunAction>>): Command[] {
  return (Object.keys(named) as RunCommandId[]).map((id) => ({ id, group: 'Run', ...named[id], ...actions[id] }));
}

/** The same where no run is in view: they say what is missing. */
export function missingRunCommands(): Command[] {
  return Object.entries({ ...named, ...whileLive }).map(([id, { title, icon, words }]) => {
    return { id, group: 'Run', title, icon, words, unavailable: () => 'Open a run first', run: () => undefined };
  });
}

/** The commands as a menu. */
export function runMenu(commands: readonly Command[]): MenuItem[] {
  return commands.map((command) => ({
    id: command.id,
    label: command.title,
    icon: command.icon,
    shortcut: command.keys?.[0],
    separated: command.id === 'predict-run' || command.id === 'delete-run',
    danger: command.id === 'delete-run',
    unavailable: command.unavailable?.(),
    run: () => command.run(),
  }));
}
