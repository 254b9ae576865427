// Keeps a window on its page, whatever happens to it: a page that died, hangs, could not be loaded or has been led elsewhere is
// loaded again on the view it was on. What trains lives in other processes and goes on. A page that keeps dying is not loaded
// for ever: then somebody asks the person.

import type { BrowserWindow } from 'electron';
import { onPageMessage } from './links.ts';

/** Recoveries within `windowMs` after which the person is asked. */
const recoveries = { most: 3, windowMs: 60_000 };
/** A page that was wiped may die of being loaded again, so soon after: that is the same mishap. */
const sameMishapMs = 2_000;
/** How long a page that does not answer may take to come to itself, after Chromium's own half a minute. */
const defaultPatienceMs = 10_000;
/** Chromium's code for a load that was given up for another one. */
const aborted = -3;

export interface PageKeeper {
  /** What befell the page since it was last loaded on request, in words; null = nothing. */
  readonly mishap: string | null;
  /** A load that fails is made good like any other mishap: it does not reject. */
  load(): Promise<void>;
  /** Loads the page again on the view it is on; also one that is hung or gone. */
  reload(): void;
}

export interface PageKeeperOptions {
  /** Address of the page, without a view. */
  readonly page: string;
  /** Called when the page has failed too often; whoever is called decides about `reload`. */
  readonly onGivenUp: (mishap: string) => void;
  /** Default ten seconds. */
  readonly patienceMs?: number;
}

export function keepPage(window: BrowserWindow, options: PageKeeperOptions): PageKeeper {
  const { page, onGivenUp, patienceMs: patience = defaultPatienceMs } = options;
  const contents = window.webContents;
  const times: number[] = [];
  /** The view, as the page's own addresses name it: "#run/42". */
  let view = '';
  let mishap: string | null = null;
  /** The page was ended here, because it did not answer. */
  let wasEnded = false;
  let wipedAt = -Infinity;
  let hung: NodeJS.Timeout | undefined;
  let late: NodeJS.Timeout | undefined;
  let due: NodeJS.Immediate | undefined;

  const isPage = (address: string): boolean => address.split('#')[0] === page;

  /** In a task of its own: Chromium does not like to be sent elsewhere while it tells where it is going. */
  const loadSoon = (): void => {
    clearImmediate(due);
    due = setImmediate(() => {
      if (window.isDestroyed()) return;
      // A page that hangs does not let another one in.
      clearTimeout(late);
      late = setTimeout(() => endPage(), patience);
      // A failed load is told by its event.
      if (isPage(contents.getURL())) contents.reload();
      else contents.loadURL(page + view).catch(() => undefined);
    });
  };

  const endPage = (): void => {
    if (window.isDestroyed()) return;
    wasEnded = true;
    contents.forcefullyCrashRenderer();
  };

  const recover = (what: string): void => {
    clearTimeout(hung);
    hung = undefined;
    if (window.isDestroyed()) return;
    mishap = what;
    const now = Date.now();
    while (times.length > 0 && now - times[0] > recoveries.windowMs) times.shift();
    times.push(now);
    if (times.length > recoveries.most) onGivenUp(what);
    else loadSoon();
  };

  const reload = (): void => {
    times.length = 0;
    mishap = null;
    loadSoon();
  };

  const arrived = (address: string): void => {
    if (isPage(address)) view = new URL(address).hash;
    else recover('Something led the window away from its page.');
  };
  contents.on('did-navigate', (_event, address) => {
    clearTimeout(late);
    arrived(address);
  });
  contents.on('did-navigate-in-page', (_event, address, isMainFrame) => {
    if (isMainFrame) arrived(address);
  });
  // The page has no frames.
  contents.on('did-start-navigation', (_event, _address, _inPlace, isMainFrame) => {
    if (!isMainFrame) recover('Something put another page into the window.');
  });
  contents.on('did-fail-load', (_event, code, reason, _address, isMainFrame) => {
    if (isMainFrame && code !== aborted) recover(`The window could not be loaded (${reason}).`);
  });
  onPageMessage(contents, 'trainyard:wiped', () => {
    wipedAt = Date.now();
    recover('Something wiped the window.');
  });
  contents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit') return;
    const ofTheWipe = Date.now() - wipedAt < sameMishapMs;
    wipedAt = -Infinity;
    if (ofTheWipe && times.length <= recoveries.most) return loadSoon();
    recover(wasEnded ? 'The window did not answer any more.' : deaths[reason]);
    wasEnded = false;
  });
  // Taken before the page gets it, which may not answer any more.
  contents.on('before-input-event', (event, { type, key, control, meta, alt, shift }) => {
    const modifier = process.platform === 'darwin' ? meta && !control : control && !meta;
    if (type !== 'keyDown' || key.toLowerCase() !== 'r' || !modifier || alt || shift) return;
    event.preventDefault();
    reload();
  });
  window.on('unresponsive', () => {
    hung ??= setTimeout(endPage, patience);
  });
  window.on('responsive', () => {
    clearTimeout(hung);
    hung = undefined;
  });

  return {
    get mishap() {
      return mishap;
    },
    async load() {
      await contents.loadURL(page).catch(() => undefined);
    },
    reload,
  };
}

type Death = Exclude<Electron.RenderProcessGoneDetails['reason'], 'clean-exit'>;

const deaths: Readonly<Record<Death, string>> = {
  'abnormal-exit': 'The window stopped by itself.',
  crashed: 'The window crashed.',
  killed: 'The window was ended from outside.',
  oom: 'The window ran out of memory.',
  'memory-eviction': 'The system took the window’s memory.',
  'launch-failed': 'The window could not be started.',
  'integrity-failure': 'The window’s program is damaged.',
};
