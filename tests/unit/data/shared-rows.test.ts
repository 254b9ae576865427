// What two runs ask for alike is prepared once: while one holds it, and for a while after the last has let it go.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Handles } from '../../../engine/data/handles.ts';
import { importFile, writeTable } from './helpers.ts';

type Made = Parameters<Handles['keep']>[0];

function setUp(): { handles: Handles; make: (name: string) => string; freed: string[] } {
  const handles = new Handles();
  const freed: string[] = [];
  const make = (name: string): string => {
    const rows = { release: async () => void freed.push(name) };
    return handles.keep({ info: { handle: '' }, rows } as unknown as Made, name).handle;
  };
  return { handles, make, freed };
}

test('rows are shared while somebody holds them, each under a handle of its own', async () => {
  const { handles, make, freed } = setUp();
  const first = make('a');
  const second = (await handles.share('a'))!.handle;
  assert.notEqual(first, second);
  assert.equal(await handles.share('b'), null);
  await handles.release(first);
  assert.ok(handles.get(second));
  assert.throws(() => handles.get(first), { code: 'data.handle' });
  await handles.release(first);
  assert.deepEqual(freed, [], 'released twice it takes nothing from the other');
  await handles.close();
  assert.deepEqual(freed, ['a']);
});

test('the last that was let go stays until others are asked for, or let go', async () => {
  const { handles, make, freed } = setUp();
  await handles.release(make('a'));
  const again = (await handles.share('a'))!.handle;
  await handles.release(again);
  assert.deepEqual(freed, []);
  assert.equal(await handles.share('b'), null);
  assert.deepEqual(freed, ['a']);
  const [b, c] = [make('b'), make('c')];
  await handles.release(b);
  await handles.release(c);
  assert.deepEqual(freed, ['a', 'b']);
  await handles.close();
  assert.deepEqual(freed, ['a', 'b', 'c']);
});

test('two that are let go at the same time are both freed', async () => {
  const { handles, make, freed } = setUp();
  const [a, b, c] = ['a', 'b', 'c'].map(make);
  await handles.release(a);
  await Promise.all([handles.release(b), handles.release(c)]);
  await handles.close();
  assert.deepEqual(freed, ['a', 'b', 'c']);
});

test('a handle of a process that is gone is none of the one that serves now', async () => {
  const [before, now] = [setUp(), setUp()];
  const [old, held] = [before.make('a'), now.make('b')];
  await now.handles.release(old);
  assert.ok(now.handles.get(held));
  assert.throws(() => now.handles.get(old), { code: 'data.handle' });
});

test('the data service prepares the same dataset in the same way once, and otherwise anew', async (context) => {
  const lines = Array.from({ length: 50 }, (_, row) => `${row},${row % 2}`);
  const { service, info } = await importFile(context, writeTable(context, 'a.csv', `x,y\n${lines.join('\n')}\n`));
  let stages = 0;
  service.onProgress(() => stages++);
  const prepare = async (seed: number): Promise<[string, number]> => {
    const before = stages;
    const options = { settings: { target: 'y' }, seed };
    const { handle } = await service.prepare({ job: 'p', dataset: info.id, options });
    return [handle, stages - before];
  };
  const [first, made] = await prepare(1);
  const [second, shared] = await prepare(1);
  assert.ok(made > 0 && shared === 0, `${made} and ${shared} reports`);
  assert.deepEqual(
    await service.readShard({ handle: first, shard: 0 }),
    await service.readShard({ handle: second, shard: 0 }),
  );
  await service.release({ handle: first });
  await service.release({ handle: second });
  assert.equal((await prepare(1))[1], 0);
  assert.ok((await prepare(2))[1] > 0);
  await service.remove({ dataset: info.id });
  await assert.rejects(prepare(2), { code: 'input.unknown_dataset' });
});
