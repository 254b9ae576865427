// The one window a person sees. Closing it while a run goes on asks once: keep training without a window, stop, or cancel.
// Without a window the app is reached again by starting it again (there is only ever one), and ends with its last run.
// What befalls its page is made good by page-keeper.ts.

import { app, BrowserWindow, dialog, nativeTheme, Notification, session, shell } from 'electron';
import type { Appearance } from '../../engine/protocol/app.ts';
import { lockedDown } from './lockdown.ts';
import { keepPage, type PageKeeper } from './page-keeper.ts';
import { origin } from './pages.ts';
import { readWindowState, rememberWindowState, smallest } from './window-state.ts';

const surfaces = { light: '#F2F4F5', dark: '#131518' };
const captions = { light: '#4A525B', dark: '#B0B8C1' };
const titleBarHeight = 40;

/** What the window has to know of the runs. */
export interface RunsAtWork {
  /** Runs that have not ended. */
  active(): readonly number[];
  /** Those of them that quitting would cut short: nobody has told them to stop. */
  goingOn(): readonly number[];
  /** Stops them all, keeping their checkpoints and best weights. */
  stopAll(request: { readonly queue: boolean }): Promise<void>;
  /** Calls back when the last one has ended. */
  onIdle(listener: () => void): () => void;
}

export interface MainWindowOptions {
  readonly home: string;
  readonly preload: string;
  readonly runs: RunsAtWork;
  /** Ends the app for good. */
  readonly quit: () => void;
}

export class MainWindow {
  readonly browser: BrowserWindow;
  readonly #options: MainWindowOptions;
  #mayClose = false;
  #asking = false;
  readonly #keeper: PageKeeper;
  #inBackground = false;
  #givenUp = false;

  constructor(options: MainWindowOptions) {
    this.#options = options;
    const state = readWindowState(options.home, nativeTheme.shouldUseDarkColors);
    this.browser = new BrowserWindow({
      ...state.bounds,
      minWidth: smallest.width,
      minHeight: smallest.height,
      show: false,
      title: 'Trainyard',
      backgroundColor: state.dark ? surfaces.dark : surfaces.light,
      autoHideMenuBar: true,
      ...frame(state.dark),
      webPreferences: { ...lockedDown, preload: options.preload, session: session.defaultSession },
    });
    this.#keeper = keepPage(this.browser, {
      page: `${origin}/index.html`,
      onGivenUp: (mishap) => this.#onGivenUp(mishap),
    });
    if (state.maximized) this.browser.maximize();
    rememberWindowState(this.browser, options.home, () => nativeTheme.shouldUseDarkColors);
    this.browser.once('ready-to-show', () => this.browser.show());
    this.browser.on('close', (event) => this.#onClose(event));
    nativeTheme.on('updated', () => this.#followTheme());
    options.runs.onIdle(() => this.#onIdle());
  }

  async load(): Promise<void> {
    await this.#keeper.load();
  }

  /** Loads the page again on the view it is on. */
  reload(): void {
    this.#givenUp = false;
    this.#keeper.reload();
  }

  /** What befell the page that is shown, before it was loaded again; null = nothing. */
  get mishap(): string | null {
    return this.#keeper.mishap;
  }

  /** Brings the window to the front, also out of the background. */
  reveal(): void {
    this.#inBackground = false;
    if (this.#givenUp) this.reload();
    if (this.browser.isMinimized()) this.browser.restore();
    this.browser.show();
    this.browser.focus();
  }

  /** The look a person chose; the system's own parts follow. */
  setAppearance({ theme, zoom }: Appearance): void {
    nativeTheme.themeSource = theme;
    this.browser.webContents.setZoomFactor(zoom);
    this.#followTheme();
  }

  /** Shows a file or folder of ours in the system's file manager. */
  showFile(file: string): void {
    shell.showItemInFolder(file);
  }

  /** Hands a file of ours to the drag that has begun in the page. */
  async dragFile(file: string): Promise<void> {
    this.browser.webContents.startDrag({ file, icon: await app.getFileIcon(file) });
  }

  /** Lets the next close through without a question. */
  allowClose(): void {
    this.#mayClose = true;
  }

  #followTheme(): void {
    if (this.browser.isDestroyed()) return;
    const look = nativeTheme.shouldUseDarkColors ? 'dark' : 'light';
    this.browser.setBackgroundColor(surfaces[look]);
    if (hasOverlay) this.browser.setTitleBarOverlay({ color: surfaces[look], symbolColor: captions[look] });
  }

  #onClose(event: Electron.Event): void {
    if (this.#mayClose) return;
    event.preventDefault();
    const { runs, quit } = this.#options;
    if (runs.active().length === 0) return quit();
    if (this.#asking) return;
    this.#asking = true;
    // What was told to stop is done in a moment.
    const ending = runs.goingOn().length > 0 ? this.#ask() : this.#stop(false);
    void ending.finally(() => (this.#asking = false));
  }

  async #stop(queue: boolean): Promise<void> {
    await this.#options.runs.stopAll({ queue });
    this.#options.quit();
  }

  async #ask(): Promise<void> {
    const count = this.#options.runs.goingOn().length;
    const { response } = await dialog.showMessageBox(this.browser, {
      type: 'question',
      title: 'Trainyard',
      message: count === 1 ? 'A run is training.' : `${count} runs are training or waiting.`,
      detail:
        'They can go on without this window; start Trainyard again to see them. ' +
        'Or they end now: to go on from where they are at the next start, or to stay stopped, with their best weights.',
      buttons: ['Keep training in the background', 'Go on at the next start', 'Stop training', 'Cancel'],
      defaultId: 0,
      cancelId: 3,
      noLink: true,
    });
    if (response === 0) {
      this.#inBackground = true;
      this.browser.hide();
    } else if (response < 3) {
      await this.#stop(response === 1);
    }
  }

  /** A page that fails again and again: the person decides, in a box of the system's, since the page shows nothing. */
  #onGivenUp(mishap: string): void {
    this.#givenUp = true;
    if (!this.#inBackground && !this.#asking) {
      this.#asking = true;
      void this.#askAboutPage(mishap).finally(() => (this.#asking = false));
    }
  }

  async #askAboutPage(mishap: string): Promise<void> {
    this.browser.show();
    const { response } = await dialog.showMessageBox(this.browser, {
      type: 'error',
      title: 'Trainyard',
      message: 'The window keeps failing.',
      detail: `${mishap} It has been loaded again several times within a minute. Runs go on all the same.`,
      buttons: ['Reload', 'Quit'],
      defaultId: 0,
      cancelId: 0,
      noLink: true,
    });
    if (response === 0) this.reload();
    // In a task of its own: closing asks about runs at work, and one question is asked at a time.
    else setImmediate(() => this.browser.close());
  }

  #onIdle(): void {
    if (this.browser.isDestroyed() || this.browser.isVisible() || this.#asking) return;
    if (Notification.isSupported()) {
      const body = 'The run is kept in the history. Start Trainyard to see it.';
      new Notification({ title: 'Training has finished', body }).show();
    }
    this.#options.quit();
  }
}

/** Electron draws caption buttons over the page's own title bar where it can; elsewhere the system's frame stays. */
const hasOverlay = process.platform === 'win32';

function frame(dark: boolean): Electron.BrowserWindowConstructorOptions {
  if (process.platform === 'darwin') return { titleBarStyle: 'hiddenInset', trafficLightPosition: { x: 14, y: 12 } };
  if (!hasOverlay) return {};
  const look = dark ? 'dark' : 'light';
  return {
    titleBarStyle: 'hidden',
    titleBarOverlay: { color: surfaces[look], symbolColor: captions[look], height: titleBarHeight },
  };
}
