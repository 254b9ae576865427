// Holds each kernel that memory limits against a copy of as many bytes: in turn, in one process and one arena, by processor
// time: `node tests/bench/memory.ts [--only batch_norm] [--threads 1] [--rounds 15] [--out TABLE.json]`. Of copy: the median of the pairs.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { quantile } from '../../engine/bench/measure.ts';
import { copyProgram } from '../../engine/lab/plans.ts';
import type { Call, Program, Slot } from '../../engine/plan/plan.ts';
import { activationCodes } from '../../kernels/activations.ts';
import { elementCount } from '../../kernels/contract.ts';
import { kernels, type KernelName } from '../../kernels/registry.ts';

interface Case {
  readonly kernel: KernelName;
  /** Where it stands in a network. */
  readonly at: string;
  readonly params: Readonly<Record<string, number>>;
}

const { relu, gelu } = activationCodes;

/** Elements that fit the cache of a core with what is read, the cache that cores share, and none. */
const counts = [2 ** 16, 2 ** 20, 2 ** 24];
const named = (count: number): string => `${count / 1024} K elements`;
const chains = counts.flatMap((count): readonly Case[] => [
  { kernel: 'add', at: named(count), params: { count } },
  { kernel: 'activation', at: `relu, ${named(count)}`, params: { count, activation: relu, slope: 0 } },
  {
    kernel: 'activation_grad',
    at: `relu, ${named(count)}`,
    params: { count, activation: relu, slope: 0, fromOutput: 1 },
  },
  { kernel: 'activation', at: `gelu, ${named(count)}`, params: { count, activation: gelu, slope: 0 } },
]);

/** Batch, channels and side of the planes: of resnet20, mobilenet-96 and resnet18-224. */
const images = [
  { at: 'resnet20', batch: 64, channels: 16, side: 32 },
  { at: 'resnet20', batch: 64, channels: 64, side: 8 },
  { at: 'mobilenet-96', batch: 32, channels: 64, side: 48 },
  { at: 'mobilenet-96', batch: 32, channels: 128, side: 24 },
  { at: 'mobilenet-96', batch: 32, channels: 256, side: 12 },
  { at: 'mobilenet-96', batch: 32, channels: 512, side: 6 },
  { at: 'mobilenet-96', batch: 32, channels: 1024, side: 3 },
  { at: 'resnet18-224', batch: 16, channels: 64, side: 112 },
  { at: 'resnet18-224', batch: 16, channels: 64, side: 56 },
  { at: 'resnet18-224', batch: 16, channels: 256, side: 14 },
];
const normalised = images.flatMap(({ at, batch, channels, side }): readonly Case[] => {
  const params = { outer: batch, channels, inner: side * side, epsilon: 1e-5 };
  const shape = `${at}, ${batch} of ${channels} × ${side} × ${side}`;
  return [
    { kernel: 'batch_norm', at: shape, params: { ...params, momentum: 0.1, activation: 0, slope: 0 } },
    { kernel: 'batch_norm_grad', at: shape, params },
    { kernel: 'batch_norm_inference', at: shape, params },
  ];
});

const rows = { rows: 4096, width: 256, epsilon: 1e-5 };
const pooling = { windowHeight: 3, windowWidth: 3, stride: 2, padding: 1 };
const pooled = { planes: 1024, height: 112, width: 112, ...pooling };
const others: readonly Case[] = [
  { kernel: 'layer_norm', at: 'transformer, 4,096 × 256', params: rows },
  { kernel: 'layer_norm_grad', at: 'transformer, 4,096 × 256', params: rows },
  { kernel: 'max_pool', at: 'resnet18-224, 1,024 of 112 × 112', params: pooled },
  { kernel: 'max_pool_grad', at: 'resnet18-224, 1,024 of 112 × 112', params: pooled },
];

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '15' },
    out: { type: 'string' },
  },
});
const only = values.only?.split(',');
const threads = Number(values.threads);
/** Milliseconds of one measurement at least. */
const roundMilliseconds = 3;

/** Processor time of one thread, which other programs hardly change; threads that wait for each other go by the clock. */
function clock(): number {
  if (threads > 1) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const backend = createCpuBackend({ threads });
console.log(`${backend.device.name}\n`);
console.log(
  `${'kernel'.padEnd(22)} ${'shape'.padEnd(42)} ${'MB'.padStart(6)} ${'ms'.padStart(8)} ${'GB/s'.padStart(6)}  of copy`,
);
const table: Record<string, string | number>[] = [];
for (const each of [...chains, ...normalised, ...others]) {
  if (only && !only.includes(each.kernel)) continue;
  const found = await compare(each);
  table.push(found);
  const { kernel, at, megabytes, milliseconds, gbPerSecond, ofCopy } = found;
  const figures = [
    megabytes.toFixed(1).padStart(6),
    milliseconds.toFixed(3).padStart(8),
    gbPerSecond.toFixed(0).padStart(6),
  ];
  console.log(
    `${kernel.padEnd(22)} ${at.padEnd(42)} ${figures.join(' ')} ${`${Math.round(100 * ofCopy)} %`.padStart(8)}`,
  );
}
await backend.close();
if (values.out) writeFileSync(values.out, `${JSON.stringify({ device: backend.device.name, table }, null, 2)}\n`);

async function compare({ kernel: name, at, params }: Case) {
  const kernel = kernels[name];
  const { bytes, flops } = kernel.cost(params);
  const copy = copyProgram(bytes, threads);
  const operands = [...kernel.inputs, ...kernel.outputs];
  const shapes = operands.map((operand) => operand.shape(params));
  const half = copy.bytes / 8;
  const sizes = [half, half, ...shapes.map(elementCount)];
  const slots = sizes.map((elements, id): Slot => ({ id, elements, type: 'f32', kind: 'scratch', label: String(id) }));
  const place = (i: number) => ({ slot: 2 + i, offset: 0, shape: shapes[i] });
  const inputs = kernel.inputs.map((_, i) => place(i));
  const call: Call = { kernel: name, inputs, outputs: kernel.outputs.map((_, i) => place(inputs.length + i)), params };
  const made: Program = { name: 'call', batch: 1, calls: [call], flops, bytes };
  const executable = await backend.compile({
    slots,
    tensors: Object.fromEntries(
      sizes.map((size, id) => [`${id}`, { slot: id, offset: 0, shape: [size], type: 'f32' as const }]),
    ),
    programs: { call: made, copy: { ...copy.made, name: 'copy' } },
    stepCapacity: 1024,
    checkpoint: [],
  });
  const waves = Float32Array.from({ length: Math.max(...sizes) }, (_, i) => Math.sin(12.9898 * i));
  sizes.forEach((size, id) => executable.write(`${id}`, waves.subarray(0, size)));
  const time = async (program: string, runs: number): Promise<number> => {
    const start = clock();
    await executable.run(program, runs);
    return (clock() - start) / runs;
  };
  const warm = await Promise.all([time('call', 3), time('copy', 3)]);
  const runs = Math.max(1, Math.min(1024, Math.ceil(roundMilliseconds / Math.min(...warm))));
  const [calls, copies]: number[][] = [[], []];
  for (let round = 0; round < Number(values.rounds); round++) {
    calls.push(await time('call', runs));
    copies.push(await time('copy', runs));
  }
  executable.dispose();
  const shares = calls.map((milliseconds, round) => copies[round] / milliseconds).sort((a, b) => a - b);
  const best = Math.min(...calls);
  return {
    kernel: name,
    at,
    megabytes: bytes / 1e6,
    milliseconds: best,
    gbPerSecond: bytes / best / 1e6,
    copyMilliseconds: Math.min(...copies),
    ofCopy: quantile(shares, 0.5),
    ofBestCopy: Math.min(...copies) / best,
  };
}
