// The native addon next to WASM: the same results within rounding on every instruction set this machine has, mixed programs,
// and that it can be left out. Skipped, saying so, where no C compiler was there to build it.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative, loadNative } from '../../engine/backends/cpu/native.ts';
import type { Call } from '../../engine/plan/plan.ts';
import { activationCodes } from '../../kernels/activations.ts';
import { elementCount } from '../../kernels/contract.ts';
import { inputShape, outputShape, weightShape, type Convolution } from '../../kernels/convolution.ts';
import { placesOf, runCalls } from '../support/calls.ts';
import { goldenNames, readGolden, replay } from '../golden/golden.ts';

const addon = findNative();
const skip = addon === undefined ? 'no native addon was built: no C compiler' : false;

/** Losses of the first steps of a golden model. */
async function losses(name: string, native: string | false, threads: number): Promise<readonly number[]> {
  const backend = createCpuBackend({ threads, native });
  const result = await replay(readGolden(name), backend);
  await backend.close();
  return result.losses;
}

test('1. trains like WASM, whose calls stand between the native ones', { skip }, async () => {
  for (const name of goldenNames) {
    const wasm = await losses(name, false, 1);
    for (const threads of [1, 2]) {
      const native = await losses(name, addon!, threads);
      native.forEach((loss, step) => {
        assert.ok(
          Math.abs(loss - wasm[step]) <= 1e-5 * wasm[step],
          `${name}, step ${step}: ${loss}, WASM ${wasm[step]}`,
        );
      });
    }
  }
});

test('2. gives the same bits again', { skip }, async () => {
  for (const native of [false, addon!] as const) {
    for (const name of goldenNames) {
      assert.deepEqual(await losses(name, native, 2), await losses(name, native, 2));
    }
  }
});

test('3. is left out on request', { skip }, () => {
  const before = process.env.TRAINYARD_NATIVE;
  process.env.TRAINYARD_NATIVE = '0';
  try {
    assert.equal(findNative(), undefined);
    assert.match(createCpuBackend({ threads: 1 }).device.name, /SIMD$/);
  } finally {
    if (before === undefined) delete process.env.TRAINYARD_NATIVE;
    else process.env.TRAINYARD_NATIVE = before;
  }
  assert.equal(findNative('/nowhere/native.node'), undefined);
});

test('3. refuses a request that means nothing', () => {
  for (const [name, value, allowed] of [
    ['TRAINYARD_NATIVE', 'off', '0 or avx2'],
    ['TRAINYARD_WINOGRAD', 'off', '0'],
  ] as const) {
    const before = process.env[name];
    process.env[name] = value;
    try {
      const refused = {
        message: `The environment variable ${name} is “off”.`,
        hint: `Set it to ${allowed}, or not at all.`,
      };
      assert.throws(() => findNative(), refused);
      assert.throws(() => createCpuBackend({ threads: 1 }), refused);
    } finally {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  }
});

test('5. keeps what is not a number, as WASM does', async () => {
  const codes = Object.values(activationCodes);
  for (const native of addon === undefined ? ([false] as const) : ([false, addon] as const)) {
    const backend = createCpuBackend({ threads: 1, native });
    const place = (slot: number) => ({ slot, offset: 0 });
    const calls = codes.map((activation): Call => {
      const params = { m: 1, n: 33, k: 1, transposeA: 0, transposeB: 0, activation, slope: 0.1, gradient: 0 };
      return { kernel: 'matmul', inputs: [place(0), place(1), null, null], outputs: [place(2 + activation)], params };
    });
    const first = 2 + codes.length;
    const norm = { outer: 2, channels: 1, inner: 3, epsilon: 1e-5, momentum: 0.1, activation: 0, slope: 0 };
    const loss = { batch: 1, targets: 1, delta: 0.5, steps: 1 };
    calls.push(
      {
        kernel: 'batch_norm',
        inputs: [first, 1, 1].map(place),
        outputs: [1, 2, 3, 4, 5].map((i) => place(first + i)),
        params: norm,
      },
      {
        kernel: 'regression_loss',
        inputs: [0, 1].map(place),
        outputs: [6, 7].map((i) => place(first + i)),
        params: { ...loss, kind: 1 },
      },
      {
        kernel: 'regression_loss',
        inputs: [0, 1].map(place),
        outputs: [8, 9].map((i) => place(first + i)),
        params: { ...loss, kind: 2 },
      },
      {
        kernel: 'max_pool',
        inputs: [place(first + 10)],
        outputs: [place(first + 11)],
        params: { planes: 1, height: 5, width: 35, windowHeight: 3, windowWidth: 3, stride: 2, padding: 1 },
      },
    );
    const sizes = [1, 33, ...codes.map(() => 33), 6, 6, 1, 1, 1, 1, 1, 1, 1, 1, 5 * 35, 3 * 18];
    const executable = await backend.compile({
      slots: sizes.map((elements, id) => ({ id, elements, type: 'f32', kind: 'scratch', label: String(id) })),
      tensors: Object.fromEntries(sizes.map((size, id) => [id, { ...place(id), shape: [size], type: 'f32' }])),
      programs: { run: { name: 'run', batch: 1, calls, flops: 0, bytes: 0 } },
      stepCapacity: 1,
      checkpoint: [],
    });
    executable.write('0', Float32Array.of(NaN));
    executable.write('1', new Float32Array(33).fill(1));
    executable.write(String(first), Float32Array.of(1, 2, 3, 4, NaN, 6));
    // Elements (1, 1) and (2, 20): in four windows and in one.
    executable.write(
      String(first + 10),
      Float32Array.from({ length: 5 * 35 }, (_, i) => (i === 36 || i === 90 ? NaN : i)),
    );
    await executable.run('run', 1);
    const pooled = await executable.read(String(first + 11));
    const unknown = [...pooled.keys()].filter((i) => Number.isNaN(pooled[i]));
    assert.deepEqual(unknown, [0, 1, 18, 19, 28], native ? 'native' : 'WASM');
    for (const [name, code] of Object.entries(activationCodes)) {
      const result = await executable.read(String(2 + code));
      assert.ok(result.every(Number.isNaN), `${name}, ${native ? 'native' : 'WASM'}: ${result.join()}`);
    }
    // Of batch norm y, mean, deviation and both running ones; of losses value and gradient.
    for (let i = 1; i <= 9; i++) {
      const result = await executable.read(String(first + i));
      assert.ok(result.every(Number.isNaN), `${i}, ${native ? 'native' : 'WASM'}: ${result.join()}`);
    }
    await backend.close();
  }
});

/** Shapes beyond those of the parity tests: they need several blocks of channels, filters, rows, or weights packed piecemeal. */
const largeConvolutions = [
  { batch: 1, channels: 2, height: 3, width: 7000, filters: 3, kernel: 3, padding: 1 },
  { batch: 1, channels: 1, height: 2, width: 1500, filters: 70, kernel: 1 },
  { batch: 2, channels: 300, height: 5, width: 6, filters: 130, kernel: 3, padding: 1 },
  { batch: 1, channels: 9000, height: 1, width: 1, filters: 20, kernel: 1 },
  { batch: 1, channels: 40, height: 70, width: 70, filters: 13, kernel: 5, padding: 2, stride: 2 },
  { batch: 1, channels: 200, height: 30, width: 30, filters: 8, kernel: 3, padding: 1, dilation: 2 },
];

test('4. is left out where it does not load', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'trainyard-native-'));
  const broken = path.join(folder, 'native.node');
  writeFileSync(broken, 'not a library');
  assert.equal(findNative(broken), undefined);
  // Linux would end the process that loads one that is cut short.
  if (addon !== undefined) {
    const whole = readFileSync(addon);
    for (const bytes of [0, 63, 64, 4096, whole.length >> 1, whole.length - 1]) {
      writeFileSync(broken, whole.subarray(0, bytes));
      assert.equal(findNative(broken), undefined, `${bytes} bytes of ${whole.length}`);
    }
    writeFileSync(broken, whole);
    assert.equal(findNative(broken), broken);
  }
  rmSync(folder, { recursive: true });
});

test('6. convolves large shapes like WASM', { skip }, async () => {
  for (const sizes of largeConvolutions) {
    const params = { stride: 1, padding: 0, dilation: 1, groups: 1, activation: 0, slope: 0, gradient: 0, ...sizes };
    const [wasm, native] = [await convolve(false, params), await convolve(addon!, params)];
    for (const [name, expected] of Object.entries(wasm)) {
      const scale = expected.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
      const worst = expected.reduce((most, value, i) => Math.max(most, Math.abs(value - native[name][i])), 0);
      assert.ok(worst <= 1e-5 * scale, `${name} of ${JSON.stringify(sizes)}: differs by ${worst}, scale ${scale}`);
    }
  }
});

/** All three convolution kernels on the same data, results by name. */
async function convolve(
  native: string | false,
  params: Convolution & Readonly<Record<string, number>>,
): Promise<Readonly<Record<string, Float32Array>>> {
  const shapes = {
    x: inputShape(params),
    w: weightShape(params),
    dy: outputShape(params),
    y: outputShape(params),
    dx: inputShape(params),
    dw: weightShape(params),
    db: [params.filters],
  };
  const at = placesOf(shapes);
  const calls: readonly Call[] = [
    { kernel: 'conv2d', inputs: [at('x'), at('w'), null], outputs: [at('y')], params },
    { kernel: 'conv2d_input_grad', inputs: [at('dy'), at('w'), null, null], outputs: [at('dx')], params },
    { kernel: 'conv2d_weight_grad', inputs: [at('x'), at('dy')], outputs: [at('dw'), at('db')], params },
  ];
  const backend = createCpuBackend({ threads: 1, native });
  const waves = (shape: readonly number[]): Float32Array =>
    Float32Array.from({ length: elementCount(shape) }, (_, i) => Math.sin(i * 12.9898));
  const inputs = { x: waves(shapes.x), w: waves(shapes.w), dy: waves(shapes.dy) };
  const { y, dx, dw, db } = await runCalls(backend, shapes, calls, inputs);
  await backend.close();
  return { y, dx, dw, db };
}

test('7. the AVX2 kernels agree with their references too', { skip: skip || process.arch !== 'x64' }, () => {
  assert.ok(loadNative(addon!).kernels.length > 0);
  // Without the variable that makes a nested test runner skip its files.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const only = '--test-name-pattern=native';
  const child = spawnSync(process.execPath, ['--test', '--test-reporter=tap', only, 'tests/parity/cpu.test.ts'], {
    cwd: new URL('../..', import.meta.url),
    env: { ...environment, TRAINYARD_NATIVE: 'avx2' },
    encoding: 'utf8',
  });
  assert.equal(child.status, 0, child.stdout);
  assert.match(child.stdout, /ok \d+ - .*matmul.*native/);
});

const canStop = process.platform === 'win32' ? 'a process cannot be stopped and continued on Windows' : false;

test(
  '8. a process that was stopped for longer than its threads have patience goes on',
  { skip: skip || canStop },
  async () => {
    const child = spawn(process.execPath, ['tests/unit/fixtures/stopped.ts'], {
      cwd: new URL('../..', import.meta.url),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    // Listened for from the start: a child that ends early has to fail the test, not hold it up.
    const exited = once(child, 'exit');
    await Promise.race([once(child.stdout, 'data'), exited]);
    child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    child.kill('SIGCONT');
    await exited;
    assert.equal(output, 'running\ndone\n');
  },
);

test('9. a single row of a product has the bits it has among others', { skip }, async () => {
  const backend = createCpuBackend({ threads: 1, native: addon });
  for (const [n, k] of [
    [512, 784],
    [331, 300],
    [10, 512],
    [1, 5],
    [16, 3],
    // Rows 4 KB apart are copied for the five.
    [300, 1024],
  ]) {
    const shapes = { a: [5, k], b: [k, n], bias: [n], c: [5, n], row: [1, k], alone: [1, n] };
    const at = placesOf(shapes);
    for (const activation of [activationCodes.none, activationCodes.relu, activationCodes.gelu]) {
      const call = (a: 'a' | 'row', m: number, c: 'c' | 'alone'): Call => ({
        kernel: 'matmul',
        inputs: [at(a), at('b'), at('bias'), null],
        outputs: [at(c)],
        params: { m, n, k, transposeA: 0, transposeB: 0, activation, slope: 0, gradient: 0 },
      });
      const waves = (count: number, step: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(step * i));
      const a = waves(5 * k, 12.9898);
      const inputs = { a, b: waves(k * n, 7.233), bias: waves(n, 3.1), row: a.subarray(3 * k, 4 * k) };
      const { c, alone } = await runCalls(backend, shapes, [call('a', 5, 'c'), call('row', 1, 'alone')], inputs);
      assert.deepEqual(alone, c.subarray(3 * n, 4 * n), `${n} columns, ${k} terms, activation ${activation}`);
    }
  }
  await backend.close();
});

test(
  '10. what is written past the caches has the bits of what is not, and ends where it should',
  { skip },
  async () => {
    // Beyond 32 MB; planes begin within a line of the caches and end within a vector, and so do shares of three threads.
    const [channels, inner] = [3, 2_800_001];
    const count = channels * inner;
    const norm = { channels, inner, outer: 1, epsilon: 1e-5 };
    const each = [channels];
    // Behind each operand there is more, of which nothing is to be written.
    const more = [count + 16];
    const results = { sum: more, positive: more, slope: more, y: more, dx: more };
    const shapes = {
      ...results,
      x: more,
      dy: more,
      gamma: each,
      mean: each,
      inverse: each,
      running: each,
      dgamma: each,
    };
    const at = placesOf(shapes);
    const relu = { count, activation: activationCodes.relu, slope: 0 };
    const kept = [at('mean'), at('inverse'), at('running')];
    const calls: readonly Call[] = [
      { kernel: 'add', inputs: [at('x'), at('dy')], outputs: [at('sum')], params: { count } },
      { kernel: 'activation', inputs: [at('x')], outputs: [at('positive')], params: relu },
      {
        kernel: 'activation_grad',
        inputs: [at('dy'), at('x')],
        outputs: [at('slope')],
        params: { ...relu, fromOutput: 0 },
      },
      {
        kernel: 'batch_norm',
        inputs: [at('x'), at('gamma'), at('gamma')],
        outputs: [at('y'), ...kept, at('running')],
        params: { ...norm, momentum: 0, activation: 0, slope: 0 },
      },
      {
        kernel: 'batch_norm_grad',
        inputs: [at('dy'), at('x'), at('gamma'), at('mean'), at('inverse')],
        outputs: [at('dx'), at('dgamma'), at('running')],
        params: norm,
      },
    ];
    const waves = (step: number) => Float32Array.from({ length: more[0] }, (_, i) => ((i * step) % 977) - 488);
    const [x, dy] = [waves(37), waves(101)];
    const backend = createCpuBackend({ threads: 3, native: addon });
    const found = await runCalls(backend, shapes, calls, { x, dy, gamma: Float32Array.of(1, 2, 3) });
    await backend.close();
    const { sum, positive, slope, y, dx, mean, inverse, running: dbeta, dgamma } = found;
    let wrong = '';
    for (let i = 0; i < count && wrong === ''; i++) {
      const c = Math.floor(i / inner);
      const normal = (x[i] - mean[c]) * inverse[c];
      const gradient = (c + 1) * inverse[c] * (dy[i] - (dbeta[c] + normal * dgamma[c]) / inner);
      if (sum[i] !== x[i] + dy[i]) wrong = `sum ${i}`;
      if (positive[i] !== Math.max(0, x[i])) wrong = `positive ${i}`;
      if (slope[i] !== (x[i] > 0 ? dy[i] : 0)) wrong = `slope ${i}`;
      if (Math.abs(y[i] - (normal + 1) * (c + 1)) > 1e-5) wrong = `y ${i}`;
      if (Math.abs(dx[i] - gradient) > 1e-5) wrong = `dx ${i}`;
    }
    assert.equal(wrong, '');
    for (const result of [sum, positive, slope, y, dx]) assert.ok(result.subarray(count).every((value) => value === 0));
  },
);

test('11. copies between memories that threads share, and refuses what does not fit', { skip }, async () => {
  const { copy } = loadNative(addon!);
  const shared = (count: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(count));
  for (const length of [0, 1, 17, 40_001]) {
    const source = shared(length + 7).map((_, i) => 1 + (i % 251));
    const target = shared(length + 9);
    copy(target.subarray(5, 5 + length), source.subarray(3, 3 + length));
    const wanted = [...new Uint8Array(5), ...source.subarray(3, 3 + length), ...new Uint8Array(4)];
    assert.deepEqual([...target], wanted, `${length} bytes`);
  }
  assert.throws(() => copy(new Float32Array(4), new Float32Array(3)), TypeError);
  assert.throws(() => copy(new Float32Array(4), [1, 2, 3, 4] as never), TypeError);

  // Written at an offset and read again through an executable, with guards, by the addon and without it.
  const count = 30_011;
  const values = Float32Array.from({ length: count - 20 }, (_, i) => i + 0.5);
  for (const native of [addon!, false] as const) {
    const backend = createCpuBackend({ threads: 1, native });
    const executable = await backend.compile({
      slots: [{ id: 0, elements: count, type: 'f32', kind: 'scratch', label: 'x' }],
      tensors: { x: { slot: 0, offset: 0, shape: [count], type: 'f32' } },
      programs: {},
      stepCapacity: 1,
      checkpoint: [],
    });
    executable.write('x', new Float32Array(count).fill(-1));
    executable.write('x', values, 9);
    const into = new Float32Array(count);
    executable.copy!('x', into);
    assert.deepEqual(into.subarray(0, 9), new Float32Array(9).fill(-1));
    assert.deepEqual(into.subarray(9, count - 11), values);
    assert.deepEqual(into.subarray(count - 11), new Float32Array(11).fill(-1));
    assert.throws(() => executable.write('x', values, 21), /do not fit/);
    executable.dispose();
    await backend.close();
  }
});
