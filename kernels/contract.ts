// What every kernel promises, on every device. A kernel is a folder: kernel.ts (this contract), reference.ts (float64,
// the oracle), cpu.ts (AssemblyScript) and gpu.ts (WGSL). The contract fixes the order of operands and parameters, so a
// compiled call is nothing but numbers: the plan, the parity tests and all backends read the same declaration.
//
// ABI of a CPU kernel: `kernel(args, thread, threads, step)`. `args` points at 32-bit words: one byte address an input,
// then one an output (0 = absent), then the parameters in declared order (i32, or f32 as its bits).

/** How a parameter is stored in a call record. */
export type ParameterKind = 'i32' | 'f32';

/**
 * Element type of an operand, a tensor or a slot, with its bytes. Numbers are `f32`; `f16` is a storage format (half.ts);
 * rows, positions and random counters are `u32`, signed whole numbers `i32`, pixels and bins `u8`. Trees alone, on the CPU alone,
 * have numbers of `f64`; words of 64 bits are pairs of `u32`, the lower half first.
 */
export const elementBytes = { f32: 4, f64: 8, f16: 2, u32: 4, i32: 4, u8: 1 } as const;
export type ElementType = keyof typeof elementBytes;

/**
 * One tensor a kernel reads or writes. Functions of the parameters are declared as methods, here and below, so that
 * a contract over named parameters also is a `KernelContract` over any.
 */
export interface Operand<P extends string = string> {
  readonly name: string;
  /** Shape, given the call's parameters. Its product is the number of elements the kernel may touch. */
  shape(params: Readonly<Record<P, number>>): readonly number[];
  /** Element type; `f32` unless told otherwise. */
  readonly type?: ElementType;
  /** The operand may be absent (address 0, `null` in a call). */
  readonly optional?: boolean;
  /** For an output: its old contents matter (read and written in place). */
  readonly inPlace?: boolean;
  /** For an output of which only parts are written: the ranges of elements, from start to before end. */
  writes?(params: Readonly<Record<P, number>>): readonly (readonly [start: number, end: number])[];
  /** Values for parity tests; standard normal unless told otherwise. `random` is uniform in [0, 1), `index` counts the elements. */
  sample?(params: Readonly<Record<P, number>>, random: () => number, index: number): number;
}

/** Work of one call, for schedules, rooflines and forecasts. */
export interface Cost {
  /** Floating-point operations (a multiply-add counts as two). */
  readonly flops: number;
  /** Bytes read and written, each operand once. */
  readonly bytes: number;
}

/** Allowed difference from the float64 reference: |x − r| ≤ absolute + relative · max(|r|, scale of the output). */
export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
  /** Why these numbers: what rounds, and how often. */
  readonly why: string;
}

export interface KernelContract<P extends string = string> {
  readonly name: string;
  /** One sentence with the formula, and its source where it has one. */
  readonly summary: string;
  readonly inputs: readonly Operand<NoInfer<P>>[];
  readonly outputs: readonly Operand<NoInfer<P>>[];
  /** Parameters in ABI order. */
  readonly params: Readonly<Record<P, ParameterKind>>;
  /** What is wrong with parameters that no device could run, in words: checked wherever a plan is made. */
  problem?(params: Readonly<Record<NoInfer<P>, number>>): string | null;
  /** What is beyond the CPU's implementations alone, in words: checked when a plan is compiled for the CPU. */
  cpuProblem?(params: Readonly<Record<NoInfer<P>, number>>): string | null;
  /** The kernel reads the step number of the current submit (row lists, per-step scalars, loss rings). */
  readonly usesStep?: boolean;
  cost(params: Readonly<Record<P, number>>): Cost;
  readonly tolerance: Tolerance;
  /** Shapes for the parity tests: 1, primes, not a multiple of a tile. */
  readonly cases: readonly ParityCase<NoInfer<P>>[];
}

export interface ParityCase<P extends string = string> {
  readonly params: Readonly<Record<P, number>>;
  /** Optional operands left out in this case. */
  readonly absent?: readonly string[];
  /** Last step number handed to the kernel, which runs for the steps 0 … step; 0 unless told otherwise. */
  readonly step?: number;
}

/** Operands of a reference by name; `null` = absent. */
export type ReferenceOperands = Readonly<Record<string, Float64Array | null>>;

/**
 * The float64 oracle of a kernel. Absent operands are `null`. Index operands hold whole numbers.
 * (Taken from a method for the same reason as above.)
 */
export type Reference<P extends string = string> = {
  run(inputs: ReferenceOperands, outputs: ReferenceOperands, params: Readonly<Record<P, number>>, step: number): void;
}['run'];

/** The parameter names of a contract: `ParameterOf<typeof kernel>`. */
export type ParameterOf<K> = K extends KernelContract<infer P> ? P : never;

/** Operands of which none may be absent, for taking them apart: `const { x, gamma } = present(inputs)`. */
export function present(operands: ReferenceOperands): Readonly<Record<string, Float64Array>> {
  return operands as Readonly<Record<string, Float64Array>>;
}

/** Declares a contract; exists so that parameter names are checked where they are used. */
export function defineKernel<P extends string>(contract: KernelContract<P>): KernelContract<P> {
  return contract;
}

/** Number of elements of a shape. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
