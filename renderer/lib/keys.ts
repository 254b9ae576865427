// Shortcuts as text ("Mod+Shift+C", "Space", "?"): matching them against key events and showing them.
// Mod is ⌘ on macOS and Ctrl elsewhere.

import { ownValue } from '../../engine/protocol/own.ts';

export const onMac = navigator.userAgent.includes('Mac OS');

const names: Readonly<Record<string, string>> = {
  ' ': 'Space',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
  Escape: 'Esc',
  Delete: 'Del',
};

/** The shortcut a key event stands for, in the same spelling as commands use. */
export function shortcutOf(event: KeyboardEvent): string {
  // Alt makes other characters of the digits on some keyboards (macOS: ¡ of 1): the key counts.
  const digit = event.altKey ? /^Digit(\d)$/.exec(event.code)?.[1] : undefined;
  const key = digit ?? ownValue(names, event.key) ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const parts: string[] = [];
  if (onMac ? event.metaKey : event.ctrlKey) parts.push('Mod');
  if (event.altKey) parts.push('Alt');
  // Shift belongs to the character in "?" and "+", and is spelled out only where it changes the meaning.
  if (event.shiftKey && (key.length > 1 || /[A-Z]/.test(key))) parts.push('Shift');
  parts.push(key);
  return parts.join('+');
}

const shown: Readonly<Record<string, string>> = onMac
  ? { Mod: '⌘', Shift: '⇧', Alt: '⌥', Up: '↑', Down: '↓', Left: '←', Right: '→' }
  : { Mod: 'Ctrl', Up: '↑', Down: '↓', Left: '←', Right: '→' };

/** The keys of a shortcut as they stand on the keyboard: `['Ctrl', 'Shift', 'C']`. */
export function keysOf(shortcut: string): string[] {
  return shortcut.split(/\+(?=.)/).map((key) => ownValue(shown, key) ?? key);
}

/** The form `aria-keyshortcuts` wants: `Control+Shift+C`. */
export function spokenShortcut(shortcut: string): string {
  return shortcut
    .replace('Mod', onMac ? 'Meta' : 'Control')
    .replace('Del', 'Delete')
    .replace('Esc', 'Escape');
}

/** Shortcuts with Ctrl that a text field has a use of its own for. */
export const ofTextFields: ReadonlySet<string> = new Set(['Mod+Z', 'Mod+Shift+Z', 'Mod+Y']);

/** Keys that a focused element uses itself: plain shortcuts do not reach commands from there. */
export function takesKeys(target: EventTarget | null, shortcut: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const typing = target.closest('input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]');
  if (typing) return true;
  const presses = shortcut === 'Space' || shortcut === 'Enter';
  return presses && target.closest('button, a, summary, input, [role=menuitem], [role=option], [role=slider]') !== null;
}
