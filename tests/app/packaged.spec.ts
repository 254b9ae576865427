// The packaged app: what its program lets nobody switch on again, that it trains, and its command in the path. `npm test` packages it first.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { FuseState, FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { install, sessionOf, start, type Installation } from './installed.ts';
import { callService, expect, launch, root, test } from './launch.ts';
import { importTable, startRun, waitForState, writeTable } from './scene.ts';

/** The sections of a NOTICES file: a heading between two lines, then the text. */
function readNotices(file: string): readonly { readonly title: string; readonly text: string }[] {
  const [, ...parts] = fs.readFileSync(file, 'utf8').split(/^={80}\n(.+)\n={80}\n/m);
  return parts.flatMap((title, at) => (at % 2 === 0 ? [{ title, text: parts[at + 1].trim() }] : []));
}

interface Folder {
  readonly files?: Readonly<Record<string, Folder>>;
}

/** Paths of all files of an archive, those beside it included: its header is JSON behind four sizes. */
function filesOf(archive: string): readonly string[] {
  const bytes = fs.readFileSync(archive);
  const header = JSON.parse(bytes.toString('utf8', 16, 16 + bytes.readUInt32LE(12))) as Folder;
  const walk = ({ files }: Folder, at: string): string[] =>
    files ? Object.entries(files).flatMap(([name, entry]) => walk(entry, `${at}/${name}`)) : [at];
  return walk(header, '');
}

const release = path.join(root, 'dist', 'linux-unpacked', 'trainyard');
const forTests = path.join(root, 'dist', 'test', 'trainyard');

test.skip(
  process.platform !== 'linux',
  'the packaged app is tested on Linux: electron-builder makes each system’s own there',
);

test('the release’s fuses are set', async () => {
  const wire = await getCurrentFuseWire(release);
  const state = (fuse: FuseV1Options): FuseState => (wire as unknown as Record<number, FuseState>)[fuse];
  expect({
    runAsNode: state(FuseV1Options.RunAsNode),
    nodeOptions: state(FuseV1Options.EnableNodeOptionsEnvironmentVariable),
    inspect: state(FuseV1Options.EnableNodeCliInspectArguments),
    cookies: state(FuseV1Options.EnableCookieEncryption),
    integrity: state(FuseV1Options.EnableEmbeddedAsarIntegrityValidation),
    onlyAsar: state(FuseV1Options.OnlyLoadAppFromAsar),
  }).toEqual({
    runAsNode: FuseState.DISABLE,
    nodeOptions: FuseState.DISABLE,
    inspect: FuseState.DISABLE,
    cookies: FuseState.ENABLE,
    integrity: FuseState.ENABLE,
    onlyAsar: FuseState.ENABLE,
  });
});

test('the package for tests differs from the release in the inspect fuse alone', async () => {
  const [a, b] = [fs.readFileSync(release), fs.readFileSync(forTests)];
  expect(a.length).toBe(b.length);
  let different = 0;
  for (let at = 0; at < a.length; at += 65536) {
    const [left, right] = [a.subarray(at, at + 65536), b.subarray(at, at + 65536)];
    if (!left.equals(right)) for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) different += 1;
  }
  expect(different).toBe(1);
  for (const file of ['app.asar', 'app.asar.unpacked/build/hosts/cpu.cjs']) {
    const [x, y] = [release, forTests].map((program) =>
      fs.statSync(path.join(path.dirname(program), 'resources', file)),
    );
    expect(x.ino).toBe(y.ino);
  }
});

test('the packaged app starts, imports and trains', async () => {
  const app = await launch({ executable: forTests });
  expect(await app.electron.evaluate(({ app: electron }) => electron.isPackaged)).toBe(true);
  expect(await app.electron.evaluate(({ app: electron }) => electron.getAppPath())).toMatch(/app\.asar$/);
  const { samples } = await callService<{ samples: readonly { id: string }[] }>(app, 'info');
  await callService(app, 'importSample', { job: 'sample', sample: samples[0].id });
  const dataset = await importTable(app, writeTable(app.home, 400));
  const { id } = await startRun(app, dataset, 2);
  const run = await waitForState(app, id, 'completed', 'failed');
  expect(run.error).toBeNull();
  await app.close();
  fs.rmSync(app.home, { recursive: true, force: true });
});

test('the package carries the licences of all it contains, and nothing that is not needed', async () => {
  const folder = path.dirname(release);
  expect(fs.readFileSync(path.join(folder, 'LICENSE'))).toEqual(fs.readFileSync(path.join(root, 'LICENSE')));
  const chromium = fs.readFileSync(path.join(folder, 'LICENSES.chromium.html'), 'utf8');
  expect(chromium).toContain('The Chromium Authors');
  const notices = readNotices(path.join(folder, 'NOTICES'));
  for (const { title, text } of notices) expect(text.length, `the licence of ${title}`).toBeGreaterThan(400);
  const titles = notices.map(({ title }) => title);
  expect(titles).toEqual(expect.arrayContaining(['Node.js (MIT and others)', 'Electron (MIT)']));

  const files = filesOf(path.join(folder, 'resources/app.asar'));
  const named = files.filter((file) => /^\/node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(file));
  expect(named.length).toBeGreaterThan(4);
  for (const file of named) {
    const name = file.replace(/^\/node_modules\/(.*)\/package\.json$/, '$1');
    const { version } = JSON.parse(fs.readFileSync(path.join(root, file), 'utf8')) as { version: string };
    expect(titles).toContainEqual(expect.stringMatching(new RegExp(`^${name} ${version.replaceAll('.', '\\.')} \\(`)));
  }
  // Packages in bundles and libraries in native parts: one of each kind stands for what scripts/notices.mjs collects.
  for (const name of ['svelte', 'chart.js', 'zod', 'assemblyscript', 'SQLite', 'ICU', 'libaom', 'mozjpeg']) {
    expect(titles).toContainEqual(expect.stringMatching(new RegExp(`^${name}\\b.*\\(`)));
  }
  expect(
    files.filter((file) => /\.(ts|svelte|map|md|cc?|h)$|stand-in|\/(darwin|win32|linuxmusl)-\w+\.node$/.test(file)),
  ).toEqual([]);
});

const installed = test.extend<{ installation: Installation }>({
  installation: async ({ browserName: _ }, use) => {
    const installation = install();
    await use(installation);
    installation.remove();
  },
});

installed(
  'copied away, an ordinary account starts it: it imports, trains, quits, finds its run',
  async ({ installation }) => {
    const table = writeTable(installation.home, 400);
    installation.give(table);

    const first = await start(installation);
    await first.page.shows('Train a model on this machine');
    await first.page.drop(table);
    await first.page.click('New run with this data');
    await first.page.click('Small MLP');
    await first.page.click('Take one training');
    await first.page.click('Start');
    await first.page.shows('Completed', 60_000);

    const processes = first.processes();
    const renderers = processes.filter(({ command }) => command.includes('--type=renderer'));
    expect(renderers.length).toBeGreaterThan(0);
    // Filtered system calls, and no new rights: what Chromium's sandbox does to a page.
    for (const { status } of renderers) expect(status).toMatch(/NoNewPrivs:\t1\nSeccomp:\t2/);
    for (const { command, status } of processes) {
      expect(command).not.toContain('--no-sandbox');
      expect(status).not.toMatch(/^Uid:.*\b0\b/m);
    }
    const title = await first.page.evaluate<string>('document.querySelector("h1").textContent.trim()');
    // The texts beside the program, read in the window.
    await first.page.click('Settings');
    await first.page.click('Show licences');
    await first.page.click('libaom');
    await first.page.shows('Alliance for Open Media Patent License 1.0');
    expect(await first.quit()).toBe(0);
    await expect.poll(first.processes).toEqual([]);

    // What decides in a checkout which Node runs decides nothing in a package.
    const second = await start(installation, { TRAINYARD_NODE: '/bin/false', TRAINYARD_UTILITY: 'node' });
    await second.page.click('Runs');
    await second.page.shows(title);
    await second.page.shows('Completed');
    expect(await second.quit()).toBe(0);
    await expect.poll(second.processes).toEqual([]);
  },
);

installed(
  'Settings puts the app into the desktop’s menu, where the entry starts it, and takes it out',
  async ({ installation }) => {
    const app = await start(installation);
    const entry = path.join(installation.home, '.local/share/applications/trainyard.desktop');
    await app.page.click('Settings');
    await app.page.click('Add to the menu');
    await app.page.shows('The menu of applications has Trainyard');
    const started = /^Exec="(.*)" %F$/m.exec(fs.readFileSync(entry, 'utf8'))?.[1];
    expect(started).toBe(installation.program);
    const icon = /^Icon=(.*)$/m.exec(fs.readFileSync(entry, 'utf8'))?.[1];
    expect(fs.readFileSync(icon ?? '', 'utf8')).toContain('<svg');
    await app.page.click('Remove from the menu');
    await app.page.shows('Add to the menu');
    expect(fs.existsSync(entry)).toBe(false);
    expect(await app.quit()).toBe(0);
  },
);

installed(
  'Settings puts the command into the path, it runs from any folder, and goes again',
  async ({ installation }) => {
    const app = await start(installation);
    const file = path.join(installation.home, '.local', 'bin', 'trainyard');
    const run = (env: Record<string, string>): ReturnType<typeof spawnSync> =>
      spawnSync('sh', ['-c', 'trainyard --version'], { ...installation.account, cwd: '/', encoding: 'utf8', env });
    await app.page.click('Settings');
    await app.page.click('Put it in the path');
    await app.page.shows('Terminals have “trainyard”');
    await app.page.shows('is not in the PATH of this session');
    const session = sessionOf(installation);
    const PATH = `${path.dirname(file)}:${session['PATH']}`;
    const { stdout, stderr, status } = run({ ...session, PATH });
    expect([status, stdout], String(stderr)).toEqual([0, expect.stringMatching(/^trainyard \d+\.\d+\.\d+\n$/)]);

    // The development Electron needs a screen; the official one does not.
    const dark = run({ HOME: installation.home, PATH });
    if (fs.existsSync(path.join(path.dirname(installation.program), 'resources', 'node')))
      expect([dark.status, dark.stderr]).toEqual([1, expect.stringMatching(/^trainyard: .* needs a screen: .*\n$/)]);
    else expect(dark.status).toBe(0);

    await app.page.click('Take it out');
    await app.page.shows('Put it in the path');
    expect(fs.lstatSync(file, { throwIfNoEntry: false })).toBeUndefined();
    expect(await app.quit()).toBe(0);
  },
);
