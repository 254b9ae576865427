// The parts of a lab, in their order: what each measures of a device, and how its time is divided over sizes. A size that would
// take longer than its share is left out, and that is said; time that one size does not need is there for those after it.

import type { Backend } from '../backends/backend.ts';
import { learnerFits } from '../bench/learner-fits.ts';
import type { Workload } from '../bench/workload.ts';
import { labWorkloads, productWorkload } from '../bench/workloads.ts';
import type { LabDevice, LabPart, LabTarget, Sample, Spread } from '../protocol/lab.ts';
import { TrainyardError } from '../protocol/errors.ts';
import type { LabSession } from './session.ts';
import { chainLength, copyProgram, latencyPlan, runsOf, stretchesPlan, transferPlan, triadProgram } from './plans.ts';
import { differenceSpread, leastCalls, rateSpread, scaledSpread } from './spread.ts';

export interface PartContext {
  readonly session: LabSession;
  readonly open: (threads: number) => Promise<Backend>;
  /** CPU: threads this device stands for; 0 for a GPU. */
  readonly threads: number;
  readonly memory: number;
  /** Milliseconds. */
  readonly share: number;
  /** What is known so far. */
  readonly device: LabDevice;
  /** What is being measured, for words about failures. */
  doing: string;
}

type Found = Partial<LabDevice>;

export interface Part {
  readonly name: LabPart;
  /** Of the time, against the other parts. */
  readonly weight: number;
  readonly applies: (target: LabTarget, threads: number) => boolean;
  /** Hands over what it has, after every figure. */
  readonly measure: (context: PartContext, found: (what: Found) => void) => Promise<void>;
}

const always = (): boolean => true;

export const parts: readonly Part[] = [
  { name: 'latency', weight: 1, applies: always, measure: measureLatencies },
  { name: 'product', weight: 4, applies: always, measure: measureProducts },
  { name: 'copy', weight: 2, applies: always, measure: (context, found) => measureStretches(context, found, 'copy') },
  {
    name: 'triad',
    weight: 1.5,
    applies: always,
    measure: (context, found) => measureStretches(context, found, 'triad'),
  },
  { name: 'transfer', weight: 1, applies: ({ kind }) => kind === 'gpu', measure: measureTransfer },
  { name: 'scaling', weight: 2, applies: ({ id }, threads) => id === 'cpu' && threads > 1, measure: measureScaling },
  { name: 'workloads', weight: 5, applies: always, measure: measureWorkloads },
];

/** Doubling numbers from one to another. */
function doubling(from: number, to: number): readonly number[] {
  const all: number[] = [];
  for (let value = from; value <= to; value *= 2) all.push(value);
  return all;
}

export const productSizes = doubling(16, 4096);
/** An adapter in software is known to be slow: N, bytes and FLOP of a unit beyond which one call of it could take seconds. */
const softwareMost = { product: 256, bytes: 2 ** 22, flops: 1e8 } as const;

/** Leaves out what is too large for an adapter in software, and says so. */
function withinReason<T>({ device, session }: PartContext, what: string, all: readonly T[], fits: (one: T) => boolean) {
  const kept = device.software ? all.filter(fits) : all;
  if (kept.length < all.length) session.notes.push(`${what} were left out: this adapter is in software.`);
  return kept;
}

/** Bytes of all arrays together: 16 kB … 256 MB. */
export const stretchSizes = {
  copy: doubling(2 ** 14, 2 ** 28),
  triad: doubling(2 ** 14, 2 ** 28).filter((_, i) => i % 2 === 0),
};

/** A figure has at least this share of what it would have had if all before it had kept to theirs. */
const leastShare = 0.5;

/** Gives each of some figures its share of what is left. */
class Shares {
  readonly #clock: () => number;
  #end: number;
  readonly #least: number;
  #left: number;

  constructor({ session, share }: PartContext, figures: number) {
    this.#clock = session.clock;
    this.#end = this.#clock() + share;
    this.#least = (leastShare * share) / figures;
    this.#left = figures;
  }

  /** What took so many milliseconds was no figure's: theirs is as long as it was. */
  give(milliseconds: number): void {
    this.#end += milliseconds;
  }

  next(): number {
    return Math.max(this.#least, (this.#end - this.#clock()) / Math.max(1, this.#left--));
  }
}

/** Opens the device, and closes it whatever happens. */
async function withDevice<T>(
  { open }: PartContext,
  threads: number,
  work: (backend: Backend) => Promise<T>,
): Promise<T> {
  const backend = await open(threads);
  try {
    return await work(backend);
  } finally {
    await backend.close();
  }
}

async function measureLatencies(context: PartContext, found: (what: Found) => void): Promise<void> {
  const { session, threads } = context;
  const hasBarrier = threads > 1;
  const shares = new Shares(context, hasBarrier ? 4 : 3);
  const latencies: { name: LabDevice['latencies'][number]['name']; microseconds: Spread }[] = [];
  const keep = (name: (typeof latencies)[number]['name'], milliseconds: Spread | null): void => {
    if (milliseconds === null) return;
    latencies.push({ name, microseconds: scaledSpread(milliseconds, 1000) });
    found({ latencies: [...latencies] });
  };
  const time = (backend: Backend, what: 'chain' | 'one' | 'read', words: string): Promise<Spread | null> => {
    context.doing = words;
    return withPlan(backend, async (executable) => {
      const run = async (units = 1): Promise<void> => {
        for (let i = 0; i < units; i++) await executable.read('c', 0, 1);
      };
      // A submit at a time: they follow each other as a trainer's do.
      const workload = what === 'read' ? { run } : runsOf(executable, what, what === 'one' ? 1 : undefined);
      shares.give(await session.prepare(workload));
      return session.time({ what: words, share: shares.next(), workload });
    });
  };
  const call = await withDevice(context, threads, async (backend) => {
    const chain = await time(backend, 'chain', 'the time of a call');
    const each = chain && scaledSpread(chain, 1 / chainLength);
    keep('call', each);
    keep('submit', await time(backend, 'one', 'the time of a submit'));
    keep('readback', await time(backend, 'read', 'the time of a read-back'));
    return each;
  });
  if (!hasBarrier || call === null) return;
  const alone = await withDevice(context, 1, (backend) => time(backend, 'chain', 'the time of a call on one thread'));
  keep('barrier', alone && differenceSpread(call, scaledSpread(alone, 1 / chainLength)));
}

async function withPlan<T>(
  backend: Backend,
  work: (executable: Awaited<ReturnType<Backend['compile']>>) => Promise<T>,
): Promise<T> {
  const executable = await backend.compile(latencyPlan());
  try {
    return await work(executable);
  } finally {
    executable.dispose();
  }
}

/** A larger size may be so many times faster than the fastest call so far; more where the last step was larger, or where there was none. */
const hope = 2;
const firstHope = 8;

/** Milliseconds that an amount takes at least, by the rates seen so far; 0 where there are none. */
function leastTime(amount: number, samples: readonly Sample[]): number {
  const best = Math.max(0, ...samples.map(({ value }) => value.high));
  const [before, last] = samples.slice(-2).map(({ value }) => value.median);
  const growth = last === undefined ? firstHope : Math.max(hope, last / before);
  return best > 0 ? amount / (growth * best) : 0;
}

async function measureProducts(context: PartContext, found: (what: Found) => void): Promise<void> {
  const { session, threads } = context;
  const sizes = withinReason(context, 'Products above N = 256', productSizes, (n) => n <= softwareMost.product);
  const shares = new Shares(context, sizes.length);
  const products: Sample[] = [];
  await withDevice(context, threads, async (backend) => {
    for (const n of sizes) {
      context.doing = `the product of N = ${n}`;
      const share = shares.next();
      const workload = productWorkload(n);
      if (!session.fits(`the product of N = ${n}`, leastTime(workload.flops / 1e6, products), share)) continue;
      const times = await timeWorkload(context, backend, workload, share);
      if (times === null) continue;
      products.push({ at: n, value: rateSpread(times, workload.flops / 1e6) });
      found({ products: [...products] });
    }
  });
}

/** Milliseconds of a unit; null where one has proved to take too long for its share. */
async function timeWorkload(
  context: PartContext,
  backend: Backend,
  workload: Pick<Workload, 'open'>,
  share: number,
): Promise<Spread | null> {
  const { session, doing } = context;
  const start = session.clock();
  const open = await workload.open(backend);
  try {
    await session.between();
    // The first one includes what is made only once; a second is worth its time where the first was quick.
    let once = await timeOf(session, open);
    if (once > share / 40) once = Math.min(once, await timeOf(session, open));
    await session.between();
    const left = share - (session.clock() - start);
    if (!session.fits(doing, once, Math.max(left, share / 2))) return null;
    return await session.time({ what: doing, share: Math.max(left, share / 2), workload: open });
  } finally {
    open.close();
  }
}

async function timeOf(session: LabSession, open: { readonly run: () => Promise<void> }): Promise<number> {
  const start = session.clock();
  await open.run();
  return session.clock() - start;
}

async function measureStretches(
  context: PartContext,
  found: (what: Found) => void,
  kind: 'copy' | 'triad',
): Promise<void> {
  const { session, threads, memory } = context;
  const sizes = withinReason(context, 'Arrays above 4 MB', stretchSizes[kind], (bytes) => bytes <= softwareMost.bytes);
  const wanted = sizes.filter((bytes) => bytes <= memory);
  if (wanted.length < sizes.length) {
    const most = megabytes(wanted.at(-1) ?? 0);
    session.notes.push(`The ${kind} ended at ${most}, for lack of memory.`);
  }
  const samples: Sample[] = [];
  await withDevice(context, threads, async (backend) => {
    const pieces = Math.max(1, threads);
    const make = (bytes: number) => (kind === 'copy' ? copyProgram(bytes, pieces) : triadProgram(bytes));
    const { executable, stretches } = await compileLargest(backend, wanted.map(make));
    if (stretches.length < wanted.length) {
      session.notes.push(`The ${kind} ended at ${megabytes(stretches.at(-1)!.bytes)}, for lack of memory.`);
    }
    const shares = new Shares(context, stretches.length);
    try {
      for (const { program, bytes } of stretches) {
        context.doing = `the ${kind} of ${megabytes(bytes)}`;
        const workload = runsOf(executable, program);
        if (bytes === stretches[0].bytes) shares.give(await session.prepare(workload));
        const share = shares.next();
        if (!session.fits(context.doing, leastTime(bytes / 1e6, samples), share)) continue;
        const times = await session.time({ what: context.doing, share, workload });
        if (times === null) continue;
        samples.push({ at: bytes, value: rateSpread(times, bytes / 1e6) });
        found({ [kind]: [...samples] });
      }
    } finally {
      executable.dispose();
    }
  });
}

type Stretches = Parameters<typeof stretchesPlan>[0];

/** As many of the sizes, smallest first, as there is memory for. Throws what compiling throws where it is for none. */
async function compileLargest<S extends Stretches[number]>(backend: Backend, stretches: readonly S[]) {
  for (let count = stretches.length; ; count--) {
    try {
      const chosen = stretches.slice(0, count);
      return { executable: await backend.compile(stretchesPlan(chosen)), stretches: chosen };
    } catch (error) {
      if (!(error instanceof TrainyardError && /^device\.(out_of_memory|limit)$/.test(error.code)) || count === 1)
        throw error;
    }
  }
}

/** Bytes that go over at a time. */
const transferBytes = { hardware: 2 ** 26, software: 2 ** 22 } as const;

async function measureTransfer(context: PartContext, found: (what: Found) => void): Promise<void> {
  const { session, device, threads } = context;
  const bytes = device.software ? transferBytes.software : transferBytes.hardware;
  const values = new Float32Array(bytes / 4);
  const shares = new Shares(context, 2);
  await withDevice(context, threads, async (backend) => {
    const executable = await backend.compile(transferPlan(values.length));
    try {
      context.doing = `the transfer of ${megabytes(bytes)} to the device`;
      const write = async (units = 1): Promise<void> => {
        for (let i = 0; i < units; i++) executable.write('a', values);
        await executable.read('a', 0, 1);
      };
      const to = await session.time({ what: context.doing, share: shares.next(), workload: { run: write } });
      context.doing = `the transfer of ${megabytes(bytes)} from the device`;
      const read = async (units = 1): Promise<void> => {
        for (let i = 0; i < units; i++) await executable.read('a');
      };
      const from = await session.time({ what: context.doing, share: shares.next(), workload: { run: read } });
      const perSecond = (times: Spread): Spread => rateSpread(times, bytes / 1e6);
      if (to === null || from === null) return;
      found({ transfer: { toGbPerSecond: perSecond(to), fromGbPerSecond: perSecond(from) } });
    } finally {
      executable.dispose();
    }
  });
}

/** Sizes of the product that is spread over threads: the first whose time on one thread fits. */
const scalingSizes = [1024, 512, 256] as const;
/** The product that each thread has of its own: its three matrices fit the cache of a core. */
const ownProduct = 256;
/** Threads up to which every number is tried. */
const everyThread = 8;

/** 1 … 8 one by one, then doubling, and all. */
export function threadCounts(most: number): readonly number[] {
  const few = Array.from({ length: Math.min(most, everyThread) }, (_, i) => i + 1);
  return [...new Set([...few, ...doubling(2 * everyThread, most), most])];
}

async function measureScaling(context: PartContext, found: (what: Found) => void): Promise<void> {
  const { threads, device } = context;
  const counts = threadCounts(threads);
  const alone = [1, threads];
  const shares = new Shares(context, counts.length + alone.length);
  const first = context.share / (counts.length + alone.length);
  const product =
    scalingSizes.find((n) => leastCalls * hope * threads * leastTime((2 * n ** 3) / 1e6, device.products) <= first) ??
    scalingSizes[2];
  const samples: Sample[] = [];
  for (const count of counts) {
    context.doing = `the product of N = ${product} on ${count} thread${count === 1 ? '' : 's'}`;
    const workload = productWorkload(product);
    const times = await withDevice(context, count, (backend) =>
      timeWorkload(context, backend, workload, shares.next()),
    );
    if (times === null) continue;
    samples.push({ at: count, value: rateSpread(times, workload.flops / 1e6) });
    found({ scaling: { product, samples: [...samples] } });
  }
  // Threads that share nothing tell whether the processors are there, whatever sharing a product costs.
  const own: Sample[] = [];
  for (const count of alone) {
    context.doing = `a product of N = ${ownProduct} for each of ${count} thread${count === 1 ? '' : 's'}`;
    const workload = productWorkload(ownProduct, count);
    const times = await withDevice(context, count, (backend) =>
      timeWorkload(context, backend, workload, shares.next()),
    );
    if (times === null) return;
    own.push({ at: count, value: rateSpread(times, workload.flops / 1e6) });
  }
  found({ scaling: { product, samples: [...samples], own } });
}

async function measureWorkloads(context: PartContext, found: (what: Found) => void): Promise<void> {
  const { session, device, threads } = context;
  const chosen = withinReason(context, 'Most training steps', labWorkloads, ({ flops }) => flops <= softwareMost.flops);
  const fits = learnerFits.filter(({ on }) => on.includes(device.id));
  const shares = new Shares(context, chosen.length + fits.length);
  const kept: LabDevice['workloads'][number][] = [];
  // As training does: on one thread or on all, whichever proves faster.
  await withDevice(context, device.id === 'cpu' || device.id === 'cpu-wasm' ? 0 : threads, async (backend) => {
    // Fits last: what large steps leave of their time is theirs.
    for (const workload of [...chosen, ...fits]) {
      context.doing = `a unit of ${workload.name}`;
      const share = shares.next();
      const least = 'flops' in workload ? leastTime(workload.flops / 1e6, device.products) : 0;
      if (!session.fits(context.doing, least, share)) continue;
      const milliseconds = await timeWorkload(context, backend, workload, share);
      if (milliseconds === null) continue;
      kept.push({ name: workload.name, unit: workload.unit, milliseconds });
      found({ workloads: [...kept] });
    }
  });
}

/** `16 kB`, `256 MB`, of powers of two. */
export function megabytes(bytes: number): string {
  const [units, value] = bytes >= 2 ** 20 ? ['MB', bytes / 2 ** 20] : ['kB', bytes / 2 ** 10];
  return `${Number(value.toPrecision(3))} ${units}`;
}
