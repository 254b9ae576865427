// The commands of the runs table, and when they can be used.

import type { Command } from '../../app/commands.svelte.ts';
import type { RunsTable } from './runs.svelte.ts';

export interface RunsActions {
  compare(): void;
  again(): void;
  edit(): void;
  remove(): void;
  rename(): void;
}

export function runsCommands(table: RunsTable, actions: RunsActions): Command[] {
  const some = (): string | undefined =>
    table.selected.size > 0 || table.current !== undefined ? undefined : 'No run is selected';
  const one = (): string | undefined => (table.selected.size > 1 ? 'More than one run is selected' : some());
  return [
    {
      id: 'compare-selected',
      title: 'Compare selected runs',
      group: 'Runs',
      icon: 'compare',
      keys: ['Mod+Shift+C'],
      unavailable: () => (table.selected.size > 1 ? undefined : 'Select two or more runs'),
      run: actions.compare,
    },
    {
      id: 'duplicate-selected',
      title: 'Run again with changes',
      group: 'Runs',
      icon: 'again',
      keys: ['Mod+D'],
      unavailable: one,
      run: actions.again,
    },
    {
      id: 'rename-selected',
      title: 'Rename the current run',
      group: 'Runs',
      icon: 'pencil',
      keys: ['F2'],
      unavailable: () => (table.current === undefined ? 'No run is current' : undefined),
      run: actions.rename,
    },
    {
      id: 'tag-selected',
      title: 'Name, tags and notes',
      group: 'Runs',
      icon: 'tag',
      keys: ['T'],
      unavailable: one,
      run: actions.edit,
    },
    {
      id: 'delete-selected',
      title: 'Move selected runs to the trash',
      group: 'Runs',
      icon: 'trash',
      keys: ['Del'],
      unavailable: () => (table.shelf === 'trash' ? 'They are there already' : some()),
      run: actions.remove,
    },
    {
      id: 'select-all',
      title: 'Select all runs of the list',
      group: 'Runs',
      icon: 'check',
      keys: ['Mod+A'],
      run: () => void table.selectAll(),
    },
    {
      id: 'clear-selection',
      title: 'Clear the selection',
      group: 'Runs',
      keys: ['Esc'],
      hidden: true,
      unavailable: () => (table.selected.size > 0 ? undefined : 'Nothing is selected'),
      run: () => table.selected.clear(),
    },
  ];
}
