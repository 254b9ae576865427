// What a learner says of itself and of a run's settings, in words and small numbers: all that the window, the history, the
// command line and the run manager have to know of it. It stands in engine/learners/NAME/declaration.ts, beside what the learner
// does, and is small enough for the window. `declare` fills in what follows from the table of its settings.

import type { InputSpec, LayerSpec, OutputSpec } from '../../model/spec.ts';
import type { PreparedData, RowForm } from '../../protocol/data.ts';
import { exportFormats, type ExportFormat } from '../../protocol/exports.ts';
import type { RunStart } from '../../protocol/family.ts';
import type { RunConfig, RunResult } from '../../protocol/runs.ts';
import type { FieldTable, SettingsOf } from '../../settings/field.ts';
import type { TrainedOn } from '../../settings/training.ts';
import { completed, settingFacts } from '../../settings/values.ts';

export type Device = RunConfig['device'];
export type Fact = readonly [name: string, text: string];

/** Figures of the settings that lists have columns for; absent: this learner has no such thing. */
export interface ListedSettings {
  readonly batch?: number;
  readonly optimizer?: string;
  readonly learningRate?: number;
}

/** Settings that stand within those of a learner and may be left out as a whole. */
export interface FreeGroup {
  readonly title: string;
  /** What stands beside the title. */
  readonly note: string;
  readonly table: FieldTable<TrainedOn>;
  /** Whether they mean anything for this data. */
  readonly fits: (about: TrainedOn) => boolean;
  /** As if they had been left out. */
  readonly none: object;
  /** What stands before their names where those of all groups are listed. */
  readonly of: string;
}

/** `C`: the configurations of this learner. */
export interface Declaration<C extends RunConfig = RunConfig> {
  /** In settings, files and on the command line. */
  readonly name: string;
  /** What the window calls it: `Linear model`. */
  readonly title: string;
  /** In a sentence: `a linear model`. */
  readonly noun: string;
  /** One sentence for people: when to take it. */
  readonly summary: string;
  /** What stands above its settings: the way, and what it is good for. */
  readonly about?: { readonly title: (output: OutputSpec) => string; readonly text?: string };
  /** Its settings. They make the types, checks, flags, the form and comparisons. */
  readonly fields: FieldTable<TrainedOn>;
  /** Where they stand in the settings of a run. */
  readonly own: string;
  /** Further settings within those, by their names. */
  readonly free: Readonly<Record<string, FreeGroup>>;
  /** Forms of rows it learns from, the one it likes best first. */
  readonly forms: readonly RowForm[];
  /** What it makes of texts. Absent: it cannot read them. */
  readonly texts?: 'words' | 'tokens';
  /** Whether its models are trees, which can be looked at. */
  readonly trees: boolean;
  /** Formats its models can leave in. */
  readonly formats: readonly ExportFormat[];
  /** Devices it trains on; of several `auto` chooses by measuring. */
  readonly devices: readonly Device[];
  /** What it counts its way by: a network epochs. */
  readonly unit: { readonly one: string; readonly many: string };
  /** Whether it has values along the way that make a curve. */
  readonly curves: boolean;
  /** What becomes of a run that is to be done by a time, as a sentence. */
  readonly doneBy: string;

  /** Layers that a person puts together, kept as `model`; absent: it has none. */
  layers?(config: C): readonly LayerSpec[];
  /** Numbers it learns from such data, where that is known beforehand. */
  parameters?(input: InputSpec, output: OutputSpec): number;
  /** Settings as they are kept, with those that were not there yet when they were written. */
  complete(config: C): C;
  /** Refuses data that it cannot learn from with these settings, before anything is recorded. Throws InputError. */
  check(config: C, data: PreparedData): void;
  /** Units of a whole run. */
  units(config: C): number;
  /** The same settings for so many units in all. Absent: a finished run of it cannot go on. */
  extended?(config: C, units: number): C;
  /** What has to be said of the learning rate after the end of its schedule; null: nothing. */
  heldRate?(config: C): string | null;
  /** The parts of the training rows it asks for, which validate in turn; 0 = as many as pay. Absent: none. */
  parts?(config: C): number;
  /** Settings as its runs keep them: what it does its own way is taken out. */
  settled?(config: C): C;
  /** Bytes that the states kept of a run may take. Absent: it keeps none but the last. */
  checkpointBudget?(config: C): number;
  /** What becomes of a run that goes on with other settings. Throws InputError where it cannot. */
  goesOn?(before: C, after: C, ended?: RunResult['reason']): Pick<RunStart, 'anew' | 'incomparable'>;
  /** Its settings that a run may go on with otherwise. Absent: all that `goesOn` does not refuse. */
  readonly goesOnWith?: readonly string[];
  /** Its settings where its schedule begins anew: it is one over all that is to come, unless another end was asked for. */
  begunAnew?(before: C, after: C): C;
  /** What the model is called by its settings, for names of runs and for searching: `small`; null: nothing. */
  preset(config: C): string | null;
  /** The model in a few words: `Medium MLP`, `Own model`. */
  modelTitle(config: C): string;
  /** The same for terminals: `small`, `4 layers`. */
  label(config: C): string;
  listed(config: C): ListedSettings;
  /** Whether the settings tell that the rows are pictures; a table may come without any sign. */
  ofPictures(config: C): boolean;
  /** What `show` says of the model and the training. `parameters`: 0 = not known yet. */
  facts(config: C, parameters: number): readonly Fact[];
  /** Settings of its own, for a comparison name by name. */
  settings(config: C): object;
  /** What decides the speed of a step, besides the data and the threads: equal values, equal speed. */
  speed(config: C): unknown;
}

/** The settings of a run of a learner that keeps its own under its name. */
export type ConfigOf<Name extends string, T> = RunConfig & { readonly learner: Name } & {
  readonly [Own in Name]: SettingsOf<T>;
};

type Said = 'name' | 'title' | 'noun' | 'summary' | 'fields' | 'forms';

/** A learner whose settings are those of one table, kept under its name. `said` stands above what follows from them. */
export function declare<const Name extends string, const T extends FieldTable<TrainedOn>>(
  said: Pick<Declaration<ConfigOf<Name, T>>, Said> &
    Partial<Declaration<ConfigOf<Name, T>>> & { readonly name: Name; readonly fields: T },
): Declaration<ConfigOf<Name, T>> {
  const { name, title, fields } = said;
  const own = (config: ConfigOf<Name, T>): SettingsOf<T> => config[name];
  return {
    own: name,
    free: {},
    formats: exportFormats,
    trees: false,
    devices: ['cpu'],
    unit: { one: 'step', many: 'steps' },
    curves: false,
    doneBy: 'It ends by then with what it has.',
    complete: (config) => ({ ...config, [name]: completed(fields, own(config)) }),
    check: () => undefined,
    units: () => 1,
    preset: () => name,
    modelTitle: () => title,
    label: () => name,
    listed: () => ({}),
    ofPictures: () => false,
    facts: (config, parameters) => [
      ['model', `${name}, ${parameters.toLocaleString('en')} parameters`],
      ['training', [...settingWords(fields, own(config)), `seed ${config.seed}`].join(', ')],
    ],
    settings: (config) => ({ model: { preset: name }, ...own(config) }),
    speed: own,
    ...said,
  };
}

/** `penalty 10`, of what is not as usual. */
function settingWords(table: FieldTable, settings: object): readonly string[] {
  return settingFacts(table, settings, String)
    .filter(({ quiet }) => !quiet)
    .map(({ label, value }) => `${label.toLowerCase()} ${value}`);
}
