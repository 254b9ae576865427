// The licences of what is shipped: nothing without its text, and nothing that a native part names itself is missing in the table.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { packageNotice, withDependencies } from '../../scripts/notices.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const table = JSON.parse(fs.readFileSync(path.join(root, 'licences/components.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, { readonly textOf: string }>>;
  readonly groups: readonly { readonly package: string; readonly title: string; readonly note?: string }[];
};
const native = withDependencies('@napi-rs/image').filter((name) => name.startsWith('@napi-rs/image-'));

test('a package without a licence text stops the build and says where one is to be named', () => {
  assert.ok(native.length > 0);
  for (const name of native) {
    assert.throws(() => packageNotice(name, {}), /carries no licence text\. Say in licences\/components\.json/);
    assert.match(packageNotice(name, table.packages).text, /Permission is hereby granted/);
  }
});

test('every Rust crate that the picture library’s binary names is in the table', () => {
  const known = table.groups
    .filter((part) => part.package === '@napi-rs/image')
    .map(({ title, note = '' }) => `${title} ${note}`)
    .join(' ');
  for (const name of native) {
    const folder = path.join(root, 'node_modules', name);
    const binary = fs.readdirSync(folder).find((file) => file.endsWith('.node')) ?? '';
    const text = fs.readFileSync(path.join(folder, binary), 'latin1');
    const crates = new Set(
      [...text.matchAll(/(?:index\.crates\.io-[0-9a-f]+|rust\/deps)[/\\]([a-z][\w-]*?)-(\d+\.\d+\.\d+)/g)].map(
        ([, crate]) => crate,
      ),
    );
    assert.ok(crates.size > 30, `${crates.size} crates`);
    const missing = [...crates].filter((crate) => !new RegExp(`(^|[ ,])${crate.replace('-sys', '')}\\b`).test(known));
    assert.deepEqual(missing, []);
  }
});
