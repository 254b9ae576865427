// Where the window was and how large: kept in a small file beside the history, read before anything else is up, so that
// the window opens where it was left.

import fs from 'node:fs';
import path from 'node:path';
import { screen, type BrowserWindow, type Rectangle } from 'electron';
import { z } from 'zod';

export const smallest = { width: 1100, height: 720 };
const reference = { width: 1440, height: 900 };

const kept = z.object({
  bounds: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
  maximized: z.boolean(),
  dark: z.boolean(),
});

export interface WindowState {
  readonly bounds: Partial<Rectangle>;
  readonly maximized: boolean;
  /** The page was dark when last seen: the window's first colour. */
  readonly dark: boolean;
}

export function readWindowState(home: string, systemDark: boolean): WindowState {
  const fallback: WindowState = { bounds: fitted(reference), maximized: false, dark: systemDark };
  try {
    const state = kept.parse(JSON.parse(fs.readFileSync(fileIn(home), 'utf8')));
    return isOnScreen(state.bounds) ? state : { ...state, bounds: fitted(state.bounds) };
  } catch {
    // No file yet, or one that cannot be read: nothing of worth is lost.
    return fallback;
  }
}

/** Writes the state whenever the window has come to rest. */
export function rememberWindowState(window: BrowserWindow, home: string, isDark: () => boolean): void {
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    clearTimeout(timer);
    if (window.isDestroyed()) return;
    const state: WindowState = {
      bounds: window.getNormalBounds(),
      maximized: window.isMaximized(),
      dark: isDark(),
    };
    try {
      fs.writeFileSync(fileIn(home), JSON.stringify(state));
    } catch {
      // A full or read-only disk is said where it matters: where runs are kept.
    }
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(write, 500);
  };
  window.on('resize', later);
  window.on('move', later);
  window.on('close', write);
}

function fileIn(home: string): string {
  return path.join(home, 'window.json');
}

function isOnScreen(bounds: Rectangle): boolean {
  const area = screen.getDisplayMatching(bounds).workArea;
  return (
    bounds.x >= area.x - 50 &&
    bounds.y >= area.y - 50 &&
    bounds.x + bounds.width <= area.x + area.width + 50 &&
    bounds.y + bounds.height <= area.y + area.height + 50
  );
}

function fitted(size: { width: number; height: number }): Partial<Rectangle> {
  const { workAreaSize } = screen.getPrimaryDisplay();
  return {
    width: Math.max(smallest.width, Math.min(size.width, workAreaSize.width)),
    height: Math.max(smallest.height, Math.min(size.height, workAreaSize.height)),
  };
}
