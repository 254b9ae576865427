// Services over ports: calls, events, errors, binary payloads, validation and what happens when the other side goes,
// over in-memory ports, DOM ports, a worker thread and a child process.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import test from 'node:test';
import { MessageChannel as ThreadChannel, Worker } from 'node:worker_threads';
import { z } from 'zod';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import { createPortPair } from '../../engine/protocol/port.ts';
import type { Port } from '../../engine/protocol/port.ts';
import { domPort } from '../../engine/protocol/port.dom.ts';
import { electronPort, parentPort, utilityProcessPort } from '../../engine/protocol/port.electron.ts';
import { processPort, threadPort } from '../../engine/protocol/port.node.ts';
import { announceFailure, announceReady, whenReady } from '../../engine/protocol/port.ready.ts';
import { connect, serve } from '../../engine/protocol/rpc.ts';
import { createEcho } from './fixtures/echo.ts';
import type { EchoService } from './fixtures/echo.ts';

const fixture = new URL('./fixtures/echo.ts', import.meta.url);

/** The promises every kind of port keeps. */
async function checkService(remote: EchoService): Promise<void> {
  const request = { text: 'größe', nested: [1, null, { deep: true }], bytes: new Uint8Array([0, 255, 7]) };
  assert.deepEqual(await remote.echo(request), request);
  assert.equal(await remote.echo(undefined), undefined);

  const doubled = await remote.double({ values: new Float32Array([0.1, -1e-30, NaN, Infinity]) });
  assert.ok(doubled instanceof Float32Array);
  assert.deepEqual(
    doubled,
    new Float32Array([0.1, -1e-30, NaN, Infinity]).map((value) => 2 * value),
  );

  await assert.rejects(remote.fail(), (error: unknown) => {
    assert.ok(error instanceof InputError);
    assert.deepEqual([error.code, error.message, error.hint], ['input.test', 'Nothing fits.', 'Try another.']);
    return true;
  });

  const seen: number[] = [];
  const stop = remote.onCount((value) => seen.push(value));
  await remote.count({ to: 3 });
  stop();
  await remote.count({ to: 3 });
  assert.deepEqual(seen, [1, 2, 3], 'events arrive before the answer of the call that caused them, and end');
}

const isDisconnected = (error: unknown): boolean =>
  error instanceof TrainyardError && error.code === 'internal.disconnected';

test('a service over in-memory ports', async () => {
  const [near, far] = createPortPair();
  serve<EchoService>(far, createEcho());
  await checkService(connect<EchoService>(near));
});

test('a service over MessagePorts of the DOM', async () => {
  const { port1, port2 } = new MessageChannel();
  const near = domPort(port1);
  serve<EchoService>(domPort(port2), createEcho());
  await checkService(connect<EchoService>(near));
  near.close();
});

test('a service over MessagePorts of worker_threads; closing one side closes the other', async () => {
  const { port1, port2 } = new ThreadChannel();
  const near = threadPort(port1);
  const far = threadPort(port2);
  serve<EchoService>(far, createEcho());
  await checkService(connect<EchoService>(near));
  const closed = new Promise<void>((resolve) => far.onClose(resolve));
  near.close();
  await closed;
});

test('a service in a worker thread; when it dies, pending calls reject', async () => {
  const worker = new Worker(fixture);
  const remote = connect<EchoService>(threadPort(worker), { peer: 'the worker' });
  await checkService(remote);
  await assert.rejects(remote.die(), isDisconnected);
  await assert.rejects(remote.echo(1), /the worker was closed before "echo" was answered/);
});

test('a service in a child process; when it is killed, pending and later calls reject', async () => {
  const child = fork(fixture, { serialization: 'advanced' });
  const remote = connect<EchoService>(processPort(child), { peer: 'the child process' });
  await checkService(remote);
  await assert.rejects(remote.die(), isDisconnected);
  await assert.rejects(remote.echo(1), isDisconnected);
});

test('closing a child process port lets the process end by itself', async () => {
  const child = fork(fixture, { serialization: 'advanced' });
  const port = processPort(child);
  await connect<EchoService>(port).echo(1);
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  port.close();
  assert.equal(await exited, 0);
});

/** Electron's ports, as its documentation describes them: events carry `{data}`, except on a UtilityProcess. */
function electronChannel(): {
  main: EventEmitter & { postMessage(message: unknown): void; kill(): boolean };
  child: EventEmitter & { postMessage(message: unknown): void; start(): void; close(): void };
} {
  const main = Object.assign(new EventEmitter(), {
    postMessage: (message: unknown) =>
      void setImmediate(() => child.emit('message', { data: structuredClone(message) })),
    kill: () => main.emit('exit'),
  });
  const child = Object.assign(new EventEmitter(), {
    postMessage: (message: unknown) => void setImmediate(() => main.emit('message', structuredClone(message))),
    start: () => undefined,
    close: () => void child.emit('close'),
  });
  return { main, child };
}

test('a service over the ports of an Electron utility process', async () => {
  const { main, child } = electronChannel();
  const remote = connect<EchoService>(utilityProcessPort(main));
  serve<EchoService>(parentPort(child), createEcho());
  await checkService(remote);
  const pending = remote.echo(1);
  main.kill();
  await assert.rejects(pending, isDisconnected);
});

test('a MessagePortMain closes once, whoever closes it', () => {
  const { child } = electronChannel();
  const port = electronPort(child);
  let closed = 0;
  port.onClose(() => closed++);
  child.emit('close');
  port.close();
  assert.equal(closed, 1);
  port.onClose(() => closed++);
  assert.equal(closed, 2, 'a late listener learns it at once');
});

test('several services in both directions share one port', async () => {
  const [near, far] = createPortPair();
  serve(far, { name: async () => 'far' }, { service: 'a' });
  serve(near, { name: async () => 'near' }, { service: 'a' });
  serve(far, { name: async () => 'other' }, { service: 'b' });
  interface Named {
    name(): Promise<string>;
  }
  const names = [
    connect<Named>(near, { service: 'a' }).name(),
    connect<Named>(far, { service: 'a' }).name(),
    connect<Named>(near, { service: 'b' }).name(),
  ];
  assert.deepEqual(await Promise.all(names), ['far', 'near', 'other']);
});

test('one subscription crosses the port for many listeners, and none is left after the last or after closing', async () => {
  const [near, far] = createPortPair();
  const echo = createEcho();
  serve<EchoService>(far, echo);
  const remote = connect<EchoService>(near);
  const stops = [remote.onCount(() => undefined), remote.onCount(() => undefined)];
  await remote.echo(0);
  assert.equal(await echo.listenerCount(), 1);
  stops[0]();
  stops[0]();
  await remote.echo(0);
  assert.equal(await echo.listenerCount(), 1);
  stops[1]();
  await remote.echo(0);
  assert.equal(await echo.listenerCount(), 0);

  remote.onCount(() => undefined);
  await remote.echo(0);
  assert.equal(await echo.listenerCount(), 1);
  near.close();
  assert.equal(await echo.listenerCount(), 0);
});

test('only functions of the implementation can be called', async () => {
  const [near, far] = createPortPair();
  serve(far, createEcho());
  const remote = connect<Record<'constructor' | 'toString' | 'missing', () => Promise<unknown>>>(near);
  for (const name of ['constructor', 'toString', 'missing'] as const) {
    await assert.rejects(remote[name](), /has no/);
  }
  near.postMessage({ service: 'default', kind: 'listen', name: 'onMissing' });
  near.postMessage('garbage');
  near.postMessage(null);
  await connect<EchoService>(near).echo('still there');
});

test('requests are validated where they arrive; a method without a schema is refused', async () => {
  const [near, far] = createPortPair();
  const validate = { count: z.strictObject({ to: z.int().max(10) }) };
  serve<EchoService>(far, createEcho(), { validate });
  const remote = connect<EchoService>(near);
  await remote.count({ to: 1 });
  await assert.rejects(remote.count({ to: 11 }), (error: unknown) => {
    assert.ok(error instanceof InputError);
    assert.match(error.message, /^"count" was refused: to: .*10/);
    return true;
  });
  await assert.rejects(remote.count(undefined as never), InputError);
  await assert.rejects(remote.echo(1), /"echo" may not be called from here/);
  const hostile = connect<{ valueOf(): Promise<unknown> }>(near);
  await assert.rejects(hostile.valueOf(), /may not be called/);
});

test('what cannot be copied rejects the call it belongs to', async () => {
  const [near, far] = createPortPair();
  serve(far, { give: async () => ({ secret: () => 1 }) });
  const remote = connect<{ give(request?: unknown): Promise<unknown> }>(near);
  await assert.rejects(remote.give(), /could not be cloned/);
  await assert.rejects(
    remote.give(() => 1),
    /could not be cloned/,
  );
});

test('a remote service can be returned from an async function', async () => {
  const [near, far] = createPortPair();
  serve<EchoService>(far, createEcho());
  const remote = await Promise.resolve(connect<EchoService>(near));
  assert.equal(await remote.echo(5), 5);
});

test('a process says that it is ready, or why it is not', async () => {
  const pairs: [Port, Port][] = [];
  for (let index = 0; index < 3; index++) pairs.push([...createPortPair()]);
  announceReady(pairs[0][1]);
  await whenReady(pairs[0][0], 'The host');
  announceFailure(pairs[1][1], new InputError('store.newer', 'Too new.', 'Update.'));
  await assert.rejects(whenReady(pairs[1][0], 'The host'), (error: unknown) => {
    assert.ok(error instanceof InputError);
    assert.equal(error.hint, 'Update.');
    return true;
  });
  const waiting = whenReady(pairs[2][0], 'The host');
  pairs[2][1].close();
  await assert.rejects(waiting, /The host ended before it was ready/);
});
