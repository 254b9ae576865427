// What Chromium knows of the battery, on every system alike, told to the main process: Electron tells it only whether there is mains power.
// Without a battery, or where the system does not tell, Chromium's own figure is a full one that charges.

import type { AppService } from '../../engine/protocol/app.ts';

/** Not in TypeScript's DOM: Chromium alone has it. */
interface BatteryManager extends EventTarget {
  readonly charging: boolean;
  /** 0 to 1. */
  readonly level: number;
}

export async function watchBattery(service: Pick<AppService, 'tellBattery'>): Promise<void> {
  const { getBattery } = navigator as { getBattery?: () => Promise<BatteryManager> };
  const battery = await getBattery?.call(navigator);
  if (battery === undefined) return;
  const tell = (): void =>
    void service.tellBattery({ share: battery.charging ? null : battery.level }).catch(() => undefined);
  for (const event of ['chargingchange', 'levelchange']) battery.addEventListener(event, tell);
  tell();
}
