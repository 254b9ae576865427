// The store as runs see it: when its process dies in the middle of a call, the call is made again, and the process is started
// for it by whoever connects to it. A run outlives its store that way. A call may have been carried out before its answer was
// lost; each of those made again here does no harm the second time.

import { TrainyardError } from '../protocol/errors.ts';
import type { StoreService } from '../protocol/store.ts';

/** Waits before each further try: a process takes a moment to start, and may find the machine short of memory. */
const patience = [50, 500, 2_000, 5_000];

export function patientStore(store: StoreService): StoreService {
  return {
    // Made again it could be made twice.
    createRun: (run) => store.createRun(run),
    updateRun: (request) =>
      patiently((again) => {
        const { patch, when } = request;
        // The state that the first call left.
        const more = again && when && patch.state !== undefined ? [patch.state] : [];
        return store.updateRun({ ...request, when: when && [...when, ...more] });
      }),
    append: (request) => patiently((again) => store.append(again ? { ...request, again } : request)),
    truncate: (request) => patiently(() => store.truncate(request)),
    run: (request) => patiently(() => store.run(request)),
    runs: (query) => patiently(() => store.runs(query)),
    metrics: (request) => patiently(() => store.metrics(request)),
    log: (request) => patiently(() => store.log(request)),
    keepTrials: (request) => patiently(() => store.keepTrials(request)),
    trials: (request) => patiently(() => store.trials(request)),
    deleteRuns: (request) => patiently(() => store.deleteRuns(request)),
    restoreRuns: (request) => patiently(() => store.restoreRuns(request)),
    purge: (request) => patiently(() => store.purge(request)),
    writeFile: (request) => patiently(() => store.writeFile(request)),
    removeFile: (request) => patiently(() => store.removeFile(request)),
    files: (request) => patiently(() => store.files(request)),
    readFile: (request) => patiently(() => store.readFile(request)),
    isChecked: (request) => patiently(() => store.isChecked(request)),
    recover: () => patiently(() => store.recover()),
    adopt: (request) => store.adopt(request),
    tags: () => patiently(() => store.tags()),
    groups: () => patiently(() => store.groups()),
    bills: () => patiently(() => store.bills()),
    getSetting: (request) => patiently(() => store.getSetting(request)),
    setSetting: (request) => patiently(() => store.setSetting(request)),
    labs: () => patiently(() => store.labs()),
    lab: (request) => patiently(() => store.lab(request)),
    addLab: (request) => patiently(() => store.addLab(request)),
    deleteLab: (request) => patiently(() => store.deleteLab(request)),
    onChanged: (listener) => store.onChanged(listener),
    // Each is for whoever asked to try again.
    backUp: (request) => store.backUp(request),
    exportRuns: (request) => store.exportRuns(request),
    importRuns: (request) => store.importRuns(request),
    cancelJob: (request) => store.cancelJob(request),
    usage: () => store.usage(),
    compact: () => store.compact(),
    dropSetAside: () => store.dropSetAside(),
    onJob: (listener) => store.onJob(listener),
    close: () => store.close(),
  };
}

const codeOf = (error: unknown): string => (error instanceof TrainyardError ? error.code : '');
const isLost = (error: unknown): boolean => codeOf(error) === 'internal.disconnected';

/** What the disk, or another program at the history, may have got over in a moment. */
export const mayPass = (error: unknown): boolean => ['store.busy', 'store.full', 'store.io'].includes(codeOf(error));

/** Makes a call, and again while its error is one that `isWorth` waiting for. */
export async function patiently<Result>(
  call: (again: boolean) => Promise<Result>,
  isWorth: (error: unknown) => boolean = isLost,
): Promise<Result> {
  for (let tries = 0; ; tries++) {
    try {
      return await call(tries > 0);
    } catch (error) {
      if (!isWorth(error) || tries === patience.length) throw error;
      await new Promise((resolve) => setTimeout(resolve, patience[tries]));
    }
  }
}
