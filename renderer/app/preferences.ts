// Small choices of the window that outlive it (columns, smoothing, last view), kept in the history's settings.

import type { AppService } from '../../engine/protocol/app.ts';

export class Preferences {
  readonly #service: AppService;

  constructor(service: AppService) {
    this.#service = service;
  }

  /** The kept value if `check` accepts it, else the default: what was written by another version never breaks a view. */
  async read<T>(key: string, check: (value: unknown) => value is T, otherwise: T): Promise<T> {
    const value = await this.#service.getSetting({ key: `ui.${key}` }).catch(() => null);
    return check(value) ? value : otherwise;
  }

  write(key: string, value: unknown): void {
    // A preference that could not be kept is no reason to disturb anybody.
    this.#service.setSetting({ key: `ui.${key}`, value }).catch(() => undefined);
  }
}

export function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
