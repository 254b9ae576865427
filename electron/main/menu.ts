// The native menu. Its items are the window's own commands: choosing one sends the command's id to the page, which knows
// what it does and whether it can. Keys are shown here and handled there, so that each works in exactly one way.

import { Menu, type MenuItemConstructorOptions } from 'electron';

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
      { command: 'help', title: 'Help', keys: 'F1' },
      { command: 'shortcuts', title: 'Keyboard shortcuts' },
      'separator',
      { command: 'licences', title: 'Licences' },
    ],
  },
];

/**
 * @param send  delivers a command's id to the page
 * @param reload  loads the page again: the one item that has to work without it
 */
export function setupMenu(send: (command: string) => void, reload: () => void): void {
  const mac = process.platform === 'darwin';
  const menus = commandMenus.map(({ title, items }): MenuItemConstructorOptions => {
    const submenu = items.map((item) => menuItem(item, send));
    if (title === 'View')
      submenu.push(
        { type: 'separator' },
        { label: 'Reload', accelerator: 'CmdOrCtrl+R', registerAccelerator: false, click: reload },
      );
    if (title === 'File' && !mac) submenu.push({ type: 'separator' }, { role: 'quit' });
    return { label: title, submenu };
  });
  // Cut, copy and paste are the system's own.
  menus.splice(1, 0, { role: 'editMenu' });
  if (mac) menus.unshift({ role: 'appMenu' });
  if (mac) menus.splice(-1, 0, { role: 'windowMenu' });
  Menu.setApplicationMenu(Menu.buildFromTemplate(menus));
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
