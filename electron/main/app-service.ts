// AppService: what the window may ask, put together from the services that do the work. Nothing is computed here: datasets
// go to the data host, the history to the store, training to the run manager, choosing and saving to the system's dialogs.
// What is Electron's comes as a parameter: the same service is put together without it in tests/app/bridge.

import os from 'node:os';
import type { AppService, Licences, RegionalFormat } from '../../engine/protocol/app.ts';
import type { DataService, DatasetInfo } from '../../engine/protocol/data.ts';
import type { PredictingApp } from '../../engine/protocol/predicting.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { createExports, exportHere } from './exports.ts';
import { checkpointsOf, thinCheckpoints, weightShapes } from '../../engine/runs/checkpoints.ts';
import { readingOf } from '../../engine/runs/reading.ts';
import type { RunManager } from '../../engine/runs/manager.ts';
import { changeQueue, isQueuePaused, pauseQueue } from '../../engine/runs/queue.ts';
import { readQueuePlan } from '../../engine/runs/queue-plan.ts';
import type { Machine } from '../../engine/runs/turns.ts';
import type { Listeners } from '../../engine/protocol/listeners.ts';
import { createKeeping, type Keepers } from './keeping.ts';
import { openingsOf, type EvaluationSource } from '../../engine/runs/evaluate.ts';
import { evaluateRun } from './evaluations.ts';
import { createAbout } from './about.ts';
import type { CommandLinks } from './command-link.ts';
import type { MenuEntries } from './menu-entry.ts';
import { createChecks } from './checks.ts';
import { createModels } from './models.ts';
import { createTreeLooks } from './trees.ts';
import { createExplanations } from './explanations.ts';
import { Alone } from './alone.ts';
import { createLab } from './lab.ts';
import { createProfiles } from './profiles.ts';
import type { MainWindow } from './main-window.ts';
import type { GoingOn } from './going-on.ts';
import type { OpenedFiles } from './opened-files.ts';
import type { NetworkGuard } from './network.ts';
import { createOwnCatalogue } from './own-catalogue.ts';
import type { ChosenPaths } from './paths.ts';
import { FilePredictions } from './predictions.ts';
import type { RecentFiles } from './recent-files.ts';
import { savedSettings } from './requests.ts';
import { underSaved } from './saved-settings.ts';
import { ServedModels } from './served-models.ts';
import { classifyFiles, classifyRows, predictedPictures, readEvaluation } from './run-pictures.ts';
import type { Power } from './power.ts';
import type { Processes } from './processes.ts';
import type { Devices } from './devices.ts';
import type { Samples } from './samples/samples.ts';
import { saveThroughDialog, type Dialogs } from './saving.ts';

export interface AppServiceParts {
  readonly home: string;
  /** The app's own version. */
  readonly version: string;
  /** Installed, not run from its sources. */
  readonly packaged: boolean;
  /** How the system writes numbers and dates. */
  readonly region: RegionalFormat;
  readonly data: DataService;
  readonly store: StoreService;
  readonly processes: Pick<Processes, 'startCpuHost' | 'startGpuHost' | 'startOnnx'>;
  readonly keepers: Keepers;
  readonly runs: RunManager;
  /** What runs may share. */
  readonly machine: Machine;
  readonly devices: Devices;
  readonly paths: ChosenPaths;
  readonly licences: () => Promise<Licences>;
  readonly samples: Samples;
  readonly systemLinks: CommandLinks & MenuEntries;
  readonly dialogs: Dialogs;
  readonly onBattery?: () => boolean;
  readonly power?: Pick<Power, 'held' | 'tellBattery'>;
  readonly network: NetworkGuard;
  readonly window: Pick<MainWindow, 'setAppearance' | 'reload' | 'mishap' | 'showFile' | 'dragFile'>;
  /** Commands chosen from the native menu. */
  readonly commands: Listeners<{ command: string }>;
  readonly opened: OpenedFiles;
  readonly goingOn: Pick<GoingOn, 'take' | 'onCut'>;
  readonly recent: Pick<RecentFiles, 'add'>;
}

export function createAppService(parts: AppServiceParts): AppService {
  const exports = createExports(parts);
  const keeping = createKeeping(parts);
  const { onProgress: onChecked, ...checks } = createChecks(parts);
  const { onProgress: onExplained, ...explanations } = createExplanations(parts);
  const alone = new Alone(parts);
  const { onProgress: onProfiled, ...profiles } = createProfiles({ ...parts, alone });
  const predictions = new FilePredictions(parts);
  return {
    ...datasets(parts),
    ...explanations,
    ...createTreeLooks(parts),
    ...createModels(parts),
    ...checks,
    ...predicting(parts, predictions),
    ...training(parts),
    ...history(parts),
    ...keeping,
    ...exports.service,
    ...createLab({ ...parts, alone }),
    ...profiles,
    ...createAbout(parts),
    ...parts.systemLinks,
    ...surroundings(parts),
    async cancel(request) {
      predictions.cancel(request.job);
      if (!exports.cancel(request.job)) await keeping.cancel(request);
    },
    onProgress(listener) {
      const own = [onExplained, onChecked, onProfiled].map((onProgress) => ({ onProgress }));
      const stops = [keeping, exports, predictions, ...own].map((part) => part.onProgress(listener));
      return () => stops.forEach((stop) => stop());
    },
  };
}

type Part<K extends keyof AppService> = Pick<AppService, K>;

function datasets({
  data,
  store,
  paths,
  samples,
  recent,
}: AppServiceParts): Part<
  | 'importPath'
  | 'importSample'
  | 'datasets'
  | 'describe'
  | 'saveSettings'
  | 'datasetShape'
  | 'readingOf'
  | 'removeDataset'
  | 'rows'
  | 'pictures'
  | 'skippedFiles'
> {
  const stored = (dataset: string): Promise<unknown> => store.getSetting({ key: settingsKey(dataset) });
  const asSaved = async (info: DatasetInfo): Promise<DatasetInfo> =>
    underSaved(info, await stored(info.id), (settings) => data.describe({ dataset: info.id, settings }));

  return {
    async importPath({ job, token, options, settings }) {
      const file = paths.resolve(token);
      const info = await data.import({ job, path: file, options, settings });
      recent.add(file);
      return asSaved(info);
    },
    async importSample({ job, sample }) {
      return asSaved(await samples.use(sample, (path) => data.import({ job, path })));
    },
    datasets: async () => Promise.all((await data.list()).map(asSaved)),
    describe: (request) => data.describe(request),
    async saveSettings({ dataset, settings }) {
      const info = await data.describe({ dataset, settings });
      await store.setSetting({ key: settingsKey(dataset), value: settings });
      return info;
    },
    async datasetShape({ dataset, settings }) {
      const job = `shape-${dataset}`;
      const prepared = await data.prepare({ job, dataset, options: { settings, seed: 0, texts: 'tokens' } });
      await data.release({ handle: prepared.handle });
      const { input, output, counts, bytesPerToken } = prepared;
      return { input, output, counts, ...(bytesPerToken && { bytesPerToken }) };
    },
    readingOf: async (request) => readingOf({ store, data }, await store.run(request)),
    async removeDataset({ dataset }) {
      await data.remove({ dataset });
      await store.setSetting({ key: settingsKey(dataset), value: null });
    },
    rows: (request) => data.rows(request),
    pictures: async (request) =>
      data.pictures({ ...request, settings: savedSettings(await stored(request.dataset)) ?? undefined }),
    skippedFiles: (request) => data.skipped(request),
  };
}

/** Files predicted, a form that answers, and a server. */
function predicting(parts: AppServiceParts, predictions: FilePredictions): PredictingApp {
  const models = new ServedModels(parts);
  parts.store.onChanged(({ runs }) => void models.changed(runs).catch(() => undefined));
  const { paths } = parts;
  return {
    predictFile: ({ tokens, ...request }) =>
      predictions.predict({ ...request, paths: tokens.map((token) => paths.resolve(token)) }),
    predictedRows: ({ prediction, offset, limit }) => predictions.rows(prediction, offset, limit),
    savePrediction: async ({ job, prediction, ...format }) => ({
      saved: await predictions.save(job, prediction, format),
    }),
    closePrediction: ({ prediction }) => predictions.close(prediction),
    openModel: ({ run }) => models.open(run),
    askModel: ({ run, rows }) => models.ask(run, rows),
    readCells: ({ run, row }) => models.read(run, row),
    startText: (request) => models.startText(request),
    nextText: ({ run, job }) => models.nextText(run, job),
    endText: ({ run, job }) => models.endText(run, job),
    modelSpeed: ({ run, device }) => models.speed(run, device),
    closeModel: ({ run }) => models.close(run),
    startServing: ({ run, port }) => models.serve(run, port),
    stopServing: ({ run }) => models.stop(run),
    serving: () => models.list(),
    onServing: (listener) => models.onServing(listener),
  };
}

function training({
  runs,
  store,
  machine,
  power,
}: AppServiceParts): Part<
  | 'startRun'
  | 'extendRun'
  | 'resumeRun'
  | 'pauseRun'
  | 'continueRun'
  | 'stopRun'
  | 'changeQueue'
  | 'pauseQueue'
  | 'queuePaused'
  | 'queuePlan'
  | 'powerHold'
  | 'tellBattery'
  | 'onReport'
> {
  return {
    changeQueue: (request) => changeQueue(store, request),
    pauseQueue: ({ paused }) => pauseQueue(store, paused),
    queuePaused: () => isQueuePaused(store),
    queuePlan: () => readQueuePlan(store, machine, Date.now()),
    powerHold: async () => power?.held ?? null,
    tellBattery: async ({ share }) => power?.tellBattery(share),
    startRun: (request) => runs.start(request),
    extendRun: (request) => runs.goOn(request),
    resumeRun: (request) => runs.resume(request),
    pauseRun: (request) => runs.pause(request),
    continueRun: (request) => runs.continue(request),
    stopRun: (request) => runs.stop(request),
    onReport: (listener) => runs.onReport(listener),
  };
}

function history({
  store,
  data,
  paths,
  processes,
  dialogs,
}: AppServiceParts): Part<
  | 'run'
  | 'checkpoints'
  | 'thinCheckpoints'
  | 'weightShapes'
  | 'runs'
  | 'tags'
  | 'groups'
  | 'bills'
  | 'metrics'
  | 'log'
  | 'trials'
  | 'updateRun'
  | 'deleteRuns'
  | 'restoreRuns'
  | 'purgeRuns'
  | 'evaluation'
  | 'evaluate'
  | 'openings'
  | 'predictedPictures'
  | 'classifyFiles'
  | 'classifyRows'
  | 'exportRun'
  | 'getSetting'
  | 'setSetting'
  | 'onRunsChanged'
> {
  return {
    run: (request) => store.run(request),
    checkpoints: ({ run }) => checkpointsOf(store, run),
    weightShapes: (request) => weightShapes(store, request),
    async thinCheckpoints({ run, budget }) {
      await thinCheckpoints(store, run, budget);
      return checkpointsOf(store, run);
    },
    runs: (query) => store.runs(query),
    tags: () => store.tags(),
    groups: () => store.groups(),
    bills: () => store.bills(),
    metrics: (request) => store.metrics(request),
    log: (request) => store.log(request),
    trials: (request) => store.trials(request),
    updateRun: (request) => store.updateRun(request),
    deleteRuns: (request) => store.deleteRuns(request),
    restoreRuns: (request) => store.restoreRuns(request),
    purgeRuns: (request) => store.purge(request),
    evaluation: ({ run }) => readEvaluation(store, run),
    evaluate: (request) =>
      evaluateRun({ store, data, processes }, { ...request, source: evaluationSource(request, paths) }),
    openings: ({ run }) => openingsOf(store, run),
    predictedPictures: (request) => predictedPictures({ store, data }, request),
    classifyFiles: ({ job, run, tokens }) =>
      classifyFiles({ store, data, processes }, { job, run, paths: tokens.map((token) => paths.resolve(token)) }),
    classifyRows: (request) => classifyRows({ store, data, processes }, request),
    async exportRun({ run, format }) {
      const { name } = await store.run({ run });
      const { files } = await exportHere({ store, data, processes }, { run, format, name, job: `export ${run}` });
      return { saved: await saveThroughDialog(dialogs, `${name}.${format}`, files[0].data) };
    },
    getSetting: (request) => store.getSetting(request),
    setSetting: (request) => store.setSetting(request),
    onRunsChanged: (listener) => store.onChanged(listener),
  };
}

function surroundings({
  home,
  version,
  region,
  devices,
  dialogs,
  paths,
  licences,
  samples,
  network,
  window,
  commands,
  opened,
  goingOn,
}: AppServiceParts): Part<
  | 'info'
  | 'devices'
  | 'network'
  | 'ownCatalogue'
  | 'setOwnPrice'
  | 'licences'
  | 'choose'
  | 'saveFile'
  | 'setAppearance'
  | 'reload'
  | 'onCommand'
  | 'takeOpened'
  | 'onOpened'
  | 'takeCut'
  | 'onCut'
  | 'onNetwork'
> {
  const own = createOwnCatalogue(home);
  return {
    ownCatalogue: () => own.read(),
    setOwnPrice: (price) => own.setPrice(price),
    info: async () => ({
      version,
      electron: process.versions['electron'] ?? '',
      platform: `${os.type()} ${os.release()}, ${process.arch}`,
      region,
      home,
      samples: samples.list(),
      mishap: window.mishap,
    }),
    devices: () => devices.list(),
    licences,
    network: async () => ({ blocked: network.blocked }),
    async choose({ kind }) {
      const chosen = await dialogs.open(kind);
      return chosen === null ? null : paths.add(chosen);
    },
    saveFile: async ({ suggested, data }) => ({ saved: await saveThroughDialog(dialogs, suggested, data) }),
    setAppearance: async (appearance) => window.setAppearance(appearance),
    reload: async () => window.reload(),
    onCommand: (listener) => commands.add(listener),
    takeOpened: async () => opened.take(paths),
    onOpened: (listener) => opened.onOpened(listener),
    takeCut: async ({ anew }) => goingOn.take(anew),
    onCut: (listener) => goingOn.onCut(listener),
    onNetwork: (listener) => network.onBlocked(listener),
  };
}

/** The file of a drop or a dialog, else a split. */
function evaluationSource(
  { split, token, force }: Pick<Parameters<AppService['evaluate']>[0], 'split' | 'token' | 'force'>,
  paths: ChosenPaths,
): EvaluationSource {
  if (token !== undefined) return { path: paths.resolve(token), force };
  return { split: split ?? 'validation' };
}

const settingsKey = (dataset: string): string => `dataset.${dataset}`;
