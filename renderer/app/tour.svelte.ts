// The guided tour: six steps from a sample to a prediction, in the app itself. It never stands in the way: whoever does a step with the
// app's own controls is followed, whoever goes elsewhere is left alone, and Escape ends it.

import { failureOf } from './failure.ts';
import { startWithDefaults } from './quick-start.ts';
import type { Address } from './router.svelte.ts';
import type { AppState } from './state.svelte.ts';

/** The sample it is made with, as the main process names it. */
const sample = { id: 'penguins', name: 'Palmer penguins' };

interface TourStep {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly next: string;
  /** Where it is about. */
  readonly at: (address: Address) => boolean;
}

const onTab =
  (view: string, tab?: string) =>
  ({ view: there, parts }: Address): boolean =>
    there === view && parts[1] === tab;

export const tourSteps: readonly TourStep[] = [
  {
    title: 'Bring in data',
    text: 'Your own file is dropped anywhere in this window. For now take a sample: 344 penguins that were measured. It is copied into the app; nothing leaves this computer.',
    next: 'Bring in the penguins',
    at: ({ view }) => view === 'welcome',
  },
  {
    title: 'Look at it',
    text: 'Each cell is a column with its type and its values. At the right stands what is to be predicted, here the species, and which rows are kept aside to judge by.',
    next: 'On to a model',
    at: ({ view }) => view === 'dataset',
  },
  {
    title: 'Choose a model',
    text: 'Models stand at the left: Best of all tries several for a minute, a network is a list of layers you may change. The settings suit the data. The button here starts a network for tables that is done in seconds.',
    next: 'Start a network',
    at: ({ view }) => view === 'new',
  },
  {
    title: 'Watch it learn',
    text: 'Of a network, the solid line is what it learns from, the dashed one what it has not seen: where only the first still falls, it learns by heart. Of several models, the best of the table is kept.',
    next: 'Judge it',
    at: onTab('run'),
  },
  {
    title: 'Judge it',
    text: 'How often it is right, how sure that is, and which species it takes for another. Press a cell of the matrix to see its rows.',
    next: 'Use it',
    at: onTab('run', 'evaluation'),
  },
  {
    title: 'Use it',
    text: 'Change a value in the form and see the answer move, or drop a table to have it predicted. Next: the other samples, under Datasets, two runs in Compare, and F1 for help on any view.',
    next: 'Done',
    at: onTab('run', 'predict'),
  },
];

export class Tour {
  /** From 0; null = nobody is on it. */
  step: number | null = $state(null);
  busy = $state(false);
  #dataset: string | null = null;
  #run: string | null = $state(null);
  readonly #app: AppState;

  constructor(app: AppState) {
    this.#app = app;
  }

  /** Why what is next has to wait: it needs a run that has ended. Null: it does not. */
  get waits(): string | null {
    if (this.step !== 3 && this.step !== 4) return null;
    const run = this.#app.activeRuns.list.find(({ id }) => String(id) === this.#run);
    if (!run) return null;
    return run.state === 'queued'
      ? 'This run waits for its turn: Queue shows for what.'
      : 'The next step comes once this run has ended.';
  }

  start(): void {
    this.#dataset = this.#run = null;
    this.#app.router.go('#welcome');
    this.#show(0);
  }

  leave(): void {
    if (this.step === null) return;
    this.step = null;
    this.#app.announcer.say('The tour is left. Help starts it again.');
  }

  /** Does what the step is about, in the place of the person. */
  async next(): Promise<void> {
    const { router, datasets } = this.#app;
    const { step } = this;
    if (step === null || this.busy) return;
    this.busy = true;
    try {
      if (step === 0) {
        await this.#app.import({ kind: 'sample', sample: sample.id, name: sample.name });
      } else if (step === 1) router.go(`#new/${this.#dataset ?? ''}`);
      else if (step === 2) {
        const dataset = datasets.list.find(({ id }) => id === this.#dataset);
        // Deleted meanwhile: back to where there are samples.
        if (dataset) await startWithDefaults(this.#app, dataset);
        else this.start();
      } else if (step === 3) router.go(`#run/${this.#run ?? ''}/evaluation`);
      else if (step === 4) router.go(`#run/${this.#run ?? ''}/predict`);
      else this.leave();
    } catch (error) {
      this.#app.failure = failureOf(error);
    } finally {
      this.busy = false;
    }
    // Who has wandered off comes to where the next step is.
    this.follow(router.address);
  }

  back(): void {
    const { step } = this;
    if (step === null || step === 0) return;
    const at = [
      '#welcome',
      `#dataset/${this.#dataset ?? ''}`,
      `#new/${this.#dataset ?? ''}`,
      `#run/${this.#run ?? ''}`,
    ];
    this.#app.router.go(at[step - 1] ?? `#run/${this.#run ?? ''}/evaluation`);
    this.#show(step - 1);
  }

  /** Goes on by itself once the person is where the next step is about. */
  follow(address: Address): void {
    const { step } = this;
    if (step === null) return;
    // What is in view is what the buttons are about, also where the person has chosen another than at first.
    const { view, parts } = address;
    if (view === 'dataset' || view === 'new') this.#dataset = parts[0] ?? this.#dataset;
    if (view === 'run') this.#run = parts[0] ?? this.#run;
    if (tourSteps.at(step + 1)?.at(address)) this.#show(step + 1);
  }

  #show(step: number): void {
    this.step = step;
    const { title, text } = tourSteps[step];
    this.#app.announcer.say(`Tour, step ${step + 1} of ${tourSteps.length}: ${title}. ${text}`);
  }
}
