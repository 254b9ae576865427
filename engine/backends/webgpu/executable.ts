// A compiled plan on the GPU: writes, submits of many steps, reads. Two submits are in flight at most: while one runs, the
// caller prepares the next.

import { elementBytes, elementCount } from '../../../kernels/contract.ts';
import { toHalves } from '../../../kernels/half.ts';
import { copyOf, stepOf, type Plan, type StepPart, type TensorPlace } from '../../plan/plan.ts';
import type { Executable } from '../backend.ts';
import { type HostArray, hostView } from '../host-arrays.ts';
import { Pace } from '../pace.ts';
import { type PlanBuffers, stepOffset } from './buffers.ts';
import type { ByteWriter } from './bytes.ts';
import type { CompiledProgram } from './compile.ts';
import type { DeviceWatch } from './failure.ts';
import { guessStep } from './guess.ts';
import type { Reader } from './reader.ts';
import { hasTimestamps, timePasses } from './timestamps.ts';

/** `writeBuffer` copies into staging memory of the driver: large data goes in pieces. */
const writePiece = 16 * 1024 * 1024;

/** A dispatch, for people and tests. */
export interface DispatchInfo {
  readonly label: string;
  readonly workgroups: readonly [number, number, number];
}

/** What an executable is made of; it owns buffers, reader and byte writer. */
export interface ExecutableParts {
  readonly device: GPUDevice;
  readonly plan: Plan;
  readonly buffers: PlanBuffers;
  readonly programs: readonly CompiledProgram[];
  readonly reader: Reader;
  /** Only where the plan has tensors of bytes. */
  readonly byteWriter: ByteWriter | null;
  readonly watch: DeviceWatch;
  readonly software: boolean;
  readonly submitMilliseconds: number;
}

/** A program or sequence: its step, ready to be encoded. */
interface Step {
  readonly tableRows: number;
  readonly parts: readonly (StepPart & Pick<CompiledProgram, 'dispatches'>)[];
  readonly pace: Pace;
}

export class WebgpuExecutable implements Executable {
  readonly bytes: number;
  readonly timeEach?: Executable['timeEach'];
  readonly #device: GPUDevice;
  readonly #plan: Plan;
  readonly #buffers: PlanBuffers;
  readonly #programs: ReadonlyMap<string, CompiledProgram>;
  readonly #steps = new Map<string, Step>();
  readonly #reader: Reader;
  readonly #byteWriter: ByteWriter | null;
  readonly #watch: DeviceWatch;
  readonly #software: boolean;
  readonly #submitMilliseconds: number;
  readonly #offset = new Uint32Array(1);
  /** The last submit: settles when it is done. */
  #last: Promise<void> = Promise.resolve();
  #disposed = false;

  constructor(parts: ExecutableParts) {
    const { buffers, reader, software, submitMilliseconds } = parts;
    this.#device = parts.device;
    this.#plan = parts.plan;
    this.#buffers = buffers;
    this.#reader = reader;
    this.#byteWriter = parts.byteWriter;
    this.#watch = parts.watch;
    this.bytes = buffers.bytes + reader.bytes;
    if (hasTimestamps(parts.device)) this.timeEach = (programs) => this.#timeEach(programs);
    this.#programs = new Map(parts.programs.map((compiled) => [compiled.program.name, compiled]));
    this.#software = software;
    this.#submitMilliseconds = submitMilliseconds;
  }

  /** The dispatches of one step of a program, in order. */
  dispatches(program: string): readonly DispatchInfo[] {
    return this.#step(program).parts.flatMap(({ rows, dispatches }) =>
      Array.from({ length: rows }, () => dispatches.map(({ label, workgroups }) => ({ label, workgroups }))).flat(),
    );
  }

  write(tensor: string, data: HostArray, offset = 0): void {
    this.#watch.check();
    const place = this.#place(tensor);
    this.#writeTo(tensor, place, data, offset);
    const copy = copyOf(this.#plan, tensor);
    if (copy) this.#writeTo(tensor, copy, toHalves(data as Float32Array), offset);
  }

  #writeTo(tensor: string, place: TensorPlace, data: HostArray, offset: number): void {
    const { buffer, start, size } = this.#locate(tensor, place, offset, data.length);
    if (data.BYTES_PER_ELEMENT !== size) {
      throw new TypeError(`${tensor} has elements of ${size} bytes, the data of ${data.BYTES_PER_ELEMENT}`);
    }
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    // Only elements smaller than a word can begin or end within one.
    const first = Math.min(bytes.length, -start & 3);
    const last = Math.max(first, bytes.length - ((start + bytes.length) & 3));
    for (let at = first; at < last; at += writePiece) {
      this.#device.queue.writeBuffer(buffer, start + at, bytes, at, Math.min(writePiece, last - at));
    }
    if (first > 0) this.#byteWriter?.writeEdge(buffer, start, bytes.subarray(0, first));
    if (last < bytes.length) this.#byteWriter?.writeEdge(buffer, start + last, bytes.subarray(last));
  }

  async read(tensor: string, offset = 0, length?: number): Promise<HostArray> {
    this.#watch.check();
    const place = this.#place(tensor);
    const elements = length ?? elementCount(place.shape) - offset;
    const { buffer, start, size } = this.#locate(tensor, place, offset, elements);
    const before = start & 3;
    const bytes = Math.ceil((before + elements * size) / 4) * 4;
    const words = elements === 0 ? new ArrayBuffer(0) : await this.#reader.read(buffer, start - before, bytes);
    return hostView(place.type, words, elements === 0 ? 0 : before, elements);
  }

  async run(program: string, steps: number, from = 0): Promise<void> {
    const step = this.#step(program);
    const { pace } = step;
    const end = from + steps;
    if (end * step.tableRows > this.#plan.stepCapacity) {
      const room = Math.floor(this.#plan.stepCapacity / step.tableRows);
      throw new RangeError(`${program}: ${end} steps, the plan has room for ${room}`);
    }
    for (let first = from; first < end;) {
      const count = Math.min(end - first, pace.steps);
      const { unqueued } = this.#reader;
      if (unqueued) await this.#watch.guard(unqueued);
      this.#watch.check();
      const before = this.#last;
      const calibrating = !pace.measured;
      if (calibrating) await this.#watch.guard(before);
      const done = this.#submit(step, first, count);
      this.#last = done;
      first += count;
      // The failure, if any, is thrown by whoever waits next.
      done.catch(() => undefined);
      await this.#watch.guard(calibrating ? done : before);
    }
    this.#watch.check();
  }

  stepsAtOnce(program: string): number {
    return this.#step(program).pace.steps;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#buffers.destroy();
    this.#reader.destroy();
    this.#byteWriter?.destroy();
  }

  async #timeEach(programs: readonly string[]): Promise<readonly number[]> {
    this.#watch.check();
    const { unqueued } = this.#reader;
    if (unqueued) await this.#watch.guard(unqueued);
    const passes = programs.map(
      (name) => (pass: GPUComputePassEncoder) => void this.#encodeStep(pass, this.#step(name), 0, null),
    );
    return timePasses(this.#device, passes, (buffer, bytes) => this.#reader.read(buffer, 0, bytes));
  }

  /** Puts `count` steps from `first` on the queue; resolves when they are done. */
  async #submit(of: Step, first: number, count: number): Promise<void> {
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    let bound: GPUComputePipeline | null = null;
    for (let step = first; step < first + count; step++) bound = this.#encodeStep(pass, of, step, bound);
    pass.end();
    const before = this.#last;
    const submitted = performance.now();
    let started = submitted;
    const previous = before
      .catch(() => undefined)
      .then(() => {
        started = Math.max(submitted, performance.now());
      });
    this.#device.queue.submit([encoder.finish()]);
    await this.#watch.guard(this.#device.queue.onSubmittedWorkDone().then(() => undefined));
    await previous;
    of.pace.report(count, Math.max(0, performance.now() - started));
  }

  /** Encodes one step, which begins with this pipeline bound. Returns the one that is bound after it. */
  #encodeStep(
    pass: GPUComputePassEncoder,
    { tableRows, parts }: Step,
    step: number,
    before: GPUComputePipeline | null,
  ): GPUComputePipeline | null {
    let bound = before;
    for (const part of parts) {
      const row = step * tableRows + part.first;
      for (let i = row; i < row + part.rows; i++) bound = this.#encode(pass, part.dispatches, i, bound);
    }
    return bound;
  }

  /** Encodes a program for one row of the step tables. Returns the pipeline that is bound after it. */
  #encode(
    pass: GPUComputePassEncoder,
    dispatches: CompiledProgram['dispatches'],
    row: number,
    before: GPUComputePipeline | null,
  ): GPUComputePipeline | null {
    let bound = before;
    this.#offset[0] = stepOffset(row);
    for (const { pipeline, bindGroup, usesStep, workgroups } of dispatches) {
      if (pipeline !== bound) pass.setPipeline(pipeline);
      bound = pipeline;
      if (usesStep) pass.setBindGroup(0, bindGroup, this.#offset, 0, 1);
      else pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(workgroups[0], workgroups[1], workgroups[2]);
    }
    return bound;
  }

  #step(name: string): Step {
    const known = this.#steps.get(name);
    if (known) return known;
    const step = stepOf(this.#plan, name);
    if (!step) throw new RangeError(`the plan has no program ${name}; it has ${[...this.#programs.keys()].join(', ')}`);
    let guess = 0;
    const parts = step.parts.map((part) => {
      const { program, dispatches } = this.#programs.get(part.program)!;
      guess += part.rows * guessStep({ ...program, dispatches: dispatches.length }, this.#software);
      return { ...part, dispatches };
    });
    const made = { tableRows: step.tableRows, parts, pace: new Pace(guess, this.#submitMilliseconds) };
    this.#steps.set(name, made);
    return made;
  }

  #place(tensor: string): TensorPlace {
    const place = this.#plan.tensors[tensor];
    if (!place) throw new RangeError(`the plan has no tensor ${tensor}`);
    return place;
  }

  #locate(tensor: string, place: TensorPlace, offset: number, length: number) {
    const elements = elementCount(place.shape);
    if (offset < 0 || offset + length > elements) {
      throw new RangeError(`${tensor} has ${elements} elements, not ${length} from ${offset} on`);
    }
    const size = elementBytes[place.type];
    return { buffer: this.#buffers.slots[place.slot], start: (place.offset + offset) * size, size };
  }
}
