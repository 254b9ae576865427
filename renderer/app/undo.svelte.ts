// Steps that can be taken back and done again (Ctrl Z, Ctrl Shift Z): changes of a model, of a dataset's settings and labels.
// A view records its steps while it is open and takes them along when it goes; what a note offers to undo (toasts) counts
// among them by its time.

export interface Step {
  /** What was done, for people: "the class of 2 pictures". */
  readonly label: string;
  undo(): void | Promise<void>;
  redo(): void | Promise<void>;
}

interface Done {
  readonly step: Step;
  /** Milliseconds since the window opened. */
  readonly at: number;
}

/** Steps kept; older ones are forgotten. */
const most = 200;

export class UndoHistory {
  #done: readonly Done[] = $state.raw([]);
  #undone: readonly Step[] = $state.raw([]);

  record(step: Step): void {
    this.#done = [...this.#done.slice(1 - most), { step, at: performance.now() }];
    this.#undone = [];
  }

  /** The step that would be taken back, and when it was done. */
  get last(): { readonly label: string; readonly at: number } | null {
    const done = this.#done.at(-1);
    return done ? { label: done.step.label, at: done.at } : null;
  }

  get next(): string | null {
    return this.#undone.at(-1)?.label ?? null;
  }

  undo(): void {
    const done = this.#done.at(-1);
    if (!done) return;
    this.#done = this.#done.slice(0, -1);
    this.#undone = [...this.#undone, done.step];
    void done.step.undo();
  }

  redo(): void {
    const step = this.#undone.at(-1);
    if (!step) return;
    this.#undone = this.#undone.slice(0, -1);
    this.#done = [...this.#done, { step, at: performance.now() }];
    void step.redo();
  }

  /** Forgets all steps: what they speak of is no longer open. */
  clear(): void {
    this.#done = [];
    this.#undone = [];
  }
}
