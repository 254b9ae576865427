// What the palette offers for what is typed: commands (recent ones first), runs the history found, datasets.

import type { RecordField } from '../../engine/protocol/store.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import type { IconName } from '../lib/icons.ts';
import type { Command } from '../app/commands.svelte.ts';
import { fuzzyScore } from '../lib/fuzzy.ts';
import type { AppState } from '../app/state.svelte.ts';

/** What is asked of a run. */
export const runFields = ['id', 'name', 'datasetName'] as const satisfies readonly RecordField[];
export type FoundRun = Pick<RunRecord, (typeof runFields)[number]>;

export interface PaletteEntry {
  readonly id: string;
  readonly section: 'Commands' | 'Runs' | 'Datasets';
  readonly title: string;
  readonly icon: IconName;
  readonly keys?: string;
  readonly note?: string;
  readonly unavailable?: string;
  run(): void;
}

/** Entries shown of commands and datasets: some to begin with, more once something is typed. */
const shownCommands = { idle: 9, typed: 10 };
const shownDatasets = { idle: 3, typed: 6 };
/** Score by which recent commands lead while nothing is typed. */
const recentLead = 30;
/** Score of a command found by another word than those of its title. */
const otherWord = 150;

export function paletteEntries(app: AppState, typed: string, runs: readonly FoundRun[]): readonly PaletteEntry[] {
  return [...commandEntries(app, typed), ...runs.map((run) => runEntry(app, run)), ...datasetEntries(app, typed)];
}

function commandEntries(app: AppState, typed: string): PaletteEntry[] {
  const rank = new Map(app.commands.recent.map((id, index) => [id, index]));
  const lead = (id: string): number => (typed ? 0 : recentLead - (rank.get(id) ?? recentLead));
  return app.commands.all
    .filter((command) => !command.hidden)
    .map((command) => ({ command, score: scoreOf(command, typed) + lead(command.id) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, typed ? shownCommands.typed : shownCommands.idle)
    .map(({ command }) => ({
      id: `command-${command.id}`,
      section: 'Commands',
      title: command.title,
      icon: command.icon ?? 'right',
      keys: command.keys?.[0],
      unavailable: command.unavailable?.(),
      run: () => app.commands.run(command.id),
    }));
}

/** By its title, or by the start of another word for it. */
function scoreOf({ title, words = [] }: Command, typed: string): number {
  const wanted = typed.trim().toLowerCase();
  const meant = wanted.length > 1 && words.some((word) => word.startsWith(wanted));
  return Math.max(fuzzyScore(typed, title), meant ? otherWord : 0);
}

function runEntry(app: AppState, run: FoundRun): PaletteEntry {
  return {
    id: `run-${run.id}`,
    section: 'Runs',
    title: run.name,
    icon: 'runs',
    note: run.datasetName,
    run: () => app.router.go(`#run/${run.id}`),
  };
}

function datasetEntries(app: AppState, typed: string): PaletteEntry[] {
  return app.datasets.list
    .filter((dataset) => fuzzyScore(typed, dataset.name) > 0)
    .slice(0, typed ? shownDatasets.typed : shownDatasets.idle)
    .map((dataset) => ({
      id: `dataset-${dataset.id}`,
      section: 'Datasets',
      title: dataset.name,
      icon: dataset.kind === 'images' ? 'image' : 'table',
      run: () => app.router.go(`#dataset/${dataset.id}`),
    }));
}
