// What this copy of the app is, what it keeps where, and what failed in it: for the About page, and as a text for bug reports.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { AppService, DeviceInfo } from '../../engine/protocol/app.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import { runStates } from '../../engine/protocol/runs.ts';
import { shownText } from '../../engine/protocol/shown-errors.ts';
import { usageWords } from '../../engine/protocol/usage-words.ts';
import { databaseFileName } from '../../engine/history/home.ts';
import { crashFolder, deleteCrashes, dumpFiles, listCrashes, recordCrash } from '../../engine/system/crashes.ts';
import { diagnosticsText, framesOf, kindOf } from './diagnostics.ts';
import type { NetworkGuard } from './network.ts';

export interface AboutParts {
  readonly home: string;
  readonly version: string;
  readonly packaged: boolean;
  readonly store: Pick<StoreService, 'runs' | 'usage' | 'getSetting' | 'setSetting'>;
  readonly data: Pick<DataService, 'list'>;
  readonly devices: { readonly list: () => Promise<readonly DeviceInfo[]> };
  readonly network: Pick<NetworkGuard, 'blocked'>;
}

const seenKey = 'crashes.seen';
export function createAbout(
  parts: AboutParts,
): Pick<AppService, 'about' | 'diagnostics' | 'crashes' | 'crashesSeen' | 'deleteCrashes' | 'reportError'> {
  const { home, version, store } = parts;
  const versions = {
    Trainyard: version,
    ...Object.fromEntries(
      [
        ['Electron', process.versions['electron']],
        ['Chromium', process.versions['chrome']],
        ['Node', process.versions.node],
      ].filter(([, number]) => number !== undefined),
    ),
  } as Readonly<Record<string, string>>;
  const system = `${os.type()} ${os.release()}, ${process.arch}`;
  const place = (what: string, ...names: readonly string[]): { what: string; path: string } => ({
    what,
    path: path.join(home, ...names),
  });

  return {
    about: async () => ({
      versions,
      system,
      places: [
        place('Everything, in one folder'),
        place('Runs, settings and curves', databaseFileName),
        place('Weights, results and checkpoints', 'runs'),
        place('Copies of your data', 'datasets'),
        place('Daily copies of the history', 'backups'),
        place('Reports of what failed', crashFolder),
        place('Size of the window, caches', 'window'),
      ].filter((one) => fs.existsSync(one.path)),
    }),
    async diagnostics() {
      const [devices, datasets, usage, counts] = await Promise.all([
        parts.devices.list(),
        parts.data.list(),
        store.usage(),
        Promise.all(
          runStates.map(async (state) => [state, (await store.runs({ states: [state], limit: 0 })).total] as const),
        ),
      ]);
      const kinds = new Map<string, number>();
      for (const { kind } of datasets) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      return diagnosticsText({
        versions,
        packaged: parts.packaged,
        system,
        processor: os.cpus()[0]?.model ?? 'unknown',
        threads: os.availableParallelism(),
        memory: { total: os.totalmem(), free: os.freemem() },
        devices,
        runs: Object.fromEntries(counts),
        datasets: Object.fromEntries(kinds),
        usage: Object.fromEntries(usage.parts.map(({ id, bytes }) => [usageWords[id], bytes])),
        refusedRequests: parts.network.blocked,
        crashes: listCrashes(home),
        dumps: dumpFiles(home).length,
      });
    },
    async crashes() {
      // What crosses to the page has neither folders nor code in it; the whole stands in the file.
      const reports = listCrashes(home).map((report) => ({
        ...report,
        what: shownText(report.what) || kindOf(report.what),
        trace: framesOf(report.trace).join('\n'),
      }));
      const seen = Number((await store.getSetting({ key: seenKey })) ?? 0);
      return { reports, dumps: dumpFiles(home).length, unseen: reports.filter(({ time }) => time > seen).length };
    },
    async crashesSeen() {
      const [newest] = listCrashes(home);
      if (newest) await store.setSetting({ key: seenKey, value: newest.time });
    },
    deleteCrashes: async () => deleteCrashes(home),
    reportError: async ({ message, trace }) =>
      void recordCrash(home, { part: 'window', what: message, trace }, version),
  };
}
