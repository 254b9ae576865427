// What a session answers without training: outputs of rows, the loss of a language model at every position, what follows a text.

import type { Executable, HostArray } from '../backends/backend.ts';
import type { ResolvedModel } from '../model/resolve.ts';
import { programName, type Plan } from '../plan/plan.ts';
import type { Buckets } from './buckets.ts';
import { windowsOf, type ResidentRows, type RowRange } from './resident-rows.ts';
import { predictSteps } from './session-sizes.ts';

export interface PredictionsOptions {
  readonly executable: Executable;
  readonly plan: Plan;
  readonly model: ResolvedModel;
  readonly rows: ResidentRows;
  /** Of the rows that are predicted, each bucket with a program; null: one program is for all. */
  readonly buckets: Buckets | null;
  /** Rows of the programs of `tokenLoss`, the larger first. */
  readonly evaluateBatches: readonly number[];
}

/** A submit whose outputs are on their way. */
interface Submitted {
  readonly rows: Uint32Array;
  readonly values: Promise<HostArray>;
}

const ignored = (): void => {};

export class Predictions {
  readonly #options: PredictionsOptions;
  readonly #batch: number;
  readonly #indices: Uint32Array;
  /** The part of them that the last submit had: mostly that of the next one. */
  #written: Uint32Array = new Uint32Array(0);

  constructor(options: PredictionsOptions) {
    this.#options = options;
    this.#batch = Object.values(options.plan.programs).at(-1)!.batch;
    this.#indices = new Uint32Array(predictSteps * this.#batch);
  }

  /** The model's raw outputs [rows, outputs] for consecutive rows. `pause` is called between submits. */
  async outputs(range: RowRange, pause?: () => Promise<void>): Promise<Float32Array> {
    const { executable, model, rows: resident } = this.#options;
    const width = model.outputs;
    const outputs = new Float32Array((range.end - range.start) * width);
    const batch = this.#batch;
    // Read one submit behind: a GPU has the next one before this one's outputs are on their way.
    let behind: Submitted | null = null;
    for (const window of windowsOf(range, resident.capacity)) {
      // The answer to a single row takes a few microseconds: what is there already is not waited for.
      const base = resident.shown(window) ?? (await resident.show(window));
      for (const { program, rows: all } of this.#groups(window)) {
        for (let done = 0; done < all.length;) {
          const most = Math.min(predictSteps, executable.stepsAtOnce(program)) * batch;
          const rows = done === 0 && all.length <= most ? all : all.subarray(done, done + most);
          const steps = Math.ceil(rows.length / batch);
          this.#writePlaces(rows, steps * batch, base - window.start);
          await executable.run(program, steps);
          const values = executable.read('ring.outputs', 0, rows.length * width);
          // Who waits for it hears of a failure, unless one before it has ended the prediction.
          values.catch(ignored);
          if (behind) this.#place(await behind.values, behind.rows, range.start, outputs);
          behind = { rows, values };
          done += rows.length;
          if (pause) await pause();
        }
      }
    }
    if (behind) this.#place(await behind.values, behind.rows, range.start, outputs);
    return outputs;
  }

  /** Says where on the device the rows of the next submit lie; its last step is filled up with the last row, whose outputs are not read. */
  #writePlaces(rows: Uint32Array, places: number, shift: number): void {
    if (this.#written.length !== places) this.#written = this.#indices.subarray(0, places);
    for (let i = 0; i < places; i++) this.#written[i] = rows[Math.min(i, rows.length - 1)] + shift;
    this.#options.executable.write('step.indices', this.#written);
  }

  /** Puts values [rows, outputs] where they belong among all that were asked for, from row `start` on. */
  #place(values: HostArray, rows: Uint32Array, start: number, outputs: Float32Array): void {
    const { model, buckets } = this.#options;
    const width = model.outputs;
    if (!buckets) outputs.set(values, (rows[0] - start) * width);
    else rows.forEach((row, i) => outputs.set(values.subarray(i * width, (i + 1) * width), (row - start) * width));
  }

  /** The rows of a window by the program that predicts them: those of a bucket that fill no batch go to the next longer one. */
  #groups({ start, end }: RowRange): readonly { readonly program: string; readonly rows: Uint32Array }[] {
    const batch = this.#batch;
    const { buckets } = this.#options;
    const all = new Uint32Array(end - start);
    for (let i = 0; i < all.length; i++) all[i] = start + i;
    if (!buckets) return [{ program: programName('predict', batch), rows: all }];
    const { lengths, of } = buckets;
    let rest = new Uint32Array(0);
    return lengths.flatMap((length, bucket) => {
      const waiting = Uint32Array.from([...rest, ...all.filter((row) => of[row] === bucket)]);
      const whole = bucket === lengths.length - 1 ? waiting.length : waiting.length - (waiting.length % batch);
      rest = waiting.slice(whole);
      return whole === 0 ? [] : [{ program: programName('predict', batch, length), rows: waiting.subarray(0, whole) }];
    });
  }

  /** The mean loss of consecutive rows at every position, of a language model. `pause` is called between submits. */
  async tokenLoss(range: RowRange, pause: () => Promise<void> = async () => {}): Promise<number> {
    const { executable, plan, rows: resident, evaluateBatches } = this.#options;
    const [batch] = evaluateBatches;
    let sum = 0;
    for (const window of windowsOf(range, resident.capacity)) {
      const base = await resident.show(window);
      const count = window.end - window.start;
      for (let done = 0; done < count;) {
        const rows = count - done >= batch ? batch : 1;
        const program = programName('evaluate', rows);
        const most = Math.min(plan.stepCapacity, executable.stepsAtOnce(program));
        const steps = Math.min(most, rows === 1 ? count - done : Math.floor((count - done) / batch));
        const places = Uint32Array.from({ length: steps * rows }, (_, row) => base + done + row);
        executable.write('step.indices', places);
        await executable.run(program, steps);
        const losses = (await executable.read('ring.loss', 0, steps)) as Float32Array;
        for (const loss of losses) sum += loss * rows;
        done += steps * rows;
        await pause();
      }
    }
    return sum / (range.end - range.start);
  }

  /** What a language model expects after a text: logits [outputs] of codes [width]. They have a row of the device to themselves. */
  async following(codes: Float32Array): Promise<Float32Array> {
    const { executable, model, rows } = this.#options;
    const row = rows.capacity;
    executable.write('data.x', codes, row * codes.length);
    executable.write('step.indices', Uint32Array.of(row));
    await executable.run(programName('predict', 1), 1);
    return (await executable.read('ring.outputs', 0, model.outputs)) as Float32Array;
  }
}
