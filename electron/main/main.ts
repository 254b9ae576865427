// The main process: boots in a list of steps and then only orchestrates. What each step does stands in its own file; the
// processes it starts are described in docs/security.md and docs/building.md.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { app, BrowserWindow, dialog, session, powerMonitor } from 'electron';
import { makeWritableFolder } from '../../engine/history/home.ts';
import { refuseTraining } from '../../engine/history/measuring.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { toWire } from '../../engine/protocol/errors.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { machineHere } from '../../engine/system/cores.ts';
import { createAppService } from './app-service.ts';
import { tellSystem } from './at-work.ts';
import { commandArguments, runCommand } from './command.ts';
import { createCommandLink } from './command-link.ts';
import type { Surroundings } from './command-plan.ts';
import { createDevices } from './devices.ts';
import { createDialogs } from './dialogs.ts';
import { builtFile, licenceFiles, plainFile } from './folders.ts';
import { GoingOn } from './going-on.ts';
import { enableWebGpu } from './gpu-window.ts';
import { homeFolder } from '../../engine/system/home-folder.ts';
import { readLicences } from './licences.ts';
import { isRepairable } from './keeping.ts';
import { setupLinks } from './links.ts';
import { Listeners } from '../../engine/protocol/listeners.ts';
import { confinePages, denyPermissions } from './lockdown.ts';
import { MainWindow } from './main-window.ts';
import { createMenuEntry } from './menu-entry.ts';
import { setupMenu } from './menu.ts';
import { disableNetworkServices, guardNetwork } from './network.ts';
import { ChosenPaths } from './paths.ts';
import { forgetCopiedLinks, noteFolder } from './copied-home.ts';
import { failureRecorder, reportCrashes } from './crash-reports.ts';
import { respectPower } from './power.ts';
import { createProcesses } from './processes.ts';
import { filesAmong, filesForOther, filesOfOther, OpenedFiles } from './opened-files.ts';
import { RecentFiles } from './recent-files.ts';
import { offerRepair } from './repairing.ts';
import { setupReloading } from './reloading.ts';
import { regionalFormat } from './regional-format.ts';
import { createSamples } from './samples/samples.ts';
import { registerScheme, serveScheme } from './scheme.ts';

const home = homeFolder();
const command = commandArguments();
const opened = new OpenedFiles();
app.setName('Trainyard');
if (command === null) openWindow();
else runCommand(command).catch(giveUp);

function openWindow(): void {
  try {
    makeWritableFolder(home);
  } catch (error) {
    // Without it there is no lock either, and the app would end as if another one had it: without a word. Chromium would die
    // of a folder of its own that it cannot make, before anything is said.
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-refused-'));
    app.setPath('userData', profile);
    app.setPath('sessionData', profile);
    process.once('exit', () => fs.rmSync(profile, { recursive: true, force: true }));
    void app.whenReady().then(() => giveUp(error));
    return;
  }
  app.setPath('userData', home);
  // Chromium's own files: out of the way of the history.
  app.setPath('sessionData', path.join(home, 'window'));
  reportCrashes(home);

  const files = filesAmong(process.argv.slice(1), process.cwd(), app.getAppPath());
  opened.add(files);
  // macOS says it so, also before the app is ready.
  app.on('open-file', (event, file) => {
    event.preventDefault();
    opened.add([file]);
  });
  forgetCopiedLinks(home);
  if (!app.requestSingleInstanceLock(filesForOther(files))) {
    app.quit();
  } else {
    noteFolder(home);
    // Tests run as root, where Chromium's sandbox cannot work; windows ask for it all the same.
    if (!app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox();
    registerScheme();
    disableNetworkServices();
    enableWebGpu();
    confinePages();
    app.whenReady().then(start).catch(giveUp);
  }
}

async function start(): Promise<void> {
  const pages = session.defaultSession;
  denyPermissions(pages);
  const network = guardNetwork(pages);
  serveScheme(pages, builtFile('renderer'));

  const processes = createProcesses(home, failureRecorder(home));
  // Both are needed by the first view: they start while the window is made and its page loads.
  processes.warm();
  const data = processes.data.service;
  const store = processes.store.service;
  const devices = createDevices(processes);
  const machine = machineHere();
  const runs = createRunManager({
    store,
    data,
    hosts: {
      create: (device, devices) => {
        if (devices !== undefined) return processes.startTogether(devices);
        return device === 'gpu' ? processes.startGpuHost() : processes.startCpuHost();
      },
      gpu: () => devices.gpu(),
    },
    owner: processOwner(),
    refuse: () => refuseTraining(home),
    worksOffQueue: true,
    machine,
  });
  const window = new MainWindow({
    home,
    preload: builtFile('electron', 'preload.cjs'),
    runs,
    quit: () => void quit(),
  });
  const commands = new Listeners<{ command: string }>();
  const installation: Surroundings = {
    system: process.platform,
    packaged: app.isPackaged,
    program: process.execPath,
    resources: process.resourcesPath,
    home: os.homedir(),
    variables: process.env,
  };
  const paths = new ChosenPaths();
  const recent = new RecentFiles(home);
  const goingOn = new GoingOn({ store, runs });
  const service = createAppService({
    home,
    machine,
    version: app.getVersion(),
    packaged: app.isPackaged,
    region: regionalFormat(process.platform, process.env, app.getSystemLocale()),
    data,
    store,
    processes,
    keepers: {
      alone: (work) => processes.store.alone(work),
      startRepair: () => processes.startRepair(),
      startRestore: () => processes.startRestore(),
    },
    runs,
    devices,
    paths,
    licences: () => readLicences(licenceFiles()),
    samples: createSamples(plainFile('samples')),
    systemLinks: { ...createCommandLink(installation), ...createMenuEntry(installation) },
    dialogs: createDialogs(() => window.browser),
    onBattery: () => powerMonitor.isOnBatteryPower(),
    power: respectPower({ power: powerMonitor, runs, store }),
    network,
    window,
    commands,
    opened,
    goingOn,
    recent,
  });

  setupMenu(recent, {
    send: (command) => commands.emit({ command }),
    reload: () => window.reload(),
    open: (file) => {
      opened.add([file]);
      window.reveal();
    },
  });
  setupLinks(window.browser.webContents, service, paths);
  setupReloading(window, builtFile('renderer'));
  tellSystem({ window, runs, store });
  app.on('second-instance', (_event, _args, _folder, data) => {
    opened.add(filesOfOther(data));
    window.reveal();
  });
  app.on('activate', () => window.reveal());
  let quitting = false;
  app.on('before-quit', (event) => {
    if (quitting) return;
    // The window asks about runs that go on, then quits for good.
    event.preventDefault();
    window.browser.close();
  });
  const loaded = window.load();
  await Promise.all([loaded, openHistory()]).catch((error: unknown) => {
    // Who quits meanwhile needs no word of what has not come about.
    if (!quitting) throw error;
  });

  /** Runs that were cut short are seen to. A damaged history is repaired first, if the person wants that. */
  async function openHistory(): Promise<void> {
    try {
      await store.recover();
    } catch (error) {
      if (quitting || !isRepairable(error)) throw error;
      const repaired = await processes.store.alone(async () => {
        await loaded;
        window.reveal();
        return offerRepair(window.browser, error, () => processes.startRepair());
      });
      if (!repaired) return quit(1);
      // Its calls have failed, too.
      window.reload();
      return openHistory();
    }
    // What the command line puts into the queue while the app is open is the app's to train, too.
    await goingOn.start();
  }

  async function quit(code = 0): Promise<void> {
    if (quitting) return;
    quitting = true;
    window.allowClose();
    window.browser.hide();
    await processes.close();
    if (code !== 0) return app.exit(code);
    app.quit();
    // The history is closed: a page that hangs has nothing to say that is worth a wait.
    setTimeout(() => app.exit(), closeMilliseconds);
  }
}

/** How long pages may take to close when the app ends. */
const closeMilliseconds = 2_000;

/** Without its history the app would lose what is done in it: it says why, in a box and on stderr, and ends. */
async function giveUp(error: unknown): Promise<void> {
  const { message, hint } = toWire(error);
  process.stderr.write(`Trainyard cannot start: ${message} ${hint}\n`);
  if (command === null) {
    // Of the app there is nothing left that could answer to these.
    for (const event of ['second-instance', 'activate', 'before-quit'] as const) app.removeAllListeners(event);
    app.on('before-quit', () => app.exit(1));
    // Nor is there anything to show: a page that is about to be ready would come up beside the box.
    for (const window of BrowserWindow.getAllWindows()) {
      window.removeAllListeners('ready-to-show');
      window.hide();
    }
    // Not `showErrorBox`: who is told to end while that one is open (the computer shuts down) neither hears it nor rests a moment.
    const detail = `${message}\n\n${hint}`;
    await dialog.showMessageBox({ type: 'error', message: 'Trainyard cannot start', detail, buttons: ['Quit'] });
  }
  app.exit(1);
}
