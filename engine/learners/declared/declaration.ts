// What a learner says of itself and of a run's settings, in words and small numbers: all that the window, the history, the
// command line and the run manager have to know of it. What it does stands in engine/learners/NAME; this part is small enough
// for the window.

import type { PreparedData, RowForm } from '../../protocol/data.ts';
import type { FieldTable } from '../../settings/field.ts';
import type { LearnerName, RunConfig } from '../../protocol/runs.ts';

export type Device = RunConfig['device'];
export type Fact = readonly [name: string, text: string];

/** Figures of the settings that lists have columns for; absent: this learner has no such thing. */
export interface ListedSettings {
  readonly batch?: number;
  readonly optimizer?: string;
  readonly learningRate?: number;
}

export interface SettingGroup {
  readonly table: FieldTable;
  readonly settings: object;
  /** What stands before the names of its settings where those of all groups are listed. */
  readonly of?: string;
}

/** `C`: the configurations of this learner. */
export interface Declaration<C extends RunConfig = RunConfig> {
  readonly name: LearnerName;
  /** Forms of rows it learns from, the one it likes best first. */
  readonly forms: readonly RowForm[];
  /** Devices it trains on; of several `auto` chooses by measuring. */
  readonly devices: readonly Device[];
  /** What it counts its way by: a network epochs. */
  readonly unit: { readonly one: string; readonly many: string };
  /** Whether it has values along the way that make a curve. */
  readonly curves: boolean;

  /** Settings as they are kept, with those that were not there yet when they were written. */
  complete(config: C): C;
  /** Refuses data that it cannot learn from with these settings, before anything is recorded. Throws InputError. */
  check(config: C, data: PreparedData): void;
  /** Units of a whole run. */
  units(config: C): number;
  /** What the model is called by its settings, for names of runs and for searching: `small`; null: nothing. */
  preset(config: C): string | null;
  /** The model in a few words: `Medium MLP`, `Own model`. */
  title(config: C): string;
  /** The same for terminals: `small`, `4 layers`. */
  label(config: C): string;
  listed(config: C): ListedSettings;
  /** Whether the settings tell that the rows are pictures; a table may come without any sign. */
  ofPictures(config: C): boolean;
  /** What `show` says of the model and the training. `parameters`: 0 = not known yet. */
  facts(config: C, parameters: number): readonly Fact[];
  /** Settings of its own as their tables say them, in reading order. */
  groups(config: C): readonly SettingGroup[];
  /** Settings of its own, for a comparison name by name. */
  settings(config: C): object;
  /** What decides the speed of a step, besides the data and the threads: equal values, equal speed. */
  speed(config: C): unknown;
}
