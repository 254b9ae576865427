// What a kernel gives the WebGPU backend: one or more compute passes with their WGSL. A pass names the operands it reads
// and writes; the backend declares them (`a`, `c`, …, one storage buffer each), so that a kernel never numbers bindings.
// Parameters are constants of the source: shapes never change after a plan is compiled, and the driver can unroll.

/** How a pass sees a buffer: `array<ELEMENT>`. A vector view needs a count that the vector's length divides. */
export type WgslElement = 'f32' | 'u32' | 'vec4<f32>' | 'f16' | 'vec4<f16>';

/** The limits of a device that shape a kernel. */
export interface GpuLimits {
  readonly maxComputeWorkgroupsPerDimension: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  /** Bytes. */
  readonly maxComputeWorkgroupStorageSize: number;
}

/** What a kernel may ask about the call it writes code for. */
export interface GpuContext {
  readonly limits: GpuLimits;
  /** WGSL `enable subgroups` and `requires subgroup_id` work. */
  readonly subgroups: boolean;
  /** WGSL `enable f16` works: 16-bit numbers are read, written and kept as such. */
  readonly halfArithmetic: boolean;
  /** Operands of this call that are stored in 16 bits. */
  readonly halves: ReadonlySet<string>;
  /** The operand is present in this call. */
  readonly has: (operand: string) => boolean;
}

/** One compute dispatch. */
export interface GpuPass {
  /** Short name for messages and timings. */
  readonly label: string;
  /** Operands and temporaries the pass only reads, with the type of their elements. */
  readonly reads: Readonly<Record<string, WgslElement>>;
  /** Operands and temporaries the pass writes, or reads and writes. */
  readonly writes: Readonly<Record<string, WgslElement>>;
  /** The pass reads `step`, the number of the step within the submit: `var<uniform> step: u32`. */
  readonly usesStep?: boolean;
  /** The code uses subgroup operations. */
  readonly usesSubgroups?: boolean;
  /** The code uses `f16`. */
  readonly usesHalves?: boolean;
  /** WGSL after the declarations of the operands; entry point `main`. */
  readonly code: string;
  readonly workgroups: readonly [x: number, y: number, z: number];
}

/** A kernel on the GPU. `params` are those of its contract. */
export interface GpuKernel {
  readonly passes: (
    params: Readonly<Record<string, number>>,
    context: GpuContext,
    variant?: string,
  ) => readonly GpuPass[];
  /** Buffers that live for one call, in 32-bit words: partial sums between its passes. */
  readonly temporaries?: (
    params: Readonly<Record<string, number>>,
    context: GpuContext,
  ) => Readonly<Record<string, number>>;
  /**
   * Names of interchangeable implementations for these parameters, the likeliest first. They give the same bits, so that
   * a measured choice never changes a result.
   */
  readonly variants?: (params: Readonly<Record<string, number>>, context: GpuContext) => readonly string[];
}
