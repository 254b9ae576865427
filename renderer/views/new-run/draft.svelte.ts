// A run being put together: the model, the training settings, the device, and what follows from them live (shapes,
// parameters, memory, errors at their layers).

import { SvelteMap } from 'svelte/reactivity';
import { fixesFor, freshId, type LayerFix } from '../../../engine/model/fixes.ts';
import { layers as registry } from '../../../engine/model/registry.ts';
import { outputWidth } from '../../../engine/model/resolve.ts';
import type { Declaration } from '../../../engine/learners/declared/declare.ts';
import {
  configWith,
  declarationOf,
  declarations,
  ownSettings,
  usualSettings,
} from '../../../engine/learners/declared/registry.ts';
import { declaration as network, isNetwork, networkConfig } from '../../../engine/learners/network/declaration.ts';
import { defaultPreset, presetNamed, specOf, trainedOn } from '../../../engine/model/presets.ts';
import type { Preset } from '../../../engine/model/presets.ts';
import { predictsTokens, type LayerSpec, type ModelSpec, type TrainingSpec } from '../../../engine/model/spec.ts';
import { summarizeModel } from '../../../engine/model/summary.ts';
import type { Value } from '../../../engine/settings/field.ts';
import { usualTraining } from '../../../engine/settings/network.ts';
import { runFields } from '../../../engine/settings/run.ts';
import type { TrainedOn } from '../../../engine/settings/training.ts';
import { withValue } from '../../../engine/settings/values.ts';
import type { DatasetShape } from '../../../engine/protocol/app.ts';
import { timeAsked } from '../../../engine/protocol/queue.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { isPretrained } from '../../../engine/protocol/pretrained.ts';
import { usualFolds } from '../../../engine/protocol/use.ts';
import type { DatasetInfo } from '../../../engine/protocol/data.ts';
import type { RunConfig } from '../../../engine/protocol/runs.ts';
import { classesOf, decided, suggestName, taskOf } from '../../app/quick-start.ts';
import type { UndoHistory } from '../../app/undo.svelte.ts';

/** What a step of the draft changes, as it was before or after. */
type DraftState = Pick<Draft, 'learner' | 'model' | 'settings' | 'seed' | 'folds' | 'keys' | 'current' | 'name'> & {
  readonly trainingChosen: boolean;
};

function usual(about: TrainedOn): object {
  const { seed: _, ...training } = usualTraining(about);
  return training;
}

export class Draft {
  /** As it was chosen; under Start from its texts may be read otherwise. */
  dataset: DatasetInfo = $state.raw() as unknown as DatasetInfo;
  shape: DatasetShape = $state.raw() as unknown as DatasetShape;
  name: string = $state('');
  learner: Declaration = $state.raw(network as Declaration);
  /** Of every learner, by its name: whoever comes back to one finds them as they were. */
  settings: Readonly<Record<string, object>> = $state.raw({});
  seed: number = $state(runFields.seed.default);
  /** Of a cross-validation; undefined: one training. */
  folds: number | undefined = $state();
  model: ModelSpec = $state.raw({ version: 1, layers: [] });
  device: RunConfig['device'] = $state('auto');
  /** Several devices that share every batch: `cpu:2`; undefined: `device` alone. */
  devices: string | undefined = $state();
  threads: number = $state(0);
  /** When it is to be done, as it was typed; empty: its epochs decide. */
  doneBy: string = $state('');
  /** Position of the current layer. */
  current: number = $state(0);
  /** Keeps rows apart while layers move: one key a layer, in order. */
  keys: readonly number[] = $state.raw([]);
  /** What was typed that cannot be used: by the field it stands in, what that has to hold. */
  readonly wrong = new SvelteMap<string, string>();
  readonly #undo: UndoHistory | undefined;
  /** What the layers were last taken over from. */
  #given: ModelSpec | undefined = $state.raw();
  #nextKey = 0;
  #named = false;
  #trainingChosen = false;

  /** Settings of the learner chosen. */
  readonly own: object = $derived(ownValue(this.settings, this.learner.name) ?? {});
  /** Those of the network, chosen or not. */
  readonly training: TrainingSpec = $derived({
    ...(ownValue(this.settings, network.name) as Omit<TrainingSpec, 'seed'>),
    seed: this.seed,
  });
  readonly summary = $derived.by(() => {
    const { input, output } = this.shape;
    return summarizeModel(this.model, input, output, this.training);
  });
  /** The preset the layers still equal. */
  readonly preset = $derived.by(() => {
    const preset = this.model.preset === undefined ? undefined : presetNamed(this.model.preset);
    return preset && JSON.stringify(specOf(preset, this.shape.input).layers) === JSON.stringify(this.model.layers)
      ? preset
      : undefined;
  });

  /** The layers still are those of a model that is no preset of ours, a BERT of others: its name stays. */
  readonly #asGiven = $derived.by(() => {
    const { preset, layers } = this.model;
    if (preset === undefined || presetNamed(preset) !== undefined) return false;
    return JSON.stringify(this.#given?.layers) === JSON.stringify(layers);
  });

  /** What the defaults and limits of the training depend on. */
  readonly about = $derived.by(() => this.#about(this.model));

  constructor(
    dataset: DatasetInfo,
    shape: DatasetShape,
    from?: { readonly name: string; readonly config: RunConfig },
    undo?: UndoHistory,
  ) {
    this.dataset = dataset;
    this.shape = shape;
    const config = from?.config;
    this.choose(defaultPreset(shape.counts.train, shape.input, classesOf(shape.output)));
    for (const learner of declarations.filter(({ layers }) => !layers)) {
      this.settings = { ...this.settings, [learner.name]: usualSettings(learner, this.about) };
    }
    if (from && config) {
      this.device = config.device;
      this.devices = config.devices;
      this.threads = config.threads;
      this.rename(isPretrained(config) ? `${dataset.name}-${from.name}` : `${from.name}-again`);
    }
    if (config) {
      this.learner = declarationOf(config);
      this.settings = { ...this.settings, [config.learner]: this.#drafted(config) };
      this.seed = config.seed;
      this.folds = config.folds;
    }
    if (config && isNetwork(config)) {
      this.#trainingChosen = true;
      this.#replace(config.model);
    }
    // A table is given the best of all, unless something else was asked for; another learner begins with folds where few rows would test it.
    if (!config && dataset.kind === 'table' && !this.writes) this.chooseLearner(declarationOf({ learner: 'auto' }));
    if (!config) this.folds = usualFolds(dataset, shape.counts);
    // What the draft begins with is no step.
    this.#undo = undo;
  }

  get config(): RunConfig {
    // What was found out is written down, so that the run says it by itself.
    const settings = decided(this.dataset);
    // What cuts its rows into parts by itself is one training.
    const folds = this.folds === undefined || this.learner.parts ? {} : { folds: this.folds };
    const common = { dataset: this.dataset.id, settings, device: this.device, threads: this.threads, ...folds };
    const { learner, seed } = this;
    const { until } = this;
    if (!learner.layers) {
      const device = learner.devices.length > 1 ? this.device : 'auto';
      const timed = until === undefined ? {} : { until };
      return configWith(learner, { ...common, ...timed, device, seed }, this.own);
    }
    const several = this.devices === undefined ? {} : { device: 'cpu' as const, devices: this.devices };
    const { preset: _, ...own } = this.model;
    // A preset that was edited is the person's own model from then on.
    const model = this.preset || this.#asGiven ? this.model : own;
    const config = networkConfig({ ...common, ...several }, model, this.training);
    return until === undefined ? config : { ...config, until };
  }

  /** The time it is to be done by, in milliseconds since 1970; undefined where none is asked for, or it cannot be planned for. */
  get until(): number | undefined {
    if (this.folds !== undefined && !this.learner.parts) return undefined;
    return timeAsked(this.doneBy, new Date()) ?? undefined;
  }

  /** A text to learn to write: networks that look back alone can. */
  get writes(): boolean {
    return predictsTokens(this.shape.input);
  }

  /** What keeps it from being started. */
  get obstacle(): string | undefined {
    const broken = this.learner.layers !== undefined && !this.summary.valid;
    return broken ? 'A layer has an error: see the marked row' : this.wrong.values().next().value;
  }

  /** Notes what is wrong with what stands in a field; undefined once nothing is. */
  readonly mark = (field: string, error: string | undefined): void => {
    if (error === undefined) this.wrong.delete(field);
    else this.wrong.set(field, error);
  };

  /** Reads its rows otherwise: not a step of its own, as it follows from the weights chosen. */
  readOtherwise(dataset: DatasetInfo, shape: DatasetShape): void {
    this.dataset = dataset;
    this.shape = shape;
  }

  /** Has another learner than a network; the layers stay for whoever comes back to them. */
  chooseLearner(learner: Declaration): void {
    this.#step(learner.noun, () => {
      this.learner = learner;
      if (!this.#named) this.name = suggestName(this.dataset.name, learner.name);
    });
  }

  /** Takes a preset's layers, and the training settings that suit them until some were set by hand. */
  choose(preset: Preset): void {
    this.#step(`the preset ${preset.title}`, () => this.#choose(preset));
  }

  #choose(preset: Preset): void {
    const model = specOf(preset, this.shape.input);
    this.learner = network as Declaration;
    if (!this.#trainingChosen) {
      this.settings = { ...this.settings, [network.name]: usual(this.#about(model)) };
    }
    this.#replace(model);
    if (!this.#named) this.name = suggestName(this.dataset.name, preset.name);
  }

  #about(model: ModelSpec): TrainedOn {
    const { input, output, counts } = this.shape;
    return trainedOn(counts.train, taskOf(this.shape), { input, model, classes: classesOf(output) });
  }

  /** By which settings others have trained nobody knows: those that suit the rows here, and weights that know something. */
  #drafted(config: RunConfig): object {
    if (!isPretrained(config) || !isNetwork(config)) return ownSettings(config);
    return usual({ ...this.#about(config.model), begun: true });
  }

  /** Takes over the settings and the layers of a run of its learner. */
  take(config: RunConfig, words: string): void {
    this.#step(words, () => {
      this.#trainingChosen = true;
      this.settings = { ...this.settings, [config.learner]: ownSettings(config) };
      if (isNetwork(config) && JSON.stringify(config.model) !== JSON.stringify(this.model)) this.#replace(config.model);
    });
  }

  /** Takes over the layers of another run, and none of its settings: those that suit them, until some were set by hand. `begun`: see `TrainedOn`. */
  useLayers(model: ModelSpec, words: string, begun: boolean): void {
    this.#step(words, () => {
      if (!this.#trainingChosen)
        this.settings = { ...this.settings, [network.name]: usual({ ...this.#about(model), begun }) };
      this.#replace(model);
    });
  }

  rename(name: string): void {
    this.name = name;
    this.#named = true;
  }

  /** Changes a setting of the learner chosen; `group`: the settings within its own where it stands. */
  set(name: string, value: Value | undefined, group?: string): void {
    const { learner, own, settings } = this;
    const changed = withValue(group === undefined ? own : this.within(group), name, value);
    this.#step(`a setting of ${learner.noun}`, () => {
      if (learner.layers) this.#trainingChosen = true;
      this.settings = { ...settings, [learner.name]: group === undefined ? changed : { ...own, [group]: changed } };
    });
  }

  /** Settings within those of the learner chosen. */
  within(group: string): object {
    const groups: Readonly<Record<string, unknown>> = { ...this.own };
    return (ownValue(groups, group) as object | undefined) ?? ownValue(this.learner.free, group)?.none ?? {};
  }

  sow(seed: number): void {
    this.#step('the seed', () => (this.seed = seed));
  }

  cross(folds: number | undefined): void {
    this.#step('the cross-validation', () => (this.folds = folds));
  }

  /** Adds a layer after the current one, but never after the output. */
  add(type: string): void {
    const last = this.model.layers.length - 1;
    const position = Math.max(0, Math.min(this.current + 1, last));
    const layer = registry.get(type)?.many ? { type, from: this.#branchesAt(position) } : { type };
    this.#step(`a new layer ${position + 1}`, () => {
      this.#edit(this.model.layers.toSpliced(position, 0, layer), this.keys.toSpliced(position, 0, this.#nextKey++));
      this.current = position;
    });
  }

  /** What can be done about the error of a layer, the best first. */
  fixes(position: number): readonly LayerFix[] {
    const { input, output } = this.shape;
    return fixesFor(this.model, input, outputWidth(output, this.training.loss), position);
  }

  apply({ label, change, position, layers }: LayerFix): void {
    const keys = {
      insert: () => this.keys.toSpliced(position, 0, this.#nextKey++),
      remove: () => this.keys.toSpliced(position, 1),
      replace: () => this.keys,
    };
    this.#step(label, () => {
      this.#edit(layers, keys[change]());
      this.current = Math.min(position, layers.length - 1);
    });
  }

  remove(position: number): void {
    if (!this.canRemove(position)) return;
    this.#step(`layer ${position + 1}`, () => {
      this.#edit(this.model.layers.toSpliced(position, 1), this.keys.toSpliced(position, 1));
      this.current = Math.min(this.current, this.model.layers.length - 1);
    });
  }

  canRemove(position: number): boolean {
    return position < this.model.layers.length - 1;
  }

  /** The output stays last. */
  move(from: number, to: number): void {
    const last = this.model.layers.length - 1;
    if (from === last || to < 0 || to >= last || from === to) return;
    const layers = this.model.layers.toSpliced(from, 1).toSpliced(to, 0, this.model.layers[from]);
    this.#step(`the place of layer ${from + 1}`, () => {
      this.#edit(layers, this.keys.toSpliced(from, 1).toSpliced(to, 0, this.keys[from]));
      this.current = to;
    });
  }

  setArgument(position: number, name: string, value: unknown): void {
    const layers = this.model.layers.with(position, { ...this.model.layers[position], [name]: value });
    this.#step(`${name} of layer ${position + 1}`, () => this.#edit(layers, this.keys));
  }

  /** Chooses where a joining layer gets its inputs; a layer referred to gets a lasting name first. */
  setSources(position: number, sources: readonly number[]): void {
    const layers = [...this.model.layers];
    const from = sources.map((source) => {
      if (source < 0) return 'input';
      const id = layers[source].id ?? freshId(layers, layers[source].type);
      layers[source] = { ...layers[source], id };
      return id;
    });
    layers[position] = { ...layers[position], from };
    this.#step(`the inputs of layer ${position + 1}`, () => this.#edit(layers, this.keys));
  }

  /** Positions a joining layer reads from; −1 = the input. */
  sourcesOf(position: number): readonly number[] {
    const from = this.model.layers[position].from;
    const names = from === undefined ? [] : typeof from === 'string' ? [from] : from;
    return names.map((name) => (name === 'input' ? -1 : this.summary.layers.findIndex((layer) => layer.id === name)));
  }

  #branchesAt(position: number): readonly string[] {
    const before = this.summary.layers[position - 1];
    return before ? ['input', before.id] : ['input'];
  }

  /** Does something that can be taken back. */
  #step(label: string, work: () => void): void {
    const before = this.#state();
    work();
    const after = this.#state();
    this.#undo?.record({ label, undo: () => this.#restore(before), redo: () => this.#restore(after) });
  }

  #state(): DraftState {
    const { learner, model, settings, seed, folds, keys, current, name } = this;
    return { learner, model, settings, seed, folds, keys, current, name, trainingChosen: this.#trainingChosen };
  }

  #restore({ trainingChosen, ...state }: DraftState): void {
    Object.assign(this, state);
    this.#trainingChosen = trainingChosen;
  }

  #replace(model: ModelSpec): void {
    this.model = model;
    this.#given = model;
    this.keys = model.layers.map(() => this.#nextKey++);
    this.current = Math.max(0, model.layers.length - 2);
  }

  #edit(layers: readonly LayerSpec[], keys: readonly number[]): void {
    this.keys = keys;
    this.model = { ...this.model, layers };
  }
}
