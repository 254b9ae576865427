// Start of the window: gets the port from the preload script, connects to the main process, loads what the first view
// needs, mounts the app.

import { mount } from 'svelte';
import type { AppService } from '../engine/protocol/app.ts';
import { domPort } from '../engine/protocol/port.dom.ts';
import { connect } from '../engine/protocol/rpc.ts';
import App from './shell/App.svelte';
import { receivePort } from './app/bridge.ts';
import { failureOf } from './app/failure.ts';
import { AppState } from './app/state.svelte.ts';
import './tokens.css';
import './base.css';

async function start(): Promise<void> {
  const port = await receivePort();
  const app = new AppState(connect<AppService>(domPort(port), { peer: 'the main process' }));
  // What could not be had is said in the window: a window without anything would say nothing.
  await app.load().catch((error: unknown) => (app.failure = failureOf(error)));
  mount(App, { target: document.body, props: { app } });
  // Processes of their own are started to ask them: once the first view stands, it has nothing to wait for.
  requestIdleCallback(() => void app.loadDevices(), { timeout: 1000 });
}

void start();
