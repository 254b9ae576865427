// What a menu offers.

import type { IconName } from './icons.ts';

export interface MenuItem {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly shortcut?: string;
  /** A choice that is on or off; the menu stays open. */
  readonly checked?: boolean;
  readonly danger?: boolean;
  /** A line above it. */
  readonly separated?: boolean;
  /** Why it cannot be chosen now. */
  readonly unavailable?: string;
  run(): void;
}
