// Short notes at the foot of the window for what was done and can be undone. Errors never come here: they stay where
// they happened until they are dealt with.

import { visible } from '../../engine/protocol/visible.ts';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: { readonly label: string; run(): void };
  /** The action takes back what the note tells. */
  readonly undoes: boolean;
  /** Milliseconds it stays. */
  readonly life: number;
  /** When it was shown, in milliseconds since the window opened. */
  readonly at: number;
}

export class Toasts {
  list: readonly Toast[] = $state.raw([]);
  #next = 1;

  /** @returns its number, for `dismiss` */
  show(text: string, options: { undo?: () => void; action?: Toast['action']; life?: number } = {}): number {
    const { undo, life = 6000 } = options;
    const toast: Toast = {
      id: this.#next++,
      text: visible(text),
      action: undo ? { label: 'Undo', run: undo } : options.action,
      undoes: undo !== undefined,
      life,
      at: performance.now(),
    };
    this.list = [...this.list.slice(-2), toast];
    return toast.id;
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Takes back what the newest note that can be undone tells (Ctrl Z). */
  undo(): void {
    const toast = this.list.findLast(({ undoes }) => undoes);
    if (!toast) return;
    this.dismiss(toast.id);
    toast.action?.run();
  }

  /** When the newest note that can be undone was shown; null = there is none. */
  get undoableSince(): number | null {
    return this.list.findLast(({ undoes }) => undoes)?.at ?? null;
  }
}
