// Compares one kernel on one device with its float64 reference, at one of the shapes its contract lists. Works alike for
// every device: inputs come from a seeded generator, each operand stands between guard words, and outputs start out as a
// sentinel, so that an element left out, a write past the end and a result that uses what lies beyond an input all show.

import { hostView } from '../../engine/backends/host-arrays.ts';
import { activationCodes } from '../../kernels/activations.ts';
import {
  elementBytes,
  elementCount,
  type KernelContract,
  type Operand,
  type ParityCase,
} from '../../kernels/contract.ts';
import { references } from '../../kernels/references.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { normal } from '../../kernels/samples.ts';
import { threefry2x32 } from '../../kernels/threefry.ts';

/** Words before and after each operand. A multiple of 64, as the offsets within a plan's slots. */
export const guardWords = 64;
/** Bits of guards and of unwritten outputs: a NaN with a payload that no arithmetic makes. */
export const sentinel = 0x7fc5a5a5;
/** Bits of the guards of inputs, another such NaN: what arithmetic makes of them and writes beside an output is not that output's own guard. */
export const inputSentinel = 0x7fc3c3c3;

/** An operand's words with `guardWords` before and after them; `null` = absent. */
export type GuardedOperand = Uint32Array | null;

/** The kernels under test: all, or those that `npm run parity -- NAME …` names. */
export const testedKernels: readonly KernelName[] = (Object.keys(kernels) as KernelName[]).filter((name) =>
  (process.env['TRAINYARD_KERNELS'] ?? '.*').split(' ').some((named) => new RegExp(`^(${named})\\b`).test(name)),
);
if (testedKernels.length === 0)
  throw new RangeError(`no kernel is named ${process.env['TRAINYARD_KERNELS']}: see kernels/`);

/** What a device offers to the parity tests. */
export interface KernelDevice {
  /** For messages: "cpu, 2 threads". */
  readonly name: string;
  /**
   * Runs the kernel for the steps 0 … `parityCase.step` over copies of the operands (in the contract's order) and resolves to
   * the outputs afterwards, guards included.
   */
  runKernel(
    kernel: KernelContract,
    parityCase: ParityCase,
    inputs: readonly GuardedOperand[],
    outputs: readonly GuardedOperand[],
  ): Promise<readonly GuardedOperand[]>;
}

/** A case with its operands: what a device gets, and what has to come out. */
export interface PreparedCase {
  readonly kernel: KernelContract;
  readonly parityCase: ParityCase;
  readonly inputs: readonly GuardedOperand[];
  readonly outputs: readonly GuardedOperand[];
  /** Results of the float64 reference, in the order of the outputs. */
  readonly wanted: readonly (Float64Array | null)[];
  /** Of each output, what its kernel's relative tolerance is held against beside the result itself. */
  readonly scales: readonly number[];
  /** What a result may differ by beside its kernel's tolerance: what the rounding of a sum becomes in the function that follows it. */
  readonly slack: number;
}

/** How much the steepest place of functions of sums enlarges a sum's error, where results stay small however large the sum is. */
export const steepest: Readonly<Record<number, number>> = {
  [activationCodes.cosine]: 2 * Math.PI,
  [activationCodes.tanh]: 1,
  [activationCodes.sigmoid]: 1 / 4,
  [activationCodes.soft_clip]: 1,
};

/**
 * Runs a kernel on a device and resolves to its outputs.
 *
 * @throws Error that names the first element which differs from the reference too much.
 */
export async function checkKernel(
  name: KernelName,
  parityCase: ParityCase,
  device: KernelDevice,
): Promise<readonly GuardedOperand[]> {
  const prepared = preparedCase(name, parityCase);
  const results = await device.runKernel(prepared.kernel, parityCase, prepared.inputs, prepared.outputs);
  compare(prepared, results, device.name);
  return results;
}

let kept: { readonly name: KernelName; readonly cases: Map<ParityCase, PreparedCase> } | null = null;

/** Runs a kernel on a device once more. */
export async function runAgain(
  name: KernelName,
  parityCase: ParityCase,
  device: KernelDevice,
): Promise<readonly GuardedOperand[]> {
  const { kernel, inputs, outputs } = preparedCase(name, parityCase);
  return device.runKernel(kernel, parityCase, inputs, outputs);
}

/** A case of a kernel's own, prepared once for all devices in a row: that takes longer than to run the kernel. */
function preparedCase(name: KernelName, parityCase: ParityCase): PreparedCase {
  if (kept?.name !== name) kept = { name, cases: new Map() };
  const prepared = kept.cases.get(parityCase) ?? prepareCase(kernels[name], parityCase);
  kept.cases.set(parityCase, prepared);
  return prepared;
}

/**
 * Makes the operands of a case, always the same ones, and runs the reference on them. `sums`: results are sums of products. Those may cancel,
 * all of them where a case has few; rounding does not. Adding K products one after the other errs by γ_K·Σ|a·b| at most (Higham, Accuracy and
 * Stability of Numerical Algorithms, 3.5; γ_K = K·u / (1 − K·u), u = 2⁻²⁴), which no kernel comes near: as roundings are as often up as down, by
 * about u·√(K/6)·√(Σ(a·b)²). So the tolerance, five times that at K = 600, is held against the root of the sum of the squared products where no
 * result is larger. An activation behind them may pass on their error (`steepest`).
 */
export function prepareCase(kernel: KernelContract, parityCase: ParityCase, sums = false): PreparedCase {
  const random = seededRandom(`${kernel.name} ${JSON.stringify(parityCase)}`);
  const params = storedParams(kernel, parityCase);
  const sampled = (operand: Operand) => (isAbsent(operand, parityCase) ? null : sampleOperand(operand, params, random));
  const inputValues = kernel.inputs.map(sampled);
  const outputValues = kernel.outputs.map(sampled);
  const unwritten = (operand: Operand, index: number): GuardedOperand => {
    const values = outputValues[index];
    return (
      values && guarded(operand, operand.inPlace ? values : new Float64Array(values.length), !operand.inPlace, sentinel)
    );
  };
  const inputs = kernel.inputs.map(
    (operand, index) => inputValues[index] && guarded(operand, inputValues[index], false, inputSentinel),
  );
  const outputs = kernel.outputs.map(unwritten);

  const refer = (values: typeof inputValues, results: typeof outputValues, own: typeof params, step: number): void =>
    references[kernel.name as KernelName](named(kernel.inputs, values), named(kernel.outputs, results), own, step);
  for (let step = 0; step <= (parityCase.step ?? 0); step++) refer(inputValues, outputValues, params, step);
  const prepared = { kernel, parityCase, inputs, outputs, wanted: outputValues };
  const largest = outputValues.map((values) => largestOf(values ?? []));
  if (!sums) return { ...prepared, scales: largest, slack: 0 };

  /** The largest sum of each output, of these inputs, with nothing behind it. */
  const largestSums = (values: typeof inputValues, own: typeof params): readonly number[] => {
    const bare = outputValues.map((each) => each && new Float64Array(each.length));
    refer(values, bare, { ...own, activation: activationCodes.none }, 0);
    return bare.map((each) => largestOf(each ?? []));
  };
  const squares = inputValues.map((values) => values && values.map((value) => value ** 2));
  const roots = largestSums(squares, 'scale' in params ? { ...params, scale: params.scale ** 2 } : params).map(
    Math.sqrt,
  );
  const scales = largest.map((value, i) => Math.max(value, roots[i]));
  const steepness = params.gradient ? undefined : steepest[params.activation];
  if (steepness === undefined) return { ...prepared, scales, slack: 0 };
  const { relative, absolute } = kernel.tolerance;
  const sum = Math.max(...roots, ...largestSums(inputValues, params));
  return { ...prepared, scales: largest, slack: steepness * (absolute + relative * sum) };
}

const largestOf = (values: Float64Array | readonly number[]): number =>
  (values as readonly number[]).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/** Throws if guards were touched, elements left out or not numbers, or values out of the contract's tolerance. */
export function compare(prepared: PreparedCase, results: readonly GuardedOperand[], device: string): void {
  const { kernel, parityCase, wanted, scales, slack } = prepared;
  const fail = (problem: string): never => {
    throw new Error(`${kernel.name} on ${device}, case ${JSON.stringify(parityCase)}: ${problem}`);
  };
  kernel.outputs.forEach((operand, index) => {
    const expected = wanted[index];
    const words = results[index];
    if (!expected) return;
    if (!words) return fail(`output ${operand.name} did not come back`);
    const bytes = elementBytes[operand.type ?? 'f32'];
    const touched = firstTouchedGuard(words, expected.length * bytes);
    if (touched) fail(`output ${operand.name} was written outside, ${touched}`);
    const got = hostView(operand.type ?? 'f32', words.buffer, words.byteOffset + 4 * guardWords, expected.length);
    const { relative, absolute } = kernel.tolerance;
    for (let i = 0; i < expected.length; i++) {
      if (!Number.isFinite(expected[i]))
        fail(`the reference gives ${expected[i]} for ${operand.name}[${i}]: mend the case`);
      if (words[guardWords + Math.ceil(((i + 1) * bytes) / 4) - 1] === sentinel)
        fail(`element ${operand.name}[${i}] was not written; wanted ${expected[i]}`);
      const allowed = slack + absolute + relative * Math.max(Math.abs(expected[i]), scales[index]);
      const difference = Math.abs(got[i] - expected[i]);
      if (!(difference <= allowed)) {
        fail(
          `${operand.name}[${i}]: got ${got[i]}, wanted ${expected[i]}; differ by ${difference}, allowed ${allowed}`,
        );
      }
    }
  });
}

/** Where what surrounds an output of so many bytes was overwritten, if anywhere: in words. */
function firstTouchedGuard(words: Uint32Array, bytes: number): string | undefined {
  const start = 4 * guardWords;
  const untouched = new Uint8Array(new Uint32Array(words.length).fill(sentinel).buffer);
  const all = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const index = all.findIndex((byte, i) => (i < start || i >= start + bytes) && byte !== untouched[i]);
  if (index < 0) return undefined;
  const far = index < start ? start - index : index - start - bytes;
  return index < start ? `${Math.ceil(far / 4)} before the start` : `${Math.floor(far / 4)} after the end`;
}

/** The parameters as a call record holds them: `f32` ones rounded to float32. */
export function storedParams(kernel: KernelContract, parityCase: ParityCase): Readonly<Record<string, number>> {
  const rounded = (name: string): number =>
    kernel.params[name] === 'f32' ? Math.fround(parityCase.params[name]) : parityCase.params[name];
  return Object.fromEntries(Object.keys(kernel.params).map((name) => [name, rounded(name)]));
}

const isAbsent = (operand: Operand, parityCase: ParityCase): boolean =>
  parityCase.absent?.includes(operand.name) ?? false;

/** Values of an operand, exactly representable in its type. */
function sampleOperand(operand: Operand, params: Readonly<Record<string, number>>, random: () => number): Float64Array {
  const value = (index: number): number => operand.sample?.(params, random, index) ?? normal(random);
  const values = Float64Array.from({ length: elementCount(operand.shape(params)) }, (_, index) => value(index));
  return (operand.type ?? 'f32') === 'f32' ? values.map(Math.fround) : values;
}

/** The words of an operand (bytes are packed) between guards; of sentinels alone if it is `unwritten`. */
function guarded(operand: Operand, values: Float64Array, unwritten: boolean, guard: number): Uint32Array {
  const length = Math.ceil((values.length * elementBytes[operand.type ?? 'f32']) / 4);
  const words = new Uint32Array(length + 2 * guardWords).fill(guard);
  if (unwritten) return words;
  const bytes = 4 * guardWords;
  hostView(operand.type ?? 'f32', words.buffer, bytes, values.length).set(values);
  return words;
}

function named(
  operands: readonly Operand[],
  values: readonly (Float64Array | null)[],
): Readonly<Record<string, Float64Array | null>> {
  return Object.fromEntries(operands.map((operand, index) => [operand.name, values[index]]));
}

/** Uniform numbers in [0, 1), the same for the same text on every machine. */
export function seededRandom(text: string): () => number {
  const key = Array.from(text).reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 7);
  let counter = 0;
  return () => threefry2x32(key, 0, counter++, 0)[0] * 2 ** -32;
}
