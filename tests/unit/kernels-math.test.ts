// The vector mathematics of the CPU kernels (kernels/shared/math.ts) over the whole range of float32, against float64: compiled
// on its own, so that each function can be reached. Errors are held to the bounds its comments state.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { before } from 'node:test';
import asc from 'assemblyscript/asc';
import { erf } from '../../kernels/activations.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
/** Elements of one call, and where they lie: x at 0, y behind it. */
const count = 4096;

const expressions = {
  exp: 'exp(x)',
  log: 'log(x)',
  logOnePlus: 'logOnePlus(x)',
  tanh: 'tanh(x)',
  sigmoid: 'sigmoid(x)',
  normalDistribution: 'normalDistribution(x, gaussian(x))',
};
type MathFunction = keyof typeof expressions;

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
let functions: Record<MathFunction, () => void>;

before(async () => {
  const loops = Object.entries(expressions).map(
    ([name, expression]) =>
      `export function map_${name}(): void { for (let i = 0; i < ${4 * count}; i += 16) ` +
      `{ const x = v128.load(i); v128.store(${4 * count} + i, math.${expression.replaceAll('gaussian', 'math.gaussian')}); } }`,
  );
  const source = ["import * as math from './kernels/shared/math';", ...loops].join('\n');
  let wasm: Uint8Array | undefined;
  const flags = [
    '-O3',
    '--runtime',
    'stub',
    '--enable',
    'simd,relaxed-simd,threads',
    '--importMemory',
    '--sharedMemory',
    '--maximumMemory',
    '1',
    '--disableWarning',
    '112',
  ];
  const { error, stderr } = await asc.main(['math-test.ts', '--baseDir', root, '--outFile', 'math.wasm', ...flags], {
    readFile: (name, folder) => (name === 'math-test.ts' ? source : readSource(path.resolve(folder, name))),
    writeFile: (_, contents) => {
      wasm = Uint8Array.from(contents as Uint8Array);
    },
  });
  assert.equal(error, null, stderr.toString());
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm!), { env: { memory } });
  functions = Object.fromEntries(Object.keys(expressions).map((name) => [name, exports[`map_${name}`]])) as Record<
    MathFunction,
    () => void
  >;
});

function readSource(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** Applies a function to all elements. */
function map(name: MathFunction, inputs: readonly number[]): Float32Array {
  const x = new Float32Array(memory.buffer, 0, count);
  const y = new Float32Array(memory.buffer, 4 * count, count);
  x.fill(1).set(inputs);
  functions[name]();
  return y.slice(0, inputs.length);
}

/** `count` float32 numbers from low to high, evenly spaced. */
const spread = (low: number, high: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.fround(low + ((high - low) * i) / (count - 1)));

/** Powers of ten from `low` to `high`, of both signs. */
const magnitudes = (low: number, high: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.fround((i % 2 ? -1 : 1) * 10 ** (low + ((high - low) * i) / count)));

/** The largest of `error` over all inputs is at most `bound`. */
function assertBound(
  name: MathFunction,
  inputs: readonly number[],
  bound: number,
  error: (got: number, x: number) => number,
): void {
  map(name, inputs).forEach((got, i) => {
    const difference = Math.abs(error(got, inputs[i]));
    assert.ok(difference <= bound, `${name}(${inputs[i]}) is ${got}: error ${difference}, bound ${bound}`);
  });
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

test('exp is within 1.5e-7 relative', () => {
  const error = (got: number, x: number): number => got / Math.exp(x) - 1;
  for (const inputs of [spread(-87.33, 88.37), spread(-1, 1), magnitudes(-30, 1.9)]) {
    assertBound('exp', inputs, 1.5e-7, error);
  }
});

test('exp neither overflows nor vanishes out of range', () => {
  const [low, high] = map('exp', [-1e30, 1e30]);
  assert.ok(low > 0 && low < 1.2e-38 && high > 2e38 && high < Infinity, `${low}, ${high}`);
});

test('log is within 2e-7 · max(1, |ln x|)', () => {
  const inputs = [...magnitudes(-37, 38).map(Math.abs)];
  for (const values of [inputs, spread(0.5, 2)]) {
    assertBound('log', values, 2e-7, (got, x) => (got - Math.log(x)) / Math.max(1, Math.abs(Math.log(x))));
  }
});

test('logOnePlus is within 3e-7 relative on [0, 1], however small x is', () => {
  const error = (got: number, x: number): number => (x === 0 ? got : got / Math.log1p(x) - 1);
  for (const inputs of [spread(0, 1), magnitudes(-30, 0).map(Math.abs)]) assertBound('logOnePlus', inputs, 3e-7, error);
});

test('tanh is within 4e-7 relative and odd', () => {
  const error = (got: number, x: number): number => (x === 0 ? got : got / Math.tanh(x) - 1);
  for (const inputs of [spread(-12, 12), spread(-0.7, 0.7), magnitudes(-18, 38)])
    assertBound('tanh', inputs, 4e-7, error);
});

test('sigmoid is within 3e-7 relative', () => {
  assertBound('sigmoid', spread(-87, 87), 3e-7, (got, x) => got / sigmoid(x) - 1);
  assert.deepEqual([...map('sigmoid', [1e30, 0])], [1, 0.5]);
});

test('normalDistribution is within 2e-7', () => {
  const error = (got: number, x: number): number => got - (1 + erf(x / Math.SQRT2)) / 2;
  for (const inputs of [spread(-14, 14), spread(-2, 2), magnitudes(-20, 18)]) {
    assertBound('normalDistribution', inputs, 2e-7, error);
  }
});

test('not a number stays not a number', () => {
  for (const name of Object.keys(expressions) as MathFunction[]) {
    if (name === 'log') continue; // Only called with sums of exponentials, which hide nothing: they are NaN before.
    assert.ok(Number.isNaN(map(name, [NaN])[0]), name);
  }
});
