// The pages' own scheme: `app://trainyard/` serves the built pages (pages.ts) and nothing else. No file://, no http(s)://.

import { protocol, type Session } from 'electron';
import { answerPage } from './pages.ts';

/** Has to run before the app is ready. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/** Serves `folder` at `app://trainyard/` in a session. */
export function serveScheme(session: Session, folder: string): void {
  session.protocol.handle('app', ({ method, url }) => answerPage(method, url, folder));
}
