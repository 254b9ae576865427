// What the window may ask of the main process: one interface, declared once. Paths never cross it except as tokens of a
// drop or a dialog.

import type { InputSpec, OutputSpec } from '../model/spec.ts';
import type { PowerHold } from './choices.ts';
import type {
  DatasetInfo,
  DatasetSettings,
  PicturePage,
  PreparedData,
  Progress,
  ReadOptions,
  RowPage,
  SkippedFile,
  SplitName,
  RowReading,
} from './data.ts';
import type { CheckFinding, CheckReport } from './checking.ts';
import type { PredictingApp } from './predicting.ts';
import type { ClassifiedPictures, PredictedPage, RunEvaluation } from './evaluation.ts';
import type { RunExports } from './exports.ts';
import type { Checkpoint, ContinuationRequest, StartWeights, TransferRequest } from './going-on.ts';
import type { EvaluatedRun, EvaluatedSplit, Openings } from './evaluated-rows.ts';
import type { ImportedModel } from './pretrained.ts';
import type { TreeLook } from './trees.ts';
import type { Contributions, Dependence, Explanation } from './explanation.ts';
import type { MeasuredProfile } from './step-profile.ts';
import type { CutRuns, PlannedRun, QueueChange } from './queue.ts';
import type { RepairReport, RunPatch, StoreService } from './store.ts';
import type { MetricPoint, RunConfig, RunProgress, RunRecord } from './runs.ts';
import type { WireError } from './errors.ts';
import type { ArchiveReport, ImportReport, RestoreReport } from './keeping.ts';
import type { LabConditions, LabProgress, LabRecord, RaceRequest, RaceTimes } from './lab.ts';

export interface DeviceInfo {
  readonly id: string;
  readonly kind: 'cpu' | 'gpu';
  readonly name: string;
  /** CPU: cores, instruction sets, memory. GPU: vendor, architecture, limits, features. For people, in order. */
  readonly facts: Readonly<Record<string, string>>;
  /** Of the CPU: bytes of memory of this machine. */
  readonly memoryBytes?: number;
  /** Of the CPU: whether the native addon is in use; without it WebAssembly does all of the work. */
  readonly native?: boolean;
  /** Of a CPU without it: what brings it back. */
  readonly nativeRemedy?: string;
  /** Marked "software: for testing"; never chosen by itself. */
  readonly software: boolean;
  readonly available: boolean;
  /** Why it is not available, and what to do. */
  readonly reason?: string;
}

/** Tags of the system's regional format, such as `de-DE`; POSIX can have one for numbers and one for dates. Any text: a system may name none that is known. */
export interface RegionalFormat {
  readonly numbers: string;
  readonly dates: string;
}

export interface AppInfo {
  readonly version: string;
  readonly electron: string;
  readonly platform: string;
  readonly region: RegionalFormat;
  readonly home: string;
  readonly samples: readonly {
    readonly id: string;
    readonly kind: 'table' | 'images' | 'text';
    readonly title: string;
    readonly detail: string;
    /** What one learns with it. */
    readonly teaches: string;
    /** Whose it is, and under which licence. */
    readonly origin: string;
  }[];
  /** What befell the window, when it is here again after a crash or the like, in a sentence; null = nothing. */
  readonly mishap: string | null;
}

/** What the app was opened with: tokens as for a drop, and what could not be taken. */
export interface OpenedItems {
  readonly items: readonly { readonly token: string; readonly name: string }[];
  readonly refused: readonly { readonly name: string; readonly error: WireError }[];
}

/** What this copy of the app is and where it keeps things, for the About page. */
export interface AboutApp {
  /** Of the app and of what it stands on, by their names. */
  readonly versions: Readonly<Record<string, string>>;
  readonly system: string;
  /** Folders and files on this disk, and what is in each. */
  readonly places: readonly { readonly what: string; readonly path: string }[];
}

/** Whether something of the system leads to this app (terminals by the command `trainyard`, the desktop by an entry), and what can be done about it. */
export interface SystemLink {
  /** `other`: what is found is not this app's; `impossible`: not with this kind of copy. */
  readonly state: 'linked' | 'absent' | 'other' | 'impossible';
  /** The file that is found, or would be; null where there can be none. */
  readonly at: string | null;
  /** What can be done from here; null: nothing, as `note` says, or as a package of the system has put it there. */
  readonly can: 'link' | 'unlink' | null;
  /** For people; empty = nothing is to be said. */
  readonly note: string;
}

/** What failed, newest first, and how many native dumps there are beside. */
export interface Crashes {
  readonly reports: readonly {
    readonly id: string;
    readonly time: number;
    readonly version: string;
    readonly part: string;
    readonly what: string;
    readonly trace: string;
  }[];
  readonly dumps: number;
  /** Reports that have come since they were last looked at. */
  readonly unseen: number;
}

/** The files LICENSE and NOTICES, as they are. */
export interface Licences {
  readonly own: string;
  readonly notices: string;
}

/** What a dataset under some settings feeds a model and asks of it: all the model editor needs for shapes and memory. */
export interface DatasetShape {
  readonly input: InputSpec;
  readonly output: OutputSpec;
  /** Rows of each split. */
  readonly counts: Readonly<Record<SplitName, number>>;
  /** Of a language model: bytes of the text that a token stands for. */
  readonly bytesPerToken?: PreparedData['bytesPerToken'];
}

/** How the window looks; the system's own parts (caption buttons, menus) follow. */
export interface Appearance {
  readonly theme: 'system' | 'light' | 'dark';
  /** Text size: the window's zoom factor, 0.8 … 2. */
  readonly zoom: number;
}

/** What the window asks of the history as it is. */
type HistoryCalls = Pick<
  StoreService,
  | 'run'
  | 'runs'
  | 'tags'
  | 'groups'
  | 'bills'
  | 'metrics'
  | 'log'
  | 'trials'
  | 'deleteRuns'
  | 'restoreRuns'
  | 'labs'
  | 'lab'
  | 'deleteLab'
  | 'usage'
  | 'compact'
  | 'dropSetAside'
  | 'getSetting'
  | 'setSetting'
>;

/** Offered to the window by the main process. */
export interface AppService extends HistoryCalls, RunExports, PredictingApp {
  info(): Promise<AppInfo>;
  devices(): Promise<readonly DeviceInfo[]>;
  /** Shows the system's open dialog; null = cancelled. The token stands for the chosen path. */
  choose(request: { kind: 'file' | 'folder' | 'backup' }): Promise<{ token: string; name: string } | null>;
  importPath(request: {
    job: string;
    token: string;
    options?: ReadOptions;
    settings?: DatasetSettings;
  }): Promise<DatasetInfo>;
  /** Makes a finished run of a model that others have trained; null: what stands at the path is none. Throws why it cannot be read. */
  importModel(request: { token: string }): Promise<ImportedModel | null>;
  importSample(request: { job: string; sample: string }): Promise<DatasetInfo>;
  cancel(request: { job: string }): Promise<void>;
  datasets(): Promise<readonly DatasetInfo[]>;
  describe(request: { dataset: string; settings: DatasetSettings }): Promise<DatasetInfo>;
  saveSettings(request: { dataset: string; settings: DatasetSettings }): Promise<DatasetInfo>;
  /** Shape of the features and the target, without keeping the prepared rows. Throws what training would: no target, one class, … */
  datasetShape(request: { dataset: string; settings: DatasetSettings }): Promise<DatasetShape>;
  /** What a run that begins with this one has to read as it does; its tokenizers are kept for that. */
  readingOf(request: { run: number }): Promise<RowReading>;
  removeDataset(request: { dataset: string }): Promise<void>;
  /** `only`: see `DataService.rows`. */
  rows(request: { dataset: string; offset: number; limit: number; only?: readonly number[] }): Promise<RowPage>;
  /** Pictures as thumbnails, under the settings the dataset has: see `DataService.pictures`. */
  pictures(request: {
    dataset: string;
    offset?: number;
    limit?: number;
    class?: string;
    rows?: readonly number[];
    size?: number;
  }): Promise<PicturePage>;
  /** Every file the import of an image folder left out, and why. */
  skippedFiles(request: { dataset: string }): Promise<readonly SkippedFile[]>;

  /** `from`: weights to begin with; `advisedBy`: see `RunManager.start`. */
  startRun(request: {
    name?: string;
    config: RunConfig;
    from?: TransferRequest;
    advisedBy?: number;
  }): Promise<RunRecord>;
  /** A finished or stopped run goes on as a new one: see `RunManager.goOn`. */
  extendRun(request: ContinuationRequest & { name?: string }): Promise<RunRecord>;
  /** The states that a run has kept. */
  checkpoints(request: { run: number }): Promise<readonly Checkpoint[]>;
  /** Of a state (default: the best): what a model has to have to begin with it. */
  weightShapes(request: Pick<TransferRequest, 'run' | 'checkpoint'>): Promise<StartWeights>;
  /** Makes them fit into so many bytes: see thinning.ts. Gives those that stay. */
  thinCheckpoints(request: { run: number; budget: number }): Promise<readonly Checkpoint[]>;
  resumeRun(request: { run: number; device?: RunConfig['device'] }): Promise<RunRecord>;
  pauseRun(request: { run: number }): Promise<void>;
  continueRun(request: { run: number }): Promise<void>;
  stopRun(request: { run: number }): Promise<void>;
  /** See `changeQueue` of engine/runs/queue.ts. */
  changeQueue(request: QueueChange): Promise<void>;
  pauseQueue(request: { paused: boolean }): Promise<void>;
  queuePaused(): Promise<boolean>;
  /** When the waiting runs begin and end, by the forecasts, in their order. */
  queuePlan(): Promise<readonly PlannedRun[]>;
  /** Why this computer holds all runs just now; null: it does not. */
  powerHold(): Promise<PowerHold | null>;
  /** `share` of its charge that the battery holds, 0 to 1, while it discharges; null: it does not, or there is none. */
  tellBattery(request: { share: number | null }): Promise<void>;
  updateRun(request: {
    run: number;
    patch: Pick<RunPatch, 'name' | 'tags' | 'notes' | 'starred' | 'group'>;
  }): Promise<RunRecord>;
  /** Removes trashed runs and their files for good. */
  purgeRuns(request: { runs: readonly number[] }): Promise<{ runs: number; bytes: number }>;
  /** How good a run is class by class: after its last epoch while it runs, then of the weights kept. Null before the first. */
  evaluation(request: { run: number }): Promise<RunEvaluation | null>;
  /**
   * What a finished run says of a split of its data, or a cross-validation of all its rows out of fold, or of the file of `token`: one of both. Each answer on the test split is counted.
   * Refuses rows that do not say what is to be predicted (`input.no_truth`). Progress and `cancel` go by the job.
   */
  evaluate(request: {
    job: string;
    run: number;
    split?: EvaluatedSplit;
    token?: string;
    force?: boolean;
  }): Promise<EvaluatedRun>;
  /** How often the test split of a run was looked at. */
  openings(request: { run: number }): Promise<Openings>;
  /**
   * Pictures of the validation split that are of class `truth` and were taken for `predicted` (numbers; null = any, and with
   * both null the mistakes), surest first. Null for runs without pictures.
   */
  predictedPictures(request: {
    run: number;
    truth: number | null;
    predicted: number | null;
    offset?: number;
    limit?: number;
    size?: number;
  }): Promise<PredictedPage | null>;
  /**
   * What a finished run says pictures are: files, or a folder; of very many the first thousand or so, `total` says of how
   * many. Progress and `cancel` go by the job.
   */
  classifyFiles(request: { job: string; run: number; tokens: readonly string[] }): Promise<ClassifiedPictures>;
  /** The same for rows of the dataset it was trained on. */
  classifyRows(request: { run: number; rows: readonly number[] }): Promise<ClassifiedPictures>;
  /**
   * Which columns matter to a finished run on a table, and how its answer moves with those that matter most. `wanted`: class whose
   * probability is explained (default: the second of two, else the first). `cancelExplanation` keeps what is known by then; progress goes
   * by the job.
   */
  explain(request: { job: string; run: number; split: EvaluatedSplit; wanted?: number }): Promise<Explanation>;
  /** How its answer moves with some columns, by their places. */
  explainColumns(request: {
    job: string;
    run: number;
    split: EvaluatedSplit;
    wanted?: number;
    columns: readonly number[];
  }): Promise<readonly Dependence[]>;
  /** What each column did for its answer to a row of the dataset, from 0; absent: the one it is farthest off with. */
  explainRow(request: {
    job: string;
    run: number;
    split: EvaluatedSplit;
    wanted?: number;
    row?: number;
  }): Promise<Contributions>;
  cancelExplanation(request: { job: string }): Promise<void>;
  /** A tree of a run, from 1. `wanted`: class whose values its leaves show (default: the second of two, else the first). */
  lookAtTree(request: { run: number; tree: number; wanted?: number }): Promise<TreeLook>;
  /**
   * Checks in some ten seconds whether a run would learn, on the device it would have (`auto`: the CPU). Findings go to `onCheckFinding`
   * as they are known, progress goes by the job. Nothing is kept. Rejects with CancelledError after `cancelCheck`.
   */
  checkRun(request: { job: string; config: RunConfig }): Promise<CheckReport>;
  cancelCheck(request: { job: string }): Promise<void>;
  /**
   * Takes a training step of a finished or stopped run of a network apart, on the CPU: each call timed and held against its best. Runs pause
   * meanwhile, as with a lab. Progress goes by the job. Rejects with CancelledError after `cancelProfile`, with `input.no_steps` for other
   * learners, `input.run_active` for one that trains.
   */
  profileRun(request: { job: string; run: number }): Promise<MeasuredProfile>;
  cancelProfile(request: { job: string }): Promise<void>;
  exportRun(request: { run: number; format: 'json' | 'safetensors' }): Promise<{ saved: string | null }>;
  /** Saves text or a picture made by the window through the system's dialog. */
  saveFile(request: { suggested: string; data: Uint8Array }): Promise<{ saved: string | null }>;
  /**
   * Measures this machine for about so many seconds and keeps the result. Runs that train pause meanwhile and go on by themselves.
   * Rejects with CancelledError after `cancelLab`: then nothing is kept; with `input.run_active` while another process trains.
   */
  measureLab(request: { seconds: number }): Promise<LabRecord>;
  /** What would disturb a lab now: processors in use (null: own runs train, which a lab pauses), and whether there is no mains. */
  labConditions(): Promise<LabConditions>;
  /**
   * Times steps of a model on two devices of this machine in turns, at every point; what was timed so far goes to `onRace`. Runs pause
   * and `cancelLab` ends it, as with a lab. Rejects with `device.unknown` where a device is not here.
   */
  timeRaces(request: RaceRequest): Promise<readonly RaceTimes[]>;
  /** Ends what measures, lab or race. */
  cancelLab(): Promise<void>;
  exportLab(request: { lab: number }): Promise<{ saved: string | null }>;
  /** Takes up the file of a lab; rejects with `input.lab` if it is none. */
  importLab(request: { token: string }): Promise<LabRecord>;
  /** The person's own entries of the hardware catalogue, as the file in the home folder has them; null = none. */
  ownCatalogue(): Promise<string | null>;
  /**
   * Keeps an own price there, dated today; null takes it back. Gives the file's new text. A damaged file is left alone
   * (`input.catalogue`).
   */
  setOwnPrice(request: {
    list: 'devices' | 'offers';
    id: string;
    field: 'streetPrice' | 'onDemand' | 'spot';
    value: number | null;
  }): Promise<string>;
  /** Writes the home to one file that the person names, while runs go on; null = cancelled in the dialog. Progress and `cancel` go by the job. */
  backUp(request: { job: string; datasets: boolean }): Promise<ArchiveReport | null>;
  /** Brings a home back; what was there is kept beside it. Rejects with `input.run_active` while runs go on. The window is loaded again after it. */
  restoreBackup(request: { job: string; token: string }): Promise<RestoreReport>;
  /** Looks for damage, and repairs it. Rejects with `input.run_active` while runs go on. */
  repairHistory(): Promise<RepairReport>;
  /** Some runs as a file for another machine; null = cancelled in the dialog. */
  exportRuns(request: { job: string; runs: readonly number[]; datasets: boolean }): Promise<ArchiveReport | null>;
  /** Takes up the runs of such a file, or of a backup, each once. */
  importRuns(request: { job: string; token: string }): Promise<ImportReport>;
  /** Removes all runs in the trash for good. */
  emptyTrash(): Promise<{ runs: number; bytes: number }>;
  /** Applies the look at once; the window keeps the choice with `setSetting`. */
  setAppearance(appearance: Appearance): Promise<void>;
  /** Loads the page again on the view it is on: it may not do so itself. */
  reload(): Promise<void>;
  /** Requests that tried to leave the machine and were refused, since the start. */
  network(): Promise<{ blocked: number }>;
  /** The licences of the app and of everything that is shipped with it. */
  licences(): Promise<Licences>;
  about(): Promise<AboutApp>;
  commandLink(): Promise<SystemLink>;
  /** Lets terminals of this account find the command. Rejects with `input.command_link` where `can` is another than 'link', unless they do. */
  linkCommand(): Promise<SystemLink>;
  /** Takes that back; rejects likewise. */
  unlinkCommand(): Promise<SystemLink>;
  /** Whether the desktop's menu has this app; of Linux alone, where no package sees to it. */
  menuEntry(): Promise<SystemLink>;
  /** Puts it into the menu of this account, with its icon and the types of its files. Rejects with `input.menu_entry` likewise. */
  addMenuEntry(): Promise<SystemLink>;
  removeMenuEntry(): Promise<SystemLink>;
  /** A text for bug reports without data, names or paths. */
  diagnostics(): Promise<string>;
  crashes(): Promise<Crashes>;
  /** They have been looked at. */
  crashesSeen(): Promise<void>;
  deleteCrashes(): Promise<void>;
  /** An error of the page's own that nothing has dealt with. */
  reportError(request: { message: string; trace: string }): Promise<void>;

  onProgress(listener: (event: { job: string; progress: Progress }) => void): () => void;
  onCheckFinding(listener: (event: { job: string; finding: CheckFinding }) => void): () => void;
  /** About ten a second while a lab measures. */
  onLabProgress(listener: (progress: LabProgress) => void): () => void;
  /** Before each point of a race: those that were timed, and how many there are. */
  onRace(listener: (event: { races: readonly RaceTimes[]; points: number }) => void): () => void;
  /** At most 10 a second a run. */
  onReport(
    listener: (event: { run: number; points: readonly MetricPoint[]; progress: RunProgress }) => void,
  ): () => void;
  onRunsChanged: StoreService['onChanged'];
  /** An item of the native menu was chosen: the id of the window's own command. */
  onCommand(listener: (event: { command: string }) => void): () => void;
  /** Files the app was opened with since this was last asked: each is handed out once, as if it had been dropped. */
  takeOpened(): Promise<OpenedItems>;
  /** There are some. */
  onOpened(listener: (event: Record<string, never>) => void): () => void;
  /** Runs that were cut short since this was last asked: each is told of once; `anew`, of a page that begins: also what the page before it may not have shown to its end. */
  takeCut(request: { anew: boolean }): Promise<CutRuns>;
  /** There are some. */
  onCut(listener: (event: Record<string, never>) => void): () => void;
  onNetwork(listener: (event: { blocked: number }) => void): () => void;
}
