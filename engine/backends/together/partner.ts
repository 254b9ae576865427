// A device that works on a share of every batch for another one. It holds the plan, the rows and the weights, and is asked for
// the gradients of some rows of the step tables: here in this process, or at the other end of a port (a worker thread, a process,
// the hidden GPU page). The seam is the whole plan, as for every device.

import type { Plan } from '../../plan/plan.ts';
import type { Port } from '../../protocol/port.ts';
import { connect, serve } from '../../protocol/rpc.ts';
import type { Backend, DeviceDescription, Executable, HostArray } from '../backend.ts';

/** Rows of the step tables to make gradients of: `rows` from `first` on, by the program. */
export interface WorkPart {
  readonly program: string;
  readonly first: number;
  readonly rows: number;
}

export interface Work {
  readonly parts: readonly WorkPart[];
  /** All parameters as they are now; null: the partner has them, or finds them in memory that both share. */
  readonly weights: Float32Array | null;
  /** They are other ones than at the work before. */
  readonly fresh: boolean;
}

/** Memory of the first device that a partner in another thread reads and writes: its parameters, and where the partner's sum goes. */
export interface SharedMemory {
  readonly weights: Float32Array;
  readonly sum: Float32Array;
}

export interface Worked {
  /** The sum of the gradients, each by its share of the batch; null: it lies in memory that both share. */
  readonly sum: Float32Array | null;
  /** The loss of each row of the tables, in order. */
  readonly losses: Float32Array;
  readonly milliseconds: number;
}

/** A compiled plan at a partner's. Calls take effect in the order they are made. */
export interface PartnerExecutable {
  /** A failure is told by the work that follows. */
  write(tensor: string, data: HostArray, offset: number): void;
  work(work: Work): Promise<Worked>;
  dispose(): void;
}

export interface Partner {
  readonly device: DeviceDescription;
  readonly dataBudget?: number;
  /** It is of this thread: what is asked of it begins when this thread next waits. */
  readonly here?: boolean;
  /** It is another thread of this process, which can use its memory. */
  readonly sharesMemory?: boolean;
  compile(plan: Plan, memory?: SharedMemory): Promise<PartnerExecutable>;
  close(): Promise<void>;
}

/** Makes the gradients that are asked for, on any executable. */
export async function workOn(
  executable: Executable,
  { parts, weights, fresh }: Work,
  memory?: SharedMemory,
): Promise<Worked> {
  const start = performance.now();
  const given = weights ?? (fresh ? memory?.weights : undefined);
  if (given) executable.write('parameters', given);
  const losses = await runParts(executable, parts);
  let sum: Float32Array | null = null;
  if (memory && executable.copy) executable.copy('gradients.sum', memory.sum);
  else if (memory) memory.sum.set((await executable.read('gradients.sum')) as Float32Array);
  else sum = (await executable.read('gradients.sum')) as Float32Array;
  return { sum, losses, milliseconds: performance.now() - start };
}

/** The gradients of these parts, added up in `gradients.sum`. Returns the loss of each of their rows of the tables, in order. */
export async function runParts(executable: Executable, parts: readonly WorkPart[]): Promise<Float32Array> {
  const losses: number[] = [];
  for (const { program, first, rows } of parts) await executable.run(program, rows, first);
  for (const { first, rows } of parts)
    losses.push(...((await executable.read('ring.loss', first, rows)) as Float32Array));
  return Float32Array.from(losses);
}

/** A device of this process as a partner. Its work has to go on while the caller is busy: a GPU's does. */
export function partnerHere(backend: Backend): Partner {
  return {
    device: backend.device,
    dataBudget: backend.dataBudget,
    here: true,
    async compile(plan) {
      const executable = await backend.compile(plan);
      return {
        write: (tensor, data, offset) => executable.write(tensor, data, offset),
        work: (work) => workOn(executable, work),
        dispose: () => executable.dispose(),
      };
    },
    close: () => backend.close(),
  };
}

/** What a partner at the other end of a port answers. */
export interface PartnerService {
  open(): Promise<{ readonly device: DeviceDescription; readonly dataBudget?: number }>;
  compile(request: { readonly plan: Plan; readonly memory?: SharedMemory }): Promise<void>;
  write(request: { readonly tensor: string; readonly data: HostArray; readonly offset: number }): Promise<void>;
  work(work: Work): Promise<Worked>;
  dispose(): Promise<void>;
}

const service = 'partner';

/** Serves a device over a port. It is opened when first asked for. */
export function servePartner(port: Port, open: () => Promise<Backend>): void {
  let opened: Promise<Backend> | null = null;
  let executable: Executable | null = null;
  let memory: SharedMemory | undefined;
  let failure: unknown = null;
  const dispose = async (): Promise<void> => {
    executable?.dispose();
    executable = null;
  };
  serve<PartnerService>(
    port,
    {
      async open() {
        const { device, dataBudget } = await (opened ??= open());
        return { device, dataBudget };
      },
      async compile({ plan, memory: shared }) {
        await dispose();
        memory = shared;
        failure = null;
        executable = await (await (opened ??= open())).compile(plan);
      },
      async write({ tensor, data, offset }) {
        try {
          executable?.write(tensor, data, offset);
        } catch (error) {
          failure ??= error;
        }
      },
      async work(work) {
        if (failure) throw failure;
        if (!executable) throw new RangeError('no plan has been compiled');
        return workOn(executable, work, memory);
      },
      dispose,
    },
    { service },
  );
}

export interface RemoteOptions {
  /** Who answers, for error messages. */
  readonly peer: string;
  /** The other end is a thread of this process: memory need not be copied into messages. */
  readonly sharesMemory?: boolean;
  /** Ends what is at the other end. */
  readonly end: () => void;
}

/** The partner at the other end of a port. Throws what kept it from opening its device. */
export async function connectPartner(port: Port, { peer, sharesMemory, end }: RemoteOptions): Promise<Partner> {
  const remote = connect<PartnerService>(port, { service, peer });
  const { device, dataBudget } = await remote.open();
  return {
    device,
    dataBudget,
    ...(sharesMemory ? { sharesMemory } : {}),
    async compile(plan, memory) {
      await remote.compile({ plan, ...(memory ? { memory } : {}) });
      return {
        write(tensor, data, offset) {
          // A view is sent with all of the memory that it looks into: only what it shows is copied.
          remote.write({ tensor, data: data.slice(), offset }).catch(() => undefined);
        },
        work: (work) => remote.work(work),
        dispose: () => void remote.dispose().catch(() => undefined),
      };
    },
    async close() {
      end();
    },
  };
}
