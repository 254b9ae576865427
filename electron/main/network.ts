// Nothing leaves the machine: every request that is not for the app's own pages is refused and counted, names are not
// resolved, and Chromium's own services (updates, spelling dictionaries, predictions) are off.

import { app, type Session, type WebContents } from 'electron';
import { Listeners } from '../../engine/protocol/listeners.ts';
import { origin } from './pages.ts';

export interface NetworkGuard {
  /** Requests refused since the start. */
  readonly blocked: number;
  onBlocked(listener: (event: { blocked: number }) => void): () => void;
}

/** Has to run before the app is ready. */
export function disableNetworkServices(): void {
  const { commandLine } = app;
  commandLine.appendSwitch('host-resolver-rules', 'MAP * ~NOTFOUND');
  commandLine.appendSwitch('disable-background-networking');
  commandLine.appendSwitch('disable-component-update');
  commandLine.appendSwitch('disable-domain-reliability');
  commandLine.appendSwitch('no-pings');
  commandLine.appendSwitch('force-webrtc-ip-handling-policy', 'disable_non_proxied_udp');
}

/** Refuses and counts every request of a session that is not for the app's own pages. */
export function guardNetwork(session: Session): NetworkGuard {
  const listeners = new Listeners<{ blocked: number }>();
  let blocked = 0;
  session.webRequest.onBeforeRequest((details, answer) => {
    const allowed = isLocal(details.url);
    if (!allowed) {
      blocked += 1;
      listeners.emit({ blocked });
    }
    answer({ cancel: !allowed });
  });
  return {
    get blocked() {
      return blocked;
    },
    onBlocked: (listener) => listeners.add(listener),
  };
}

/** Peer connections could send packets that no request filter sees. */
export function forbidPeerConnections(contents: WebContents): void {
  contents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp');
}

/** The app's own pages, what they made themselves, and the files behind the scheme. */
function isLocal(url: string): boolean {
  return url.startsWith(`${origin}/`) || /^(blob|data|devtools):/.test(url);
}
