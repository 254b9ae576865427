// The CPU backend on small hand-made plans: results and threads, what is refused before the first step, that steps allocate
// nothing, and what happens when a thread dies. The kernels' numbers are checked in tests/parity.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';
import { createCpuBackend, OutOfMemoryError, type CpuOptions } from '../../engine/backends/cpu/backend.ts';
import { describeCpu } from '../../engine/backends/cpu/describe.ts';
import type { Call, Plan, Slot, TensorPlace } from '../../engine/plan/plan.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';

/** A plan over float32 tensors of the given sizes, each in a slot of its own, with one program `run`. */
function planOf(
  sizes: Readonly<Record<string, number>>,
  calls: (slotOf: (name: string) => number) => readonly Call[],
): Plan {
  const names = Object.keys(sizes);
  const slots: Slot[] = names.map((label, id) => ({
    id,
    elements: sizes[label],
    type: 'f32',
    kind: 'persistent',
    label,
  }));
  const tensors: Record<string, TensorPlace> = Object.fromEntries(
    names.map((name, slot) => [name, { slot, offset: 0, shape: [sizes[name]], type: 'f32' }]),
  );
  const run = { name: 'run', batch: 1, calls: calls((name) => names.indexOf(name)), flops: 0, bytes: 0 };
  return { slots, tensors, programs: { run }, stepCapacity: 4000, checkpoint: [] };
}

/** y = x + y, `count` elements, `repeats` times a step. */
function accumulatingPlan(count: number, repeats = 1): Plan {
  return planOf({ x: count, y: count }, (slotOf) => {
    const x = { slot: slotOf('x'), offset: 0 };
    const y = { slot: slotOf('y'), offset: 0 };
    const call: Call = { kernel: 'add', inputs: [x, y], outputs: [y], params: { count } };
    return Array.from({ length: repeats }, () => call);
  });
}

async function accumulate(options: CpuOptions, count: number, submits: number, steps: number): Promise<Float32Array> {
  const backend = createCpuBackend(options);
  const executable = await backend.compile(accumulatingPlan(count, 3));
  executable.write(
    'x',
    Float32Array.from({ length: count }, (_, i) => i % 7),
  );
  executable.write('y', new Float32Array(count));
  for (let i = 0; i < submits; i++) await executable.run('run', steps);
  const result = (await executable.read('y')) as Float32Array;
  await backend.close();
  return result;
}

test('1. runs every call of every step, on any number of threads', async () => {
  for (const threads of [1, 2, 3]) {
    const result = await accumulate({ threads }, 1003, 20, 5);
    assert.deepEqual(
      result,
      Float32Array.from({ length: 1003 }, (_, i) => (i % 7) * 3 * 20 * 5),
      `${threads} threads`,
    );
  }
});

test('2. wakes workers that have gone to sleep between submits', async () => {
  const backend = createCpuBackend({ threads: 2 });
  const executable = await backend.compile(accumulatingPlan(64));
  executable.write('x', new Float32Array(64).fill(1));
  for (let i = 0; i < 5; i++) {
    await executable.run('run', 1);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual(await executable.read('y'), new Float32Array(64).fill(5));
  await backend.close();
});

test('3. writes and reads parts of tensors', async () => {
  const backend = createCpuBackend({ threads: 1 });
  const executable = await backend.compile(accumulatingPlan(8));
  executable.write('x', Float32Array.of(1, 2, 3), 4);
  assert.deepEqual(await executable.read('x'), Float32Array.of(0, 0, 0, 0, 1, 2, 3, 0));
  assert.deepEqual(await executable.read('x', 5, 2), Float32Array.of(2, 3));
  assert.throws(() => executable.write('x', Float32Array.of(1, 2, 3), 6), /do not fit tensor "x"/);
  assert.throws(() => executable.write('x', Uint32Array.of(1)), /Uint32Array/);
  assert.throws(() => executable.write('z', Float32Array.of(1)), /no tensor "z"/);
  await assert.rejects(executable.run('walk', 1), /no program "walk"/);
  await assert.rejects(executable.run('run', 4001), /4001 steps exceed/);
  executable.dispose();
  executable.dispose();
  await assert.rejects(executable.run('run', 1), /disposed/);
});

test('4. a step allocates nothing', async () => {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const backend = createCpuBackend({ threads: 2 });
  const executable = await backend.compile(accumulatingPlan(100));
  const bytes = executable.bytes;
  const used = async (submits: number): Promise<{ heap: number; outside: number }> => {
    for (let i = 0; i < submits; i++) await executable.run('run', 100);
    collect();
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    return { heap: heapUsed, outside: external + arrayBuffers };
  };
  await used(10);
  const before = await used(10);
  const after = await used(100);
  assert.equal(executable.bytes, bytes);
  assert.equal(after.outside, before.outside);
  assert.ok(after.heap - before.heap < 64 * 1024, `10,000 steps kept ${after.heap - before.heap} bytes of heap`);
  await backend.close();
});

test('4b. a plan that is compiled again is another program: on any number of threads, with memory of its own', async () => {
  const plan = accumulatingPlan(1003, 3);
  const backends = [1, 3, 1].map((threads) => createCpuBackend({ threads }));
  const executables = await Promise.all([...backends, backends[0]].map((backend) => backend.compile(plan)));
  for (const [at, executable] of executables.entries()) {
    executable.write('x', new Float32Array(1003).fill(at + 1));
    await executable.run('run', 5);
  }
  for (const [at, executable] of executables.entries())
    assert.deepEqual(await executable.read('y'), new Float32Array(1003).fill(15 * (at + 1)));
  for (const backend of backends) await backend.close();
});

test('5. refuses a plan that does not fit into memory, with the figures, before anything is allocated', async () => {
  const small = createCpuBackend({ threads: 1, memoryLimit: 1024 * 1024 });
  const before = process.memoryUsage().arrayBuffers;
  await assert.rejects(small.compile(accumulatingPlan(1_000_000)), (error: unknown) => {
    assert.ok(error instanceof OutOfMemoryError);
    assert.equal(error.code, 'device.out_of_memory');
    assert.ok(error.needed >= 8_000_000 && error.needed < 9_000_000);
    assert.equal(error.available, 1024 * 1024);
    assert.match(error.message, /needs 9 MB .* 1 MB/);
    assert.match(error.hint, /smaller batch/);
    return true;
  });
  assert.equal(process.memoryUsage().arrayBuffers, before);
  const large = createCpuBackend({ threads: 1, memoryLimit: 2 ** 40 });
  await assert.rejects(large.compile(accumulatingPlan(2 ** 30)), { code: 'device.out_of_memory' });
});

test('6. refuses calls that do not fit their contract or their slot', async () => {
  const backend = createCpuBackend({ threads: 1 });
  const place = { slot: 0, offset: 0 };
  const refused = async (call: Call, message: RegExp): Promise<void> => {
    await assert.rejects(backend.compile(planOf({ x: 8 }, () => [call])), (error: unknown) => {
      assert.ok(error instanceof TrainyardError);
      assert.equal(error.code, 'device.unsupported_plan');
      assert.match(error.message, message);
      return true;
    });
  };
  const add: Call = { kernel: 'add', inputs: [place, place], outputs: [place], params: { count: 8 } };
  await refused({ ...add, kernel: 'subtract' }, /kernel "subtract"/);
  await refused({ ...add, inputs: [place] }, /1 inputs and 1 outputs, its contract 2 and 1/);
  await refused({ ...add, inputs: [place, null] }, /lacks the operand "b"/);
  await refused({ ...add, params: {} }, /lacks the parameter "count"/);
  await refused({ ...add, params: { count: 9 } }, /add\.a needs 9 f32 at offset 0, but slot 0 \(x\) holds 8 f32/);
  await refused({ ...add, outputs: [{ slot: 0, offset: 1 }] }, /add\.c needs 8 f32 at offset 1/);
  await refused({ ...add, outputs: [{ slot: 1, offset: 0 }] }, /slot 1, which does not exist/);
});

test('7. names the missing file when the kernels have not been built', () => {
  assert.throws(() => createCpuBackend({ wasm: '/nowhere/kernels.wasm' }), {
    code: 'device.kernels_missing',
    message: /\/nowhere\/kernels\.wasm/,
  });
  assert.throws(() => createCpuBackend({ wasm: new Uint8Array([1, 2, 3]) }), { code: 'device.kernels_missing' });
});

const engineFile = (name: string): string =>
  JSON.stringify(new URL(`../../engine/backends/cpu/${name}`, import.meta.url));
const workerOf = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`);

test('8. a thread that dies ends the submit with an error instead of hanging', async () => {
  const backend = createCpuBackend({ threads: 2, worker: workerOf('process.exit(3)'), patience: 0.3 });
  const executable = await backend.compile(accumulatingPlan(64));
  const start = performance.now();
  await assert.rejects(executable.run('run', 1), {
    code: 'device.worker_failed',
    message: /did not answer for 0\.3 seconds/,
    hint: /checkpoint/,
  });
  assert.ok(performance.now() - start < 5000);
  await assert.rejects(executable.run('run', 1), { code: 'device.worker_failed' });
  await backend.close();
});

test('9. a thread that fails or leaves says so at once, long before patience ends', async () => {
  for (const ending of ['throw new Error("no instance")', 'process.exit(3)']) {
    // The real worker, which gets no further than to its kernels. What takes the types away is WebAssembly too, and comes before.
    const source = `
      import ${engineFile('machine.ts')};
      WebAssembly.Instance = class { constructor() { ${ending}; } };
      await import(${engineFile('worker.ts')});`;
    const backend = createCpuBackend({ threads: 2, worker: workerOf(source), patience: 60 });
    const executable = await backend.compile(accumulatingPlan(64));
    await assert.rejects(executable.run('run', 1), { message: /CPU thread 1 failed/ });
    await backend.close();
  }
});

test('10. threads that are late on a busy machine have a minute', async () => {
  // It answers with the patience it was told, in the place of a thread's number.
  const source = `
    import { workerData } from 'node:worker_threads';
    import { markFailed } from ${engineFile('machine.ts')};
    markFailed(new Int32Array(workerData.memory.buffer), workerData.place.patience);`;
  const backend = createCpuBackend({ threads: 2, worker: workerOf(source) });
  const executable = await backend.compile(accumulatingPlan(64));
  await assert.rejects(executable.run('run', 1), { message: /CPU thread 60 failed/ });
  await backend.close();
});

test('11. threads keep no process alive', () => {
  const source = `
    import { createCpuBackend } from './engine/backends/cpu/backend.ts';
    const place = { slot: 0, offset: 0 };
    const call = { kernel: 'add', inputs: [place, place], outputs: [place], params: { count: 8 } };
    const executable = await createCpuBackend({ threads: 3 }).compile({
      slots: [{ id: 0, elements: 8, type: 'f32', kind: 'scratch', label: 'x' }], tensors: {}, stepCapacity: 1, checkpoint: [],
      programs: { run: { name: 'run', batch: 1, calls: [call], flops: 8, bytes: 96 } } });
    await executable.run('run', 1);
    console.log('done');`;
  const root = new URL('../..', import.meta.url);
  const child = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', source], {
    cwd: root,
    timeout: 20_000,
  });
  assert.equal(child.stdout.toString(), 'done\n', child.stderr.toString());
  assert.equal(child.status, 0);
});

test('12. describes the machine', () => {
  const cpu = describeCpu();
  assert.ok(cpu.name.length > 0);
  assert.ok(cpu.cores >= 1);
  assert.match(cpu.instructions, /SIMD/);
  assert.ok(cpu.availableMemory > 0 && cpu.availableMemory <= cpu.memory);
  const { device } = createCpuBackend({ threads: 2, native: false });
  assert.equal(device.kind, 'cpu');
  assert.equal(device.threads, 2);
  assert.ok(device.name.includes(cpu.name) && device.name.includes('2 threads'));
});

test('convolutions beyond the buffers of the CPU are refused before anything runs, by their sizes', async () => {
  const sizes = { batch: 1, channels: 1, height: 40, width: 40, filters: 1, stride: 1, padding: 0, groups: 1 };
  const backend = createCpuBackend({ threads: 1 });
  const planWith = (params: Readonly<Record<string, number>>): Plan =>
    planOf({ x: 1600, w: 961, y: 1600 }, () => [
      {
        kernel: 'conv2d',
        inputs: [{ slot: 0, offset: 0 }, { slot: 1, offset: 0 }, null],
        outputs: [{ slot: 2, offset: 0 }],
        params: { ...sizes, activation: 0, slope: 0, ...params },
      },
    ]);
  await assert.rejects(backend.compile(planWith({ kernel: 12, dilation: 1 })), {
    code: 'device.unsupported_plan',
    message: /conv2d.*kernel of 12 × 12 has more than 121 elements/,
  });
  const wide = { kernel: 11, dilation: 400, height: 4001, width: 4001 };
  await assert.rejects(
    backend.compile(planWith(wide)),
    /kernel of 11 with dilation 400 is too wide for images of 4001/,
  );
  await backend.close();
});
