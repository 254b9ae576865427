// Files of a run that stand for one thing: whatever moment their writer dies at, all of them are those of one hand-over.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createRunFiles } from '../../engine/history/files.ts';
import { handOver, isWaiting } from '../../engine/history/hand-over.ts';
import { temporaryHome } from '../support/cli.ts';

const names = ['model.json', 'best.safetensors', 'preprocessing.json'] as const;
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const version = (text: string): Record<(typeof names)[number], Uint8Array> => ({
  'model.json': bytes(`${text} model`),
  'best.safetensors': bytes(`${text} weights`),
  'preprocessing.json': bytes(`${text} recipe`),
});

async function readAll(home: string): Promise<readonly string[]> {
  const files = createRunFiles(home);
  const read = await Promise.all(names.map((name) => files.read(1, name)));
  return read.map((data) => (data === null ? 'none' : Buffer.from(data).toString().split(' ')[0]));
}

/** A folder with old files, in which a writer of new ones died after so many writes and renames. */
async function dies(context: TestContext, writes: number, renames: number): Promise<string> {
  const home = temporaryHome(context);
  const folder = path.join(home, 'runs', '1');
  mkdirSync(folder, { recursive: true });
  for (const [name, data] of Object.entries(version('old'))) writeFileSync(path.join(folder, name), data);
  let written = 0;
  const died = new Promise<void>((resolve) => {
    const write = async (target: string, data: Uint8Array): Promise<void> => {
      if (written < writes) writeFileSync(target, data);
      // The last write of all comes back to nobody, as one that is not made.
      if (++written < Math.min(writes + 1, names.length + 1)) return;
      resolve();
      await new Promise<void>(() => undefined);
    };
    void handOver(folder, Object.entries(version('new')), { write, known: async () => undefined });
  });
  await died;
  const left = readdirSync(folder).filter(isWaiting).sort();
  for (const name of left.slice(0, renames))
    renameSync(
      path.join(folder, name),
      path.join(
        folder,
        names.find((own) => name.startsWith(own))!,
      ),
    );
  return home;
}

test('a writer that dies leaves all files of one hand-over, and nothing once the run is looked after', async (context) => {
  const noted = names.length + 1;
  for (let writes = 0; writes <= noted; writes++) {
    for (let renames = 0; renames <= (writes === noted ? names.length : 0); renames++) {
      const home = await dies(context, writes, renames);
      const wanted = names.map(() => (writes === noted ? 'new' : 'old'));
      assert.deepEqual(await readAll(home), wanted, `${writes} written, ${renames} in their places`);
      await createRunFiles(home).tidy(1);
      assert.deepEqual(await readAll(home), wanted, 'looked after');
      assert.deepEqual(readdirSync(path.join(home, 'runs', '1')).sort(), [...names].sort());
    }
  }
});

test('files written together are read back with their checksums, the latest of them, and leave nothing beside them', async (context) => {
  const home = temporaryHome(context);
  const files = createRunFiles(home);
  await Promise.all(['first', 'second', 'third'].map((text) => files.writeTogether(1, version(text))));
  assert.deepEqual(
    await readAll(home),
    names.map(() => 'third'),
  );
  const folder = path.join(home, 'runs', '1');
  assert.deepEqual(readdirSync(folder).sort(), [...names, 'checksums.json'].sort());
  writeFileSync(path.join(folder, 'model.json'), 'other model');
  await assert.rejects(files.read(1, 'model.json'), { code: 'run.damaged_file' });
});
