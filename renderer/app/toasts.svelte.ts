// Short notes at the foot of the window for what was done and can be undone. Errors never come here: they stay where
// they happened until they are dealt with.

import { visible } from '../../engine/protocol/visible.ts';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: { readonly label: string; run(): void };
  /** Milliseconds it stays. */
  readonly life: number;
  /** When it was shown, in milliseconds since the window opened. */
  readonly at: number;
}

export class Toasts {
  list: readonly Toast[] = $state.raw([]);
  #next = 1;

  show(text: string, options: { action?: Toast['action']; life?: number } = {}): void {
    const toast: Toast = {
      id: this.#next++,
      text: visible(text),
      action: options.action,
      life: options.life ?? 6000,
      at: performance.now(),
    };
    this.list = [...this.list.slice(-2), toast];
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Runs the newest action there is (Ctrl Z). */
  undo(): void {
    const toast = this.list.findLast((candidate) => candidate.action);
    if (!toast) return;
    this.dismiss(toast.id);
    toast.action?.run();
  }

  /** When the newest note that can be undone was shown; null = there is none. */
  get undoableSince(): number | null {
    return this.list.findLast((toast) => toast.action)?.at ?? null;
  }
}
