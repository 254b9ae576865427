// The scale of the loss in runs that store gradients in 16 bits (kernels/loss_scale): the device halves and doubles it, here it is begun,
// taken over from a checkpoint, and told of.

import type { Executable } from '../backends/backend.ts';
import type { TrainingSpec } from '../model/spec.ts';
import { optimizerStates } from '../model/summary.ts';
import { lossScaleTensors } from '../plan/optimizer.ts';
import type { Plan } from '../plan/plan.ts';
import { countText } from '../protocol/words.ts';
import type { Diary } from './diary.ts';
import { writeWeights, type Weights } from './weights.ts';

const firstScale = 2 ** 16;
const [scaleName, scalingName] = lossScaleTensors;

interface Device {
  readonly executable: Executable;
  readonly plan: Plan;
  readonly training: TrainingSpec;
}

/** What of a checkpoint has to be there: the scale comes of a device that stores 16 bits, and may have to be begun on another. */
export const withoutLossScale = (names: readonly string[]): readonly string[] =>
  names.filter((name) => name !== scaleName && name !== scalingName);

/** Puts the scale of `tensors` in place, or begins one after so many `updates`; nothing where the loss is not scaled. */
export function beginLossScale({ executable, plan, training }: Device, updates: number, tensors: Weights = {}): void {
  if (!plan.checkpoint.includes(scaleName)) return;
  if (tensors[scaleName] && tensors[scalingName]) {
    writeWeights(executable, plan, lossScaleTensors, tensors);
    return;
  }
  const { beta1, beta2 } = training.optimizer;
  const done = optimizerStates(training.optimizer) > 0 ? updates : 0;
  executable.write(scaleName, Float32Array.of(firstScale));
  executable.write(scalingName, Float32Array.of(0, 0, 1 / firstScale, 1 - beta1 ** done, 1 - beta2 ** done));
}

/** What a run tells of it, epoch by epoch. */
export class LossScale {
  readonly #device: Device;
  readonly #diary: Pick<Diary, 'warn'>;
  #told: number | null = null;

  constructor(device: Device, diary: Pick<Diary, 'warn'>) {
    this.#device = device;
    this.#diary = diary;
  }

  /** The loss is scaled. */
  get #is(): boolean {
    return this.#device.plan.checkpoint.includes(scaleName);
  }

  async #read(): Promise<{ readonly scale: number; readonly skipped: number }> {
    const { executable } = this.#device;
    const [[scale], [, skipped]] = await Promise.all([executable.read(scaleName), executable.read(scalingName)]);
    return { scale, skipped };
  }

  /** Before the first step of this attempt: what was skipped until then has been told. */
  async begin(): Promise<void> {
    if (this.#is) this.#told = (await this.#read()).skipped;
  }

  /** After an epoch, all steps done: the scale, and the steps skipped since the run began; null where the loss is not scaled. */
  async tell(): Promise<{ readonly scale: number; readonly skipped: number } | null> {
    if (!this.#is) return null;
    const now = await this.#read();
    const more = now.skipped - (this.#told ?? 0);
    this.#told = now.skipped;
    if (more > 0) {
      this.#diary.warn(
        `${countText(more, 'step')} skipped: a gradient was beyond 16 bits. The loss is scaled by ${now.scale.toLocaleString('en')} now.`,
      );
    }
    return now;
  }
}
