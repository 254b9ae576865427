// Everything the views share, made once in main.ts and handed down by context.

import { getContext, setContext, untrack } from 'svelte';
import type { AppInfo, AppService, DeviceInfo } from '../../engine/protocol/app.ts';
import { archiveEnding } from '../../engine/protocol/keeping.ts';
import { fromWire } from '../../engine/protocol/errors.ts';
import { importText } from '../../engine/protocol/import-text.ts';
import type { DatasetInfo, ReadOptions } from '../../engine/protocol/data.ts';
import type { ServedRun } from '../../engine/protocol/predicting.ts';
import { plural } from '../lib/format.ts';
import type { DroppedItem } from './bridge.ts';
import { ActiveRuns } from './active-runs.svelte.ts';
import { againAddress } from './again.ts';
import { Announcer } from './announcer.svelte.ts';
import { CommandRegistry } from './commands.svelte.ts';
import { failureOf, type Failure } from './failure.ts';
import { tellCut } from './cut-runs.ts';
import { DatasetStore } from './datasets.svelte.ts';
import type { ImportSource } from './datasets.svelte.ts';
import { Formats } from './formats.svelte.ts';
import { Preferences } from './preferences.ts';
import { Router } from './router.svelte.ts';
import { Theme } from './theme.svelte.ts';
import { Toasts } from './toasts.svelte.ts';
import { UndoHistory } from './undo.svelte.ts';

/** A view that takes what is dropped on the window instead of importing it. */
export interface DropTarget {
  readonly title: string;
  readonly detail: string;
  readonly accept: (items: readonly DroppedItem[]) => void;
}

/** Files that a run is to predict once its page is open. */
export interface FilesToPredict {
  readonly run: number;
  readonly items: readonly DroppedItem[];
}

/** Files of one drop that are imported at the same time. */
const importsAtOnce = 4;

export class AppState {
  readonly service: AppService;
  readonly router = new Router();
  readonly commands = new CommandRegistry();
  readonly toasts = new Toasts();
  readonly undo = new UndoHistory();
  readonly announcer = new Announcer();
  readonly theme: Theme;
  readonly preferences: Preferences;
  readonly formats: Formats;
  readonly datasets: DatasetStore;
  readonly activeRuns: ActiveRuns;
  info: AppInfo | null = $state.raw(null);
  devices: readonly DeviceInfo[] = $state.raw([]);
  /** Of a CPU without the native addon, where WebAssembly does all of its work: what brings the addon back. */
  readonly addonRemedy = $derived(this.devices.find(({ native }) => native === false)?.nativeRemedy);
  sidebarHidden: boolean = $state(false);
  /** Runs chosen for Compare, in order of their letters. */
  compared: readonly number[] = $state.raw([]);
  #dropTargets: readonly DropTarget[] = $state.raw([]);
  /** Something failed where no view was there to say so; stays until it is put away. */
  failure: Failure | null = $state.raw(null);
  /** Reports of failures that nobody has looked at yet. */
  unseenCrashes: number = $state(0);
  toPredict: FilesToPredict | null = $state.raw(null);
  /** Runs that programs of this machine may ask. */
  serving: readonly ServedRun[] = $state.raw([]);
  overlay: 'palette' | 'shortcuts' | null = $state(null);

  constructor(service: AppService) {
    this.service = service;
    this.theme = new Theme(service);
    this.preferences = new Preferences(service);
    this.formats = new Formats(this.preferences);
    this.datasets = new DatasetStore(service);
    this.activeRuns = new ActiveRuns(service, this.announcer);
  }

  /** Loads what the first view needs and goes there: the last address, or the welcome where there is no dataset. */
  async load(): Promise<void> {
    const hash = (value: unknown): value is string => typeof value === 'string' && value.startsWith('#');
    const asked = this.service.info();
    const [last, info] = await Promise.all([
      this.preferences.read('address', hash, '#datasets'),
      asked,
      this.formats.load(asked.then(({ region }) => region)),
      this.theme.load(),
      this.datasets.refresh(),
      this.activeRuns.refresh(),
    ]);
    this.info = info;
    if (info.mishap) {
      this.failure = {
        code: 'internal.window',
        message: info.mishap,
        hint: 'It was loaded again; runs went on undisturbed.',
      };
    }
    const empty = this.datasets.list.length === 0 && this.activeRuns.total === 0;
    // A window that is loaded again has its view in its address.
    if (location.hash === '') this.router.replace(empty ? '#welcome' : last === '#welcome' ? '#datasets' : last);
    void this.service.crashes().then(({ unseen }) => (this.unseenCrashes = unseen));
    this.service.onServing(({ runs }) => (this.serving = runs));
    void this.service.serving().then((runs) => (this.serving = runs));
    this.service.onOpened(() => void this.takeOpened());
    void this.takeOpened();
    this.service.onCut(() => void tellCut(this));
    void tellCut(this, true);
  }

  async loadDevices(): Promise<void> {
    this.devices = await this.service.devices();
  }

  /** Imports and opens the dataset's page; a model that others have trained becomes a run to begin with. */
  async import(source: ImportSource, options?: ReadOptions, drop?: number): Promise<DatasetInfo | null> {
    if (source.kind === 'path' && source.name.toLowerCase().endsWith(archiveEnding)) {
      await this.#takeRuns(source, drop ?? null);
      return null;
    }
    if (source.kind === 'path' && (await this.#takeModel(source, drop ?? null))) return null;
    const info = await this.datasets.import(source, options, drop);
    if (!info) return null;
    this.announcer.say(`${info.name} is imported: ${plural(info.rows, 'row')}.`);
    this.router.go(`#dataset/${info.id}`);
    return info;
  }

  /** Whether what is imported was a model: then it is a run, or it is said why it cannot be one. */
  async #takeModel({ token, name }: { readonly token: string; readonly name: string }, drop: number | null) {
    try {
      const model = await this.service.importModel({ token });
      if (model === null) return false;
      const { run, said, returned } = model;
      this.toasts.show(`Run ${run}: ${said.join(' ')}`, { life: 12_000 });
      // It begins a run on what is here, where something is; else the run says what it is.
      const next = returned ? null : againAddress(this.datasets.list, await this.service.run({ run }));
      this.router.go(next && 'address' in next ? next.address : `#run/${run}`);
    } catch (error) {
      this.datasets.reject(name, failureOf(error), drop);
    }
    return true;
  }

  /** Runs of another machine, or of a backup, are added to those that are here. */
  async #takeRuns({ token, name }: { readonly token: string; readonly name: string }, drop: number | null) {
    try {
      const report = await this.service.importRuns({ job: `take-${token}`, token });
      const said = importText(report).slice(0, 3).join(' ');
      this.toasts.show(`${name}: ${said}`, { life: 12_000 });
      this.router.go('#runs');
    } catch (error) {
      this.datasets.reject(name, failureOf(error), drop);
    }
  }

  /** Takes up what the app was opened with, as if it had been dropped. */
  async takeOpened(): Promise<void> {
    const { items, refused } = await this.service.takeOpened();
    const drop = this.datasets.nextDrop();
    for (const { name, error } of refused) this.datasets.reject(name, failureOf(fromWire(error)), drop);
    await this.importAll(items, drop);
  }

  /** What takes a drop instead of importing it: the newest that has asked for it. */
  get dropTarget(): DropTarget | null {
    return this.#dropTargets.at(-1) ?? null;
  }

  /** Until what it returns is called; views that come and go may do so in any order. */
  takeDrops(target: DropTarget): () => void {
    const change = (next: (now: readonly DropTarget[]) => readonly DropTarget[]): void =>
      untrack(() => {
        this.#dropTargets = next(this.#dropTargets);
      });
    change((now) => [...now, target]);
    return () => change((now) => now.filter((one) => one !== target));
  }

  /** Imports what was dropped at once, a few at a time: nobody can look at the progress of hundreds. */
  async importAll(items: readonly DroppedItem[], drop = this.datasets.nextDrop()): Promise<void> {
    const waiting = [...items];
    const work = async (): Promise<void> => {
      for (let item = waiting.shift(); item; item = waiting.shift())
        await this.import({ kind: 'path', ...item }, {}, drop);
    };
    await Promise.all(Array.from({ length: importsAtOnce }, work));
  }

  async open(kind: 'file' | 'folder'): Promise<void> {
    const chosen = await this.service.choose({ kind });
    if (chosen) await this.import({ kind: 'path', ...chosen });
  }

  /** Saves a file the window made; says where. */
  async save(suggested: string, data: Uint8Array): Promise<void> {
    const { saved } = await this.service.saveFile({ suggested, data });
    if (saved) this.toasts.show(`Saved as ${saved}`);
  }
}

const key = Symbol('app');

export function provideApp(app: AppState): void {
  setContext(key, app);
}

export function useApp(): AppState {
  return getContext<AppState>(key);
}
