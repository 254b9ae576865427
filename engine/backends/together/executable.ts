// A compiled plan on several devices. Steps in parts are shared: the first device starts the others, makes the gradients of its
// own share meanwhile, adds theirs in the order of the devices, updates the weights and hands them out. All else (predictions,
// reading, checkpoints) is the first device's alone. Who made a gradient does not matter to the sum, so that a device that is
// lost changes nothing but the time: the first one makes its share too.

import { gradientsOf, joinProgram, stepOf, updateProgram, type Plan, type StepPart } from '../../plan/plan.ts';
import type { Executable, HostArray, Standing } from '../backend.ts';
import { Pace } from '../pace.ts';
import { runParts, workOn, type PartnerExecutable, type Work } from './partner.ts';

export interface Member {
  readonly executable: PartnerExecutable;
  /** It reads the weights, and writes its sum, in the memory of the first device. */
  readonly sharesMemory: boolean;
  lost: boolean;
}

export interface TogetherParts {
  readonly plan: Plan;
  /** Of the first device. */
  readonly own: Executable;
  /** The others, in order. */
  readonly members: readonly Member[];
  /** Member number `place` does not answer any more, or has failed. */
  readonly onLost: (place: number, error: unknown) => void;
  /** Lets what has been asked of the others begin, before this thread is busy. */
  readonly breathe: () => Promise<void>;
  /** Rejects when work takes longer than a device that lives. */
  readonly within: <T>(work: Promise<T>) => Promise<T>;
}

interface Times {
  working: number;
  waiting: number;
}

export class TogetherExecutable implements Executable {
  readonly #parts: TogetherParts;
  readonly #paces = new Map<string, Pace>();
  readonly #times: readonly Times[];
  /** Losses of the parts of the last run, by the rows of the tables; null: it was no step in parts. */
  #losses: Float32Array | null = null;
  readonly #ring: Float32Array;
  readonly #weights: Float32Array;
  readonly #kept: Float32Array;
  /** The others have other weights than the first device. */
  #stale = false;
  /** A device was lost in the last step. */
  #fewer = false;
  #steps = 0;
  #exchange = 0;
  #update = 0;

  constructor(parts: TogetherParts) {
    const { plan, own, members } = parts;
    this.#parts = parts;
    this.#ring = new Float32Array(plan.stepCapacity);
    const numbers = (tensor: string): number => plan.slots[plan.tensors[tensor].slot].elements;
    this.#weights = new Float32Array(numbers('parameters'));
    this.#kept = new Float32Array(numbers('gradients.sum'));
    this.#times = [own, ...members].map(() => ({ working: 0, waiting: 0 }));
  }

  get bytes(): number {
    return this.#parts.own.bytes;
  }

  get threads(): number | undefined {
    return this.#parts.own.threads;
  }

  /** Of the first device: the others have as many threads, and smaller or equal shares. */
  get payingThreads(): number | undefined {
    return this.#parts.own.payingThreads;
  }

  get copy(): Executable['copy'] {
    const { own } = this.#parts;
    return own.copy && ((tensor, into) => own.copy!(tensor, into));
  }

  write(tensor: string, data: HostArray, offset = 0): void {
    this.#parts.own.write(tensor, data, offset);
    for (const { executable, lost } of this.#parts.members) if (!lost) executable.write(tensor, data, offset);
  }

  async read(tensor: string, offset = 0, length?: number): Promise<HostArray> {
    if (tensor !== 'ring.loss' || !this.#losses) return this.#parts.own.read(tensor, offset, length);
    return this.#losses.slice(offset, length === undefined ? undefined : offset + length);
  }

  stepsAtOnce(program: string): number {
    return stepOf(this.#parts.plan, program)!.parts.some(({ device }) => device !== undefined)
      ? this.#pace(program).steps
      : this.#parts.own.stepsAtOnce(program);
  }

  async run(program: string, steps: number, from = 0): Promise<void> {
    const { plan, own } = this.#parts;
    const { parts, tableRows } = stepOf(plan, program)!;
    if (parts.every(({ device }) => device === undefined)) {
      this.#losses = null;
      return own.run(program, steps, from);
    }
    const start = performance.now();
    for (let step = from; step < from + steps; step++) await this.#step(parts, step * tableRows);
    this.#losses = this.#ring;
    if (steps > 0) this.#pace(program).report(steps, performance.now() - start);
  }

  standing(anew = false): Standing {
    const { members } = this.#parts;
    const devices = this.#times.map((times, i) => ({ ...times, lost: i > 0 && members[i - 1].lost }));
    const standing = { steps: this.#steps, devices, exchange: this.#exchange, update: this.#update };
    if (anew) this.#timeAnew();
    return standing;
  }

  #timeAnew(): void {
    this.#steps = this.#exchange = this.#update = 0;
    for (const times of this.#times) times.working = times.waiting = 0;
  }

  dispose(): void {
    this.#parts.own.dispose();
    for (const { executable, lost } of this.#parts.members) if (!lost) executable.dispose();
  }

  #pace(program: string): Pace {
    let pace = this.#paces.get(program);
    if (!pace) this.#paces.set(program, (pace = new Pace()));
    return pace;
  }

  /** One step, whose first row of the tables is `row`. */
  async #step(parts: readonly StepPart[], row: number): Promise<void> {
    const { own, members, breathe, within } = this.#parts;
    // Those that are left have other shares, and the step in which it was lost may have waited long for it.
    if (this.#fewer) this.#timeAnew();
    this.#fewer = false;
    const start = performance.now();
    const fresh = this.#stale;
    const weights = await this.#freshWeights();
    const works = this.#times.map((_, device): Work => ({
      weights: device > 0 && members[device - 1].sharesMemory ? null : weights,
      fresh,
      parts: parts
        .filter((part) => part.device === device)
        .map(({ program, first, rows }) => ({ program, first: row + first, rows })),
    }));
    const asked = members.map(({ executable, lost }, place) => {
      const work = works[place + 1];
      if (lost || work.parts.length === 0) return null;
      const answer = within(executable.work(work));
      // Whoever takes it in hears of a failure.
      answer.catch(() => undefined);
      return answer;
    });
    await breathe();
    const took = this.#times.map(() => 0);
    // What lies in the sum from the step before counts for nothing: the first part of each device begins it anew.
    let begun = false;
    if (works[0].parts.length > 0) {
      const since = performance.now();
      this.#note(works[0], await runParts(own, works[0].parts));
      took[0] += performance.now() - since;
      begun = true;
    }
    for (const [place, answer] of asked.entries()) {
      const work = works[place + 1];
      if (work.parts.length === 0) continue;
      let worked = answer && (await answer.catch((error: unknown) => this.#lose(place, error)));
      if (worked) took[place + 1] += worked.milliseconds;
      else {
        if (begun) await this.#copy('gradients.sum', this.#kept);
        worked = await workOn(own, { ...work, weights: null, fresh: false });
        took[0] += worked.milliseconds;
        if (begun) own.write('gradients.sum', this.#kept);
      }
      if (worked.sum) own.write(gradientsOf(place + 1), worked.sum);
      this.#note(work, worked.losses);
      // Where the first device has no share, the first sum is that of another one.
      own.write('step.join', Float32Array.of(begun ? 1 : 0, 1));
      await own.run(joinProgram(place + 1), 1);
      begun = true;
    }
    const summed = performance.now();
    const update = parts.at(-1)!;
    await own.run(updateProgram, 1, row + update.first);
    this.#stale = true;
    const end = performance.now();
    const longest = Math.max(...took);
    took.forEach((milliseconds, device) => {
      this.#times[device].working += milliseconds;
      if (device === 0 || !members[device - 1].lost) this.#times[device].waiting += longest - milliseconds;
    });
    this.#update += end - summed;
    this.#exchange += Math.max(0, summed - start - longest);
    this.#steps++;
  }

  #note({ parts }: Work, losses: Float32Array): void {
    let done = 0;
    for (const { first, rows } of parts) {
      this.#ring.set(losses.subarray(done, done + rows), first);
      done += rows;
    }
  }

  /** The weights after the last update; null: everybody has them. */
  async #freshWeights(): Promise<Float32Array | null> {
    if (!this.#stale) return null;
    this.#stale = false;
    if (this.#parts.members.every(({ lost, sharesMemory }) => lost || sharesMemory)) return null;
    await this.#copy('parameters', this.#weights);
    return this.#weights;
  }

  async #copy(tensor: string, into: Float32Array): Promise<void> {
    const { own } = this.#parts;
    if (own.copy) own.copy(tensor, into);
    else into.set((await own.read(tensor)) as Float32Array);
  }

  #lose(place: number, error: unknown): null {
    const member = this.#parts.members[place];
    if (!member.lost) {
      member.lost = this.#fewer = true;
      this.#parts.onLost(place, error);
    }
    return null;
  }
}
