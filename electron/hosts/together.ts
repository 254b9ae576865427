// Several devices for one run, as a Node process opens them: the first CPU is its own, the others worker threads with memory,
// kernels and threads of their own, and a GPU is whoever the host knows.

import { Worker } from 'node:worker_threads';
import type { Backend } from '../../engine/backends/backend.ts';
import { usableCores } from '../../engine/system/cores.ts';
import { createTogetherBackend } from '../../engine/backends/together/backend.ts';
import { connectPartner, type Partner } from '../../engine/backends/together/partner.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { threadPort } from '../../engine/protocol/port.node.ts';
import { namedDevices } from '../../engine/protocol/several-devices.ts';
import { nodeSurroundings } from './surroundings.ts';
import { openCpu, type TrustedCpuOptions } from './trusted-cpu.ts';

/** A device that does not answer for so long is lost. */
const patienceMilliseconds = 60_000;

export interface TogetherHost extends TrustedCpuOptions {
  /** Opens the GPU to work beside this process. */
  readonly gpu: () => Promise<Partner>;
}

/** Opens the devices of `--devices`; `threads` are those of each CPU, 0: the cores are divided among them. */
export async function openTogether(text: string, { home, threads = 0, gpu }: TogetherHost): Promise<Backend> {
  const named = namedDevices(text);
  const cpus = named.filter(({ kind }) => kind === 'cpu').length;
  const each = threads || (cpus > 1 ? Math.max(1, Math.floor(usableCores() / cpus)) : 0);
  // What comes after the gradients is the first CPU's alone, and so are predictions: for them it takes all cores.
  const own = await openCpu(cpus > 1 && each === 1 && !threads ? { home, alone: isShared } : { home, threads: each });
  const partners: Partner[] = [];
  try {
    for (const { kind } of named.slice(1)) {
      partners.push(kind === 'gpu' ? await gpu() : await startCpu({ home, threads: each }));
    }
  } catch (error) {
    await Promise.all([own.close(), ...partners.map((partner) => partner.close())]);
    throw error;
  }
  const weights = named.map(({ weight }) => weight ?? 0);
  return createTogetherBackend({
    own,
    partners,
    weights: weights.some((weight) => weight > 0) ? weights : null,
    alone: () => openCpu({ home, threads }),
    breathe: nodeSurroundings.breathe,
    within,
  });
}

/** Another CPU of this machine: a thread of this process. */
export async function startCpu(options: TrustedCpuOptions): Promise<Partner> {
  // No flags of the parent: some of them (--input-type, test runners') make a worker fail before it starts.
  const worker = new Worker(new URL('./partner-worker.ts', import.meta.url), { workerData: options, execArgv: [] });
  // Whoever waits for it hears that it has ended.
  worker.on('error', () => undefined);
  const end = (): void => void worker.terminate();
  try {
    return await connectPartner(threadPort(worker), { peer: 'a CPU of this run', sharesMemory: true, end });
  } catch (error) {
    end();
    throw error;
  }
}

/** Programs that all devices are at work on. */
export const isShared = (program: string): boolean => program.startsWith('gradients@');

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TrainyardError('device.no_answer', `It has not answered for ${patienceMilliseconds / 1000} seconds.`));
    }, patienceMilliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
