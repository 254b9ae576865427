// A laptop's battery and heat, respected by choice: what trains pauses, nothing begins, and both go on by themselves once the cause has gone.
// What is Electron's comes as a parameter, so that tests can turn it.

import { pauseBelowKey, pauseOnBatteryKey, pauseWhenHotKey, type PowerHold } from '../../engine/protocol/choices.ts';
import type { RunManager } from '../../engine/runs/manager.ts';
import type { StoreService } from '../../engine/protocol/store.ts';

/** Of Electron's powerMonitor; what a system does not tell never changes. */
export interface PowerSource {
  isOnBatteryPower(): boolean;
  getCurrentThermalState(): string;
  on(event: 'on-battery' | 'on-ac' | 'thermal-state-change', listener: () => void): unknown;
  on(event: 'speed-limit-change', listener: (details: { readonly limit: number }) => void): unknown;
}

export interface PowerParts {
  readonly power: PowerSource;
  readonly runs: Pick<RunManager, 'hold'>;
  readonly store: Pick<StoreService, 'getSetting'>;
}

export interface Power {
  /** Why runs are held just now; null: they are not. */
  readonly held: PowerHold | null;
  /** Looks at once: a choice has changed. */
  look(): Promise<void>;
  /** The window's page knows the battery, which Electron does not tell: its share while it discharges, else null. */
  tellBattery(share: number | null): void;
  stop(): void;
}

/** Milliseconds between two looks: not every system tells of a change, and choices are changed by other processes too. */
const lookMilliseconds = 5_000;
/** Percent of its speed that a processor is let run at, below which it is too hot, and from which it has cooled down. */
const [hot, cooled] = [60, 90];
/** Percent above its limit at which a battery that was too low is not any more, though nothing charges it: figures of batteries waver. */
const recovered = 3;

export function respectPower({ power, runs, store }: PowerParts): Power {
  let held: PowerHold | null = null;
  let goOn: (() => Promise<void>) | null = null;
  let speedLimit = 100;
  let battery: number | null = null;
  let work: Promise<void> = Promise.resolve();

  const choice = (key: string): Promise<unknown> => store.getSetting({ key }).catch(() => null);
  const chosen = async (key: string): Promise<boolean> => (await choice(key)) === true;

  function isHot(): boolean {
    const state = power.getCurrentThermalState();
    return state === 'serious' || state === 'critical' || speedLimit < (held === 'heat' ? cooled : hot);
  }

  async function isLow(): Promise<boolean> {
    const floor = await choice(pauseBelowKey);
    if (battery === null || typeof floor !== 'number') return false;
    return 100 * battery < floor + (held === 'low-battery' ? recovered : 0);
  }

  async function reason(): Promise<PowerHold | null> {
    if (power.isOnBatteryPower() && (await chosen(pauseOnBatteryKey))) return 'battery';
    if (await isLow()) return 'low-battery';
    return isHot() && (await chosen(pauseWhenHotKey)) ? 'heat' : null;
  }

  async function follow(): Promise<void> {
    held = await reason();
    if (held !== null && goOn === null) goOn = await runs.hold();
    else if (held === null && goOn !== null) {
      const release = goOn;
      goOn = null;
      await release();
    }
  }

  /** One after the other: a cause may go while runs are still being paused. */
  const look = (): Promise<void> => (work = work.then(follow).catch(() => undefined));
  for (const event of ['on-battery', 'on-ac', 'thermal-state-change'] as const)
    power.on(event as 'on-ac', () => void look());
  power.on('speed-limit-change', ({ limit }) => {
    speedLimit = limit;
    void look();
  });
  const timer = setInterval(() => void look(), lookMilliseconds);
  void look();
  return {
    get held() {
      return held;
    },
    look,
    tellBattery(share) {
      battery = share;
      void look();
    },
    stop: () => clearInterval(timer),
  };
}
