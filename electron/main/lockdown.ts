// What every page of the app is denied, whatever it asks for: permissions, going elsewhere, new windows, embedded content.

import { app, type Session, type WebContents } from 'electron';
import { forbidPeerConnections } from './network.ts';
import { origin } from './pages.ts';

/** Settings every window is made with. */
export const lockedDown = {
  sandbox: true,
  contextIsolation: true,
  nodeIntegration: false,
  nodeIntegrationInWorker: false,
  nodeIntegrationInSubFrames: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  webviewTag: false,
  spellcheck: false,
  enableWebSQL: false,
  navigateOnDragDrop: false,
} as const;

/** Denies every permission but writing to the clipboard, which copying a table needs. */
export function denyPermissions(session: Session): void {
  const allowed = (permission: string): boolean => permission === 'clipboard-sanitized-write';
  session.setPermissionRequestHandler((_contents, permission, answer) => answer(allowed(permission)));
  session.setPermissionCheckHandler((_contents, permission) => allowed(permission));
  session.setDevicePermissionHandler(() => false);
  session.on('will-download', (event) => event.preventDefault());
}

/** Denies navigation, new windows and embedded content to every page that is ever made. */
export function confinePages(): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.setWindowOpenHandler(() => ({ action: 'deny' }));
    contents.on('will-navigate', (event) => event.preventDefault());
    contents.on('will-redirect', (event) => event.preventDefault());
    contents.on('will-frame-navigate', (event) => event.preventDefault());
    contents.on('will-attach-webview', (event) => event.preventDefault());
    forbidPeerConnections(contents);
  });
}

/** Whether a message really comes from the app's page in the top frame of these contents. */
export function isOwnPage(
  event: { readonly sender: WebContents; readonly senderFrame: Electron.WebFrameMain | null },
  contents: WebContents,
): boolean {
  const frame = event.senderFrame;
  return event.sender === contents && frame === contents.mainFrame && frame.url.startsWith(`${origin}/`);
}
