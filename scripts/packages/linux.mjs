// The Linux packages that need nothing but the system's own tar, xz and dpkg-deb: a tar.xz and a deb, both of the one folder
// that electron-builder has packed. The same commit gives the same bytes: names in order, times of the commit, modes and
// owners set here. `npm run dist` calls it.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { hasProgram, root, runCommand, say, SetupError } from '../setup.mjs';
import { compressMembers, smallest } from './deb.mjs';
import { builderSettings, desktopEntry, iconPng, iconSizes, mimeTypes } from './desktop.mjs';

/** Debian's names of architectures. */
const debianArchitecture = { x64: 'amd64', arm64: 'arm64' };

/** Bytes of a package that is to be fetched. */
const mostToFetch = 110e6;

/** What Electron links against, and what it starts; newer Ubuntus call some of them otherwise. */
const depends = [
  'libc6 (>= 2.31)',
  'libgtk-3-0t64 | libgtk-3-0',
  'libnss3',
  'libasound2t64 | libasound2',
  'libgbm1',
  'libatspi2.0-0t64 | libatspi2.0-0',
  'libcups2t64 | libcups2',
  'libxss1',
  'xdg-utils',
];
const recommends = ['libnotify4', 'libsecret-1-0'];

/**
 * @typedef {object} LinuxPackages
 * @property {string} [folder]  what electron-builder has packed
 * @property {string} [output]  where the packages go
 * @property {string} [arch]
 * @property {'best' | 'none'} [compression]  none: for tests, in a second
 * @property {readonly ('deb' | 'tar.xz')[]} [kinds]
 */

/**
 * @param {LinuxPackages} [options]
 * @returns {Promise<string[]>} the files
 */
export async function packLinux({
  folder = path.join(root, 'dist', 'linux-unpacked'),
  output = path.join(root, 'dist'),
  arch = process.arch,
  compression = 'best',
  kinds = ['tar.xz', 'deb'],
} = {}) {
  for (const program of ['tar', 'xz', ...(kinds.includes('deb') ? ['dpkg-deb'] : [])]) {
    if (!hasProgram(program)) throw new SetupError(`Packing needs ${program}: install it and run the command again.`);
  }
  fs.mkdirSync(output, { recursive: true });
  const stage = fs.mkdtempSync(path.join(output, '.stage-'));
  const about = { ...JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')), arch, epoch: commitTime() };
  try {
    const made = [];
    const tree = path.join(stage, 'tree');
    const app = path.join(tree, 'opt', builderSettings().productName);
    fs.cpSync(folder, app, { recursive: true });
    setModes(tree);
    if (kinds.includes('tar.xz')) made.push(await packTar(app, output, about, compression));
    if (kinds.includes('deb')) {
      await addDebianFiles(tree, app, about);
      made.push(await packDeb(tree, output, about, compression));
    }
    return made;
  } finally {
    fs.rmSync(stage, { recursive: true, force: true });
  }
}

/** Seconds since 1970: of the last commit, or what SOURCE_DATE_EPOCH says (reproducible-builds.org). */
export function commitTime() {
  const told = process.env['SOURCE_DATE_EPOCH'];
  if (told) return Number(told);
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? Number(stdout) : Math.round(fs.statSync(path.join(root, 'package.json')).mtimeMs / 1000);
}

/** As if made with the usual umask, whatever it is here. */
function setModes(folder) {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) setModes(file);
    else if (entry.isFile()) fs.chmodSync(file, fs.statSync(file).mode & 0o100 ? 0o755 : 0o644);
  }
}

async function packTar(app, output, { name, version, arch, epoch }, compression) {
  const folder = `${name}-${version}-linux-${arch}`;
  const file = path.join(output, `${folder}.tar.xz`);
  const options = compression === 'none' ? ['-0', '--threads=1'] : smallest(arch);
  await runCommand(
    'tar',
    [
      ...['--create', '--format=gnu', '--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner'],
      ...[`--use-compress-program=xz ${options.join(' ')}`, `--file=${file}`, `--directory=${path.dirname(app)}`],
      ...[`--transform=s,^${path.basename(app)},${folder},S`, path.basename(app)],
    ],
    { failure: `${path.basename(file)} could not be packed. Is the disk full?` },
  );
  if (compression !== 'none') refuseLarge(file);
  return file;
}

function refuseLarge(file) {
  const { size } = fs.statSync(file);
  if (size <= mostToFetch) return;
  throw new SetupError(`${path.basename(file)} takes ${size / 1e6} MB to fetch: it may take ${mostToFetch / 1e6}.`);
}

/** What of the package lies outside its own folder, and what makes Chromium's sandbox work everywhere. */
async function addDebianFiles(tree, app, about) {
  const program = `/opt/${path.basename(app)}/${about.name}`;
  const share = path.join(tree, 'usr', 'share');
  const put = (file, content, mode = 0o644) => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
    fs.chmodSync(file, mode);
  };
  const packaging = path.join(root, 'packaging', 'linux');
  // Where user namespaces are forbidden the sandbox is made by this helper, with root's rights.
  fs.chmodSync(path.join(app, 'chrome-sandbox'), 0o4755);
  put(path.join(app, 'resources', 'apparmor-profile'), fs.readFileSync(path.join(packaging, 'apparmor-profile')));
  put(path.join(share, 'applications', `${about.name}.desktop`), desktopEntry({ program }));
  put(path.join(share, 'mime', 'packages', `${about.name}.xml`), mimeTypes());
  for (const kind of ['bash-completion', 'zsh', 'fish', 'man']) {
    fs.cpSync(path.join(app, 'share', kind), path.join(share, kind), { recursive: true });
  }
  // Debian's zsh looks there, and its manual pages are compressed.
  fs.renameSync(path.join(share, 'zsh', 'site-functions'), path.join(share, 'zsh', 'vendor-completions'));
  const manual = path.join(share, 'man', 'man1', `${about.name}.1`);
  put(`${manual}.gz`, gzipSync(fs.readFileSync(manual), { level: 9 }));
  fs.rmSync(manual);
  fs.mkdirSync(path.join(tree, 'usr', 'bin'));
  fs.symlinkSync(`../..${program.replace(/[^/]*$/, `bin/${about.name}`)}`, path.join(tree, 'usr', 'bin', about.name));
  const icons = path.join(share, 'icons', 'hicolor');
  for (const size of iconSizes)
    put(path.join(icons, `${size}x${size}`, 'apps', `${about.name}.png`), await iconPng(size));
  const svg = fs.readFileSync(path.join(root, 'electron', 'icon.svg'));
  put(path.join(icons, 'scalable', 'apps', `${about.name}.svg`), svg);
  const licence = fs.readFileSync(path.join(root, 'LICENSE'), 'utf8');
  const others = `What it contains of others: /opt/${path.basename(app)}/NOTICES and LICENSES.chromium.html beside it.`;
  put(path.join(share, 'doc', about.name, 'copyright'), `${licence}\n${others}\n`);
  const control = path.join(tree, 'DEBIAN');
  put(path.join(control, 'md5sums'), checksums(tree));
  put(path.join(control, 'control'), controlFile(about, installedKilobytes(tree)));
  for (const script of ['postinst', 'postrm']) {
    put(path.join(control, script), fs.readFileSync(path.join(packaging, script)), 0o755);
  }
  for (const folder of ['DEBIAN', 'usr']) setFolderModes(path.join(tree, folder));
}

function setFolderModes(folder) {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) setFolderModes(path.join(folder, entry.name));
  }
}

function filesIn(tree) {
  const all = fs.readdirSync(tree, { recursive: true }).sort();
  return all.filter((name) => fs.lstatSync(path.join(tree, name)).isFile());
}

function checksums(tree) {
  const sums = filesIn(tree).map((name) => {
    const hash = createHash('md5').update(fs.readFileSync(path.join(tree, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  return sums.join('');
}

/** Counted in whole kilobytes a file, as Debian does. */
function installedKilobytes(tree) {
  return filesIn(tree).reduce((sum, name) => sum + Math.ceil(fs.statSync(path.join(tree, name)).size / 1024), 0);
}

function controlFile({ name, version, arch, description }, kilobytes) {
  const { linux, extraMetadata } = builderSettings();
  const fields = {
    Package: name,
    Version: version,
    Architecture: debianArchitecture[arch],
    Maintainer: linux.maintainer,
    'Installed-Size': kilobytes,
    Depends: depends.join(', '),
    Recommends: recommends.join(', '),
    Section: 'science',
    Priority: 'optional',
    Homepage: extraMetadata.homepage,
    Description: `${linux.synopsis}\n ${description}`,
  };
  return `${Object.entries(fields)
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n')}\n`;
}

async function packDeb(tree, output, { name, version, arch, epoch }, compression) {
  const file = path.join(output, `${name}_${version}_${debianArchitecture[arch]}.deb`);
  const failure = `${path.basename(file)} could not be packed. Is the disk full?`;
  await runCommand('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, file], {
    failure,
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
  });
  if (compression === 'none') return file;
  await compressMembers(file, arch, failure);
  refuseLarge(file);
  return file;
}

/** Writes SHA256SUMS beside the packages, as `sha256sum --check` reads it. */
export async function writeChecksums(files, output = path.join(root, 'dist')) {
  const lines = [];
  for (const file of [...files].sort()) {
    const hash = createHash('sha256');
    await pipeline(fs.createReadStream(file), hash);
    lines.push(`${hash.digest('hex')}  ${path.basename(file)}\n`);
  }
  fs.writeFileSync(path.join(output, 'SHA256SUMS'), lines.join(''));
  for (const file of files) say(`${path.relative(root, file)}: ${(fs.statSync(file).size / 1e6).toFixed(1)} MB`);
}
