// `auto` with two real trainers: a slowed one stands for the slower device. Both are measured once, the faster trains, and
// the figures are said and remembered.

import assert from 'node:assert/strict';
import test from 'node:test';
import { processOwner } from '../../engine/history/owner.ts';
import { createStore } from '../../engine/history/store.ts';
import { FilePredictions, type PredictionParts } from '../../electron/main/predictions.ts';
import { ServedModels, type ServedModelParts } from '../../electron/main/served-models.ts';
import type { RunConfig } from '../../engine/protocol/runs.ts';
import type { RunHosts } from '../../engine/runs/hosts.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { createTrainerHost } from '../../engine/learners/host.ts';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { temporaryHome } from './fixtures/history.ts';
import { createTableData, linearConfig, tableConfig, tableShard } from './fixtures/training.ts';

/** Trainers whose clocks run at different speeds: `factor` makes a device look so much slower. */
function hostsOf(factor: Readonly<Record<'cpu' | 'gpu', number>>, gpu: string | null): RunHosts & { made: string[] } {
  const made: string[] = [];
  return {
    made,
    gpu: async () => gpu,
    create: async (device: RunConfig['device']) => {
      made.push(device);
      const clock = () => performance.now() * factor[device === 'gpu' ? 'gpu' : 'cpu'];
      const host = createTrainerHost({
        createBackend: async ({ config }) => {
          assert.equal(config.device, device, 'the job names the device it runs on');
          return createCpuBackend({ threads: 1 });
        },
        readShard: async (_, shard) => tableShard(shard),
        surroundings: { clock, now: () => Date.now(), breathe: () => new Promise((resolve) => setImmediate(resolve)) },
        dataBudget: 1e9,
      });
      return { host, exited: new Promise<string>(() => undefined), kill: () => undefined };
    },
  };
}

for (const [faster, factor] of [
  ['gpu', { cpu: 50, gpu: 1 }],
  ['cpu', { cpu: 1, gpu: 50 }],
] as const) {
  test(`auto measures both devices once and takes the ${faster}`, async (context) => {
    const store = createStore(temporaryHome(context));
    context.after(() => store.close());
    const hosts = hostsOf(factor, 'Test GPU');
    const manager = createRunManager({ store, data: createTableData(), hosts, owner: processOwner() });
    const train = async () => {
      const { id } = await manager.start({ config: tableConfig(2, { device: 'auto' }) });
      await manager.finished({ run: id });
      return (await store.log({ run: id })).map((line) => line.message).join('\n');
    };
    assert.match(await train(), /Measured: CPU .* ms a step, GPU \(Test GPU\) .* ms a step/);
    assert.deepEqual(hosts.made, ['cpu', 'gpu', faster]);
    assert.match(await train(), /Measured before/);
    assert.deepEqual(hosts.made, ['cpu', 'gpu', faster, faster]);
  });
}

test('a GPU whose host does not start is none to choose, and nothing prepared is left over', async (context) => {
  const store = createStore(temporaryHome(context));
  context.after(() => store.close());
  const hosts = hostsOf({ cpu: 1, gpu: 1 }, 'Test GPU');
  const { create } = hosts;
  hosts.create = async (device) =>
    device === 'gpu' ? Promise.reject(new Error('its window did not load')) : create(device);
  const made = createTableData();
  const prepare: typeof made.prepare = async (request) => ({
    ...(await made.prepare(request)),
    preprocessing: { features: [] },
  });
  const data = { ...made, prepare };
  const manager = createRunManager({ store, data, hosts, owner: processOwner() });
  const { id } = await manager.start({ config: tableConfig(2, { device: 'auto' }) });
  assert.equal((await manager.finished({ run: id })).state, 'completed');
  const log = (await store.log({ run: id })).map((line) => line.message).join('\n');
  assert.match(log, /The GPU could not be measured: its window did not load/);
  assert.equal(data.held.size, 0);

  const transform = () => data.prepare({ job: 'p', dataset: 'made', options: { settings: {}, seed: 1 } });
  const processes = { startCpuHost: () => Promise.reject(new Error('the process did not start')) };
  const parts = { store, data: { ...data, transform }, processes, dialogs: {} } as unknown as PredictionParts;
  await assert.rejects(new FilePredictions(parts).predict({ job: 'p', run: id, paths: ['rows.csv'] }), /did not start/);
  assert.equal(data.held.size, 0, 'of a prediction too');

  // Cancelled while its process starts: neither predicted nor left over.
  let begin = (_host: unknown): void => undefined;
  const starting = new Promise((resolve) => (begin = resolve));
  let asked = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const calls: string[] = [];
  const slow = {
    startCpuHost: () => {
      asked();
      return starting;
    },
  };
  const predictions = new FilePredictions({ ...parts, processes: slow } as unknown as PredictionParts);
  const cancelled = predictions.predict({ job: 'c', run: id, paths: ['rows.csv'] });
  await isAsked;
  predictions.cancel('c');
  const predictor = { onPredicted: () => () => calls.push('stop'), predict: () => calls.push('predict') };
  begin({ predictor, kill: () => calls.push('kill') });
  await assert.rejects(cancelled, { name: 'CancelledError' });
  assert.deepEqual([calls, data.held.size], [['stop', 'kill'], 0]);
});

test('the end of a process that was replaced does not end the one that serves now', async (context) => {
  const store = createStore(temporaryHome(context));
  context.after(() => store.close());
  const manager = createRunManager({
    store,
    data: createTableData(),
    hosts: hostsOf({ cpu: 1, gpu: 1 }, null),
    owner: processOwner(),
  });
  const { id } = await manager.start({ config: tableConfig(1, { device: 'cpu' }) });
  await manager.finished({ run: id });
  const ends: (() => void)[] = [];
  const startCpuHost = () => {
    let end = (): void => undefined;
    const exited = new Promise<void>((resolve) => (end = resolve));
    ends.push(end);
    const served = {
      open: async () => ({ fields: [] }),
      listen: async () => ({ address: `http://127.0.0.1:${ends.length}` }),
      counts: async () => ({ requests: 0 }),
      unlisten: async () => undefined,
    };
    return Promise.resolve({ served, exited, kill: () => undefined });
  };
  const models = new ServedModels({ store, processes: { startCpuHost } } as unknown as ServedModelParts);
  await models.open(id);
  await models.close(id);
  await models.serve(id);
  ends[0]();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    (await models.list()).map(({ address }) => address),
    ['http://127.0.0.1:2'],
  );
  await models.changed([id]);
  assert.equal((await models.list()).length, 1, 'a change of its name, say');
  // In the trash it answers nobody.
  await store.deleteRuns({ runs: [id] });
  await models.changed([id]);
  assert.deepEqual(await models.list(), []);
});

test('a host that cannot measure a model, or trains already, says what to do', async () => {
  const { host } = await hostsOf({ cpu: 1, gpu: 1 }, null).create('cpu');
  const common = { dataset: 'made', settings: {}, device: 'cpu', threads: 0, seed: 3 } as const;
  const options = { settings: {}, seed: 3, forms: ['matrix'] } as const;
  const data = await createTableData().prepare({ job: 'one', dataset: 'made', options });
  await assert.rejects(host.measure({ run: 1, config: linearConfig(common), data }), {
    code: 'run.no_steps',
    hint: /Name a device/,
  });
  const job = { run: 1, config: tableConfig(2, { device: 'cpu' }), data };
  const first = host.train(job);
  await assert.rejects(host.train({ ...job, run: 2 }), { code: 'run.busy', hint: /Wait for that run/ });
  await first;
});

test('without a GPU auto is the CPU, with nothing measured', async (context) => {
  const store = createStore(temporaryHome(context));
  context.after(() => store.close());
  const hosts = hostsOf({ cpu: 1, gpu: 1 }, null);
  const manager = createRunManager({ store, data: createTableData(), hosts, owner: processOwner() });
  const { id } = await manager.start({ config: tableConfig(2, { device: 'auto' }) });
  assert.equal((await manager.finished({ run: id })).state, 'completed');
  assert.deepEqual(hosts.made, ['cpu']);
});
