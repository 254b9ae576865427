// What stands in the native menu on each system, as plain data. Its items are the window's own commands: choosing one sends the command's id to
// the page, which knows what it does and whether it can. Keys are shown here and handled there, so that each works in exactly one way.

import path from 'node:path';
import type { MenuItemConstructorOptions } from 'electron';

type Item = { readonly command: string; readonly title: string; readonly keys?: string } | 'separator';

/** Titles and ids as in the window's command palette. */
const commandMenus: readonly { readonly title: string; readonly items: readonly Item[] }[] = [
  {
    title: 'File',
    items: [
      { command: 'open-file', title: 'Open file…', keys: 'CmdOrCtrl+O' },
      { command: 'open-folder', title: 'Open folder…', keys: 'CmdOrCtrl+Shift+O' },
      'separator',
      { command: 'new-run', title: 'New run', keys: 'CmdOrCtrl+N' },
      'separator',
      { command: 'settings', title: 'Settings', keys: 'CmdOrCtrl+,' },
    ],
  },
  {
    title: 'View',
    items: [
      { command: 'palette', title: 'Search or run a command', keys: 'CmdOrCtrl+K' },
      { command: 'find', title: 'Search in this view', keys: 'CmdOrCtrl+F' },
      { command: 'sidebar', title: 'Show or hide the sidebar', keys: 'CmdOrCtrl+B' },
      'separator',
      { command: 'theme', title: 'Switch light and dark' },
      { command: 'theme-system', title: 'Light or dark as the system has it' },
      'separator',
      { command: 'larger', title: 'Larger text', keys: 'CmdOrCtrl+Plus' },
      { command: 'smaller', title: 'Smaller text', keys: 'CmdOrCtrl+-' },
      { command: 'normal-size', title: 'Normal text size', keys: 'CmdOrCtrl+0' },
    ],
  },
  {
    title: 'Go to',
    items: [
      { command: 'back', title: 'Back', keys: 'CmdOrCtrl+[' },
      { command: 'forward', title: 'Forward', keys: 'CmdOrCtrl+]' },
      'separator',
      { command: 'go-datasets', title: 'Datasets', keys: 'CmdOrCtrl+1' },
      { command: 'go-runs', title: 'Runs', keys: 'CmdOrCtrl+2' },
      { command: 'go-compare', title: 'Compare', keys: 'CmdOrCtrl+3' },
      { command: 'go-hardware', title: 'Hardware', keys: 'CmdOrCtrl+4' },
      { command: 'go-welcome', title: 'Welcome and samples', keys: 'CmdOrCtrl+5' },
    ],
  },
  {
    title: 'Help',
    items: [
      { command: 'help', title: 'Help on this view', keys: 'F1' },
      { command: 'shortcuts', title: 'Keyboard shortcuts' },
      { command: 'tour', title: 'Take the tour' },
      'separator',
      { command: 'licences', title: 'Licences' },
      { command: 'about', title: 'About Trainyard' },
    ],
  },
];

export interface MenuActions {
  /** Delivers a command's id to the page. */
  readonly send: (command: string) => void;
  /** Loads the page again: the one item that has to work without it. */
  readonly reload: () => void;
  /** Opens a file as if it had been dropped. */
  readonly open: (file: string) => void;
  readonly clearRecent: () => void;
}

/** On macOS these two stand in the menu of the app itself. */
const ofTheApp: ReadonlySet<string> = new Set(['settings', 'about']);

/** @param recent  files that were opened, newest first */
export function menuTemplate(
  platform: NodeJS.Platform,
  recent: readonly string[],
  actions: MenuActions,
): MenuItemConstructorOptions[] {
  const mac = platform === 'darwin';
  const { send } = actions;
  const menus = commandMenus.map(({ title, items }): MenuItemConstructorOptions => {
    const own = items.filter((item) => !mac || item === 'separator' || !ofTheApp.has(item.command));
    const submenu = own.map((item) => menuItem(item, send));
    if (title === 'View')
      submenu.push(
        { type: 'separator' },
        { label: 'Reload', accelerator: 'CmdOrCtrl+R', registerAccelerator: false, click: actions.reload },
      );
    if (title === 'File') {
      submenu.splice(2, 0, mac ? systemsRecent : recentFiles(recent, actions));
      submenu.push({ type: 'separator' }, { role: mac ? 'close' : 'quit' });
    }
    return { label: title, submenu: withoutDoubleLines(submenu), ...(title === 'Help' ? { role: 'help' } : {}) };
  });
  // Cut, copy and paste are the system's own.
  menus.splice(1, 0, { role: 'editMenu' });
  if (mac) {
    menus.unshift(appMenu(send));
    menus.splice(-1, 0, { role: 'windowMenu' });
  }
  return menus;
}

/** macOS fills it with what was noted as opened. */
const systemsRecent: MenuItemConstructorOptions = {
  label: 'Open recent',
  role: 'recentDocuments',
  submenu: [{ label: 'Clear menu', role: 'clearRecentDocuments' }],
};

function recentFiles(
  recent: readonly string[],
  { open, clearRecent }: Pick<MenuActions, 'open' | 'clearRecent'>,
): MenuItemConstructorOptions {
  return {
    label: 'Open recent',
    enabled: recent.length > 0,
    submenu: [
      ...recent.map((file): MenuItemConstructorOptions => ({
        // A single & would underline the letter behind it.
        label: labelAmong(recent, file).replaceAll('&', '&&'),
        click: () => open(file),
      })),
      { type: 'separator' },
      { label: 'Clear recent files', click: clearRecent },
    ],
  };
}

/** The name of a file, with its folder where another one is called the same. */
function labelAmong(files: readonly string[], file: string): string {
  const name = path.basename(file);
  const alike = files.filter((other) => path.basename(other) === name);
  return alike.length > 1 ? `${name} (${path.dirname(file)})` : name;
}

function appMenu(send: (command: string) => void): MenuItemConstructorOptions {
  return {
    label: 'Trainyard',
    submenu: [
      { label: 'About Trainyard', click: () => send('about') },
      { type: 'separator' },
      menuItem({ command: 'settings', title: 'Settings…', keys: 'CmdOrCtrl+,' }, send),
      { type: 'separator' },
      { role: 'services' },
      { type: 'separator' },
      { role: 'hide' },
      { role: 'hideOthers' },
      { role: 'unhide' },
      { type: 'separator' },
      { role: 'quit' },
    ],
  };
}

/** Where what stood between two lines is elsewhere on this system. */
function withoutDoubleLines(items: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  const isLine = (item?: MenuItemConstructorOptions): boolean => item?.type === 'separator';
  return items.filter((item, at) => !isLine(item) || (at > 0 && at < items.length - 1 && !isLine(items[at - 1])));
}

function menuItem(item: Item, send: (command: string) => void): MenuItemConstructorOptions {
  if (item === 'separator') return { type: 'separator' };
  return {
    label: item.title,
    accelerator: item.keys,
    registerAccelerator: false,
    click: () => send(item.command),
  };
}
