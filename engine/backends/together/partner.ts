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
  /** All parameters as they are now; null: the partner has them. */
  readonly weights: Float32Array | null;
}

export interface Worked {
  /** The sum of the gradients, each by its share of the batch. Valid until the next work. */
  readonly sum: Float32Array;
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
  compile(plan: Plan): Promise<PartnerExecutable>;
  close(): Promise<void>;
}

/** Makes the gradients that are asked for, on any executable. `into`: where their sum is to lie. */
export async function workOn(executable: Executable, { parts, weights }: Work, into?: Float32Array): Promise<Worked> {
  const start = performance.now();
  if (weights) executable.write('parameters', weights);
  const losses: number[] = [];
  for (const { program, first, rows } of parts) {
    await executable.run(program, rows, first);
    losses.push(...((await executable.read('ring.loss', first, rows)) as Float32Array));
  }
  let sum = into;
  if (sum && executable.copy) executable.copy('gradients.sum', sum);
  else {
    const read = (await executable.read('gradients.sum')) as Float32Array;
    if (sum) sum.set(read);
    else sum = read;
  }
  return { sum, losses: Float32Array.from(losses), milliseconds: performance.now() - start };
}

/** A device of this process as a partner. Its work has to go on while the caller is busy: a GPU's does. */
export function partnerHere(backend: Backend): Partner {
  return {
    device: backend.device,
    dataBudget: backend.dataBudget,
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

/** What a partner at the other end of a port answers. `memory`: memory that both ends share, where there is such a thing. */
export interface PartnerService {
  open(): Promise<{ readonly device: DeviceDescription; readonly dataBudget?: number }>;
  compile(request: { readonly plan: Plan; readonly memory?: Float32Array }): Promise<void>;
  write(request: { readonly tensor: string; readonly data: HostArray; readonly offset: number }): Promise<void>;
  /** Without the sum where it lies in memory that both share. */
  work(work: Work): Promise<Omit<Worked, 'sum'> & { readonly sum: Float32Array | null }>;
  dispose(): Promise<void>;
  close(): Promise<void>;
}

const service = 'partner';

/** Serves a device over a port. It is opened when first asked for. */
export function servePartner(port: Port, open: () => Promise<Backend>): void {
  let opened: Promise<Backend> | null = null;
  let executable: Executable | null = null;
  let memory: Float32Array | undefined;
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
        const { sum, ...rest } = await workOn(executable, work, memory);
        return { ...rest, sum: memory ? null : sum };
      },
      dispose,
      async close() {
        await dispose();
        await (await opened)?.close();
      },
    },
    { service },
  );
}

export interface RemoteOptions {
  /** Who answers, for error messages. */
  readonly peer: string;
  /** Numbers in memory that both ends share; absent: gradients and weights are copied into messages. */
  readonly shared?: (count: number) => Float32Array;
  /** Ends what is at the other end. */
  readonly end: () => void;
}

/** The partner at the other end of a port. Throws what kept it from opening its device. */
export async function connectPartner(port: Port, { peer, shared, end }: RemoteOptions): Promise<Partner> {
  const remote = connect<PartnerService>(port, { service, peer });
  const { device, dataBudget } = await remote.open();
  return {
    device,
    dataBudget,
    async compile(plan) {
      const { slot } = plan.tensors['gradients.sum'];
      const { elements } = plan.slots[slot];
      const [memory, handed] = [shared?.(elements), shared?.(elements)];
      await remote.compile({ plan, ...(memory ? { memory } : {}) });
      return {
        write(tensor, data, offset) {
          // A view is sent with all of the memory that it looks into: only what it shows is copied.
          remote.write({ tensor, data: data.slice(), offset }).catch(() => undefined);
        },
        async work({ parts, weights }) {
          if (weights && handed) handed.set(weights);
          const worked = await remote.work({ parts, weights: weights && (handed ?? weights) });
          return { ...worked, sum: worked.sum ?? memory! };
        },
        dispose: () => void remote.dispose().catch(() => undefined),
      };
    },
    async close() {
      end();
    },
  };
}
