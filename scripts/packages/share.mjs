// Writes build/share: completions for three shells and the manual page, as the built command line makes them; and what an account's menu has
// of a copy that no package manager installed (electron/main/menu-entry.ts).

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root, script, SetupError } from '../setup.mjs';
import { desktopEntry, mimeTypes } from './desktop.mjs';

/** Where they lie below share/, as Debian, Fedora and Arch have it. */
const files = {
  bash: 'bash-completion/completions/trainyard',
  zsh: 'zsh/site-functions/_trainyard',
  fish: 'fish/vendor_completions.d/trainyard.fish',
  man: 'man/man1/trainyard.1',
};

function write(name, content) {
  const file = path.join(root, 'build', 'share', name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

await script(() => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-share-'));
  try {
    for (const [kind, name] of Object.entries(files)) {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [path.join(root, 'build/node/trainyard.js'), 'completions', kind],
        { encoding: 'utf8', env: { ...process.env, TRAINYARD_HOME: home } },
      );
      if (status !== 0) throw new SetupError(`trainyard completions ${kind} failed: ${stderr}`);
      write(name, stdout);
    }
    write('applications/trainyard.desktop', desktopEntry({ program: 'trainyard' }));
    write('mime/packages/trainyard.xml', mimeTypes());
    write('icons/hicolor/scalable/apps/trainyard.svg', fs.readFileSync(path.join(root, 'electron', 'icon.svg')));
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
});
