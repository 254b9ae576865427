// `serve`: a finished run over HTTP, asked by real clients: right answers at 1, 8 and 64 connections, nothing for strangers, one clear
// error for what cannot be understood, and an end with Ctrl-C.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { explainPort } from '../../engine/serving/server.node.ts';
import { lastEvent, penguins, startTrainyard, temporaryHome, trainyard } from '../support/cli.ts';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const penguin = {
  island: 'Biscoe',
  bill_length_mm: 46.1,
  bill_depth_mm: 13.2,
  flipper_length_mm: 211,
  body_mass_g: 4500,
  sex: 'female',
};

test('serve answers programs of this machine that have the token, and nobody else', async (t) => {
  const home = temporaryHome(t);
  await lastEvent(home, 'train', penguins, '--epochs', '5', '--threads', '1');
  const running = startTrainyard(home, ['serve', '1', '--json']);
  t.after(() => running.child.kill('SIGKILL'));
  const { address, token, model } = (await running.event('serving')) as Record<'address' | 'token' | 'model', string>;
  const { port } = new URL(address);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (at: string, body?: unknown, options: http.RequestOptions = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      };
      const method = options.method ?? (body === undefined ? 'GET' : 'POST');
      const request = http.request(address + at, { agent, ...options, method, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += String(chunk)));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text || '{}') as Answer['body'] }),
        );
      });
      request.on('error', reject);
      request.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
    });

  await t.test('both protocols say what predict says', async () => {
    const out = path.join(home, 'out.csv');
    await lastEvent(home, 'predict', '1', penguins, '--out', out);
    const [, first] = readFileSync(out, 'utf8').split('\n');
    const [, prediction, ...shares] = first.split(',');
    const row = {
      island: 'Torgersen',
      bill_length_mm: 39.1,
      bill_depth_mm: 18.7,
      flipper_length_mm: 181,
      body_mass_g: 3750,
      sex: 'male',
    };
    const plain = (await ask('/predict', row)).body.predictions as {
      prediction: string;
      probabilities: Record<string, number>;
    }[];
    assert.equal(plain[0].prediction, prediction);
    Object.values(plain[0].probabilities).forEach((share, k) => assert.ok(Math.abs(share - Number(shares[k])) < 1e-6));
    const inputs = Object.entries(row).map(([name, value]) => ({
      name,
      shape: [2],
      datatype: typeof value === 'number' ? 'FP64' : 'BYTES',
      data: [value, name === 'sex' ? null : value],
    }));
    const { body } = await ask(`/v2/models/${model}/infer`, { id: 'a', inputs });
    assert.deepEqual([body.model_name, body.id], [model, 'a']);
    const [labels, all] = body.outputs as { name: string; shape: number[]; data: unknown[] }[];
    assert.deepEqual(
      [labels.name, labels.data[0], all.name, all.shape],
      ['prediction', prediction, 'probabilities', [2, 3]],
    );
    // What cannot be used is told here too, whichever outputs were asked for.
    const odd2 = inputs.map((one) => (one.name === 'island' ? { ...one, data: ['Mars', 'Biscoe'] } : one));
    const told = (await ask(`/v2/models/${model}/infer`, { inputs: odd2 })).body;
    const reasons = (told.outputs as { name: string; data: unknown[] }[]).find(({ name }) => name === 'reasons');
    assert.deepEqual(reasons?.data, ['island: "Mars" is unknown', '']);
    const outputs = [{ name: 'prediction' }];
    const few = (await ask(`/v2/models/${model}/infer`, { inputs: odd2, outputs })).body;
    assert.deepEqual([few.parameters, (few.outputs as unknown[]).length], [{ rows_with_reasons: 1 }, 1]);
    const { body: described } = await ask(`/v2/models/${model}`);
    assert.deepEqual(
      (described.inputs as { name: string }[]).map(({ name }) => name),
      Object.keys(row),
    );
    assert.equal((await ask('/v2/health/live')).status, 200);
    assert.deepEqual((await ask('/v2/health/ready')).body, { ready: true });
    const odd = await ask('/predict', { rows: [{ ...penguin, island: 'Mars', sex: 'MALE' }] });
    assert.deepEqual((odd.body.predictions as { reasons: string[] }[])[0].reasons, ['island: "Mars" is unknown']);
  });

  await t.test('numbers are read as in files, and columns that look exchanged are named', async () => {
    const [header, ...lines] = readFileSync(penguins, 'utf8').trim().split(/\r?\n/);
    const names = header.split(',');
    const rows = lines
      .map((line) => Object.fromEntries(line.split(',').map((cell, at) => [names[at], cell])))
      .filter(({ body_mass_g: mass }) => Number(mass) > 0);
    const right = await ask('/predict', rows);
    assert.deepEqual(Object.keys(right.body), ['predictions']);
    const marked = rows.map((row) => ({ ...row, body_mass_g: Number(row.body_mass_g).toLocaleString('en') }));
    assert.match(marked[0].body_mass_g, /^\d,\d{3}$/);
    assert.deepEqual((await ask('/predict', marked)).body, right.body);
    const exchanged = rows.map((row) => ({
      ...row,
      body_mass_g: row.flipper_length_mm,
      flipper_length_mm: row.body_mass_g,
    }));
    const { warnings } = (await ask('/predict', exchanged)).body as { warnings: readonly string[] };
    assert.match(warnings.join(' '), /body_mass_g looks like flipper_length_mm: its mean is 20\d/);
    const inputs = names
      .filter((name) => name !== 'species')
      .map((name) => ({
        name,
        shape: [rows.length],
        datatype: 'BYTES',
        data: exchanged.map((row) => (row as Record<string, string>)[name]),
      }));
    const { parameters } = (await ask(`/v2/models/${model}/infer`, { inputs })).body;
    assert.equal((parameters as { warnings: string }).warnings, warnings.join(' '));
    assert.equal((await ask('/predict', exchanged.slice(0, 5))).body.warnings, undefined, 'five rows tell nothing');
  });

  await t.test('strangers, pages and other names are refused', async () => {
    const refused = async (headers: Record<string, string>): Promise<number> =>
      (await ask('/predict', penguin, { headers })).status;
    assert.equal(await refused({ authorization: '' }), 401);
    assert.equal(await refused({ authorization: 'Bearer ty_wrong' }), 401);
    assert.equal(await refused({ host: `evil.example:${port}` }), 421);
    assert.equal(await refused({ origin: 'http://evil.example' }), 403);
    assert.equal(await refused({ host: `localhost:${port}` }), 200);
    assert.equal((await ask('/v2/health/live', undefined, { headers: { authorization: '' } })).status, 401);
    await assert.rejects(connects('127.0.0.2', Number(port)), 'only the loopback address is bound');
  });

  await t.test('what cannot be understood gets one clear error', async () => {
    const errors: readonly (readonly [at: string, body: unknown, status: number, message: RegExp])[] = [
      ['/predict', '{"island": ', 400, /The body is no JSON/],
      ['/predict', '[]', 200, /predictions/],
      ['/predict', '{"island": "Biscoe", "bill_length_mm": 1e400}', 400, /"bill_length_mm" is beyond ±1\.8e308/],
      ['/predict', '"x"', 400, /Row 1 is no object/],
      ['/predict', { island: 'Biscoe' }, 400, /Row 1 has no "bill_length_mm"/],
      ['/predict', Array.from({ length: 10_001 }, () => ({})), 400, /10001 rows are too many/],
      ['/predict', 'x'.repeat(17 * 2 ** 20), 413, /larger than 16 MiB/],
      [`/v2/models/${model}/infer`, { inputs: [] }, 400, /inputs/],
      [
        `/v2/models/${model}/infer`,
        { inputs: [{ name: 'sex', shape: [2], datatype: 'BYTES', data: ['male'] }] },
        400,
        /"sex" has the shape \[2\] and 1 values/,
      ],
      [
        `/v2/models/${model}/infer`,
        { inputs: [{ name: 'body_mass_g', shape: [1], datatype: 'FP64', data: ['heavy'] }] },
        400,
        /"body_mass_g" is of FP64, and value 1 is "heavy"/,
      ],
      [
        `/v2/models/${model}/infer`,
        { inputs: [1, 2].map((data) => ({ name: 'body_mass_g', shape: [1], datatype: 'FP64', data: [data] })) },
        400,
        /"body_mass_g" is there twice/,
      ],
      [
        `/v2/models/${model}/infer`,
        { inputs: [{ name: 'sex', shape: [1], datatype: 'BYTES', data: ['male'] }], outputs: [{ name: 'nope' }] },
        400,
        /no output "nope"/,
      ],
      ['/v2/models/other/infer', {}, 404, /There is nothing at/],
      ['//', {}, 404, /There is nothing at/],
    ];
    for (const [at, body, status, message] of errors) {
      const answer = await ask(at, body);
      assert.equal(answer.status, status, at);
      assert.match(String(answer.body.error ?? Object.keys(answer.body)), message);
    }
    // Whoever still sends hears why it is too much, on a connection that goes on.
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    for (let time = 0; time < 5; time++) {
      const { status, body } = await ask('/predict', ' '.repeat(20 * 2 ** 20), chunked);
      assert.equal(status, 413);
      assert.match(String(body.error), /larger than 16 MiB/);
    }
    assert.equal((await ask('/predict', penguin)).status, 200);
    assert.equal((await ask('/predict')).status, 405);
    assert.equal((await ask('/predict', penguin, { headers: { 'content-type': 'text/plain' } })).status, 415);
    assert.match(await raw(Number(port), 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400 .*no HTTP request/s);
  });

  await t.test('the median of one row stays low at 1, 8 and 64 connections', async (t) => {
    for (const connections of [1, 8, 64]) {
      const many = new http.Agent({ keepAlive: true, maxSockets: connections });
      const times: number[] = [];
      const each = Math.ceil(600 / connections);
      const began = performance.now();
      await Promise.all(
        Array.from({ length: connections }, async (_, client) => {
          for (let at = 0; at < each; at++) {
            const start = performance.now();
            const mass = 3000 + 10 * client;
            const { status, body } = await ask('/predict', { ...penguin, body_mass_g: mass }, { agent: many });
            times.push(performance.now() - start);
            assert.equal(status, 200);
            assert.equal((body.predictions as unknown[]).length, 1);
          }
        }),
      );
      const seconds = (performance.now() - began) / 1000;
      many.destroy();
      times.sort((a, b) => a - b);
      const median = times[times.length >> 1];
      t.diagnostic(
        `${connections} connections: ${median.toFixed(2)} ms at the median, ${(times.length / seconds).toFixed(0)} requests a second`,
      );
      // A loaded machine: far above what is promised for one row, so that only a fault fails.
      assert.ok(median < 3 * Math.max(4, connections), `${median} ms at ${connections} connections`);
    }
  });

  await t.test('Ctrl-C ends it', async () => {
    running.child.kill('SIGINT');
    const { code, events } = await running.finished;
    assert.equal(code, 0);
    const last = events.at(-1) as { event: string; requests: number; median_ms: number };
    assert.equal(last.event, 'stopped');
    assert.ok(last.requests > 1800 && last.median_ms > 0);
    agent.destroy();
    await assert.rejects(connects('127.0.0.1', Number(port)));
  });

  await t.test('the line that is printed for curl is answered', async (t) => {
    const shown = startTrainyard(home, ['serve', '1', '--token', token]);
    t.after(() => shown.child.kill('SIGKILL'));
    let text = '';
    await new Promise<void>((resolve) =>
      shown.child.stdout?.on('data', (chunk: Buffer) => {
        text += String(chunk);
        if (/^ {2}curl .*\n/m.test(text)) resolve();
      }),
    );
    const line = /^ {2}curl .*$/m.exec(text)?.[0] ?? '';
    const given = [...line.matchAll(/-([Hd]) '((?:[^']|'\\'')*)'/g)].map(([, option, value]) => [option, value]);
    // What curl says of a body when nothing else is said.
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    for (const [option, value] of given) {
      if (option === 'H') headers.set(value.split(': ')[0], value.split(': ')[1]);
    }
    const body = given.find(([option]) => option === 'd')?.[1].replaceAll("'\\''", "'");
    const answer = await fetch(line.split(' ').at(-1)!, { method: 'POST', headers, body });
    const { predictions } = (await answer.json()) as { predictions?: unknown[] };
    assert.equal(predictions?.length, 1, text);
  });

  await t.test('a port that is taken and a token that is too short are refused', async () => {
    const taken = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port: busy } = taken.address() as net.AddressInfo;
    const refused = await trainyard(home, 'serve', '1', '--port', String(busy));
    taken.close();
    assert.deepEqual([refused.code, /another program has it/.test(refused.stderr)], [2, true]);
    assert.equal((await trainyard(home, 'serve', '1', '--token', 'short')).code, 2);
  });
});

function connects(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port }, () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: '127.0.0.1', port }, () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}

test('a port that the account may not use is told in words', () => {
  const { message } = explainPort(80, Object.assign(new Error('listen EACCES'), { code: 'EACCES' }));
  assert.match(message, /^Port 80 of this machine cannot be used: this account may not use it/);
});
