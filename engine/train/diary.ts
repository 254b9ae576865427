// The log of a training, in words: what was prepared, epochs (some of them, where there are many), checkpoints, pauses, and
// at the end where the time went. The trainer says what happens; what is worth a line is decided here.

import { leadingMetrics, metricWords } from '../model/metrics.ts';
import type { PreparedData } from '../protocol/data.ts';
import { phases, phaseWord, type Phase, type PhaseSeconds } from '../protocol/bill.ts';
import type { LogLine, RunResult } from '../protocol/runs.ts';
import { countText, timeText } from '../protocol/words.ts';
import type { Surroundings } from './control.ts';

/** Epochs written of a run at most, about: every one of a short run, every tenth of a long one. */
const writtenEpochs = 60;

export interface EpochNote {
  readonly epoch: number;
  readonly trainLoss: number;
  /** Metrics of the validation split; empty without one. */
  readonly validation: Readonly<Record<string, number>>;
  /** The best epoch so far, by the loss that is watched. */
  readonly best: boolean;
  /** Nothing comes after it: it is written whatever its number. */
  readonly last: boolean;
}

type BegunData = Pick<PreparedData, 'counts' | 'warnings'> & { readonly input: Pick<PreparedData['input'], 'kind'> };

/** How a run ended, in words. */
export const endings: Readonly<Record<RunResult['reason'], string>> = {
  completed: 'Completed',
  early_stopped: 'Stopped early',
  stopped: 'Stopped',
  diverged: 'Diverged',
};

export class Diary {
  readonly #clock: Surroundings['clock'];
  readonly #now: Surroundings['now'];
  readonly #write: (line: LogLine) => void;
  /** Milliseconds of each phase, of this attempt. */
  readonly #spent = new Map<Phase, number>();
  #every = 1;
  /** The best epoch so far, if its line was left out. */
  #bestUnwritten: { readonly epoch: number; readonly message: string } | null = null;
  #checkpoints = 0;

  constructor({ clock, now }: Surroundings, write: (line: LogLine) => void) {
    this.#clock = clock;
    this.#now = now;
    this.#write = write;
  }

  say(message: string): void {
    this.#write({ time: this.#now(), level: 'info', message });
  }

  warn(message: string): void {
    this.#write({ time: this.#now(), level: 'warning', message });
  }

  /** Counts the time of some work to a phase. */
  async during<Result>(phase: Phase, work: () => Promise<Result>): Promise<Result> {
    const start = this.#clock();
    try {
      return await work();
    } finally {
      this.add(phase, this.#clock() - start);
    }
  }

  add(phase: Phase, milliseconds: number): void {
    this.#spent.set(phase, (this.#spent.get(phase) ?? 0) + milliseconds);
  }

  /** Where the time of this attempt has gone so far. */
  get phases(): PhaseSeconds {
    return Object.fromEntries([...this.#spent].map(([phase, milliseconds]) => [phase, milliseconds / 1000]));
  }

  /** What is trained on, before the first step. */
  begins({ counts, warnings, input }: BegunData, stepsPerEpoch: number, epochs: number): void {
    for (const { message } of warnings) this.warn(message);
    const examples = input.kind === 'image' ? 'picture' : 'row';
    const steps = countText(stepsPerEpoch, 'step');
    const validation = counts.validation.toLocaleString('en');
    this.say(`Trains on ${countText(counts.train, examples)}, validates on ${validation}, ${steps} an epoch.`);
    this.#every = strideOf(epochs, writtenEpochs);
    const rest =
      this.#every > 1
        ? ` Every ${this.#every === 2 ? '2nd' : `${this.#every.toLocaleString('en')}th`} of the ${epochs.toLocaleString('en')} epochs is written here, and the best.`
        : '';
    this.#detail(`The model and the rows were ready after ${timeText(this.#spent.get('preparing') ?? 0)}.${rest}`);
  }

  /** How many epochs there is time for; `atMost`: it ends before where more bring nothing. */
  plans(epochs: number, until: string, milliseconds: number, again: string, atMost: boolean): void {
    this.#every = strideOf(epochs, writtenEpochs);
    const many = epochs < 10 ? epochs.toFixed(1) : Math.floor(epochs).toLocaleString('en');
    this.say(
      `Plans ${many} epochs of ${timeText(milliseconds)} to be done by ${until}${again}; its rate falls to the end of them${atMost ? ', earlier where more bring nothing' : ''}.`,
    );
  }

  /** More epochs bring nothing: so many are left, to bring the rate down. */
  hasEnough(best: number, left: number, until: string): void {
    const many = countText(Math.max(1, Math.round(left)), 'epoch');
    this.say(
      `More time brings nothing: no better validation loss since epoch ${best.toLocaleString('en')}. Its rate falls to the end over ${many} more; ${until} is not waited for (\`--patience 0\` uses all the time).`,
    );
  }

  epoch({ epoch, trainLoss, validation, best, last }: EpochNote, epochs: number): void {
    const scores = scoresOf(validation).map(([name, value]) => `${name} ${value.toPrecision(4)}`);
    const text = [`loss ${trainLoss.toPrecision(4)}`, ...scores].join(', ');
    const line = `Epoch ${epoch.toLocaleString('en')} of ${epochs.toLocaleString('en')}: ${text}`;
    const written = epoch === 1 || epoch % this.#every === 0 || last;
    if (best) this.#bestUnwritten = written ? null : { epoch, message: `${line} (the best).` };
    if (written) this.#detail(`${line}${best ? ' (best so far)' : ''}.`);
  }

  /** The weights of this epoch are the ones kept: its line is written if it was left out. */
  keeps(epoch: number): void {
    if (this.#bestUnwritten?.epoch === epoch) this.#detail(this.#bestUnwritten.message);
    this.#bestUnwritten = null;
  }

  /** A checkpoint was written. Of many only the 1st to 9th, then every 10th, every 100th … is worth a line. */
  checkpoint(step: number, epoch: number, bytes: number): void {
    this.#checkpoints++;
    const stride = 10 ** Math.floor(Math.log10(this.#checkpoints));
    if (this.#checkpoints % stride !== 0) return;
    const which = this.#checkpoints < 10 ? 'Checkpoint' : `Checkpoint ${this.#checkpoints}`;
    this.#detail(`${which} at step ${step}, after ${countText(epoch, 'epoch')}: ${sizeText(bytes)}.`);
  }

  /** How it ended, and where the time of this attempt went. */
  ends({ reason, epochs, bestEpoch }: Pick<RunResult, 'reason' | 'epochs' | 'bestEpoch'>): void {
    const times = phases.flatMap((phase) => {
      const milliseconds = this.#spent.get(phase) ?? 0;
      return milliseconds > 0 ? [`${phaseWord(phase)} ${timeText(milliseconds)}`] : [];
    });
    const how = endings[reason];
    this.#detail(`Time: ${times.join(', ')}.`);
    this.#detail(
      `${how} after ${epochs} ${epochs === 1 ? 'epoch' : 'epochs'}${bestEpoch > 0 ? `; the weights of epoch ${bestEpoch} are kept` : ''}.`,
    );
  }

  /** A line that whoever watches the run live sees in another form. */
  #detail(message: string): void {
    this.#write({ time: this.#now(), level: 'info', message, detail: true });
  }
}

/** The smallest of 1, 2, 5, 10, 20, 50 … by which `count` things leave at most `most`. */
export function strideOf(count: number, most: number): number {
  for (let decade = 1; ; decade *= 10) {
    for (const factor of [1, 2, 5]) if (count / (factor * decade) <= most) return factor * decade;
  }
}

/** The loss and the score that people look at first. */
function scoresOf(metrics: EpochNote['validation']): readonly (readonly [string, number])[] {
  const score = leadingMetrics.find((name) => metrics[name] !== undefined);
  return [...(metrics.loss === undefined ? [] : ['loss']), ...(score ? [score] : [])].map(
    (name) => [`validation ${metricWords(name)}`, metrics[name]] as const,
  );
}

const sizeText = (bytes: number): string =>
  bytes < 5e4 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
