// Where a training step goes, as it crosses process borders, and the words it is told in: `bench --profile` and the page of a run show
// the same columns and sentences. engine/bench/profile.ts measures it.

import { countText } from './words.ts';

/** One kernel call of a step. */
export interface ProfiledCall {
  /** Id of the layer; `data`, `input` and `loss` stand before and behind the layers, `update` is the optimizer's. */
  readonly layer: string;
  readonly phase: 'forward' | 'backward' | 'update';
  readonly kernel: string;
  /** A multiply-add counts as two. */
  readonly flops: number;
  /** Read and written, each operand once. */
  readonly bytes: number;
  /** In the quarter of the steps that was disturbed least: a submit of its own is taken off. */
  readonly milliseconds: number;
  /** Of all calls' time. */
  readonly share: number;
  /** Milliseconds that its work takes at the device's best. */
  readonly least: number;
  /** Which of the two holds it back there. */
  readonly limit: 'computing' | 'memory';
}

export interface StepProfile<C extends ProfiledCall = ProfiledCall> {
  readonly workload: string;
  readonly threads: number;
  /** How its calls were timed: by the device's own clock, or each submitted by itself. */
  readonly timed: 'by timestamps' | 'one by one';
  /** Milliseconds of the whole step, run as training does, at its best. */
  readonly step: number;
  /** In their order. */
  readonly calls: readonly C[];
}

/** The same, and what it was held against. */
export interface MeasuredProfile<C extends ProfiledCall = ProfiledCall> extends StepProfile<C> {
  /** Of multiply-adds alone, else of the device's best product. */
  readonly peakGflops: number;
  /** Its name; null: this was the CPU. */
  readonly gpu: string | null;
  /** Processors that other programs used meanwhile, and those there are; null: the system does not tell. */
  readonly others: { readonly busy: number; readonly processors: number } | null;
}

/** What a profile of a run is made from. */
export interface ProfiledRun {
  readonly run: number;
  /** `model.json` of the run. */
  readonly model: string;
  /** Rows of its training split: a batch is no larger. */
  readonly rows: number;
  /** As its settings say; 0 = as many as pay. */
  readonly threads: number;
  /** It trained on a GPU. */
  readonly gpu: boolean;
}

export interface ProfilerService {
  /** Takes a step of the run apart, on random rows. Throws InputError `input.no_steps` where it has none. */
  profile(request: ProfiledRun): Promise<MeasuredProfile>;
  /** Share that is done, 0 … 1. */
  onProfiled(listener: (event: { share: number }) => void): () => void;
}

/** Calls by what they have in common: their number, milliseconds, least milliseconds, and work. */
export interface ProfileGroup {
  readonly name: string;
  readonly calls: number;
  readonly milliseconds: number;
  readonly share: number;
  readonly least: number;
  readonly flops: number;
  readonly bytes: number;
}

/** Calls put together, those with most time first. */
export function groupCalls(
  calls: readonly ProfiledCall[],
  nameOf: (call: ProfiledCall) => string,
): readonly ProfileGroup[] {
  const groups = new Map<string, ProfileGroup>();
  for (const call of calls) {
    const name = nameOf(call);
    const { calls: number = 0, milliseconds = 0, share = 0, least = 0, flops = 0, bytes = 0 } = groups.get(name) ?? {};
    groups.set(name, {
      name,
      calls: number + 1,
      milliseconds: milliseconds + call.milliseconds,
      share: share + call.share,
      least: least + call.least,
      flops: flops + call.flops,
      bytes: bytes + call.bytes,
    });
  }
  return [...groups.values()].sort((a, b) => b.milliseconds - a.milliseconds);
}

/** By kernel. */
export const kernelsOf = ({ calls }: StepProfile): readonly ProfileGroup[] => groupCalls(calls, ({ kernel }) => kernel);

export const limits = ['memory', 'computing', 'overhead'] as const;
export type HeldBackBy = (typeof limits)[number];

/** A call that takes so many times what its work takes at best is held back by neither computing nor memory. */
const overheadFrom = 4;

export function heldBackBy({
  least,
  milliseconds,
  limit,
}: Pick<ProfiledCall, 'least' | 'milliseconds' | 'limit'>): HeldBackBy {
  return milliseconds > overheadFrom * least ? 'overhead' : limit;
}

/** Forward, backward or update of a layer, and the kernel. */
export const callName = ({ layer, phase, kernel }: ProfiledCall): string => `${placeOf({ layer, phase })}: ${kernel}`;

/** `2 forward`; `update` of the optimizer. */
export const placeOf = ({ layer, phase }: Pick<ProfiledCall, 'layer' | 'phase'>): string =>
  layer === phase ? phase : `${layer} ${phase}`;

/** `0.0271`, `45.2`, `1,410`: three digits. */
const shown = (value: number | null): string =>
  value === null ? '–' : value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));

/** Thousands of millions a second; null where no time passed. */
export const rateOf = (amount: number, milliseconds: number): number | null =>
  milliseconds > 0 ? Number((amount / milliseconds / 1e6).toPrecision(4)) : null;

/** `27.1 µs`, `45.2 ms` */
export const stepTime = (milliseconds: number): string =>
  milliseconds < 0.1 ? `${shown(1000 * milliseconds)} µs` : `${shown(milliseconds)} ms`;

/** Below this a call is as long as the clock is exact. Milliseconds. */
const tooShort = 1e-4;

interface Figure<T> {
  readonly title: string;
  readonly value: (row: T) => string;
  readonly right?: boolean;
}

const figures: readonly Figure<Omit<ProfileGroup, 'calls' | 'name'>>[] = [
  { title: 'time', value: ({ milliseconds }) => stepTime(milliseconds), right: true },
  { title: 'share', value: ({ share }) => `${(100 * share).toFixed(1)} %`, right: true },
  { title: 'GFLOP/s', value: ({ flops, milliseconds }) => shown(rateOf(flops, milliseconds)), right: true },
  { title: 'GB/s', value: ({ bytes, milliseconds }) => shown(rateOf(bytes, milliseconds)), right: true },
  {
    title: 'of its best',
    value: ({ least, milliseconds }) =>
      milliseconds > tooShort ? `${Math.round((100 * least) / milliseconds)} %` : '–',
    right: true,
  },
];

/** The table by kernel. */
export const kernelColumns: readonly Figure<ProfileGroup>[] = [
  { title: 'kernel', value: ({ name }) => name },
  { title: 'calls', value: ({ calls }) => `${calls}`, right: true },
  ...figures,
];

/** The table by call. */
export const callColumns: readonly Figure<ProfiledCall>[] = [
  { title: 'call', value: callName },
  ...figures,
  { title: 'held back by', value: heldBackBy },
];

/** The whole of it in a sentence. */
export function profileText({ step, threads, timed, calls, gpu, peakGflops }: MeasuredProfile): string {
  const sum = calls.reduce((all, { milliseconds }) => all + milliseconds, 0);
  const least = calls.reduce((all, call) => all + call.least, 0);
  const on = gpu ?? (threads === 1 ? 'one thread' : `${threads} threads`);
  const way = gpu !== null && timed === 'one by one' ? 'each submitted by itself' : timed;
  return (
    `${stepTime(step)} a step on ${on}; ${countText(calls.length, 'call')}, ${way} ${stepTime(sum)}, ` +
    `${stepTime(least)} at this ${gpu === null ? 'C' : 'G'}PU’s best (${shown(peakGflops)} GFLOP/s).`
  );
}

/** Processors in use by others that make times too long, as a share of all. */
const disturbing = 0.25;

/** What has to be said of the figures; null where nothing disturbed them. */
export function disturbanceText({ others }: Pick<MeasuredProfile, 'others'>): string | null {
  if (others === null || others.busy <= disturbing * others.processors) return null;
  const { busy, processors } = others;
  const used = Math.min(busy, processors).toFixed(1);
  return (
    `Other programs used ${used} of ${processors} ${processors === 1 ? 'processor' : 'processors'} meanwhile: ` +
    'these times are too long. End them and measure again.'
  );
}
