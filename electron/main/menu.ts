// The native menu (menu-template.ts), made again when the files that were opened last have changed.

import { app, Menu } from 'electron';
import { menuTemplate, type MenuActions } from './menu-template.ts';
import type { RecentFiles } from './recent-files.ts';

export function setupMenu(recent: RecentFiles, actions: Omit<MenuActions, 'clearRecent'>): void {
  const clearRecent = (): void => {
    app.clearRecentDocuments();
    recent.clear();
  };
  const show = (): void => {
    const template = menuTemplate(process.platform, recent.list(), { ...actions, clearRecent });
    Menu.setApplicationMenu(Menu.buildFromTemplate(template));
  };
  recent.onChanged(show);
  // The dock of macOS and the jump list of Windows have lists of their own.
  recent.onAdded(({ file }) => app.addRecentDocument(file));
  show();
}
