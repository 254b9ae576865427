// Light or dark, and text size. "System" follows the system at once; `data-theme` on the root is always the resolved one.

import type { Appearance, AppService } from '../../engine/protocol/app.ts';

export type ThemeChoice = Appearance['theme'];

export const zoomSteps: readonly number[] = [0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2];
const settingKey = 'ui.appearance';

export class Theme {
  choice: ThemeChoice = $state('system');
  zoom: number = $state(1);
  resolved: 'light' | 'dark' = $state('light');
  readonly #service: AppService;
  readonly #dark = window.matchMedia('(prefers-color-scheme: dark)');

  constructor(service: AppService) {
    this.#service = service;
    this.#dark.addEventListener('change', () => this.#resolve());
    this.#resolve();
  }

  /** Reads the kept choice; call before the first paint. */
  async load(): Promise<void> {
    const kept = (await this.#service.getSetting({ key: settingKey })) as Partial<Appearance> | null | undefined;
    if (kept?.theme === 'light' || kept?.theme === 'dark') this.choice = kept.theme;
    if (kept?.zoom !== undefined && zoomSteps.includes(kept.zoom)) this.zoom = kept.zoom;
    this.#resolve();
    if (kept) await this.#service.setAppearance({ theme: this.choice, zoom: this.zoom });
  }

  choose(theme: ThemeChoice): void {
    this.choice = theme;
    this.#keep();
  }

  /** Light ⇄ dark, whatever the system says. */
  toggle(): void {
    this.choose(this.resolved === 'dark' ? 'light' : 'dark');
  }

  /** One step larger (+1) or smaller (−1); 0 = 100 %. */
  resize(direction: -1 | 0 | 1): void {
    const at = zoomSteps.indexOf(this.zoom);
    const next = direction === 0 ? zoomSteps.indexOf(1) : Math.min(zoomSteps.length - 1, Math.max(0, at + direction));
    this.zoom = zoomSteps[next];
    this.#keep();
  }

  setZoom(zoom: number): void {
    this.zoom = zoom;
    this.#keep();
  }

  #keep(): void {
    this.#resolve();
    const appearance: Appearance = { theme: this.choice, zoom: this.zoom };
    void this.#service.setAppearance(appearance);
    void this.#service.setSetting({ key: settingKey, value: appearance });
  }

  #resolve(): void {
    const dark = this.choice === 'system' ? this.#dark.matches : this.choice === 'dark';
    this.resolved = dark ? 'dark' : 'light';
    document.documentElement.dataset.theme = this.resolved;
  }
}
