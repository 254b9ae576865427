// A dataset that was damaged on the disk: said instead of trained on, set aside and imported again.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { DatasetInfo } from '../../../engine/protocol/data.ts';
import { createDataService } from '../../../engine/data/service.ts';
import { decodeManifest } from '../../../engine/data/intact.ts';
import { penguins, temporaryHome } from '../../support/cli.ts';

const damaged = { code: 'input.damaged_dataset', name: 'InputError' };

test('a damaged dataset is named, set aside and imported again, whatever is damaged', async (context) => {
  const home = temporaryHome(context);
  // A service of its own each time, as each command has.
  const fresh = async <T>(work: (data: ReturnType<typeof createDataService>) => Promise<T>): Promise<T> => {
    const data = createDataService({ home });
    return work(data).finally(() => data.close());
  };
  const importAgain = (): Promise<DatasetInfo> => fresh((data) => data.import({ job: 'again', path: penguins }));
  const first = await importAgain();
  const folder = join(home, 'datasets', first.id);
  const rows = join(folder, 'data.parquet');
  const manifest = join(folder, 'manifest.json');
  const whole = await fresh((data) => data.rows({ dataset: first.id, offset: 0, limit: 5 }));

  const damages: Readonly<Record<string, () => void>> = {
    'a bit of the rows': () => flip(rows, 3000),
    'the rows cut short': () => truncateSync(rows, 1000),
    'no rows': () => rmSync(rows),
    'a bit of the manifest': () => flip(manifest, 300),
    'an empty manifest': () => writeFileSync(manifest, ''),
    'no manifest': () => rmSync(manifest),
    'a file in its place': () => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, '');
    },
  };
  let count = 0;
  for (const [name, damage] of Object.entries(damages)) {
    damage();
    const options = { settings: {}, seed: 1 };
    await assert.rejects(
      fresh((data) => data.prepare({ job: 'p', dataset: first.id, options })),
      (error: { code: string }) => ['input.damaged_dataset', 'input.unknown_dataset'].includes(error.code),
      name,
    );
    const again = await importAgain();
    assert.equal(again.id, first.id, name);
    assert.match(again.warnings.at(-1)!.message, /imported before was damaged: it is kept as .*\.damaged-/, name);
    assert.deepEqual(await fresh((data) => data.rows({ dataset: first.id, offset: 0, limit: 5 })), whole, name);
    assert.equal((await fresh((data) => data.list())).length, 1);
    const kept = readdirSync(join(home, 'datasets')).filter((entry) => entry.startsWith('.damaged-'));
    for (const entry of kept) rmSync(join(home, 'datasets', entry), { recursive: true });
    assert.equal(kept.length, 1, name);
    count++;
  }
  assert.equal(count, 7);
  flip(rows, 3000);
  await assert.rejects(
    fresh((data) => data.rows({ dataset: first.id, offset: 0, limit: 5 })),
    damaged,
  );
});

test('a manifest of an earlier version has no checksums and is read; its sizes still count', async (context) => {
  const home = temporaryHome(context);
  const data = createDataService({ home });
  const { id } = await data.import({ job: 'a', path: penguins });
  const path = join(home, 'datasets', id, 'manifest.json');
  const { files, check, ...old } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  assert.ok(files && check);
  writeFileSync(path, JSON.stringify(old));
  assert.equal((await data.rows({ dataset: id, offset: 0, limit: 3 })).rows.length, 3);
  truncateSync(join(home, 'datasets', id, 'data.parquet'), 1000);
  await assert.rejects(data.rows({ dataset: id, offset: 0, limit: 3 }), damaged);
  assert.equal(decodeManifest(JSON.stringify({ ...old, files })), null, 'files without the checksum over them');
  // A folder of that name without anything in it is in nobody's way.
  rmSync(join(home, 'datasets', id), { recursive: true });
  mkdirSync(join(home, 'datasets', id));
  assert.equal((await data.import({ job: 'b', path: penguins })).id, id);
  assert.ok(existsSync(path));
  await data.close();
});

function flip(file: string, offset: number): void {
  const bytes = readFileSync(file);
  bytes[offset] ^= 4;
  writeFileSync(file, bytes);
}
