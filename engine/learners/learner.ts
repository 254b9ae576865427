// What a learner is: it opens on a job, goes on by a budget of time until it is done, and reads back what it has kept. Host, run
// manager, history, evaluation and prediction know this much of it and no more. What it says of itself without doing anything
// stands in declared/.

import type { GrownTrees } from './trees/explained.ts';
import type { Backend, DeviceDescription } from '../backends/backend.ts';
import type { Examination, Sampled } from '../doctor/check.ts';
import type { EvaluationSpec } from '../train/metrics.ts';
import type { RunControl, Surroundings } from '../train/control.ts';
import type { StepSpeed } from '../train/measure.ts';
import type { ReadShard } from '../train/resident-rows.ts';
import type { TrainerEvents } from '../train/options.ts';
import type { Weights } from '../train/weights.ts';
import type { RunStart } from '../protocol/family.ts';
import type { PreparedData } from '../protocol/data.ts';
import type { ActivationMaps, Attributions } from '../protocol/evaluation.ts';
import type { JobStart, KeptMember } from '../protocol/hosts.ts';
import type { ModelFile } from '../protocol/model-file.ts';
import type { Port } from '../protocol/port.ts';
import type { RunConfig, RunResult } from '../protocol/runs.ts';
import type { Trial } from '../protocol/search.ts';

/** Prepared rows, and with what they may be worked on. */
export interface Rows {
  readonly data: PreparedData;
  readonly readShard: ReadShard;
  /** Bytes of memory the resident rows may take. */
  readonly dataBudget: number;
  /** The device, opened when first asked for; closed by whoever gave it. */
  readonly backend: () => Promise<Backend>;
}

/** What a learner is known by once it is ready. */
export interface StartedEvent {
  readonly device: DeviceDescription;
  /** What trains, as the log says it. */
  readonly sentence: string;
  readonly parameters: number;
  readonly bytes: number;
  /** Steps done already by the checkpoint that is continued. */
  readonly step: number;
}

export interface LearnerEvents extends TrainerEvents {
  /** Before anything else is reported. */
  readonly onStarted: (event: StartedEvent) => void;
  /** Of a learner that trains others: one of them that is done. */
  readonly onMember?: (event: KeptMember) => void;
  /** Of a search: a trial that has ended. */
  readonly onTrial?: (trial: Trial) => void;
}

/** The other learners, for one that is made of them. */
export interface OtherLearners {
  /** Throws TrainyardError `run.learner` where there is none of that name. */
  named(name: string): Learner;
  /** What one of them handed over as `model.json` and weights, put to use. Throws TrainyardError where it is damaged. */
  read(model: unknown, weights: Weights): Trained;
  /** The same of a model that this process has just made: it is not checked again. */
  readOwn(model: object, weights: Weights): Trained;
}

export interface LearnerJob<C extends RunConfig = RunConfig> extends Rows {
  readonly config: C;
  readonly control: RunControl;
  readonly surroundings: Surroundings;
  readonly events: LearnerEvents;
  /** What an earlier training handed over as `checkpoint.bin`: it goes on from there as if it had never stopped. */
  readonly checkpoint?: Uint8Array;
  /** What it begins with of another run, where there is no checkpoint yet. */
  readonly start?: JobStart;
  /** Of a fold of a member: nothing but its model is asked for. It may leave out checkpoints and scores. */
  readonly modelAlone?: true;
  /** Of a search: the trials that an earlier attempt has told of. */
  readonly trials?: readonly Trial[];
  readonly others?: OtherLearners;
  /** Of a search: starts a thread that trains trials, with so many threads of its own. Absent: they are trained here. */
  readonly trialThread?: (threads: number) => ThreadAtWork;
}

/** Another thread, which answers at the end of a port. */
export interface ThreadAtWork {
  readonly port: Port;
  readonly end: () => void;
}

/** A learner at work on a job. It reports, writes checkpoints, and pauses and ends as its control asks. */
export interface Training {
  /** Works for about so many milliseconds, one step at least, waiting out a pause. True while there is more to do. */
  advance(milliseconds: number): Promise<boolean>;
  /** Once there is no more: how good it is on each split. All files have been handed over. */
  result(): RunResult;
}

/** Of consecutive rows. */
export interface RawOutputs {
  /** [rows, width]: logits (one for two classes, or one a class) or standardised values. */
  readonly outputs: Float32Array;
  /** [rows]; NaN where there is none. */
  readonly targets: Float32Array;
}

/** A model kept ready for a few rows at a time; one call at a time. */
export interface Resident {
  /** Raw outputs [rows, width] of x [rows, values a row]. */
  outputs(x: Float32Array | Float64Array, rows: number): Promise<Float32Array>;
  close(): void;
}

/** A learner put to use, with what a run has kept. */
/** Of rows in parts that validated in turn. */
export interface OutOfFoldOutputs extends RawOutputs {
  /** Which of the training rows these are, rising; one that only ever trained is not among them. */
  readonly places: Uint32Array;
  /** The part of each, from 1. */
  readonly folds: Uint8Array;
}

export interface Trained {
  readonly file: ModelFile;
  /** The loss its scores have. */
  readonly evaluation: EvaluationSpec;
  outputs(rows: Rows): Promise<RawOutputs>;
  /** What it says of training rows that it did not learn from; `rows` with their parts. Absent: it learned from all of them. */
  outOfFold?(rows: Rows): Promise<OutOfFoldOutputs>;
  /** The trees it is made of. Absent: there are none. */
  readonly trees?: GrownTrees;
  /** Compiled and kept on the device for rows like those of `data`, which is not read. Absent: `outputs` is quick for any few rows. */
  resident?(data: PreparedData, backend: () => Promise<Backend>): Promise<Resident>;
  /**
   * Of a language model: logits of the token behind ids, where those before them are not computed again; null: it has to see the whole, and
   * `resident` tells. Throws InputError `model.weights`.
   */
  following?(data: PreparedData): ((ids: readonly number[]) => Float32Array) | null;
  /** Where it looked for the class `chosen` of each row of pictures; null: it does not tell. Absent: it never does. */
  attention?(rows: Rows, chosen: readonly number[]): Promise<ActivationMaps | null>;
  /** What of each picture speaks for the class `chosen`, of the first ones where they are many; null: these are no pictures. Absent: it never tells. */
  attributions?(rows: Rows, chosen: readonly number[]): Promise<Attributions | null>;
}

/** A run to be, and some of its rows. */
export interface Examined<C extends RunConfig = RunConfig> extends Rows, Sampled {
  readonly config: C;
  /** The float64 reference, which the device is held against. */
  readonly reference: () => Backend;
}

/** `C`: the configurations of this learner, `F`: its model file. */
export interface Learner<C extends RunConfig = RunConfig, F extends ModelFile = ModelFile> {
  open(job: LearnerJob<C>): Promise<Training>;
  /** How fast a device is at a job; where a learner has but one device there is nothing to measure. */
  measure?(job: Rows & { readonly config: C }, surroundings: Surroundings): Promise<StepSpeed>;
  /** Throws InputError `model.weights` when the weights do not fit. */
  read(file: F, weights: Weights, others?: OtherLearners): Trained;
  /** What it lets be examined before a long run, on a few rows. Absent: a short training of its own has to do (`trial-alone.ts`). */
  examine?(job: Examined<C>, surroundings: Surroundings): Promise<Examination>;
  /** Throws TrainyardError `run.checkpoint` or `data.safetensors` when it cannot go on from a file. Absent: any safetensors will do. */
  checkCheckpoint?(file: Uint8Array): void;
  /** Whether a run can begin with what another one has kept. Throws InputError `model.weights` where it does not fit. Absent: it never can. */
  checkStart?(config: C, data: PreparedData, start: JobStart): void;
  /** How far a run was when it wrote a checkpoint; throws likewise. Absent: no other run can go on from it. */
  placeOf?(file: Uint8Array): Required<Pick<RunStart, 'epoch' | 'step' | 'seconds'>>;
}
