// Called by electron-builder when a folder is packed, before it becomes a package: makes it smaller by what is not needed as it
// is. onnxruntime's WebAssembly is kept compressed (12 of 14 MB; electron/hosts/onnx-program.ts unpacks it when an export is checked),
// and on Linux the symbols that no program needs when it runs go (libduckdb.so alone has 11 MB of them).

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { hasProgram, say, SetupError } from '../setup.mjs';

/** Worth it from so many bytes on. */
const smallest = 1 << 20;
const library = /\.(so(\.\d+)*|node)$/;

/** @param {{ appOutDir: string, electronPlatformName: string }} context */
export default function afterPack({ appOutDir, electronPlatformName }) {
  const names = fs.readdirSync(appOutDir, { recursive: true }).sort();
  for (const name of names) if (/onnxruntime-web.*\.wasm$/.test(name)) compress(path.join(appOutDir, name));
  if (electronPlatformName !== 'linux') return;
  if (names.includes(path.join('resources', 'node'))) useScreen(path.join(appOutDir, 'bin', 'trainyard'));
  if (process.platform !== 'linux' || !hasProgram('strip')) {
    say('there is no `strip` here: the package keeps symbols nobody needs (18 MB). Debian has it in binutils.');
    return;
  }
  for (const name of names) {
    const file = path.join(appOutDir, name);
    // The program itself, and the plain Node of a development package.
    const worth = library.test(name) || name === 'trainyard' || name === path.join('resources', 'node');
    if (worth && fs.statSync(file).isFile() && fs.statSync(file).size >= smallest) strip(file);
  }
}

/** The development Electron crashes without a screen: its command line needs one, and says so. */
function useScreen(file) {
  const words =
    'this package was made with the development Electron, which needs a screen: set DISPLAY, or use xvfb-run.';
  const script = fs.readFileSync(file, 'utf8');
  const asking = `[ -n "$DISPLAY" ] || { echo "trainyard: ${words}" >&2; exit 1; }\nexec `;
  fs.writeFileSync(
    file,
    script.replace('--ozone-platform=headless', '--ozone-platform=x11').replace(/^exec /m, asking),
  );
}

function compress(file) {
  const settings = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
  fs.writeFileSync(`${file}.br`, brotliCompressSync(fs.readFileSync(file), { params: settings }));
  fs.rmSync(file);
}

/** Into a new file that takes the old one's place: a checkout's own may be linked to it. */
function strip(file) {
  const stripped = `${file}.stripped`;
  const { status, stderr } = spawnSync('strip', ['--strip-unneeded', '-o', stripped, file], { encoding: 'utf8' });
  if (status !== 0) throw new SetupError(`${file} could not be stripped of its symbols: ${stderr.trim()}`);
  fs.renameSync(stripped, file);
}
