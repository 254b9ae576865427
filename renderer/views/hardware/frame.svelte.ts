// What the section and its tabs say to each other: the open tab puts words and actions into the head; the tabs there are.

import { getContext, setContext, type Component, type Snippet } from 'svelte';

export interface HardwareTab {
  /** Second part of the address: `rent` for `#hardware/rent`. */
  readonly id: string;
  readonly label: string;
  /** What it answers, for the overview. */
  readonly answers: string;
  /** Other words the palette finds it by. */
  readonly words: readonly string[];
  readonly load: () => Promise<{ readonly default: Component }>;
}

export const addressOfTab = ({ id }: HardwareTab): string => (id === '' ? '#hardware' : `#hardware/${id}`);

export class HardwareFrame {
  meta: string = $state('');
  actions: Snippet | null = $state.raw(null);
  readonly tabs: readonly HardwareTab[];

  constructor(tabs: readonly HardwareTab[]) {
    this.tabs = tabs;
  }
}

const key = Symbol('hardware frame');

export function provideFrame(tabs: readonly HardwareTab[]): HardwareFrame {
  return setContext(key, new HardwareFrame(tabs));
}

export function useFrame(): HardwareFrame {
  return getContext<HardwareFrame>(key);
}
