// Writes build/NOTICES: the licences of everything the packaged app contains. What that is comes from the builds themselves: the
// packages whose code stands in a bundle (vite.config.ts notes them), those that stay packages, and what licences/components.json
// says is linked into their native parts. A package without a licence text fails the build: nothing is shipped unnamed.

import * as fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledNode, root, script, SetupError } from './setup.mjs';

/** Packages that stay outside the bundles, as in electron-builder.yml. */
const packed = ['@duckdb/node-bindings', '@napi-rs/image', 'better-sqlite3'];
/** Packed without what they depend on: the files that are shipped of them hold it. */
const alone = ['onnxruntime-web'];
/** Their code is compiled into kernels.wasm and native.node. */
const compiled = ['assemblyscript', 'node-api-headers'];
const line = '='.repeat(80);

/** @typedef {{ title: string, licence: string, within?: string, text: string }} Notice */

export function writeNotices(file = path.join(root, 'build', 'NOTICES')) {
  const { names, parts, exceptions } = packageContents();
  const notices = [
    ...names.map((name) => packageNotice(name, exceptions)),
    ...parts.map(partNotice),
    ...programNotices(),
  ];
  fs.writeFileSync(file, print(notices));
}

/** What the packaged app contains beside Node and Electron: npm packages, and what is linked into their native parts. */
export function packageContents() {
  const table = readJson(path.join(root, 'licences/components.json'));
  const names = [...new Set([...bundledPackages(), ...packed.flatMap(withDependencies), ...alone, ...compiled])].sort();
  const parts = table.groups.filter((part) => names.includes(part.package));
  return { names, parts, exceptions: table.packages };
}

/** What vite noted of each bundle. */
function bundledPackages() {
  const folder = path.join(root, 'build', '.packages');
  return fs.readdirSync(folder).flatMap((mode) => readJson(path.join(folder, mode)));
}

/** A package and what it needs when it runs, as far as it is installed here: native parts of other systems are not. */
export function withDependencies(name) {
  const found = new Set();
  const visit = (each) => {
    const file = path.join(root, 'node_modules', each, 'package.json');
    if (found.has(each) || !fs.existsSync(file)) return;
    found.add(each);
    const { dependencies = {}, optionalDependencies = {} } = readJson(file);
    [...Object.keys(dependencies), ...Object.keys(optionalDependencies)].forEach(visit);
  };
  visit(name);
  return [...found];
}

/** @returns {Notice} */
export function packageNotice(name, exceptions) {
  const folder = path.join(root, 'node_modules', name);
  const { version, license } = readJson(path.join(folder, 'package.json'));
  const exception = exceptions[name] ?? {};
  const text =
    licenceText(folder) ||
    (exception.text ? licenceOf(exception) : licenceText(path.join(root, 'node_modules', exception.textOf ?? '')));
  if (text === '') {
    throw new SetupError(
      `${name} ${version} (${license}) carries no licence text. Say in licences/components.json where it comes from: "packages".`,
    );
  }
  return { title: `${name} ${version}`, licence: license, text };
}

/** A licence of ours for a package that names its licence alone. */
function licenceOf({ text, copyright }) {
  return [...copyright, '', fs.readFileSync(path.join(root, 'licences/texts', `${text}.txt`), 'utf8').trim()].join(
    '\n',
  );
}

/** Licence and notice files of a package, one after the other. */
function licenceText(folder) {
  return fs
    .readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i.test(file))
    .sort()
    .map((file) => fs.readFileSync(path.join(folder, file), 'utf8').trim())
    .join('\n\n');
}

/** @returns {Notice} */
function partNotice(part) {
  const file = path.join(root, 'licences/texts', `${part.text ?? part.licence}.txt`);
  if (!fs.existsSync(file)) throw new SetupError(`licences/components.json: “${part.title}” has no text in ${file}.`);
  const text = [part.note, part.copyright?.join('\n'), fs.readFileSync(file, 'utf8').trim()]
    .filter(Boolean)
    .join('\n\n');
  return { title: part.title, licence: part.licence, within: part.within ?? part.package, text };
}

/** Node, which Electron contains and a development package carries beside it, and Electron with Chromium. */
function programNotices() {
  const node = bundledNode() ?? process.execPath;
  const nodeLicence = path.join(path.dirname(path.dirname(node)), 'LICENSE');
  const electron = path.join(root, 'node_modules/electron');
  return [
    { title: 'Node.js', licence: 'MIT and others', text: fs.readFileSync(nodeLicence, 'utf8').trim() },
    {
      title: 'Electron',
      licence: 'MIT',
      text: `${fs.readFileSync(path.join(electron, 'LICENSE'), 'utf8').trim()}\n\nElectron contains Chromium and FFmpeg. Their licences and those of what they contain, 8 MB of text, stand in\nLICENSES.chromium.html beside this file.`,
    },
  ];
}

/** @param {Notice[]} notices */
function print(notices) {
  const contents = notices.map(
    ({ title, licence, within }) => `${title} (${licence})${within ? `, in ${within}` : ''}`,
  );
  const sections = notices.map(({ text }, index) => `${line}\n${contents[index]}\n${line}\n\n${text}\n`);
  return `Trainyard contains the work of others, used under the licences below. Its own licence is in the file LICENSE.\n\n${[...contents.map((each) => `  ${each}`), '', ...sections].join('\n')}`;
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await script(() => writeNotices());
