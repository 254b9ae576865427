// `node scripts/packages/twice.mjs`: is the same commit the same tar.xz? Builds it twice from nothing, in two clones at different paths,
// with another umask, time zone and language the second time, and compares both byte by byte; names the files that differ. Linux.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root, say, script, SetupError } from '../setup.mjs';
import { commitTime, packLinux } from './linux.mjs';

const builds = [
  { name: 'a', umask: 0o022, env: { TZ: 'UTC', LC_ALL: 'C' } },
  { name: 'in a second folder', umask: 0o077, env: { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' } },
];

await script(async () => {
  // Both of this one, whatever is committed meanwhile.
  const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim();
  process.env['SOURCE_DATE_EPOCH'] = String(commitTime());
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-twice-'));
  try {
    const made = [];
    for (const build of builds) made.push(await buildFromNothing(path.join(work, build.name), commit, build));
    const [first, second] = made.map(({ archive }) => hashOf(archive));
    if (first === second) return say(`both builds are the same to the byte: sha256 ${first}`);
    const different = differences(...made.map(({ folder }) => folder));
    throw new SetupError(
      `The two builds differ${different.length > 0 ? `: ${different.join(', ')}` : ' in names, modes or owners alone'}.`,
    );
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
});

/** A clone of the commit with the dependencies of this checkout; what it packs, and the tar.xz of that. */
async function buildFromNothing(clone, commit, { umask, env }) {
  say(`building in ${clone} …`);
  run('git', ['clone', '--quiet', '--no-local', '--no-checkout', root, clone], {});
  run('git', ['checkout', '--quiet', '--detach', commit], { cwd: clone });
  run('cp', ['--archive', '--link', path.join(root, 'node_modules'), clone], {});
  // Older than what is installed: nothing is to be installed again.
  fs.utimesSync(path.join(clone, 'package-lock.json'), 0, 0);
  const usual = process.umask(umask);
  try {
    run(process.execPath, ['scripts/setup.mjs', 'package'], { cwd: clone, env: { ...process.env, ...env } });
    const folder = path.join(clone, 'dist', 'linux-unpacked');
    const output = path.join(clone, 'packed');
    const [archive] = await packLinux({ folder, output, compression: 'none', kinds: ['tar.xz'] });
    return { folder, archive };
  } finally {
    process.umask(usual);
  }
}

function run(program, args, options) {
  const { status } = spawnSync(program, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new SetupError(`${program} ${args[0]} failed.`);
}

function hashOf(file) {
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}

function differences(first, second) {
  const names = [first, second].flatMap((folder) => fs.readdirSync(folder, { recursive: true }));
  const hash = (folder, name) => {
    const file = path.join(folder, name);
    if (!fs.existsSync(file)) return null;
    return fs.statSync(file).isDirectory() ? '' : hashOf(file);
  };
  return [...new Set(names)].filter((name) => hash(first, name) !== hash(second, name)).sort();
}
