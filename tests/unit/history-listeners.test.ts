// Who listens to the history: what is heard of changes by this process and by others.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createStore } from '../../engine/history/store.ts';
import type { RunsChanged, StoreService } from '../../engine/protocol/store.ts';
import { newRun, point, temporaryHome } from './fixtures/history.ts';

test('listeners hear of this process at once and of another one soon', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const other = createStore(home);
  const events: (readonly number[])[] = [];
  const next = (): Promise<readonly number[]> =>
    new Promise((resolve) => {
      const stop = store.onChanged(({ runs }) => {
        stop();
        resolve(runs);
      });
    });
  const stopCounting = store.onChanged(({ runs }) => events.push(runs));

  const heard = next();
  const { id } = await store.createRun(newRun());
  assert.deepEqual(await heard, [id]);

  const fromOther = next();
  const second = await other.createRun(newRun());
  assert.deepEqual(await fromOther, [second.id], 'and nothing twice');

  const metrics = next();
  await store.append({ run: id, points: [point('val_loss', 1, 1)] });
  assert.deepEqual(await metrics, [id]);
  stopCounting();
  assert.equal(events.length, 3);
  await store.close();
  await other.close();
});

test('listeners hear whether a run has only trained on, whoever else has changed it', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const other = createStore(home);
  const { id } = await store.createRun(newRun());
  const heard = async (act: () => Promise<unknown>): Promise<RunsChanged> => {
    const event = new Promise<RunsChanged>((resolve) => {
      const stop = store.onChanged((change) => {
        stop();
        resolve(change);
      });
    });
    await act();
    return event;
  };
  const train = (step: number, ...messages: string[]): Promise<unknown> =>
    store.append({
      run: id,
      points: [point('val_loss', step, 1)],
      log: messages.map((message) => ({ time: 1, level: 'info', message })),
    });
  const rename = (by: StoreService): Promise<unknown> => by.updateRun({ run: id, patch: { name: 'other' } });
  const [trained, changed] = [
    { runs: [id], trained: [id], logged: [] },
    { runs: [id], trained: [], logged: [] },
  ];

  assert.deepEqual(await heard(() => train(1)), trained);
  assert.deepEqual(await heard(() => train(2, 'Epoch 1').then(() => train(3))), { ...trained, logged: [id] });
  const data = new Uint8Array(1);
  assert.deepEqual(await heard(() => store.writeFile({ run: id, file: 'checkpoint.bin', data })), trained);
  assert.deepEqual(await heard(() => rename(store)), changed);
  assert.deepEqual(await heard(() => train(4)), trained, 'of what was changed before, it was told');
  assert.deepEqual(await heard(() => rename(other)), changed);
  const between = (): Promise<unknown> =>
    train(5)
      .then(() => rename(other))
      .then(() => train(6));
  assert.deepEqual(await heard(between), changed, 'a change by another process in between');
  assert.deepEqual(await heard(() => rename(other).then(() => train(7))), changed, 'and before');
  await store.close();
  await other.close();
});

test('listeners hear of runs that are removed for good, by whomever, once', async (context) => {
  const home = temporaryHome(context);
  const store = createStore(home);
  const other = createStore(home);
  const runs: number[] = [];
  for (const _ of [1, 2]) runs.push((await store.createRun(newRun())).id);
  for (const run of runs) await store.updateRun({ run, patch: { state: 'completed' } });
  await store.deleteRuns({ runs });
  const events: (readonly number[])[] = [];
  let heard: () => void = () => undefined;
  store.onChanged((event) => {
    events.push(event.runs);
    heard();
  });
  const next = (): Promise<void> => new Promise((resolve) => (heard = resolve));
  for (const [act, run] of [
    [() => other.purge({ runs: [runs[0]] }), runs[0]],
    [() => store.purge({ runs: [runs[1]] }), runs[1]],
    [() => other.createRun(newRun()), runs[1] + 1],
  ] as const) {
    const hearing = next();
    await act();
    await hearing;
    assert.deepEqual(events.splice(0), [[run]]);
  }
  await store.close();
  await other.close();
});
