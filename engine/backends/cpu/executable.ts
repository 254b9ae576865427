// A compiled plan on the CPU: its programs encoded into the arena of a machine, its tensors as views of that arena.

import { elementBytes, elementCount } from '../../../kernels/contract.ts';
import { stepOf, type Plan, type TensorPlace } from '../../plan/plan.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import type { Executable } from '../backend.ts';
import { type HostArray, hostView } from '../host-arrays.ts';
import { Pace } from '../pace.ts';
import { placePlan, type ArenaLayout } from './arena.ts';
import { encodeProgram, type NativeKernels } from './encode.ts';
import type { Machine } from './machine.ts';
import { ThreadChooser } from './threads.ts';

export interface ExecutableOptions {
  /** Kernel names by their numbers in call records. */
  readonly kernels: readonly string[];
  /** Kernels the addon takes over. */
  readonly native: NativeKernels;
  /** Choose between one thread and all of the machine's while running. */
  readonly adaptive: boolean;
  /** Threads that pay for the plan. */
  readonly paying: number;
  /** Programs that run on the calling thread alone. */
  readonly alone?: (program: string) => boolean;
  readonly onDispose: () => void;
}

/** The programs of plans as they were encoded: a search compiles the same plan fold by fold. */
const encodedPlans = new WeakMap<Plan, Encoded>();

interface Encoded extends Pick<ExecutableOptions, 'kernels' | 'native'> {
  readonly base: number;
  readonly bytes: Uint8Array;
}

/** Encodes a plan into a machine that has room for it. The machine then belongs to the executable. */
export function createExecutable(plan: Plan, machine: Machine, options: ExecutableOptions): Executable {
  const layout = placePlan(plan, machine.base);
  encode(plan, layout, machine, options);
  const views = new Map(
    Object.entries(plan.tensors).map(([name, place]) => [name, tensorView(layout, machine, place)]),
  );
  const adaptive = options.adaptive && machine.threads > 1;
  const submits = new Map<string, { readonly step: NonNullable<ReturnType<typeof stepOf>>; readonly pace: Pace }>();
  const choosers = new Map(Object.keys(plan.programs).map((name) => [name, new ThreadChooser()]));
  machine.start();

  function view(tensor: string): HostArray {
    const found = views.get(tensor);
    if (!found) throw new TrainyardError('internal.no_tensor', `The plan has no tensor "${tensor}".`);
    return found;
  }

  function submitOf(name: string) {
    const known = submits.get(name);
    if (known) return known;
    const step = stepOf(plan, name);
    if (!step) throw new TrainyardError('internal.no_program', `The plan has no program "${name}".`);
    const made = { step, pace: new Pace() };
    submits.set(name, made);
    return made;
  }

  /** Runs rows of the step tables in stretches, each on as many threads as have proved faster. */
  function runRows(name: string, first: number, rows: number): void {
    const program = layout.programs[name];
    if (options.alone?.(name)) return machine.submit(program, first, rows, true);
    if (!adaptive) return machine.submit(program, first, rows);
    const chooser = choosers.get(name)!;
    for (let done = 0; done < rows;) {
      const start = performance.now();
      const choice = chooser.next(rows - done, start);
      // Until all threads are up, the caller goes on alone.
      const all = choice.all && machine.ready;
      machine.submit(program, first + done, choice.steps, !all);
      const end = performance.now();
      chooser.record(all, choice.steps, end - start, end);
      done += choice.steps;
    }
  }

  return {
    bytes: machine.buffer.byteLength,
    threads: machine.threads,
    ...(options.paying < machine.threads && { payingThreads: options.paying }),
    write(tensor, data, offset = 0) {
      const target = view(tensor);
      if (target.constructor !== data.constructor || offset + data.length > target.length) {
        throw new TrainyardError(
          'internal.bad_write',
          `${data.length} ${data.constructor.name} elements at ${offset} do not fit tensor "${tensor}" ` +
            `of ${target.length} ${target.constructor.name} elements.`,
        );
      }
      machine.copy(target.subarray(offset, offset + data.length), data);
    },
    async read(tensor, offset = 0, length) {
      return view(tensor).slice(offset, length === undefined ? undefined : offset + length);
    },
    copy: (tensor, into) => machine.copy(into, view(tensor)),
    view,
    async run(name, steps, from = 0) {
      const submit = submitOf(name);
      const { tableRows, parts } = submit.step;
      if ((from + steps) * tableRows > plan.stepCapacity) {
        throw new TrainyardError(
          'internal.too_many_steps',
          `${from + steps} steps exceed the plan's ${plan.stepCapacity}.`,
        );
      }
      if (steps === 0) return;
      const start = performance.now();
      if (parts.length === 1 && tableRows === 1) runRows(name, from, steps);
      else {
        for (let row = from * tableRows; row < (from + steps) * tableRows; row += tableRows) {
          for (const { program, first, rows } of parts) runRows(program, row + first, rows);
        }
      }
      submit.pace.report(steps, performance.now() - start);
    },
    stepsAtOnce: (name) => submits.get(name)?.pace.steps ?? 1,
    dispose() {
      machine.dispose();
      options.onDispose();
    },
  };
}

/** Writes the programs of a plan, which come first in its layout. */
function encode(
  plan: Plan,
  layout: ArenaLayout,
  { base, buffer }: Machine,
  { kernels, native }: ExecutableOptions,
): void {
  const known = encodedPlans.get(plan);
  if (known?.base === base && known.kernels === kernels && known.native === native) {
    new Uint8Array(buffer, base).set(known.bytes);
    return;
  }
  for (const program of Object.values(plan.programs)) encodeProgram(program, layout, kernels, native, buffer);
  const bytes = new Uint8Array(buffer, base, layout.programsEnd - base).slice();
  encodedPlans.set(plan, { kernels, native, base, bytes });
}

function tensorView(layout: ArenaLayout, machine: Machine, place: TensorPlace): HostArray {
  const slot = layout.slots.get(place.slot);
  if (!slot) {
    throw new TrainyardError('device.unsupported_plan', `A tensor lies in slot ${place.slot}, which does not exist.`);
  }
  const address = slot.address + place.offset * elementBytes[place.type];
  return hostView(place.type, machine.buffer, address, elementCount(place.shape));
}
