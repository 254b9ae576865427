// Several devices as one: the first is this process's own and holds the trainer's state, the others make the gradients of their
// shares of every batch. Which rows are whose stands in the plan. docs/data-parallel.md.

import { gradientsOf, type Plan } from '../../plan/plan.ts';
import type { Backend, DeviceDescription, Executable, Together } from '../backend.ts';
import { TogetherExecutable, type Member } from './executable.ts';
import type { Partner, SharedMemory } from './partner.ts';

export interface TogetherOptions extends Pick<Together, 'weights' | 'alone'> {
  /** The first device. */
  readonly own: Backend;
  readonly partners: readonly Partner[];
  /** Lets what has been asked of the others begin. Default: they are elsewhere and begin by themselves. */
  readonly breathe?: () => Promise<void>;
  /** Rejects when work takes longer than a device that lives; default: it waits. */
  readonly within?: <T>(work: Promise<T>) => Promise<T>;
}

/** Several devices as one backend. A device that fails at its work is left out from then on; one that cannot compile the plan fails it. */
export function createTogetherBackend(options: TogetherOptions): Backend {
  const { own, partners, weights, alone, breathe = async () => {}, within = async (work) => work } = options;
  const devices = [own.device, ...partners.map(({ device }) => device)];
  const listeners: ((device: DeviceDescription, reason: string) => void)[] = [];
  const lost = new Set<number>();
  const onLost = (place: number, error: unknown): void => {
    if (lost.has(place)) return;
    lost.add(place);
    const reason = error instanceof Error ? error.message : String(error);
    for (const listener of listeners) listener(partners[place].device, reason);
    // It may only be slow: nobody waits for it any more.
    partners[place].close().catch(() => undefined);
  };

  const here = partners.some((partner) => partner.here);

  async function compile(plan: Plan): Promise<Executable> {
    const parts = Object.values(plan.sequences ?? {}).flatMap((sequence) => sequence.parts);
    const most = Math.max(-1, ...parts.flatMap(({ device }) => device ?? []));
    // Predictions alone, or a batch that nobody shares out.
    if (most < 0) return own.compile(plan);
    const made: { dispose(): void }[] = [];
    try {
      const first = await own.compile(plan);
      made.push(first);
      const members: Member[] = [];
      for (const [place, partner] of partners.entries()) {
        if (lost.has(place)) {
          members.push(gone());
          continue;
        }
        const memory = partner.sharesMemory ? memoryFor(first, plan, place + 1) : undefined;
        const executable = await partner.compile(plan, memory);
        made.push(executable);
        members.push({ executable, lost: false, sharesMemory: memory !== undefined });
      }
      // Shares of a run that had more devices.
      while (members.length < most) members.push(gone());
      return new TogetherExecutable({
        plan,
        own: first,
        members,
        onLost,
        breathe: here ? breathe : async () => {},
        within,
      });
    } catch (error) {
      for (const executable of made) executable.dispose();
      throw error;
    }
  }

  const budgets = [own, ...partners].flatMap(({ dataBudget }) => (dataBudget === undefined ? [] : [dataBudget]));
  const warnings = devices.flatMap(({ warning }) => warning ?? []);
  return {
    device: {
      kind: own.device.kind,
      name: devices.map(({ name }) => name).join(' + '),
      threads: own.device.threads,
      ...(warnings.length > 0 ? { warning: warnings.join(' ') } : {}),
    },
    ...(budgets.length > 0 ? { dataBudget: Math.min(...budgets) } : {}),
    together: { devices, weights, alone, onLost: (listener) => void listeners.push(listener) },
    compile,
    async close() {
      await Promise.all([own.close(), ...partners.map((partner) => partner.close())]);
    },
  };
}

/** A device that there is no more. */
const gone = (): Member => ({
  lost: true,
  sharesMemory: false,
  executable: {
    write: () => undefined,
    work: () => Promise.reject(new Error('this device is lost')),
    dispose: () => undefined,
  },
});

/** Where the first device can show its memory to other threads. */
function memoryFor({ view }: Executable, plan: Plan, device: number): SharedMemory | undefined {
  const sum = gradientsOf(device);
  if (!view || !plan.tensors[sum]) return undefined;
  return { weights: view('parameters') as Float32Array, sum: view(sum) as Float32Array };
}
