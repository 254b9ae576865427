// What the system is told while runs train: how far they are, in the taskbar or the dock; that the machine must not go to sleep; and, when the
// window is out of sight, that a long run has ended. The last two are by choice.

import { Notification, powerSaveBlocker } from 'electron';
import { keepAwakeKey, notifyKey } from '../../engine/protocol/choices.ts';
import type { StoreService } from '../../engine/protocol/store.ts';
import type { RunManager } from '../../engine/runs/manager.ts';
import type { MainWindow } from './main-window.ts';

/** Seconds at work from which the end of a run is worth a word. */
const longRun = 30;
/** Reports come once or twice a second; the bar moves by so much at least. */
const leastMove = 0.005;
/** Takes the bar away. */
const noBar = -1;

export interface AtWorkParts {
  readonly window: Pick<MainWindow, 'browser' | 'reveal'>;
  readonly runs: Pick<RunManager, 'begun' | 'onReport' | 'onChanged' | 'onIdle'>;
  readonly store: Pick<StoreService, 'run' | 'getSetting'>;
}

export function tellSystem({ window, runs, store }: AtWorkParts): void {
  const shares = new Map<number, number>();
  let awake: number | null = null;
  let shown = noBar;

  async function keepAwake(): Promise<void> {
    // The choice first: the last run may end while it is read.
    const wanted = await chosen(keepAwakeKey);
    if (wanted && runs.begun().length > 0) awake ??= powerSaveBlocker.start('prevent-app-suspension');
    else if (awake !== null) {
      powerSaveBlocker.stop(awake);
      awake = null;
    }
  }

  /** Both choices are on until a person turns them off. */
  async function chosen(key: string): Promise<boolean> {
    return (await store.getSetting({ key }).catch(() => null)) !== false;
  }

  function showProgress(begun: readonly number[]): void {
    if (window.browser.isDestroyed()) return;
    for (const run of shares.keys()) if (!begun.includes(run)) shares.delete(run);
    const known = [...shares.values()];
    // Several runs share it.
    const share = known.length === 0 ? noBar : known.reduce((sum, one) => sum + one, 0) / known.length;
    if (Math.abs(share - shown) < leastMove) return;
    shown = share;
    window.browser.setProgressBar(share);
  }

  async function tellEnd(run: number): Promise<void> {
    const { browser } = window;
    if (browser.isDestroyed() || browser.isFocused() || !Notification.isSupported()) return;
    // Of runs in the background MainWindow tells, when the last has ended.
    if (!browser.isVisible() && !browser.isMinimized()) return;
    const { name, state, progress } = await store.run({ run });
    const ended = state === 'completed' ? 'is trained' : state === 'failed' ? 'has failed' : null;
    if (ended === null || (progress?.secondsElapsed ?? 0) < longRun || !(await chosen(notifyKey))) return;
    const notification = new Notification({ title: 'Trainyard', body: `${name} ${ended}.` });
    notification.on('click', () => window.reveal());
    notification.show();
  }

  let before: readonly number[] = [];

  /** Who begins and ends is seen from whatever is heard first. */
  function look(): void {
    const begun = runs.begun();
    if (begun.join() !== before.join()) {
      for (const run of before) if (!begun.includes(run)) void tellEnd(run).catch(() => undefined);
      before = begun;
      void keepAwake();
    }
    showProgress(begun);
  }

  runs.onReport(({ run, progress }) => {
    shares.set(run, progress.steps > 0 ? progress.step / progress.steps : 0);
    look();
  });
  runs.onChanged(look);
  runs.onIdle(look);
}
