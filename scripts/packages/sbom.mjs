// `node scripts/packages/sbom.mjs FILE`: the software bill of materials of the packaged app in CycloneDX 1.6 (ECMA-424). It lists what
// NOTICES lists, from the same source: what the bundles contain, the packages that stay packages, what is linked into native parts, and
// Electron. Nothing in it hangs on when or where it was written.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageContents } from '../notices.mjs';
import { root, script, SetupError } from '../setup.mjs';
import { commitTime } from './linux.mjs';

export function billOfMaterials() {
  const { name, version, license, description } = readJson('package.json');
  const { names, parts } = packageContents();
  const locked = readJson('package-lock.json').packages;
  const components = [
    ...[...names, 'electron'].map((each) => npmComponent(each, locked)),
    ...parts.map(({ title, licence, within, package: holder }) => ({
      type: 'library',
      'bom-ref': `part:${holder}/${title}`,
      ...nameAndVersion(title),
      licenses: [{ license: { name: licence } }],
      description: `in ${within ?? holder}`,
    })),
  ];
  const app = { type: 'application', 'bom-ref': `pkg:npm/${name}@${version}`, name, version, description };
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(commitTime() * 1000).toISOString(),
      component: { ...app, licenses: [{ license: { id: license } }] },
    },
    components,
    dependencies: [{ ref: app['bom-ref'], dependsOn: components.map((each) => each['bom-ref']) }],
  };
  return { ...bill, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(bill))}` };
}

function npmComponent(name, locked) {
  const entry = locked[`node_modules/${name}`];
  if (entry === undefined) throw new SetupError(`${name} is packed, but package-lock.json does not have it.`);
  const { version, license = 'unknown', integrity } = entry;
  const purl = `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
  const [, content] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    licenses: [{ expression: license }],
    purl,
    ...(content && { hashes: [{ alg: 'SHA-512', content: Buffer.from(content, 'base64').toString('hex') }] }),
  };
}

/** “SQLite 3.54.1” has its version in its title, others have none that is known. */
function nameAndVersion(title) {
  const [, name = title, version] = /^(.+?) v?(\d[\d.]*)$/.exec(title) ?? [];
  return version === undefined ? { name } : { name, version };
}

/** A name-based UUID (RFC 9562, version 8). */
function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex').slice(0, 32);
  const variant = ((parseInt(hex[16], 16) & 3) | 8).toString(16);
  const bits = `${hex.slice(0, 12)}8${hex.slice(13, 16)}${variant}${hex.slice(17)}`;
  return bits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await script(() => {
    const [file] = process.argv.slice(2);
    if (file === undefined) throw new SetupError('Name the file: node scripts/packages/sbom.mjs FILE.cdx.json');
    fs.writeFileSync(file, `${JSON.stringify(billOfMaterials(), null, 2)}\n`);
  });
}
