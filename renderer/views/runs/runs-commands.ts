// The commands of the runs table, and when they can be used.

import type { Command } from '../../app/commands.svelte.ts';
import { runCommands } from '../../app/run-commands.ts';
import type { RunsTable } from './runs.svelte.ts';

export interface RunsActions {
  compare(): void;
  again(): void;
  goOn(): void;
  edit(): void;
  remove(): void;
  rename(): void;
  predict(): void;
  exportAs(format: 'json' | 'safetensors'): void;
}

export function runsCommands(table: RunsTable, actions: RunsActions): Command[] {
  const some = (): string | undefined =>
    table.selected.size > 0 || table.current !== undefined ? undefined : 'No run is selected';
  const one = (): string | undefined => (table.selected.size > 1 ? 'More than one run is selected' : some());
  return [
    ...runCommands({
      'edit-run': { keys: ['T'], unavailable: one, run: actions.edit },
      'again-run': { unavailable: one, run: actions.again },
      'continue-run': { unavailable: one, run: actions.goOn },
      'predict-run': { unavailable: one, run: actions.predict },
      'export-safetensors': { unavailable: one, run: () => actions.exportAs('safetensors') },
      'export-json': { unavailable: one, run: () => actions.exportAs('json') },
      'delete-run': {
        keys: ['Del'],
        unavailable: () => (table.shelf === 'trash' ? 'They are there already' : (some() ?? table.parted)),
        run: actions.remove,
      },
    }),
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
      id: 'rename-selected',
      title: 'Rename the current run',
      group: 'Runs',
      icon: 'pencil',
      keys: ['F2'],
      unavailable: () => (table.current === undefined ? 'No run is current' : undefined),
      run: actions.rename,
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
