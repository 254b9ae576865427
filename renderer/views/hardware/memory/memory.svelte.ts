// The state of Memory: the model, the program, the card it is held against, the remedies that are ticked.

import { SvelteSet } from 'svelte/reactivity';
import {
  largestOwnBatch,
  remedies,
  textbookMemory,
  usualMemories,
  type PlanMemory,
  type Remedy,
  type TextbookOptions,
} from '../../../../engine/hardware/memory-forecast.ts';
import type { Catalogue } from '../../../../engine/hardware/catalogue/catalogue.ts';
import { failureOf } from '../../../app/failure.ts';
import type { AppState } from '../../../app/state.svelte.ts';
import { bytes, fixed, percent } from '../../../lib/format.ts';
import { inSlices } from '../../../lib/steps.ts';
import { readKnowledge } from '../../../components/hardware/knowledge.ts';
import { Machine } from '../../../components/hardware/machine.svelte.ts';
import { ModelChoice } from '../model/choice.svelte.ts';
import {
  batchWays,
  ownMemory,
  partsOf,
  partsThatFit,
  planDevice,
  stagesOf,
  textbookOptions,
  together,
  totalOf,
  usable,
  type BatchWay,
  type Part,
  type Program,
  type RemedyName,
  type RunMemory,
  type Stage,
  type Together,
} from './memory.ts';
import { pastRuns } from './past.ts';
import { throughStep, type ThroughStep } from './through.ts';

/** All that is told of one subject. */
interface Worked {
  readonly batch: number;
  readonly program: Program;
  readonly parts: readonly Part[];
  readonly stages: readonly Stage[];
  readonly step: ThroughStep;
  readonly ways: readonly BatchWay[];
  readonly remedies: readonly Remedy[];
  /** Of other software, with nothing ticked and with all that is. */
  readonly before: Together;
  readonly after: Together;
  readonly options: TextbookOptions;
}

const typedKey = 'hardware.memory';
const isBytes = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

export class MemoryPage {
  readonly choice: ModelChoice;
  program: Program = $state('trainyard');
  /** Bytes the answer is held against. */
  card: number = $state(12e9);
  /** Bytes of memory of one's own, typed; kept between visits. */
  typed: number | null = $state(null);
  #catalogue: Catalogue | null = $state.raw(null);
  /** null: being read. */
  past: readonly RunMemory[] | null = $state.raw(null);
  readonly ticked = new SvelteSet<RemedyName>();
  readonly #app: AppState;
  readonly #machine: Machine;

  constructor(app: AppState) {
    this.#app = app;
    this.#machine = new Machine(app);
    this.choice = new ModelChoice(app);
  }

  async load(): Promise<void> {
    const { service } = this.#app;
    const [typed, { catalogue }] = await Promise.all([
      this.#app.preferences.read(typedKey, isBytes, 0),
      readKnowledge(service),
      this.#machine.load(),
      this.choice.load(),
    ]);
    if (typed > 0) this.ownCard(typed);
    this.#catalogue = catalogue;
    this.past = await pastRuns(service);
  }

  /** Holds the answer against so many bytes, which stand among the usual ones from then on. */
  ownCard(size: number): void {
    this.card = size;
    if (usualMemories.includes(size) || size === this.here) return;
    this.typed = size;
    this.#app.preferences.write(typedKey, size);
  }

  /** Bytes of this machine: a step runs in the memory of the GPU, where there is one that is not software. */
  readonly here: number | null = $derived.by(() => {
    if (this.#catalogue === null) return null;
    const [cpu, gpu] = this.#machine.devices(this.#catalogue);
    return [gpu?.memoryBytes, cpu.memoryBytes].find((size) => size) ?? null;
  });
  readonly cards: readonly number[] = $derived.by(() => {
    const { here, typed } = this;
    const own = typed === null || typed === here ? [] : [typed];
    return [...[...usualMemories, ...own].sort((a, b) => a - b), ...(here === null ? [] : [here])];
  });
  /** The plan is made once for a model, its batch and rows. */
  readonly own: { readonly memory: PlanMemory | null; readonly problem: string } = $derived.by(() => {
    const { subject, problem } = this.choice;
    if (subject === null) return { memory: null, problem };
    try {
      return { memory: ownMemory(subject, planDevice(this.#app.devices)), problem: '' };
    } catch (error) {
      const { message, hint } = failureOf(error);
      return { memory: null, problem: `${message} ${hint}` };
    }
  });
  /** The largest batch of this program on the processor here; null: it is being looked for. */
  #largest: number | null = $state.raw(null);
  /** Whether the memory here is what a run of ours on the processor can have. */
  readonly #ownHere: boolean = $derived.by(
    () => this.here !== null && this.own.memory !== null && planDevice(this.#app.devices).kind === 'cpu',
  );
  readonly #ways: readonly BatchWay[] = $derived.by(() => {
    const { subject } = this.choice;
    if (subject === null || this.own.problem) return [];
    const own = this.#ownHere ? { bytes: this.here!, batch: this.#largest } : undefined;
    return batchWays(subject, this.cards, own);
  });

  /** Looks for it a moment after the last change, plan by plan, some ten of them: the window breathes between. Ends with what it returns. */
  lookForLargest(): () => void {
    const { here } = this;
    const { subject } = this.choice;
    this.#largest = null;
    if (!this.#ownHere || here === null || !subject?.model) return () => undefined;
    const { model, rows } = subject;
    let wanted = true;
    const timer = setTimeout(() => {
      const plans = largestOwnBatch(model, rows, navigator.hardwareConcurrency, here);
      void inSlices(plans, () => wanted).then((largest) => {
        if (wanted) this.#largest = largest;
      });
    }, 400);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }

  readonly worked: Worked | null = $derived.by(() => {
    const { subject, kept } = this.choice;
    if (subject === null || this.own.problem) return null;
    const { batch } = subject;
    const costs = subject.costs(batch);
    const options = textbookOptions(subject, kept.precision);
    const own = this.program === 'trainyard' ? this.own.memory : null;
    const helping = remedies(subject.costs, options, batch);
    const parts = partsOf(own ?? textbookMemory(costs, options));
    const stages = stagesOf(subject, costs, own === null && kept.precision === 'mixed16' ? 2 : 4, own === null);
    return {
      batch,
      program: own === null ? 'pytorch' : 'trainyard',
      parts,
      stages,
      step: throughStep(costs, parts, stages),
      ways: this.#ways,
      remedies: helping,
      options,
      before: together(subject, options, []),
      after: together(
        subject,
        options,
        helping.filter(({ name }) => this.ticked.has(name)),
      ),
    };
  });

  /** Asked for only where a model does not fit: it is another plan. */
  readonly #checkpointed: string = $derived.by(() => {
    const { subject } = this.choice;
    if (!subject?.model || subject.model.training.checkpointing) return '';
    const { model } = subject;
    const again = { ...subject, model: { ...model, training: { ...model.training, checkpointing: true } } };
    const { total = 0 } = ownMemory(again, planDevice(this.#app.devices)) ?? {};
    const whole = this.own.memory?.total ?? 0;
    return total < whole ? ` With gradient checkpointing it needs ${bytes(total)}.` : '';
  });

  readonly words: { readonly title: string; readonly detail: string } | null = $derived.by(() => {
    const { worked, card } = this;
    const { subject, kept } = this.choice;
    if (worked === null || subject === null) return null;
    const needed = totalOf(worked.parts);
    const batch = fixed(worked.batch);
    const where = card === this.here ? 'this machine' : `a card of ${bytes(card)}`;
    const activations = worked.parts.find(({ id }) => id === 'activations')?.bytes ?? 0;
    const share = `${percent(activations / needed)} are activations, kept for the backward pass.`;
    const textbook = worked.program === 'pytorch';
    const largest = worked.ways.find(({ id }) => id === kept.precision)?.batches[this.cards.indexOf(card)] ?? 0;
    const room = usable(card);
    if (needed <= room) {
      const more = textbook && largest > worked.batch ? ` Up to batch ${fixed(largest)} fits.` : '';
      return { title: `Batch ${batch} needs ${bytes(needed)}: it fits ${where}.${more}`, detail: share };
    }
    const fitting = textbook && largest > 0 ? ` Batch ${fixed(largest)} fits as it is.` : '';
    const passes = textbook ? partsThatFit(subject, worked.options, card) : null;
    const help = !textbook
      ? `${this.#checkpointed} A run halves its parts by itself until they fit: the batch stays what it is.`
      : passes === null
        ? ` Not one row fits: it takes ${fixed(Math.ceil(needed / room))} such devices, or a smaller model.`
        : ` ${fixed(passes)} passes of ${fixed(Math.ceil(worked.batch / passes))} give the same result.`;
    const over = `${bytes(needed - room)} more than may be used of ${where}.`;
    return { title: `Batch ${batch} needs ${bytes(needed)}: ${over}${fitting}`, detail: `${share}${help}` };
  });
}
